"""The demonstration: the equations of a chaotic system from noisy measurements, on the screen and as a plot.

It uses `SPLDynamics` as any user would. The search does not know the answer; the truth is only printed for comparison.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spl.datasets.lorenz import BETA, RHO, SIGMA, make_lorenz
from spl.datasets.simulation import SystemData
from spl.display.results import SHOWN_DIGITS, print_lines
from spl.display.systems import equation_lines, left_side, method_line
from spl.dynamics.rows import Plan
from spl.errors import SearchInterrupted, SettingError, SimulationEnded, shorten
from spl.estimators.dynamics import SPLDynamics
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.notation.terms import has_terms_of
from spl.plots.style import FOUND_COLOUR, MEASURED_COLOUR, check_plot, check_plot_file, make_figure, save_figure, style
from spl.settings import check_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = ("x", "y", "z")
TRUE_EQUATIONS = {"x": f"{SIGMA:g}*(y - x)", "y": f"x*({RHO:g} - z) - y", "z": f"x*y - {BETA:.6g}*z"}
OPERATORS = ("+", "-", "*", "/")
SAMPLE_STEP = 0.01  # time between samples
N_SAMPLES = 6000
SHOWN_SECONDS = 10.0  # of the simulation in the plot; later, chaos amplifies any difference
SIMULATED_SECONDS = 30.0  # in the phase portrait
LONGEST_LINE = 52  # characters of an equation in the plot
_TRUE_COLOUR = "#000000"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSettings:
    """Settings of the demonstration."""

    noise: float = 0.05
    seed: int = 0
    timeout: float = 45.0  # seconds
    jobs: int = 1
    output: str = "lorenz.png"

    def __post_init__(self) -> None:
        check_number("noise", self.noise, at_least=0.0)
        check_number("timeout", self.timeout, above=0.0)
        check_plot_file(self.output)


class FoundEquation(NamedTuple):
    """The equation found for one state."""

    state: str
    program: Program
    has_true_terms: bool


def run_demo(console: Console, settings: DemoSettings) -> list[FoundEquation]:
    """Find the three equations, print them next to the true ones, and plot their predictions."""
    began = time.monotonic()
    introduction = [
        f"The Lorenz system: {N_SAMPLES} samples {SAMPLE_STEP:g} apart, measured with {_percent(settings.noise)} noise.",
        f"Searching its equations for {settings.timeout:.0f} s with {' '.join(OPERATORS)} and constants.",
        "",
    ]
    print_lines(console, introduction)
    data = make_lorenz(N_SAMPLES, SAMPLE_STEP, noise=settings.noise, seed=settings.seed)
    model = _fit(data, settings)
    system = model.discovery_.system
    found = [
        FoundEquation(state, program, has_terms_of(program, TRUE_EQUATIONS[state]))
        for state, program in zip(system.states, system.programs, strict=True)
    ]
    print_lines(console, ["", method_line(model.trajectories_, model.discovery_.rows, Plan())])
    if model.discovery_.is_interrupted:
        print_lines(console, ["Interrupted: these are the best equations so far."])
    _print_comparison(console, found)
    _plot(console, data, model, settings)
    print_lines(console, [f"Total time: {time.monotonic() - began:.0f} s."])
    return found


def _fit(data: SystemData, settings: DemoSettings) -> SPLDynamics:
    model = SPLDynamics(
        operators=OPERATORS,
        timeout=settings.timeout,
        n_jobs=settings.jobs,
        random_state=settings.seed,
        verbose=1,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchInterrupted)  # a line says so
        return model.fit(data.states, data.t, feature_names=STATES)


def _print_comparison(console: Console, found: Sequence[FoundEquation]) -> None:
    n_right = sum(equation.has_true_terms for equation in found)
    cells = [
        (
            left_side(e.state),
            to_text(e.program, SHOWN_DIGITS),
            TRUE_EQUATIONS[e.state],
            "yes" if e.has_true_terms else "no",
        )
        for e in found
    ]
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="bold")
    for heading in ("", "found", "truth", "same terms"):
        table.add_column(heading, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    console.print()
    console.print(table)
    console.print()
    print_lines(console, [f"{n_right} of {len(found)} equations have exactly the true terms."])


# ---- the plot ------------------------------------------------------------------------------------


def _plot(console: Console, data: SystemData, model: SPLDynamics, settings: DemoSettings) -> None:
    try:
        check_plot(settings.output)
    except SettingError as error:
        print_lines(console, [f"No plot. {error}"])
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationEnded)  # the curves end there
        simulated = model.simulate(data.clean[0], data.t[: int(SIMULATED_SECONDS / SAMPLE_STEP)])
    _draw(data, simulated, model, settings)
    print_lines(console, [f"The plot is in {settings.output}."])


def _draw(data: SystemData, simulated: NDArray[np.float64], model: SPLDynamics, settings: DemoSettings) -> None:
    shown = slice(0, int(SHOWN_SECONDS / SAMPLE_STEP))
    figure = make_figure(12, 7)
    with style():
        _draw_panels(figure, data, simulated, model, shown)
    title = f"The Lorenz system, found from measurements with {_percent(settings.noise)} noise"
    figure.suptitle(title, fontsize=14, fontweight="bold")
    save_figure(figure, settings.output)


def _draw_panels(
    figure: "Figure", data: SystemData, simulated: NDArray[np.float64], model: SPLDynamics, shown: slice
) -> None:
    grid = figure.add_gridspec(3, 2, width_ratios=(1.25, 1))
    shared = None
    for index, state in enumerate(STATES):
        axes = shared = figure.add_subplot(grid[index, 0], sharex=shared)
        axes.plot(data.t[shown], data.states[shown, index], ".", ms=3, color=MEASURED_COLOUR, label="measured")
        axes.plot(
            data.t[shown], simulated[shown, index], lw=1.8, color=FOUND_COLOUR, label="found equations, simulated"
        )
        axes.plot(data.t[shown], data.clean[shown, index], "--", lw=1.0, color=_TRUE_COLOUR, label="true")
        axes.set_ylabel(state)
        axes.tick_params(labelbottom=index == len(STATES) - 1)
        if index == 0:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    axes.set_xlabel("time t   (in chaos, even a tiny difference in a constant grows with time)")
    axes = figure.add_subplot(grid[:, 1])
    axes.plot(data.states[:, 0], data.states[:, 2], ".", ms=2, color=MEASURED_COLOUR)
    axes.plot(simulated[:, 0], simulated[:, 2], lw=0.8, color=FOUND_COLOUR)
    axes.set_xlabel("x")
    axes.set_ylabel("z")
    lines = [shorten(line, LONGEST_LINE) for line in equation_lines(model.discovery_.system, digits=4)]
    axes.set_title("\n".join(lines), loc="left", family="monospace", fontsize=12)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
