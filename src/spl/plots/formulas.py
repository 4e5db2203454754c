"""Figures of a formula for a table: the front, the fit, the residuals, and the curve or slices."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.notation.latex import latex_name, to_latex
from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR, label, limits, make_figure, style, thin, typeset
from spl.regression.fit import evaluate
from spl.regression.front import Front

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = NDArray[np.float64]

MAX_SLICES = 6  # one per variable
_CURVE_POINTS = 400
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


def plot_formula(place: FrontPlace, data: Dataset | None, *, target: str = "y") -> "Figure":
    """Return a figure of a formula: its place in the front; with data also its fit, residuals, and curve or slices.

    A formula of one variable is drawn as a curve. Of several variables, each has a slice: the formula along it with the
    others at their median, and the residual of each row added to it.
    """
    variables = [] if data is None else _used_variables(place.program, data)[:MAX_SLICES]
    n_panels = 1 if data is None else 3 + max(len(variables), 1)
    n_columns = 1 if n_panels == 1 else 2 if n_panels == 4 else 3
    n_rows = -(-n_panels // n_columns)
    figure = make_figure(max(_PANEL * n_columns, 5.0), _PANEL * n_rows * 0.86 + 0.5)
    with style():
        grid = figure.add_gridspec(n_rows, n_columns)
        panels = iter([figure.add_subplot(grid[k // n_columns, k % n_columns]) for k in range(n_panels)])
        _draw_front(next(panels), place)
        if data is not None:
            _draw_fit(next(panels), place.program, data, target)
            _draw_residuals(next(panels), place.program, data, target)
            for axes, variable in zip(panels, variables or [0], strict=True):
                _draw_slice(axes, place.program, data, variable, target)
        figure.suptitle(_equation(place.program, target, figure.get_figwidth() - 0.4), fontsize=_TITLE_SIZE)
    return figure


def _equation(program: Program, target: str, inches: float) -> str:
    latex = f"{latex_name(target)} = {to_latex(program, digits=_TITLE_DIGITS)}"
    return typeset(latex, f"{target} = {to_text(program, _TITLE_DIGITS)}", inches, _TITLE_SIZE)


def _used_variables(program: Program, data: Dataset) -> list[int]:
    """Return the variables of a formula, in the order of the columns."""
    columns = {program.vocabulary.variable_token(name): index for index, name in enumerate(data.names)}
    return sorted({columns[token] for token in program.tokens if token in columns})


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


def _draw_fit(axes: Any, program: Program, data: Dataset, target: str) -> None:
    predicted = evaluate(program, data.columns)
    ends = limits(data.target, 0.05)
    every = thin(data.n_rows)
    axes.plot(ends, ends, lw=1.0, color=GREY)
    axes.plot(data.target[every], predicted[every], ".", ms=4, color=MEASURED_COLOUR)
    axes.set_xlim(ends)
    axes.set_ylim(ends)
    axes.set_xlabel(f"{label(target)}, measured")
    axes.set_ylabel(f"{label(target)}, predicted")
    axes.set_title(f"fit   {_quality(predicted, data)}", loc="left")


def _quality(predicted: Numbers, data: Dataset) -> str:
    n_undefined = int(np.sum(~np.isfinite(predicted)))
    if n_undefined:
        return f"undefined in {n_undefined} of {data.n_rows} rows"
    residual_square = float(np.sum(data.weights * (predicted - data.target) ** 2))
    return f"$R^2$ = {1 - residual_square / data.square:.6f}" if data.square > 0 else ""


def _draw_residuals(axes: Any, program: Program, data: Dataset, target: str) -> None:
    predicted = evaluate(program, data.columns)
    residuals = data.target - predicted
    every = thin(data.n_rows)
    axes.axhline(0, lw=1.0, color=GREY)
    axes.plot(predicted[every], residuals[every], ".", ms=4, color=MEASURED_COLOUR)
    axes.set_ylim(limits(np.append(residuals, 0.0), 0.08))
    axes.set_xlabel(f"{label(target)}, predicted")
    axes.set_ylabel("measured - predicted")
    axes.set_title("residuals", loc="left")


def _draw_slice(axes: Any, program: Program, data: Dataset, variable: int, target: str) -> None:
    """Draw the formula along one variable, the others at their median, with the partial residual of each row.

    The other variables of a row are not at their median, so its measured value lies off the line even if the formula is
    exact. The partial residual is the value of the line at the row, plus measured minus predicted.
    """
    others = [k for k in _used_variables(program, data) if k != variable]
    line = np.repeat(np.median(data.columns, axis=1)[:, np.newaxis], _CURVE_POINTS, axis=1)
    line[variable] = np.linspace(*limits(data.columns[variable], 0.02), _CURVE_POINTS)
    every = thin(data.n_rows)
    rows = data.columns[:, every]
    points = data.target[every]
    if others:
        on_line = np.repeat(line[:, :1], rows.shape[1], axis=1)
        on_line[variable] = rows[variable]
        points = evaluate(program, on_line) + points - evaluate(program, rows)
    what = "formula + residual" if others else "measured"
    axes.plot(rows[variable], points, ".", ms=4, color=MEASURED_COLOUR, label=what)
    axes.plot(line[variable], evaluate(program, line), lw=1.6, color=FOUND_COLOUR, label="formula")
    axes.set_ylim(limits(points, 0.25))
    axes.set_xlabel(label(data.names[variable]))
    axes.set_ylabel(label(target))
    axes.set_title("slice, others at their median" if others else "curve", loc="left")
    axes.legend()
