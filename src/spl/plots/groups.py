"""Figures of a law with numbers of groups: one panel per group."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.formulas.own_numbers import OwnNumber, own_columns
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.kernels.programs import tokens as tk
from spl.notation.latex import latex_name, to_latex
from spl.plots.style import FOUND_COLOUR, MEASURED_COLOUR, label, make_figure, style, thin, typeset
from spl.regression.fit import evaluate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_PANELS = 24  # groups that are drawn: those with the most rows
_PANEL = 2.4  # inches
_CURVE_POINTS = 200
_TITLE_SIZE = 13.0
_TITLE_DIGITS = 5

Numbers = NDArray[np.float64]


def plot_groups(
    program: Program, own: tuple[OwnNumber, ...], data: Dataset, groupings: tuple[Grouping, ...], *, target: str = "y"
) -> "Figure":
    """Return a figure with one panel per group: its rows and the law with its numbers.

    The law is drawn along the column it depends on most. If it depends on others too, its value at each row is drawn instead of a
    curve.

    Args:
        program: the formula; its own numbers are variables after the columns.
        own: these numbers.
        data: the rows to draw.
        groupings: of these rows; panels are those of the first one that has own numbers.
        target: the name of the target.
    """
    shown = next((each for each in groupings if any(number.grouping == each.name for number in own)), groupings[0])
    codes = {each.name: each.codes for each in groupings}
    extended = np.ascontiguousarray(np.vstack([data.columns, own_columns(own, codes)])) if own else data.columns
    counts = shown.count_rows()
    chosen = [int(k) for k in np.sort(np.argsort(-counts, kind="stable")[:MAX_PANELS]) if counts[k]]
    used = _used_columns(program, data)
    n_columns = min(4, len(chosen))
    n_rows = -(-len(chosen) // n_columns)
    figure = make_figure(max(_PANEL * n_columns, 4.5), _PANEL * 0.9 * n_rows + 0.6)
    with style():
        panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, group in zip(panels, chosen, strict=False):
            rows = np.flatnonzero(shown.codes == group)
            _draw_group(axes, program, extended, data.target, rows, used)
            axes.set_title(shown.labels[group], loc="left")
        for axes in panels[len(chosen) :]:
            axes.set_visible(False)
        figure.supxlabel(label(data.names[used[0]]), fontsize="medium")
        figure.supylabel(label(target), fontsize="medium")
        equation = f"{latex_name(target)} = {to_latex(program, digits=_TITLE_DIGITS)}"
        plain = f"{target} = {to_text(program, _TITLE_DIGITS)}"
        figure.suptitle(typeset(equation, plain, figure.get_figwidth() - 0.4, _TITLE_SIZE), fontsize=_TITLE_SIZE)
    return figure


def _used_columns(program: Program, data: Dataset) -> list[int]:
    """Return the columns that a formula depends on; the first one if there are none."""
    found = {token & tk.PAYLOAD_MASK for token in program.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE}
    return sorted(place for place in found if place < len(data.names)) or [0]


def _draw_group(
    axes: Any, program: Program, columns: Numbers, target: Numbers, rows: NDArray[np.intp], used: list[int]
) -> None:
    drawn = rows[thin(rows.size)]
    axes.plot(columns[used[0], drawn], target[drawn], ".", ms=4, color=MEASURED_COLOUR)
    others = [place for place in used[1:] if np.ptp(columns[place, rows]) > 0]
    if others:
        order = drawn[np.argsort(columns[used[0], drawn], kind="stable")]
        values = evaluate(program, np.ascontiguousarray(columns[:, order]))
        axes.plot(columns[used[0], order], values, "x", ms=4, color=FOUND_COLOUR)
        return
    along = np.repeat(columns[:, rows[:1]], _CURVE_POINTS, axis=1)
    along[used[0]] = np.linspace(columns[used[0]].min(), columns[used[0]].max(), _CURVE_POINTS)
    axes.plot(along[used[0]], evaluate(program, np.ascontiguousarray(along)), lw=1.5, color=FOUND_COLOUR)
