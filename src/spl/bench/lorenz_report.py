"""The report on `spl bench lorenz`: recovery rates, coefficients compared with the paper's, and a prediction."""

import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.bench.equations import Comparison, largest, read_equations
from spl.bench.lorenz import (
    DATA,
    LORENZ_RULE,
    PAPER_DATA,
    PAPER_NOISE,
    PAPER_STATES,
    SIMULATED,
    STATES,
    TRUTH,
    compare_equations,
)
from spl.bench.random import Condition
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import failure_lines, group, origin_lines, spell_seconds, summarise
from spl.bench.text_table import TextTable
from spl.dynamics.simulate import simulate
from spl.errors import ExpressionError
from spl.formulas.system import System
from spl.notation.terms import linear_terms

# State and term of each column of the table.
TERMS = (("x", "x"), ("x", "y"), ("y", "x"), ("y", "y"), ("y", "x*z"), ("z", "x*y"), ("z", "z"))
TRUE_COEFFICIENTS = (-10.0, 10.0, 28.0, -1.0, -1.0, 1.0, -8.0 / 3.0)
OTHER_START = (8.0, 7.0, 15.0)  # not that of the data; the paper does not state where its prediction starts
PREDICTED_SECONDS = 5.0  # as in the paper
PAPER_SPL = "-9.966*x + 9.964*y; 27.764*x - 0.942*y - 0.994*x*z; -2.655*z + 0.996*x*y"


class PaperRow(NamedTuple):
    """The paper's results of a tool: coefficients of the true terms, and false positives of each equation."""

    name: str
    coefficients: tuple[float, ...]  # of TERMS
    n_false: str


PAPER_ROWS = (
    PaperRow("paper's Eureqa", (-9.02, 9.01, 18.79, 1.86, -0.74, 0.88, -2.23), "1, 3, 1"),
    PaperRow("paper's pySINDy", (-9.18, 9.17, 22.32, 0.15, -0.85, 0.81, -2.83), "1, -, 2"),
    PaperRow("paper's NGGP", (-10.02, 10.01, 26.36, -1.5, -0.83, 1.038, -2.64), "10, 8, 16"),
    PaperRow("paper's SPL", (-9.966, 9.964, 27.764, -0.942, -0.994, 0.996, -2.655), "0, 0, 0"),
)


def lorenz_sections(records: Sequence[Record]) -> list[Section]:
    """Return two sections per time limit and number of threads."""
    kinds = group(records, lambda record: (record.trial.timeout, Condition.of(record.trial.setting).n_threads))
    return [
        section for (timeout, n_threads), members in kinds.items() for section in _sections(timeout, n_threads, members)
    ]


def _sections(timeout: float | None, n_threads: int, records: Sequence[Record]) -> tuple[Section, Section]:
    cores = "one thread per trial" if n_threads == 1 else f"{n_threads} threads per trial"
    sources = "; ".join(f"{name}: {DATA[name]}" for name in dict.fromkeys(record.trial.problem for record in records))
    has_figure = any(Condition.of(record.trial.setting).noise == PAPER_NOISE for record in records)
    about_figure = (
        f"The figure shows {PREDICTED_SECONDS:g} s from {OTHER_START}, where no data begin, for our first seed."
    )
    limit = "" if timeout is None else f"-{timeout:g}s"
    return (
        Section(
            title="Lorenz system: recovered",
            notes=(
                *origin_lines(records, cores),
                f"Operators + - * / and numbers. Data: {sources}.",
                "Noise is its standard deviation over the root mean square of each state.",
                LORENZ_RULE,
            ),
            table=recovery_table(records),
            failures=tuple(failure_lines(records)),
        ),
        Section(
            title="Lorenz system: coefficients",
            notes=(
                "Columns are terms of the equations. Ours: the median over the seeds, 0 for a missing term; false positives of the "
                "three equations and error: the largest over the seeds. The paper's results are at 5 % noise; - marks an equation "
                "that it does not count as found.",
                *((about_figure,) if has_figure else ()),
            ),
            table=coefficients_table(records),
            figure=f"lorenz-1-thread{limit}" if n_threads == 1 else f"lorenz{limit}",
            draw=partial(draw_prediction, records) if has_figure else None,
        ),
    )


# ---- tables --------------------------------------------------------------------------------------


def _rows(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the records by data and noise, the paper's data first."""
    found = group(records, lambda record: (record.trial.problem, Condition.of(record.trial.setting).noise))
    order = list(DATA)
    keys = sorted(found, key=lambda key: (order.index(key[0]), key[1]))
    return {(f"{name}, {noise:.0%}" if name == SIMULATED else name): found[name, noise] for name, noise in keys}


def recovery_table(records: Sequence[Record]) -> TextTable:
    """Return one row per kind of data: how often each equation and the whole system are right, errors and seconds."""
    return TextTable(
        headings=(
            "data",
            "recovered",
            *(f"{state}' right" for state in STATES),
            "false terms",
            "missing terms",
            "median error %",
            "worst error %",
            "median s",
            "worst s",
        ),
        rows=tuple((name, *_recovery_cells(members)) for name, members in _rows(records).items()),
    )


def _recovery_cells(records: Sequence[Record]) -> list[str]:
    summary = summarise(records)
    verdicts = [compare_equations(record.outcome.formula) for record in records]
    errors = [record.outcome.error for record in records if record.outcome.recovered]
    known = [error for error in errors if error is not None]
    return [
        f"{summary.n_recovered} of {summary.n_trials}",
        *(str(sum(verdict[state].is_right for verdict in verdicts)) for state in range(len(STATES))),
        _count_false([verdict for some in verdicts for verdict in some]),
        str(sum(verdict.n_missing for some in verdicts for verdict in some)),
        *((_percent(statistics.median(known)), _percent(max(known))) if known else ("", "")),
        *map(spell_seconds, (summary.median_seconds, summary.worst_seconds)),
    ]


def _count_false(verdicts: Sequence[Comparison]) -> str:
    """Return the sum of false terms; with a `+` if equations have numbers inside their terms, which cannot be counted."""
    known = [verdict.n_false for verdict in verdicts if verdict.n_false is not None]
    return f"{sum(known)}" + ("" if len(known) == len(verdicts) else "+")


def coefficients_table(records: Sequence[Record]) -> TextTable:
    """Return one row per tool: the paper's, ours for each kind of data, and the truth."""
    paper = [
        (row.name, *map(_number, row.coefficients), row.n_false, _largest_error(row.coefficients)) for row in PAPER_ROWS
    ]
    ours = [(f"ours: {name}", *_coefficient_cells(members)) for name, members in _rows(records).items()]
    return TextTable(
        headings=("tool", *(f"{state}': {term}" for state, term in TERMS), "false terms", "error %"),
        rows=(*paper, *ours),
        total=("truth", *map(_number, TRUE_COEFFICIENTS), "", ""),
    )


def _coefficient_cells(records: Sequence[Record]) -> list[str]:
    found = [coefficients_of(record.outcome.formula) for record in records if record.outcome.formula]
    if not found:
        return (len(TERMS) + 2) * [""]
    verdicts = [compare_equations(record.outcome.formula) for record in records if record.outcome.formula]
    worst = [_count_worst([verdict[state] for verdict in verdicts]) for state in range(len(STATES))]
    error = largest([largest([verdict.error for verdict in some]) for some in verdicts])
    return [
        *(_number(statistics.median(values)) for values in zip(*found, strict=True)),
        ", ".join(worst),
        "" if error is None else _percent(error),
    ]


def _count_worst(verdicts: Sequence[Comparison]) -> str:
    counts = [verdict.n_false for verdict in verdicts]
    return "many" if None in counts else str(max(count for count in counts if count is not None))


def coefficients_of(formula: str) -> tuple[float, ...]:
    """Return the coefficients of the true terms in three equations; 0 for a missing term.

    Examples:
        >>> coefficients_of("9*(y - x); 27*x - x*z; x*y - 3*z")
        (-9.0, 9.0, 27.0, 0.0, -1.0, 1.0, -3.0)
    """
    terms = {}
    for state, program in zip(STATES, read_equations(formula, STATES), strict=True):
        try:
            terms[state] = linear_terms(program)
        except ExpressionError:  # it has numbers inside its terms
            terms[state] = {}
    return tuple(terms[state].get(term, 0.0) for state, term in TERMS)


def _number(value: float) -> str:
    return f"{value:.4g}"


def _largest_error(coefficients: Sequence[float]) -> str:
    return _percent(max(abs(value / true - 1) for value, true in zip(coefficients, TRUE_COEFFICIENTS, strict=True)))


def _percent(error: float) -> str:
    return f"{100 * error:.2g}" if error < 1 else f"{100 * error:.0f}"


# ---- the figure ----------------------------------------------------------------------------------


def predict(formula: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times [N] and states [N, 3] that equations predict from a start that is not in the data; NaN once they diverge.

    Examples:
        >>> t, states = predict(TRUTH)
        >>> states.shape, float(t[-1])
        ((1001, 3), 5.0)
    """
    t = np.linspace(0.0, PREDICTED_SECONDS, 1001)
    system = System(STATES, (), tuple(read_equations(formula, STATES)))
    return t, simulate(system, OTHER_START, t).states


def draw_prediction(records: Sequence[Record], path: Path) -> None:
    """Draw the predictions of the truth, the paper's equations and ours: the first seed of each data with 5 % noise."""
    from matplotlib.figure import Figure

    from spl.bench import figures

    lines = [("truth", TRUTH, "0.7", "-"), ("paper's SPL", PAPER_SPL, figures.PAPER_COLOUR, ":")]
    styles = {
        PAPER_DATA: (figures.OUR_COLOUR, "--"),
        PAPER_STATES: ("#CC79A7", "-."),
        SIMULATED: (figures.OTHER_COLOUR, "--"),
    }
    for name, members in _rows(records).items():
        first = min(members, key=lambda record: record.trial.seed)
        if first.outcome.formula and Condition.of(first.trial.setting).noise == PAPER_NOISE:
            lines.append((f"ours: {name}", first.outcome.formula, *styles[first.trial.problem]))
    figure = Figure(figsize=(8, 6), layout="constrained")
    panels = figure.subplots(len(STATES), 1, sharex=True)
    for name, formula, colour, style in lines:
        t, states = predict(formula)
        for axes, values in zip(panels, states.T, strict=True):
            axes.plot(t, values, style, color=colour, lw=4 if name == "truth" else 1.5, label=name)
    for axes, state in zip(panels, STATES, strict=True):
        axes.set_ylabel(state)
    panels[-1].set_xlabel("seconds")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figures.save_figure(figure, path)
