"""Figures of the documents about systems: the weak form, samples far apart, strong noise, rates on both sides. `draw` saves them."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from spl.data.trajectories import Trajectories, Trajectory
from spl.datasets import SystemData, make_double_pendulum, make_lorenz, make_lotka_volterra
from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.derivatives import smooth_and_differentiate
from spl.dynamics.elimination import FullEquation, propose_by_elimination
from spl.dynamics.flow_model import fit_flow
from spl.dynamics.refine import refine_in_steps
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.signals import estimate_noise
from spl.dynamics.simulate import simulate
from spl.dynamics.term_library import TermLibrary
from spl.dynamics.trials import SystemTrials
from spl.formulas.grammar import Grammar
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR


def draw_weak(figure: Figure) -> None:
    """Draw a noisy signal, its differences, and the same law by averages against test functions."""
    figure.set_size_inches(9.2, 3.2)
    rng = np.random.default_rng(1)
    t = np.linspace(0, 6, 301)
    x = np.exp(-0.5 * t)
    noisy = x + 0.02 * rng.standard_normal(len(t))
    signal, differences, weak = figure.subplots(1, 3)
    width, centres = 0.8, np.linspace(0.9, 5.1, 25)
    signal.plot(t, noisy, ".", ms=3, color=MEASURED_COLOUR, label="measured")
    for centre in (1.5, 2.5, 3.5):
        phi, _ = _bump(t, centre, width)
        signal.plot(t, 0.5 * phi, color=FOUND_COLOUR, lw=1.4, label="test functions" if centre == 1.5 else None)
    signal.set(title="x' = −0.5 x, 2 % noise", xlabel="t", ylabel="x")
    signal.legend()
    differences.plot(noisy[1:-1], (noisy[2:] - noisy[:-2]) / (t[2] - t[0]), ".", ms=3, color=MEASURED_COLOUR)
    differences.plot([0, 1], [0, -0.5], color=FOUND_COLOUR, lw=1.6)
    differences.set(title="differences against x", xlabel="x", ylabel="x'")
    means = [(np.mean(phi * noisy), -np.mean(slope * noisy)) for phi, slope in (_bump(t, c, width) for c in centres)]
    weak.plot(*np.array(means).T, ".", ms=6, color=MEASURED_COLOUR)
    right = max(mean for mean, _ in means)
    weak.plot([0, right], [0, -0.5 * right], color=FOUND_COLOUR, lw=1.6)
    weak.set(title="means against test functions", xlabel="mean of φ·x", ylabel="mean of −φ'·x")


def _bump(t: np.ndarray, centre: float, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a smooth function that is 0 outside its window, and its derivative."""
    s = np.clip((t - centre) / width, -1, 1)
    return (1 - s**2) ** 4, -8 * s * (1 - s**2) ** 3 / width


def draw_experiments(figure: Figure) -> None:
    """Draw growth at five temperatures, measured and simulated with one law, and the rate of each run with its error."""
    figure.set_size_inches(9, 3.4)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    t, rates = np.linspace(0, 10, 80), np.array([0.4, 0.6, 0.85, 1.15, 1.3])
    labels = ("12 °C", "16 °C", "20 °C", "24 °C", "28 °C")
    rng = np.random.default_rng(0)
    clean = [10 / (1 + 19 * np.exp(-rate * t)) for rate in rates]
    noise = 0.05
    measured = [mass[:, np.newaxis] + noise * rng.standard_normal((t.size, 1)) for mass in clean]
    data = Trajectories.from_arrays(measured, [t] * len(rates), names=["mass"], labels=labels)
    program = parse_expression("k1*mass*(1 + C*mass)", Vocabulary(("mass", "k1"))).with_constants([-0.1])
    own = OwnNumber("k1", "run", labels, (0.8,) * len(labels))
    law = System(("mass",), ("k1",), (program,), own=(own,))
    fitted = refine_in_steps(law, data.runs, [mass[:, np.newaxis] for mass in clean], [noise], (20, 80))
    for label, run in zip(labels, data.runs, strict=True):
        start = fitted.initial_states[fitted.segments.experiment == run.experiment][0]
        simulated = simulate(fitted.system.of_run(label), start, t).states
        left.plot(t, run.x[:, 0], ".", ms=3, color=MEASURED_COLOUR, label="measured" if run.experiment == 0 else None)
        left.plot(t, simulated[:, 0], lw=1.4, color=FOUND_COLOUR, label="one law" if run.experiment == 0 else None)
    left.set(xlabel="t", ylabel="mass", title="mass' = k1·mass·(1 − mass/10)")
    left.legend(loc="lower right")
    places, values = range(len(labels)), fitted.system.own[0].values
    right.errorbar(places, values, 2 * fitted.standard_errors[1:], fmt="o", ms=5, capsize=3, color=FOUND_COLOUR)
    right.plot(places, rates, "_", ms=16, color=GREY, label="true")
    right.set_xticks(places, labels)
    right.set(title="k1, with two standard errors", ylim=(0, None))
    right.legend(loc="lower right")


def draw_coarse(figure: Figure) -> None:
    """Draw few samples per turn with the derivatives that two methods take from them, and the errors for other numbers of samples."""
    figure.set_size_inches(9, 3.4)
    left, right = figure.subplots(1, 2)
    turn, n_turns = 10.0, 20
    fine = make_lotka_volterra(2000, turn / 1000)
    left.plot(fine.t, fine.derivatives[:, 0], color=GREY, label="true")
    coarse = make_lotka_volterra(7 * n_turns, turn / 7)
    run, spline, flow = _differentiate(coarse)
    shown = slice(0, 15)
    left.plot(run.t[shown], spline[shown, 0], "o", color=MEASURED_COLOUR, label="smoothing spline")
    left.plot(run.t[shown], flow[shown, 0], "D", color=FOUND_COLOUR, label="model of the flow")
    left.set(xlabel="t", ylabel="derivative of prey", title="seven samples per turn")
    left.set_ylim(-55, 20)
    left.legend(loc="lower right")
    numbers = (40, 20, 10, 7, 5)
    errors = []
    for number in numbers:
        data = make_lotka_volterra(number * n_turns, turn / number)
        _, *both = _differentiate(data)
        spread = data.derivatives.std(axis=0)
        errors.append([np.sqrt(np.mean(((found - data.derivatives) / spread) ** 2)) for found in both])
    for values, colour in zip(np.transpose(errors), (MEASURED_COLOUR, FOUND_COLOUR), strict=True):
        right.semilogy(range(len(numbers)), values, "o-", color=colour)
    right.set_xticks(range(len(numbers)), [str(number) for number in numbers])
    right.set(xlabel="samples per turn", ylabel="error / spread of the derivatives", title="no noise")


def _differentiate(data: SystemData) -> tuple[Trajectory, np.ndarray, np.ndarray]:
    """Return the samples, and their derivatives by a smoothing spline and by a model of the flow."""
    run = Trajectory(data.t, data.states, data.u, None)
    model = fit_flow([run])
    assert model is not None
    return run, smooth_and_differentiate(run.t, run.x, "spline").slopes, model.slopes(run)


def draw_strong_noise(figure: Figure) -> None:
    """Draw noise as strong as the signal with the states estimated from it, and errors of numbers from derivatives and from fits."""
    figure.set_size_inches(9, 3.6)
    left, right = figure.subplots(1, 2, width_ratios=(1.3, 1))
    data = make_lorenz(6000, noise=1.0)
    smoothed, found = _estimate_states(data)
    shown = slice(0, 600)
    left.plot(data.t[shown], data.states[shown, 2], ".", ms=3, color=MEASURED_COLOUR, alpha=0.6, label="measured")
    left.plot(data.t[shown], data.clean[shown, 2], color=GREY, lw=3, label="true")
    left.plot(data.t[shown], smoothed[shown, 2], "--", color="black", lw=1.4, label="smoothed")
    left.plot(data.t[shown], found[shown, 2], color=FOUND_COLOUR, lw=1.4, label="estimated with the equations")
    left.set(xlabel="t", ylabel="z", title="Lorenz system, 100 % noise")
    left.set_ylim(-75, 110)
    left.legend(loc="lower left", ncols=2)
    levels = (0.02, 0.05, 0.1, 0.2, 0.5)
    errors = [_fit_lorenz(level) for level in levels]
    for values, colour, label in zip(
        np.transpose(errors),
        (MEASURED_COLOUR, FOUND_COLOUR),
        ("least squares on derivatives", "fit along trajectories"),
        strict=True,
    ):
        right.loglog(levels, values, "o-", color=colour, label=label)
    right.xaxis.minorticks_off()
    right.set_xticks(levels, [f"{level:.0%}" for level in levels])
    right.set(xlabel="noise", ylabel="largest relative error", title="numbers of the true terms")
    right.legend()


def _estimate_states(data: SystemData) -> tuple[np.ndarray, np.ndarray]:
    """Return smoothed states, and those estimated together with equations of all products, of which terms are eliminated."""
    runs = Trajectories.from_arrays(data.states, data.t, names=data.names)
    rows = make_rows(runs, Plan())
    trials = SystemTrials(runs, rows, Plan(), SystemBudget(NEVER))
    grammar = Grammar.from_operators(("+", "-", "*"), rows.names)
    datasets = [rows.dataset(state) for state in range(len(data.names))]
    equations = [FullEquation.of(TermLibrary.build(grammar, each)) for each in datasets]
    next(propose_by_elimination(equations, trials))
    return rows.starts[0], trials.states[0]


def _fit_lorenz(noise: float) -> tuple[float, float]:
    """Return the largest errors of numbers fitted to noisy samples: from derivatives, from trajectories."""
    data = make_lorenz(6000, noise=noise)
    runs = [Trajectory(data.t, data.states, data.u, None)]
    smooth = smooth_and_differentiate(data.t, data.states, "spline")
    x, y, z = smooth.values.T
    terms = ([x, y], [x, y, x * z], [z, x * y])
    numbers = [
        np.linalg.lstsq(np.column_stack(columns), slope, rcond=None)[0]
        for columns, slope in zip(terms, smooth.slopes.T, strict=True)
    ]
    words = Vocabulary(("x", "y", "z"))
    texts = ("C*x + C*y", "C*x + C*y + C*x*z", "C*z + C*x*y")
    programs = [parse_expression(text, words).with_constants(c) for text, c in zip(texts, numbers, strict=True)]
    system = System(words.variables, (), tuple(programs))
    sd = estimate_noise(data.t, data.states)
    fitted = refine_in_steps(system, runs, [smooth.values], sd, (64, 512))
    true = np.array([-10, 10, 28, -1, -1, -8 / 3, 1])
    before, after = (np.abs(each / true - 1).max() for each in (system.constants, fitted.system.constants))
    return float(before), float(after)


def draw_implicit(figure: Figure) -> None:
    """Draw a double pendulum, and how much of an acceleration is left unexplained with and without the other one."""
    figure.set_size_inches(9, 3)
    data = make_double_pendulum(600)
    rates = np.gradient(data.states, data.t, axis=0, edge_order=2)
    theta1, theta2, omega1, omega2 = data.states.T
    turn = theta1 - theta2
    waves = [wave(angle) for wave in (np.sin, np.cos) for angle in (theta1, theta2, turn)]
    plain = [factor * wave for factor in (1.0, omega1**2, omega2**2) for wave in waves]
    left, right = figure.subplots(1, 2, width_ratios=(1, 2))
    _draw_pendulum(left)
    for terms, colour, label in (
        (plain, GREY, "terms of the states"),
        ([*plain, *(rates[:, 3] * wave for wave in waves)], FOUND_COLOUR, "also terms with omega2'"),
    ):
        sizes = range(1, 7)
        shares = [_share_left(np.array(terms).T, rates[:, 2], size) for size in sizes]
        right.plot(sizes, shares, "o-", color=colour, label=label)
    right.set(xlabel="terms of the formula for omega1'", ylabel="unexplained share", yscale="log")
    right.legend()


def _draw_pendulum(axes: Axes) -> None:
    """Draw a pendulum that hangs from another, with its angles."""
    first, second = 0.6, -0.45  # angles
    joint = np.array([np.sin(first), -np.cos(first)])
    end = joint + np.array([np.sin(second), -np.cos(second)])
    for start, stop, angle, name in ((np.zeros(2), joint, first, "theta1"), (joint, end, second, "theta2")):
        axes.plot(*zip(start, stop, strict=True), color=GREY, linewidth=2, zorder=1)
        axes.plot([start[0]] * 2, [start[1], start[1] - 0.8], ":", color=GREY, linewidth=1)
        turn = np.linspace(0, angle, 20)
        axes.plot(start[0] + 0.55 * np.sin(turn), start[1] - 0.55 * np.cos(turn), color=MEASURED_COLOUR, linewidth=1)
        side = -0.06 * np.sign(angle)  # next to the vertical, away from the rod
        axes.annotate(
            name, (start[0] + side, start[1] - 0.55), ha="right" if side < 0 else "left", color=MEASURED_COLOUR
        )
        axes.plot(*stop, "o", color=FOUND_COLOUR, markersize=12)
    axes.plot([-0.3, 0.3], [0, 0], color=GREY, linewidth=3)
    axes.set(xlim=(-0.6, 1.1), aspect="equal")
    axes.set_axis_off()


def _share_left(terms: np.ndarray, target: np.ndarray, n_terms: int) -> float:
    """Return the share of a target that the best sum of terms leaves unexplained: terms are exchanged until nothing improves."""
    best = np.inf
    for seed in range(10):
        chosen = np.random.default_rng(seed).choice(terms.shape[1], n_terms, replace=False).tolist()
        before, left = np.inf, _misfit(terms, target, chosen)
        while left < before - 1e-12:
            before = left
            for place in range(n_terms):
                others = [*chosen[:place], *chosen[place + 1 :]]
                errors = [_misfit(terms, target, [*others, k]) for k in range(terms.shape[1])]
                chosen, left = [*others, int(np.argmin(errors))], min(errors)
        best = min(best, left)
    return float(best)


def _misfit(terms: np.ndarray, target: np.ndarray, chosen: list[int]) -> float:
    factors = np.linalg.lstsq(terms[:, chosen], target, rcond=None)[0]
    return float(np.sum((terms[:, chosen] @ factors - target) ** 2) / np.sum(target**2))
