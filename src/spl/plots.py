"""Figures of systems: what was measured, what the equations predict. Needs matplotlib, the extra `plot`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.errors import SettingError
from spl.simulate import simulate
from spl.system import System
from spl.system_report import equation_lines
from spl.trajectories import Trajectories, Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of Okabe and Ito: the colour-blind can tell them apart
MEASURED, FOUND = "#56B4E9", "#D55E00"
MAX_POINTS = 4000  # of the measurements that are drawn
MAX_STATES = 6  # that are drawn over time
LONGEST_TITLE = 60
PLOT_ENDINGS = (".png", ".pdf", ".svg")
_DOTS_PER_INCH = 150


def check_plot(path: str) -> None:
    """Raise a clear error now if a plot could not be made and written at the end."""
    check_plot_file(path)
    _load_figure()


def check_plot_file(path: str) -> None:
    """Raise a clear error now if a plot could not be written at the end."""
    file = Path(path)
    if file.suffix.lower() not in PLOT_ENDINGS:
        raise SettingError(f"The plot must end in {', '.join(PLOT_ENDINGS)}; it is '{path}'.")
    if not file.parent.is_dir():
        raise SettingError(f"The folder of the plot '{path}' does not exist. Make it first, or name another.")
    if file.is_dir():
        raise SettingError(f"The plot '{path}' is a directory. Name a file.")


def save_figure(figure: "Figure", path: str) -> None:
    """Write a figure to a file."""
    try:
        figure.savefig(path, dpi=_DOTS_PER_INCH)
    except OSError as error:
        raise SettingError(f"The plot '{path}' cannot be written: {error.strerror or error}.") from None


def plot_system(system: System, data: Trajectories, starts: Sequence[NDArray[np.float64]]) -> "Figure":
    """Return a figure of the first run: its states over time with the simulation, and the phase portrait of the first two."""
    figure_class = _load_figure()
    run = data.runs[0]
    simulated = simulate(system, starts[0][0], run.t, run.u if data.inputs else None).states
    n_rows = min(len(data.states), MAX_STATES)
    has_portrait = len(data.states) > 1 or system.order == 2
    figure = figure_class(figsize=(12 if has_portrait else 8, max(2.2 * n_rows, 4)), layout="constrained")
    grid = figure.add_gridspec(n_rows, 2 if has_portrait else 1, width_ratios=(1.25, 1) if has_portrait else None)
    _draw_states(figure, grid, data, simulated, n_rows)
    if has_portrait:
        _draw_portrait(figure.add_subplot(grid[:, 1]), system, run, starts[0], simulated)
    return figure


def _load_figure() -> "type[Figure]":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingError(
            'A plot needs matplotlib. Install it: pip install "symbolic-physics-learner[plot]"'
        ) from None
    return Figure


def _draw_states(figure: Any, grid: Any, data: Trajectories, simulated: NDArray[np.float64], n_rows: int) -> None:
    run = data.runs[0]
    every = _thin(run)
    shared = None
    for place in range(n_rows):
        axes = shared = figure.add_subplot(grid[place, 0], sharex=shared)
        axes.plot(run.t[every], run.x[every, place], ".", ms=3, color=MEASURED, label="measured")
        axes.plot(run.t, simulated[:, place], lw=1.4, color=FOUND, label="equations, simulated")
        low, high = run.x[:, place].min(), run.x[:, place].max()
        axes.set_ylim(low - 0.25 * (high - low), high + 0.25 * (high - low))  # whatever the simulation does
        axes.set_ylabel(data.states[place])
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelbottom=place == n_rows - 1)
        if place == 0:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    axes.set_xlabel("time")


def _draw_portrait(
    axes: Any, system: System, run: Trajectory, start: NDArray[np.float64], simulated: NDArray[np.float64]
) -> None:
    """Draw two states against each other: for order 2 a position and its velocity, else the first and the last."""
    names = system.first_order_states
    other = len(system.states) if system.order == 2 else len(names) - 1
    every = _thin(run)
    measured = start if system.order == 2 else run.x
    axes.plot(measured[every, 0], measured[every, other], ".", ms=2, color=MEASURED)
    axes.plot(simulated[:, 0], simulated[:, other], lw=0.9, color=FOUND)
    for limit, values in ((axes.set_xlim, measured[:, 0]), (axes.set_ylim, measured[:, other])):
        low, high = values.min(), values.max()
        limit(low - 0.1 * (high - low), high + 0.1 * (high - low))
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[other])
    axes.spines[["top", "right"]].set_visible(False)
    lines = [_shorten(line) for line in equation_lines(system, digits=4)]
    axes.set_title("\n".join(lines), loc="left", family="monospace", fontsize=10)


def _thin(run: Trajectory) -> slice:
    return slice(None, None, max(1, run.n_samples // MAX_POINTS))


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 3] + "..."
