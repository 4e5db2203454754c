"""The figure of `docs/how-to/one-trajectory.md`: two systems that share an orbit, and a run that tells them apart."""

import numpy as np
from matplotlib.figure import Figure

from spl.dynamics.simulate import simulate
from spl.dynamics.system_packing import evaluate_slopes
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR

FOUND = ("-y", "x")
TRUTH = ("x - y - x*(x**2 + y**2)", "x + y - y*(x**2 + y**2)")
START = (-1.8, -1.9)  # a suggested one


def _make_system(texts: tuple[str, str]) -> System:
    return System(("x", "y"), (), tuple(parse_expression(text, Vocabulary(("x", "y"))) for text in texts))


def draw_one_trajectory(figure: Figure) -> None:
    """Draw both systems on and around the orbit, and over time from a start off it."""
    figure.set_size_inches(9, 3.8)
    orbit, course = figure.subplots(1, 2, width_ratios=(1, 1.5))
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 15, 300)
    measured = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.01 * rng.standard_normal((300, 2))
    grid = np.linspace(-2.1, 2.1, 11)
    places = np.array([each.ravel() for each in np.meshgrid(grid, grid)])
    systems = {"found": (_make_system(FOUND), FOUND_COLOUR), "truth": (_make_system(TRUTH), GREY)}
    for name, (system, colour) in systems.items():
        slopes = evaluate_slopes(system, places)
        slopes = slopes / np.maximum(np.hypot(*slopes), 1e-9)
        orbit.quiver(*places, *slopes, color=colour, width=0.005, scale=17, label=name)
    orbit.plot(*measured.T, ".", ms=3, color=MEASURED_COLOUR, label="measured")
    orbit.plot(*START, "x", ms=9, mew=2, color="black", label="suggested start")
    orbit.set(xlabel="x", ylabel="y", aspect="equal", xlim=(-2.3, 2.3), ylim=(-2.3, 2.3))

    t = np.linspace(0, 15, 600)
    for name, (system, colour) in systems.items():
        states = simulate(system, START, t).states
        course.plot(t, states[:, 0], lw=2, color=colour, label=f"{name}: x' = {'-y' if name == 'found' else TRUTH[0]}")
    course.set(xlabel="t", ylabel="x from the suggested start", ylim=(-3, 4.2))
    course.legend(loc="upper right")
    orbit.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
