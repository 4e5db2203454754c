"""The demonstration: the equations of a chaotic system from noisy measurements, on the screen and as a plot.

Everything is what a user would do with the library: simulate, smooth, estimate derivatives, search each equation with
the default settings. Nothing in the search knows the answer; the truth is only printed beside it.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spl.config import Limits, check_number
from spl.data import Dataset
from spl.datasets.lorenz import BETA, RHO, SIGMA, LorenzData, make_lorenz
from spl.discover import Discovery, discover
from spl.display import DIGITS, LineDisplay, LiveDisplay, ProgressDisplay, print_lines
from spl.errors import SettingError
from spl.export import to_sympy
from spl.expression import parse_expression, to_text
from spl.front import EXACT, Front
from spl.grammar import Grammar
from spl.kernels import tokens as tk
from spl.program import Program, Vocabulary

STATES = ("x", "y", "z")
TRUTH = {"x": f"{SIGMA:g}*(y - x)", "y": f"x*({RHO:g} - z) - y", "z": f"x*y - {BETA:.6g}*z"}
OPERATORS = ("+", "-", "*", "/")
STEP = 0.01  # time between samples
N_SAMPLES = 6000
WINDOW = 21  # samples; the default of 31 flattens the peaks so much that the search finds the flattening
SELECTION = "mdl"
SHOWN_SECONDS = 5.0  # of the simulation in the plot: chaos soon makes any difference grow
SIMULATED_SECONDS = 30.0  # of the phase portrait
MAX_SLOPES = 50_000  # that a simulation may evaluate
PLOT_ENDINGS = (".png", ".pdf", ".svg")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSettings:
    """What can be chosen about the demonstration."""

    noise: float = 0.05
    seed: int = 0
    timeout: float = 36.0  # seconds of the three searches together
    jobs: int = 1
    output: str = "lorenz.png"

    def __post_init__(self) -> None:
        check_number("noise", self.noise, at_least=0.0)
        check_number("timeout", self.timeout, above=0.0)
        _check_output(self.output)


class FoundEquation(NamedTuple):
    """The equation found for one state."""

    state: str
    program: Program
    has_true_terms: bool


def run_demo(console: Console, settings: DemoSettings) -> list[FoundEquation]:
    """Find the three equations, print them beside the truth, and plot what they predict."""
    began = time.monotonic()
    seconds = settings.timeout / len(STATES)
    introduction = [
        f"The Lorenz system: {N_SAMPLES} samples {STEP:g} apart, measured with {_percent(settings.noise)} noise.",
        "Its derivatives are estimated by central differences and a Savitzky-Golay filter.",
        f"Each equation is searched for {seconds:.0f} s with {' '.join(OPERATORS)} and constants.",
        "",
    ]
    print_lines(console, introduction)
    data = make_lorenz(N_SAMPLES, STEP, noise=settings.noise, seed=settings.seed)
    datasets = make_datasets(data)
    found = []
    for state in STATES:
        equation, stopped = _find_equation(console, state, datasets[state], settings)
        found.append(equation)
        if stopped == "interrupted":
            print_lines(console, ["Interrupted: the equations that are missing were not searched."])
            return found
    _print_comparison(console, found)
    _plot(console, data, found, settings)
    print_lines(console, [f"{time.monotonic() - began:.0f} s in all."])
    return found


def make_datasets(data: LorenzData) -> dict[str, Dataset]:
    """Return for each state the rows of smoothed states and its derivative.

    The filter makes neighbouring rows alike; the choice by description length takes rows for independent, so only
    one in half a window is kept. The first and the last window, where the filter is at its worst, are left out.
    """
    from spl.derivatives import estimate_derivative, smooth  # scipy.signal takes 1 s to import

    states = smooth(data.states, window=WINDOW)
    derivatives = estimate_derivative(data.states, STEP, window=WINDOW)
    rows = slice(WINDOW, -WINDOW, WINDOW // 2)
    return {
        state: Dataset.from_arrays(states[rows], derivatives[rows, place], names=STATES)
        for place, state in enumerate(STATES)
    }


def _find_equation(console: Console, state: str, data: Dataset, settings: DemoSettings) -> tuple[FoundEquation, str]:
    """Search one equation with the default settings, and tell why the search ended."""

    def choose(front: Front) -> int:
        return front.choose(SELECTION, data.n_rows, EXACT * data.spread)

    target = f"d{state}/dt"
    display: ProgressDisplay = (
        LiveDisplay(console, target, choose, title=f"Searching {target}")
        if console.is_terminal
        else LineDisplay(console, target, choose)
    )
    with display:
        found: Discovery = discover(
            data,
            Grammar.from_operators(OPERATORS, STATES),
            limits=Limits(timeout=settings.timeout / len(STATES)),
            n_jobs=settings.jobs,
            seed=settings.seed,
            watch=display,
        )
    program = found.front[choose(found.front)].program
    if console.is_terminal:
        print_lines(console, [f"{target} = {to_text(program, DIGITS)}"])
    return FoundEquation(state, program, has_terms_of(program, TRUTH[state])), found.stopped


def has_terms_of(program: Program, truth: str) -> bool:
    """Tell whether a formula, multiplied out, has exactly the terms of another, whatever their coefficients.

    Examples:
        >>> found = parse_expression("9.9*y - 10.1*x", Vocabulary(STATES))
        >>> has_terms_of(found, "10*(y - x)"), has_terms_of(found, "10*y")
        (True, False)
    """
    true_program = parse_expression(truth, Vocabulary(program.vocabulary.variables))
    return _terms_of(program) == _terms_of(true_program)


def _terms_of(program: Program) -> set[Any]:
    return set(to_sympy(program).expand().evalf().as_coefficients_dict())  # pi is a number, not a part of a term


def _print_comparison(console: Console, found: Sequence[FoundEquation]) -> None:
    n_right = sum(equation.has_true_terms for equation in found)
    cells = [
        (f"d{e.state}/dt", to_text(e.program, DIGITS), TRUTH[e.state], "yes" if e.has_true_terms else "no")
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

_DATA, _FOUND, _TRUE = "#56B4E9", "#D55E00", "#000000"  # of Okabe and Ito: the colour-blind can tell them apart


def _check_output(path: str) -> None:
    """Raise a clear error now if the plot could not be written at the end."""
    file = Path(path)
    if file.suffix.lower() not in PLOT_ENDINGS:
        raise SettingError(f"The plot must end in {', '.join(PLOT_ENDINGS)}; it is '{path}'.")
    if not file.parent.is_dir():
        raise SettingError(f"The folder of the plot '{path}' does not exist. Make it first, or name another.")
    if file.is_dir():
        raise SettingError(f"The plot '{path}' is a directory. Name a file.")


def _plot(console: Console, data: LorenzData, found: Sequence[FoundEquation], settings: DemoSettings) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print_lines(console, ['No plot: it needs matplotlib. pip install "symbolic-physics-learner[plot]"'])
        return
    simulated = simulate(
        [equation.program for equation in found], data.clean[0], data.t[: int(SIMULATED_SECONDS / STEP)]
    )
    try:
        _draw(data, simulated, found, settings)
    except OSError as error:
        raise SettingError(f"The plot '{settings.output}' cannot be written: {error.strerror or error}.") from None
    print_lines(console, [f"The plot is in {settings.output}."])


def simulate(programs: Sequence[Program], initial: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the states [M, D] of a system from its initial state at times t [N].

    M is below N where the solution explodes, or where it would take too long.
    """
    from scipy.integrate import RK45  # slow to import

    def slope(_: float, state: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([_value_at(program, state) for program in programs])

    solver = RK45(slope, t[0], initial, t[-1], rtol=1e-6, atol=1e-6)
    pieces = [np.asarray(initial, dtype=np.float64)[None]]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of steps that became too small: the solution explodes
        while solver.status == "running" and solver.nfev < MAX_SLOPES:
            solver.step()
            if solver.status == "failed" or not np.all(np.isfinite(solver.y)):
                break
            times = t[(t > solver.t_old) & (t <= solver.t)]
            pieces.append(solver.dense_output()(times).T)
    return np.concatenate(pieces)


def _value_at(program: Program, state: NDArray[np.float64]) -> float:
    """Return the value of a program at one state: for a single row this is quicker than to call a kernel."""
    words = program.vocabulary
    constants = list(program.constants)
    stack: list[Any] = []
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(state[payload])
        elif kind == tk.LITERAL:
            stack.append(np.float64(words.literals[payload]))
        elif kind == tk.CONSTANT:
            stack.append(np.float64(constants.pop()))
        elif kind == tk.POWER:
            stack.append(stack.pop() ** (payload - tk.POWER_OFFSET))
        else:
            arguments = [stack.pop() for _ in range(words.arity_of(token))]
            stack.append(words.operator_of(token).function(*arguments))
    return float(stack.pop())


def _draw(
    data: LorenzData, simulated: NDArray[np.float64], found: Sequence[FoundEquation], settings: DemoSettings
) -> None:
    from matplotlib.figure import Figure

    n_shown = int(SHOWN_SECONDS / STEP)
    figure = Figure(figsize=(12, 7), layout="constrained")
    grid = figure.add_gridspec(3, 2, width_ratios=(1.25, 1))
    shared = None
    for place, state in enumerate(STATES):
        axes = shared = figure.add_subplot(grid[place, 0], sharex=shared)
        axes.plot(data.t[:n_shown], data.states[:n_shown, place], ".", ms=3, color=_DATA, label="measured")
        axes.plot(data.t[:n_shown], data.clean[:n_shown, place], "--", lw=1.0, color=_TRUE, label="true")
        line = simulated[:n_shown, place]
        axes.plot(data.t[: len(line)], line, lw=1.6, color=_FOUND, label="found equations, simulated")
        axes.set_ylabel(state)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelbottom=place == len(STATES) - 1)
        if place == 0:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    axes.set_xlabel("time t   (chaos: the smallest difference in a constant grows with time)")
    axes = figure.add_subplot(grid[:, 1])
    axes.plot(data.states[:, 0], data.states[:, 2], ".", ms=2, color=_DATA, label="measured")
    axes.plot(simulated[:, 0], simulated[:, 2], lw=0.8, color=_FOUND, label="found equations, simulated")
    axes.set_xlabel("x")
    axes.set_ylabel("z")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("\n".join(f"d{e.state}/dt = {_shorten(e.program)}" for e in found), loc="left", family="monospace")
    title = f"The Lorenz system, found from measurements with {_percent(settings.noise)} noise"
    figure.suptitle(title, fontsize=14, fontweight="bold")
    figure.savefig(settings.output, dpi=150)


def _shorten(program: Program) -> str:
    text = to_text(program, 4)
    return text if len(text) <= 48 else text[:45] + "..."


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
