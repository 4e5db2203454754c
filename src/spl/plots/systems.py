"""Figures of systems: measurements and predictions over time, as derivatives and as a phase portrait."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories, Trajectory
from spl.display.systems import equation_lines, left_side
from spl.dynamics.quality import compare_slopes, measure_r2
from spl.dynamics.rows import SystemRows
from spl.dynamics.simulate import simulate
from spl.dynamics.trajectory_draws import SimulationDraws
from spl.errors import shorten
from spl.formulas.system import System
from spl.plots.style import FOUND_COLOUR, GREY, LONGEST_TITLE, MEASURED_COLOUR, label, limits, make_figure, style, thin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = NDArray[np.float64]

MAX_DRAWN_STATES = 6  # over time
_TIME, _SLOPES, _PORTRAIT = 2.4, 1.0, 2.0  # widths of the columns


def plot_system(system: System, data: Trajectories, rows: SystemRows, band: SimulationDraws | None = None) -> "Figure":
    """Return a figure of the first run: states over time with the simulation, derivatives, the phase portrait.

    With draws of the simulation, the states have a 95 % band.

    Derivatives of all runs are drawn: those of the equations against those from the data. The portrait shows the first and
    the last state; for order 2, a position and its velocity.
    """
    run = data.runs[0]
    simulated = simulate(system, rows.starts[0][0], run.t, run.u if data.inputs else None).states
    n_rows = min(len(data.states), MAX_DRAWN_STATES)
    has_portrait = len(data.states) > 1 or system.order == 2
    widths = (_TIME, _SLOPES, _PORTRAIT) if has_portrait else (_TIME, _SLOPES)
    figure = make_figure(13 if has_portrait else 9, max(2.2 * n_rows, 4))
    with style():
        grid = figure.add_gridspec(n_rows, len(widths), width_ratios=widths)
        _draw_states(figure, grid, data, simulated, n_rows, band)
        _draw_slopes(figure, grid, system, rows, n_rows)
        if has_portrait:
            _draw_portrait(figure.add_subplot(grid[:, 2]), system, run, rows.starts[0], simulated)
    return figure


def _draw_states(
    figure: Any, grid: Any, data: Trajectories, simulated: Numbers, n_rows: int, band: SimulationDraws | None
) -> None:
    run = data.runs[0]
    every = thin(run.n_samples)
    shared = None
    for state in range(n_rows):
        axes = shared = figure.add_subplot(grid[state, 0], sharex=shared)
        axes.plot(run.t[every], run.x[every, state], ".", ms=3, color=MEASURED_COLOUR, label="measured")
        axes.plot(run.t, simulated[:, state], lw=1.4, color=FOUND_COLOUR, label="simulated")
        bottom, top = limits(run.x[:, state], 0.25)  # whatever the simulation does
        if band is not None:
            low, high = (np.clip(ends[:, state], 2 * bottom - top, 2 * top - bottom) for ends in band.interval())
            axes.fill_between(run.t, low, high, color=FOUND_COLOUR, alpha=0.25, lw=0, label="95 % of draws")
        axes.set_ylim(bottom, top)
        axes.set_ylabel(label(data.states[state]))
        axes.tick_params(labelbottom=state == n_rows - 1)
        if state == 0:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderpad=0)
    axes.set_xlabel("time")


def _draw_slopes(figure: Any, grid: Any, system: System, rows: SystemRows, n_rows: int) -> None:
    """Draw, for each state, the derivative from its equation against the one from the data; both axes span the data."""
    goals, found = compare_slopes(system, rows)
    shares = measure_r2(system, rows)
    every = thin(len(goals))
    for state in range(n_rows):
        axes = figure.add_subplot(grid[state, 1])
        ends = limits(goals[:, state], 0.08)
        axes.plot(ends, ends, lw=1.0, color=GREY)
        axes.plot(goals[every, state], found[every, state], ".", ms=3, color=FOUND_COLOUR, alpha=0.6)
        axes.set_xlim(ends)
        axes.set_ylim(ends)
        axes.set_ylabel(label(left_side(system.states[state], system.order, system.is_discrete)))
        axes.annotate(_quality(shares[state]), (0.04, 0.96), xycoords="axes fraction", va="top", fontsize="small")
        if state == 0:
            axes.set_title("equation against data", fontsize="medium")
    axes.set_xlabel("from the data")


def _quality(r2: float) -> str:
    return f"$R^2$ = {r2:.4f}" if np.isfinite(r2) else "undefined in some rows"


def _draw_portrait(axes: Any, system: System, run: Trajectory, start: Numbers, simulated: Numbers) -> None:
    """Draw two states against each other: for order 2, a position and its velocity; else the first and the last state."""
    names = system.first_order_states
    other = len(system.states) if system.order == 2 else len(names) - 1
    every = thin(run.n_samples)
    measured = start if system.order == 2 else run.x
    axes.plot(measured[every, 0], measured[every, other], ".", ms=2, color=MEASURED_COLOUR)
    axes.plot(simulated[:, 0], simulated[:, other], lw=0.9, color=FOUND_COLOUR)
    axes.set_xlim(limits(measured[:, 0], 0.1))
    axes.set_ylim(limits(measured[:, other], 0.1))
    axes.set_xlabel(label(names[0]))
    axes.set_ylabel(label(names[other]))
    lines = [label(shorten(line, LONGEST_TITLE)) for line in equation_lines(system, digits=4)]
    axes.set_title("\n".join(lines), loc="left", family="monospace")
