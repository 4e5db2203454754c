"""The learning curve of a run: its best loss over time."""

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spl.errors import RunFileError
from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR, NUMBER_COLOUR, label, make_figure, style
from spl.runs.reader import StoredRun, StoredSearch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = NDArray[np.float64]

_LINE_COLOURS = (FOUND_COLOUR, MEASURED_COLOUR, NUMBER_COLOUR, GREY)
_LINE_STYLES = ("-", "--", ":", "-.")


def plot_learning(run: StoredRun) -> "Figure":
    """Return a figure of the best loss of each search of a run over time.

    The searches of a system run one after another, but each has its own clock.
    """
    curves = [learning_curve(search) for search in run.searches]
    if not any(len(seconds) for seconds, _ in curves):
        raise RunFileError(f"The run in '{run.path}' has no history yet. Let it run a little longer.")
    figure = make_figure(6, 4)
    with style():
        axes = figure.add_subplot()
        looks = ((colour, dashes) for dashes in cycle(_LINE_STYLES) for colour in _LINE_COLOURS)
        for search, (seconds, losses), (colour, dashes) in zip(run.searches, curves, looks, strict=False):
            axes.step(seconds, losses, where="post", lw=1.6, label=label(search.name), color=colour, ls=dashes)
        if all(np.all(losses > 0) for _, losses in curves):
            axes.set_yscale("log")
        axes.set_xlabel("seconds")
        axes.set_ylabel("best loss")
        if len(run.searches) > 1:
            axes.legend()
    return figure


def learning_curve(search: StoredSearch) -> tuple[Numbers, Numbers]:
    """Return times in seconds and the lowest loss at each, starting with the first formula."""
    improvements = {(formula.seconds, formula.loss) for formula in search.improvements}
    history = {(moment.seconds, moment.loss) for moment in search.history if np.isfinite(moment.loss)}
    moments = sorted(improvements | history)
    seconds, losses = np.array(moments, dtype=np.float64).reshape(-1, 2).T
    return seconds, np.minimum.accumulate(losses)
