"""The report on `spl bench pendulum`: the terms found, and a figure of predicted and measured accelerations."""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from spl.bench.pendulum import (
    IDEAL,
    TEST_RUN,
    columns_for,
    ideal_terms,
    load_test_run,
    predict,
)
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import group, origin_lines
from spl.bench.text_table import TextTable
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.terms import linear_terms

PUBLISHED: Mapping[str, str] = MappingProxyType(
    {"domega1": "0 of 5", "domega2": "2 of 5"}
)  # runs of the paper's notebooks with the three terms and no other
RUN_PARTS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"chaotic": (2.0, 8.0), "calm": (30.0, 36.0)}
)  # seconds of the test run, as in the paper


def pendulum_sections(records: Sequence[Record]) -> list[Section]:
    """Return a section per setting and time limit."""
    kinds = group(records, lambda record: (record.trial.setting, record.trial.timeout))
    return [_pendulum_section(setting, members) for (setting, _), members in kinds.items()]


def _pendulum_section(setting: str, records: Sequence[Record]) -> Section:
    best = best_equations(records)
    has_figure = setting == "raw" and len(best) == len(IDEAL)
    tested_on = (
        f"run {TEST_RUN}, which played no part in any choice"
        if setting == "raw"
        else "the validation rows, which were also used to choose terms"
    )
    return Section(
        title=f"Double pendulum, setting {setting}",
        notes=(
            *origin_lines(records),
            "The paper's grammar, but its known term is in every formula, and formulas may have 40 rules, not 20. Terms that do not "
            "help on the validation runs were dropped. Found: the equation contains the three terms of the ideal pendulum. Exact: it "
            f"has no other terms. Error: root mean square over the spread of the target, on {tested_on}; the median over the seeds. "
            "Published: runs of the paper's notebooks that were exact.",
            *(f"Lowest error, {target}: `{text}`" for target, text in best.items()),
        ),
        table=pendulum_table(records),
        failures=tuple(
            f"{record.trial.problem}, seed {record.trial.seed}: `{record.outcome.formula}` ({record.outcome.stopped})"
            for record in records
            if not record.outcome.recovered
        ),
        figure=f"pendulum-{setting}",
        draw=partial(draw_accelerations, best) if has_figure else None,
    )


def pendulum_table(records: Sequence[Record]) -> TextTable:
    """Return one row per equation."""
    by_target = group(records, lambda record: record.trial.problem)
    return TextTable(
        headings=("equation", "found", "exact", "error", "median s", "published"),
        rows=tuple((target, *_cells(target, by_target[target])) for target in IDEAL if target in by_target),
    )


def _cells(target: str, records: Sequence[Record]) -> tuple[str, ...]:
    found = [record for record in records if record.outcome.recovered]
    others = [other_terms(record.outcome.formula, target) for record in found]
    errors = [record.outcome.error for record in records if record.outcome.error is not None]
    return (
        f"{len(found)} of {len(records)}",
        f"{sum(not terms for terms in others)} of {len(records)}",
        f"{statistics.median(errors):.3g}" if errors else "",
        f"{statistics.median(record.outcome.seconds for record in records):.3g}",
        PUBLISHED[target],
    )


def other_terms(text: str, target: str) -> tuple[str, ...]:
    """Return the terms of an equation that the ideal pendulum does not have.

    Examples:
        >>> other_terms("-69*sin(theta1) + 0.5*cos(theta1)", "domega1")
        ('cos(theta1)',)
    """
    terms = linear_terms(parse_expression(text, Vocabulary(columns_for(target))))
    return tuple(term for term in terms if term not in ideal_terms(target))


def best_equations(records: Sequence[Record]) -> dict[str, str]:
    """Return the equation with the lowest error for each acceleration."""
    best: dict[str, str] = {}
    for target in IDEAL:
        known = [r.outcome for r in records if r.trial.problem == target and r.outcome.error is not None]
        if known:
            best[target] = min(known, key=lambda outcome: (outcome.error or 0.0, outcome.formula)).formula
    return best


def draw_accelerations(equations: Mapping[str, str], path: Path) -> None:
    """Draw measured and predicted accelerations of a chaotic and a calm part of the test run."""
    from matplotlib.figure import Figure

    from spl.bench.figures import OUR_COLOUR, save_figure

    run = load_test_run()
    figure = Figure(figsize=(11, 2.6 * len(equations)), layout="constrained")
    grid = figure.subplots(len(equations), len(RUN_PARTS), squeeze=False)
    for row, (target, text) in zip(grid, equations.items(), strict=True):
        for axes, (name, (first, last)) in zip(row, RUN_PARTS.items(), strict=True):
            part = run.select_times(first, last)
            axes.plot(part.time_s, part.select_column(target), color="0.6", lw=2.5, label="measured")
            axes.plot(part.time_s, predict(text, part.table, target), "--", color=OUR_COLOUR, lw=1, label="predicted")
            axes.set_title(f"{target}, {name} part")
            axes.set_ylabel("rad/s2")
    for axes in grid[-1]:
        axes.set_xlabel("seconds")
    grid[0][0].legend(loc="upper right")
    save_figure(figure, path)
