"""Charts of the fit of a formula, its code, and the curves of a system. Pages request them one by one, because they take time."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.display.noise import quality_words
from spl.display.systems import left_side
from spl.display.units import axis_label, target_unit_of
from spl.dynamics.own_system import with_own_columns
from spl.dynamics.rows import SystemRows
from spl.dynamics.run_rows import make_rows_of_system
from spl.errors import SettingError
from spl.groups.own_rows import own_of, with_group_columns
from spl.notation.export import export_program
from spl.notation.grouped_export import export_grouped
from spl.regression.candidate import Candidate
from spl.regression.fit import evaluate
from spl.report.charts import Series, draw_fit, draw_residuals, draw_series, with_outliers
from spl.report.contents import Fit
from spl.report.from_run import plan_of_run
from spl.report.gather import gather_fit, gather_portraits, gather_trajectories, sample_rows
from spl.runs.reader import StoredRun, read_run

Numbers = NDArray[np.float64]

NO_DERIVATIVES = "The weak form has no derivatives to compare a formula with row by row."
MAX_DOTS = 1000  # in a chart over one column


def find_candidate(run: StoredRun, law: int, cost: int) -> Candidate:
    """Return the formula with this cost in one of the fronts; raise a clear error if there is none."""
    if not 0 <= law < len(run.searches):
        raise SettingError(f"The run has {len(run.searches)} equation(s); there is no equation {law}.")
    found = next((candidate for candidate in run.searches[law].front if candidate.cost == cost), None)
    if found is None:
        raise SettingError(f"There is no formula of cost {cost} in the front.")
    return found


def describe_fit(run: StoredRun, law: int, cost: int) -> dict[str, Any]:
    """Return the charts of one formula: its predictions against the measurements, and its residuals."""
    candidate = find_candidate(run, law, cost)
    data, name = _rows(run, law)
    if data is None:
        return {"cost": cost, "fit": "", "residuals": "", "words": NO_DERIVATIVES}
    data = with_group_columns(data, run.groupings, own_of(candidate))
    outliers = _outliers(run, law)
    fit = gather_fit(candidate.program, data, sample_rows(data), outliers)
    share = quality_words(fit.r2, fit.r2_without_outliers, symbol="R² = ")
    quality = fit.undefined or (f"{share}." if share else "")
    crosses = " Crosses mark outliers." if outliers else ""
    drawn = "" if fit.measured.size == fit.n_rows else f" The chart shows {fit.measured.size:,} of {fit.n_rows:,} rows."
    unit = target_unit_of(run.units)
    residuals = draw_residuals(
        fit.predicted,
        fit.measured - fit.predicted,
        label=f"Residuals of {name} against its predicted values.",
        x_label=axis_label(name, unit, "predicted"),
        y_label=axis_label("measured − predicted", unit),
        is_outlier=fit.is_outlier,
    )
    is_curve = len(data.names) == 1
    chart = _draw_curve(run, candidate, data, name) if is_curve else _draw_parity(fit, name, unit)
    return {"cost": cost, "fit": chart, "residuals": residuals, "words": f"{quality}{drawn}{crosses}"}


def _outliers(run: StoredRun, law: int) -> tuple[int, ...]:
    """Return the outliers of a table; a system has none."""
    found = run.searches[law].discovery
    return found.outliers if found is not None and isinstance(run.data, Dataset) else ()


def write_code(run: StoredRun, law: int, cost: int, language: str) -> str:
    """Return the code of one formula."""
    candidate, target = find_candidate(run, law, cost), _name(run, law)
    program, own = run.fill_known(candidate.program), own_of(candidate)
    if own:
        return export_grouped(program, own, language, target=target)
    return export_program(program, language, target=target)


def _draw_parity(fit: Fit, name: str, unit: str) -> str:
    return draw_fit(
        fit.measured,
        fit.predicted,
        is_outlier=fit.is_outlier,
        label=f"Predicted against measured {name}, {fit.measured.size} points.",
        x_label=axis_label(name, unit, "measured"),
        y_label=axis_label(name, unit, "predicted"),
    )


def _draw_curve(run: StoredRun, candidate: Candidate, data: Dataset, name: str) -> str:
    """Return a chart of a formula of one column as a line through the data, with crosses on outliers."""
    [column] = data.columns
    marked = np.array(_outliers(run, 0), np.intp)
    rows = np.union1d(np.arange(0, data.n_rows, max(1, data.n_rows // MAX_DOTS)), marked)
    grid = np.linspace(column.min(), column.max(), MAX_DOTS)
    line = evaluate(candidate.program, grid[np.newaxis])
    dots, *crosses = with_outliers(column[rows], data.target[rows], np.isin(rows, marked))
    label = f"{name} against {data.names[0]}: measured, and the formula as a line."
    curve = Series(grid, line, "found", is_line=True)
    x_label = axis_label(data.names[0], "" if run.units is None else run.units.columns[0].text)
    y_label = axis_label(name, target_unit_of(run.units))
    return draw_series([dots, curve, *crosses], label=label, x_label=x_label, y_label=y_label, margin=0.1)


def describe_curves(run: StoredRun) -> list[dict[str, str]]:
    """Return charts of the states over time and against each other, measured and simulated; empty without a system."""
    if run.system is None or isinstance(run.data, Dataset):
        return []
    rows = _rows_of_system(run.path, run.facts["fingerprint"], run.system is not None)
    system = run.system.system
    data = with_own_columns(run.data, system)
    curves = [
        *gather_trajectories(system, data, rows.starts),
        *gather_portraits(system, data, rows.starts),
    ]
    return [
        {
            "title": curve.title,
            "chart": draw_series(
                [Series(*curve.measured, "measured"), Series(*curve.simulated, "found", is_line=True)],
                label=f"{curve.title}: measured and simulated.",
                x_label=curve.x_label,
                y_label=curve.y_label,
                margin=0.12,
            ),
        }
        for curve in curves
    ]


# ---- rows ----------------------------------------------------------------------------------------


def _rows(run: StoredRun, law: int) -> tuple[Dataset | None, str]:
    """Return the rows that a formula was fitted to (None in the weak form) and the name of their target."""
    if isinstance(run.data, Dataset):
        return run.data, _name(run, law)
    rows = _rows_of_system(run.path, run.facts["fingerprint"], run.system is not None)
    return None if rows.weak else rows.dataset(law), _name(run, law)


def _name(run: StoredRun, law: int) -> str:
    """Return the left-hand side of a formula: the target, or the derivative of a state."""
    name, plan = run.searches[law].name, plan_of_run(run)
    return name if isinstance(run.data, Dataset) else left_side(name, plan.order, plan.is_discrete)


@lru_cache(maxsize=4)
def _rows_of_system(path: Path, fingerprint: str, has_system: bool) -> SystemRows:
    """Return states and derivatives, and own numbers once there is a system; cached, because estimating them takes a while."""
    run = read_run(path)
    assert not isinstance(run.data, Dataset)
    return make_rows_of_system(run.data, plan_of_run(run), run.system.system if run.system else None)
