"""From the results of a search to the contents of a report: fits on sampled rows, ranges of columns, curves of systems."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.data.trajectories import Trajectories
from spl.display.results import SHOWN_DIGITS
from spl.dynamics.simulate import simulate
from spl.formulas.program import Program
from spl.formulas.system import System
from spl.formulas.text import to_text
from spl.groups.own_rows import own_of, with_group_columns
from spl.notation.mathml import to_mathml
from spl.regression.candidate import Candidate
from spl.regression.domain import explain_undefined
from spl.regression.explained_share import share_explained
from spl.regression.fit import evaluate
from spl.regression.front import Front
from spl.report.contents import ColumnSummary, Curve, Equation, Fit, SearchPart

Numbers = NDArray[np.float64]
Coder = Callable[[Candidate], Mapping[str, str]]

MAX_DRAWN = 500  # rows in a chart of a fit: 50 formulas with two charts each stay small
MAX_WORST = 15  # of these rows, the ones that a formula predicts worst
MAX_CHART_SAMPLES = 1500  # of a trajectory in a chart
MAX_CHART_STATES = 12  # whose trajectories are drawn
MAX_PORTRAITS = 4


def gather_search(
    front: Front,
    chosen: int,
    data: Dataset | None,
    *,
    name: str,
    left: str,
    floor: float,
    write_code: Coder,
    outliers: Sequence[int] = (),
    groupings: Sequence[Grouping] = (),
) -> SearchPart:
    """Return a front as a part of a report.

    Args:
        front: the formulas.
        chosen: index of the chosen formula.
        data: the rows of the fit; None leaves out the charts of fits.
        name: left-hand side of the formulas, as text.
        left: the same as MathML.
        floor: a loss below this is rounding error.
        write_code: returns the code of a formula, by language.
        outliers: rows of the data that are marked.
        groupings: of the rows, if formulas have numbers of their own for groups.
    """
    drawn = None if data is None else sample_rows(data)
    equations = tuple(
        Equation(
            cost=candidate.cost,
            loss=candidate.loss,
            score=score,
            text=to_text(candidate.program, SHOWN_DIGITS),
            mathml=to_mathml(candidate.program, left=left, digits=SHOWN_DIGITS),
            code=write_code(candidate),
            fit=None
            if data is None or drawn is None
            else gather_fit(candidate.program, with_group_columns(data, groupings, own_of(candidate)), drawn, outliers),
        )
        for candidate, score in zip(front, front.scores(floor), strict=True)
    )
    return SearchPart(name, equations, chosen, floor)


def sample_rows(data: Dataset) -> NDArray[np.intp]:
    """Return the rows that every chart draws: all, or a reproducible sample that includes the extremes of all columns."""
    if data.n_rows <= MAX_DRAWN:
        return np.arange(data.n_rows)
    values = np.vstack([data.target, data.columns])
    extremes = np.unique(np.concatenate([values.argmin(axis=1), values.argmax(axis=1)]))[: MAX_DRAWN // 4]
    n_others = MAX_DRAWN - MAX_WORST - extremes.size
    others = np.random.default_rng(0).choice(data.n_rows, n_others, replace=False)
    return np.union1d(extremes, others)


def gather_fit(program: Program, data: Dataset, drawn: NDArray[np.intp], outliers: Sequence[int] = ()) -> Fit:
    """Return the predictions of a formula on the rows that are drawn, and on those where its error is largest.

    Of the outliers, those that are drawn are marked.
    """
    predicted = evaluate(program, data.columns)
    is_defined = np.isfinite(predicted)
    residuals = np.where(is_defined, np.abs(data.target - predicted), -1.0)
    worst = np.argpartition(residuals, -MAX_WORST)[-MAX_WORST:] if data.n_rows > MAX_DRAWN else drawn
    rows = np.union1d(drawn, worst)
    undefined = "" if is_defined.all() else explain_undefined(program, data.columns)
    return Fit(
        data.target[rows],
        np.where(is_defined, predicted, np.nan)[rows],
        data.n_rows,
        undefined,
        None if undefined else share_explained(program, data),
        share_explained(program, data, outliers) if outliers and not undefined else None,
        np.isin(rows, outliers) if outliers else None,
    )


def gather_columns(
    columns: Mapping[str, Numbers], roles: Mapping[str, str], units: Mapping[str, str] | None = None
) -> tuple[ColumnSummary, ...]:
    """Return the columns of the data in numbers, each with its role, and its unit if it has one."""
    of = units or {}
    return tuple(
        ColumnSummary(
            name, roles[name], float(values.min()), float(np.median(values)), float(values.max()), of.get(name, "")
        )
        for name, values in columns.items()
    )


# ---- systems -------------------------------------------------------------------------------------


def gather_trajectories(system: System, data: Trajectories, starts: Sequence[Numbers]) -> tuple[Curve, ...]:
    """Return each state of the first run over time, measured and simulated from its first sample."""
    run = data.runs[0]
    simulated = _simulate_first(system, data, starts)
    every, fine = _thin(run.n_samples), _thin(run.n_samples, 2 * MAX_CHART_SAMPLES)
    which = "" if len(data.runs) == 1 else f" (first of {len(data.runs)} runs)"
    return tuple(
        Curve(
            f"{state} over time{which}",
            "time",
            state,
            (run.t[every], run.x[every, index]),
            (run.t[fine], simulated[fine, index]),
            is_over_time=True,
        )
        for index, state in enumerate(data.states[:MAX_CHART_STATES])
    )


def gather_portraits(system: System, data: Trajectories, starts: Sequence[Numbers]) -> tuple[Curve, ...]:
    """Return pairs of states against each other; for order 2, each position against its velocity."""
    names = system.first_order_states
    n_states = len(system.states)
    if system.order == 2:
        pairs = [(state, n_states + state) for state in range(n_states)]
    else:
        pairs = [(a, b) for a in range(n_states) for b in range(a + 1, n_states)]
    simulated = _simulate_first(system, data, starts)
    run = data.runs[0]
    measured = starts[0] if system.order == 2 else run.x
    every, fine = _thin(run.n_samples), _thin(run.n_samples, 2 * MAX_CHART_SAMPLES)
    return tuple(
        Curve(
            f"{names[b]} against {names[a]}",
            names[a],
            names[b],
            (measured[every, a], measured[every, b]),
            (simulated[fine, a], simulated[fine, b]),
        )
        for a, b in pairs[:MAX_PORTRAITS]
    )


def _simulate_first(system: System, data: Trajectories, starts: Sequence[Numbers]) -> Numbers:
    run = data.runs[0]
    return simulate(system, starts[0][0], run.t, run.u if data.inputs else None).states


def _thin(n_samples: int, most: int = MAX_CHART_SAMPLES) -> slice:
    return slice(None, None, max(1, -(-n_samples // most)))
