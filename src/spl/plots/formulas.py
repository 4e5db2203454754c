"""Figures of a formula for a table: the front, the fit, the residuals, and the curve or slices."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.display.units import axis_label, target_unit_of
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.notation.latex import latex_name, to_latex
from spl.plots.style import (
    FOUND_COLOUR,
    GREY,
    MEASURED_COLOUR,
    OUTLIER_COLOUR,
    label,
    limits,
    make_figure,
    style,
    thin,
    typeset,
)
from spl.regression.explained_share import share_explained
from spl.regression.fit import evaluate
from spl.regression.fit_rows import FitRows
from spl.regression.front import Front
from spl.regression.prediction_errors import KnownLaw
from spl.regression.slices import Slice, columns_to_cut, cut_slice
from spl.units.table_units import TableUnits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = NDArray[np.float64]

MAX_SLICES = 6  # one per variable
MAX_BARS = 300  # error bars drawn: more would cover the points
_PANEL = 3.7  # inches
_TITLE_SIZE = 13.0
_TITLE_DIGITS = 5


@dataclass(frozen=True, slots=True)
class FrontPlace:
    """A formula in its front; losses below `floor` are rounding error."""

    front: Front
    chosen: int
    floor: float = 0.0

    @property
    def program(self) -> Program:
        """The formula."""
        return self.front[self.chosen].program


@dataclass(frozen=True, slots=True)
class _Axes:
    """What is written at the axes of a figure."""

    target: str
    units: TableUnits | None

    def of_target(self, what: str = "") -> str:
        return label(axis_label(self.target, target_unit_of(self.units), what))

    def of_column(self, name: str, column: int) -> str:
        return label(axis_label(name, "" if self.units is None else self.units.columns[column].text))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of a figure, and how each is drawn."""

    data: Dataset
    others: NDArray[np.intp]  # rows that are drawn as dots
    outliers: NDArray[np.intp]  # rows that are drawn as crosses

    @classmethod
    def choose(cls, data: Dataset, is_outlier: NDArray[np.bool_] | None) -> "_Rows":
        marked = np.zeros(data.n_rows, np.bool_) if is_outlier is None else is_outlier
        others = np.flatnonzero(~marked)
        return cls(data, others[thin(others.size)], np.flatnonzero(marked))


def plot_formula(
    place: FrontPlace,
    data: Dataset | None,
    *,
    target: str = "y",
    is_outlier: NDArray[np.bool_] | None = None,
    fit: FitRows | None = None,
    units: TableUnits | None = None,
) -> "Figure":
    """Return a figure of a formula: its place in the front; with data also its fit, residuals, and curve or slices.

    A formula of one variable is drawn as a curve. Of several variables, each has a slice: the formula along it with the
    others at their median, and the residual of each row added to it. Outliers are crosses; error bars are drawn if they are known.
    Curves and slices have 95 % bands, of the law and of new measurements.

    Args:
        place: the formula in its front.
        data: the rows to draw.
        target: the name of the target.
        is_outlier: whether each of these rows is an outlier; None if there are none.
        fit: the rows that the formula was fitted to; None leaves out the bands.
        units: of the columns and the target, for the axes.
    """
    axis = _Axes(target, units)
    variables = [] if data is None else columns_to_cut(place.program, data)[:MAX_SLICES]
    n_panels = 1 if data is None else 3 + max(len(variables), 1)
    n_columns = 1 if n_panels == 1 else 2 if n_panels == 4 else 3
    n_rows = -(-n_panels // n_columns)
    figure = make_figure(max(_PANEL * n_columns, 5.0), _PANEL * n_rows * 0.86 + 0.5)
    with style():
        grid = figure.add_gridspec(n_rows, n_columns)
        panels = iter([figure.add_subplot(grid[k // n_columns, k % n_columns]) for k in range(n_panels)])
        _draw_front(next(panels), place)
        if data is not None:
            rows = _Rows.choose(data, is_outlier)
            _draw_fit(next(panels), place.program, rows, axis)
            _draw_residuals(next(panels), place.program, rows, axis)
            law = None if fit is None else KnownLaw.of(place.program, fit.rows, fit.given)
            for axes, variable in zip(panels, variables or [0], strict=True):
                _draw_slice(axes, cut_slice(place.program, data, variable), rows, law, axis)
        figure.suptitle(_equation(place.program, target, figure.get_figwidth() - 0.4), fontsize=_TITLE_SIZE)
    return figure


def _draw_points(axes: Any, rows: _Rows, x: Numbers, y: Numbers, what: str, *, has_bars: bool = False) -> None:
    """Draw measurements: dots, crosses for outliers, and error bars if they are known and wanted."""
    axes.plot(x[rows.others], y[rows.others], ".", ms=4, color=MEASURED_COLOUR, label=what or None, zorder=2)
    if rows.outliers.size:
        axes.plot(
            x[rows.outliers], y[rows.outliers], "x", ms=5, mew=1.2, color=OUTLIER_COLOUR, label="outlier", zorder=2
        )
        axes.legend()
    if has_bars and rows.data.sigma is not None:
        drawn = np.concatenate([rows.outliers, rows.others])[:MAX_BARS]
        bars = {"fmt": "none", "elinewidth": 0.6, "ecolor": MEASURED_COLOUR, "zorder": 1}
        axes.errorbar(x[drawn], y[drawn], yerr=rows.data.sigma[drawn], **bars)


def _equation(program: Program, target: str, inches: float) -> str:
    latex = f"{latex_name(target)} = {to_latex(program, digits=_TITLE_DIGITS)}"
    return typeset(latex, f"{target} = {to_text(program, _TITLE_DIGITS)}", inches, _TITLE_SIZE)


def _draw_front(axes: Any, place: FrontPlace) -> None:
    """Draw cost and loss of each formula, with a ring around the one in question."""
    costs = np.array([candidate.cost for candidate in place.front], dtype=np.float64)
    losses = np.array([candidate.loss for candidate in place.front])
    shown = np.maximum(losses, place.floor)
    if np.all(shown > 0):
        axes.set_yscale("log")
    axes.step(costs, shown, where="post", lw=1.2, color=MEASURED_COLOUR)
    axes.plot(costs, shown, "o", ms=5, color=MEASURED_COLOUR, label="front")
    axes.plot(
        costs[place.chosen], shown[place.chosen], "o", ms=9, mfc="none", mec=FOUND_COLOUR, mew=2, label="this formula"
    )
    if np.any(losses < place.floor):
        axes.axhline(place.floor, lw=0.8, ls=":", color=GREY, label="rounding error")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("cost")
    axes.set_ylabel("loss")
    axes.set_title("front", loc="left")
    axes.legend()


def _draw_fit(axes: Any, program: Program, rows: _Rows, axis: _Axes) -> None:
    data = rows.data
    predicted = evaluate(program, data.columns)
    ends = limits(data.target, 0.05)
    axes.plot(ends, ends, lw=1.0, color=GREY)
    _draw_points(axes, rows, data.target, predicted, "")
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_xlabel(axis.of_target("measured"))
    axes.set_ylabel(axis.of_target("predicted"))
    axes.set_title(f"fit   {_quality(predicted, program, rows)}", loc="left")


def _quality(predicted: Numbers, program: Program, rows: _Rows) -> str:
    data = rows.data
    n_undefined = int(np.sum(~np.isfinite(predicted)))
    if n_undefined:
        return f"undefined in {n_undefined} of {data.n_rows} rows"
    share = share_explained(program, data, rows.outliers.tolist())
    without = " without outliers" if rows.outliers.size else ""
    return "" if share is None else f"$R^2$ = {share:.6f}{without}"


def _draw_residuals(axes: Any, program: Program, rows: _Rows, axis: _Axes) -> None:
    predicted = evaluate(program, rows.data.columns)
    residuals = rows.data.target - predicted
    axes.axhline(0, lw=1.0, color=GREY)
    _draw_points(axes, rows, predicted, residuals, "", has_bars=True)
    axes.set_ylim(limits(np.append(residuals, 0.0), 0.08))
    axes.set_xlabel(axis.of_target("predicted"))
    axes.set_ylabel(label(axis_label("measured - predicted", target_unit_of(axis.units))))
    axes.set_title("residuals", loc="left")


def _draw_slice(axes: Any, cut: Slice, rows: _Rows, law: KnownLaw | None, axis: _Axes) -> None:
    """Draw the formula along one column, with the points of the rows and the 95 % bands."""
    data = rows.data
    what = "measured" if cut.is_whole else "formula + residual"
    _draw_points(axes, rows, data.columns[cut.column], cut.points, what, has_bars=True)
    axes.plot(cut.x, cut.values, lw=1.6, color=FOUND_COLOUR, label="formula")
    ends = limits(cut.points, 0.25)
    if law is not None:
        for name, is_new, alpha in (("95 %, new values", True, 0.12), ("95 %, the law", False, 0.3)):
            limited = law.limits(cut.columns, is_new=is_new)  # they may be infinite
            low, high = np.clip(limited, 2 * ends[0] - ends[1], 2 * ends[1] - ends[0]).T
            axes.fill_between(cut.x, low, high, color=FOUND_COLOUR, alpha=alpha, lw=0, zorder=0, label=name)
    axes.set_ylim(ends)
    axes.set_xlabel(axis.of_column(data.names[cut.column], cut.column))
    axes.set_ylabel(axis.of_target())
    axes.set_title("curve" if cut.is_whole else "slice, others at their median", loc="left")
    axes.legend()
