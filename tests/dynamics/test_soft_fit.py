"""States and factors estimated together."""

from dataclasses import replace

import numpy as np
import pytest

from spl.data.trajectories import Trajectory
from spl.datasets.lorenz import make_lorenz
from spl.dynamics.budget import NEVER, Deadline
from spl.dynamics.soft_fit import LOOSEST, SoftSystem, SoftTerms
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression


def make_terms(names, *equations):
    """Return terms of equations, each a list of texts; "1" is the constant term."""
    words = Vocabulary(names)
    texts = list(dict.fromkeys(text for equation in equations for text in equation))
    terms = tuple(() if text == "1" else parse_expression(text, words).tokens for text in texts)
    places = np.array([texts.index(text) for equation in equations for text in equation])
    owners = np.repeat(np.arange(len(equations)), [len(equation) for equation in equations])
    return SoftTerms(words, terms, places, owners)


def make_run(t, x, u=None):
    x = x.reshape(len(t), -1)
    return Trajectory(t, x, np.empty((len(t), 0)) if u is None else u.reshape(len(t), -1), None)


def fit_all(system, levels=(0.5, 0.1, 0.02)):
    for level in (LOOSEST, *levels):
        system = system.fit(level, np.ones(system.factors.size, np.bool_), NEVER)
    return system


def test_decay_is_found_in_noisy_samples(rng):
    t = np.linspace(0, 4, 300)
    run = make_run(t, 3 * np.exp(-t) + rng.normal(0, 0.1, t.size))
    found = fit_all(SoftSystem.begin(make_terms(("x",), ["x"]), [run], [run.x], np.array([0.1]), is_discrete=False))
    assert found.factors == pytest.approx([-1.0], abs=0.05)
    assert np.std(found.states[:, 0] - 3 * np.exp(-t)) < 0.05


def test_runs_do_not_touch(rng):
    t = np.linspace(0, 2, 100)
    runs = [make_run(t, scale * np.exp(-t)) for scale in (1.0, 50.0)]
    system = SoftSystem.begin(
        make_terms(("x",), ["x"]), runs, [run.x for run in runs], np.array([0.01]), is_discrete=False
    )
    found = fit_all(system)
    assert found.factors == pytest.approx([-1.0], abs=1e-3)
    assert [len(states) for states in found.states_of_runs()] == [100, 100]


def test_velocities_are_states_of_their_own(rng):
    t = np.linspace(0, 12, 600)
    run = make_run(t, np.cos(2 * t) + rng.normal(0, 0.05, t.size))
    start = np.column_stack([np.cos(2 * t), -1.5 * np.sin(2 * t)])
    terms = make_terms(("x", "v"), ["x", "v"])
    found = fit_all(SoftSystem.begin(terms, [run], [start], np.array([0.05]), is_discrete=False))
    assert found.factors == pytest.approx([-4.0, 0.0], abs=0.05)


def test_inputs_are_columns(rng):
    t = np.linspace(0, 20, 800)
    u = np.sin(t)
    x = 0.5 * (np.sin(t) - np.cos(t) + np.exp(-t))  # x' = u - x
    run = make_run(t, x + rng.normal(0, 0.01, t.size), u)
    terms = make_terms(("x", "u"), ["x", "u"])
    found = fit_all(SoftSystem.begin(terms, [run], [run.x], np.array([0.01]), is_discrete=False))
    assert found.factors == pytest.approx([-1.0, 1.0], abs=0.03)


@pytest.mark.parametrize("is_rare", [True, False])
def test_steps_in_which_an_input_jumps_do_not_count_if_they_are_rare(is_rare, rng):
    t = np.linspace(0, 19.9, 400)
    u = (t // 5) % 2 if is_rare else rng.uniform(size=t.size)
    run = make_run(t, np.sin(t), u)
    system = SoftSystem.begin(make_terms(("x", "u"), ["x", "u"]), [run], [run.x], np.array([0.1]), is_discrete=False)
    counted = system.linearise(np.ones(2, np.bool_)).links.before.any(axis=(1, 2))
    assert np.count_nonzero(~counted) == (3 if is_rare else 0)


def test_a_map_steps_from_sample_to_sample(rng):
    x = [0.3]
    for _ in range(299):
        x.append(3.7 * x[-1] * (1 - x[-1]))
    run = make_run(np.arange(300.0), np.array(x) + rng.normal(0, 0.01, 300))
    terms = make_terms(("x",), ["x", "x*x"])
    found = fit_all(SoftSystem.begin(terms, [run], [run.x], np.array([0.01]), is_discrete=True))
    assert found.factors == pytest.approx([3.7, -3.7], abs=0.02)
    assert found.is_resolved


def test_the_slope_of_the_squared_error_is_right(rng):
    t = np.linspace(0, 1, 20)
    run = make_run(t, rng.normal(size=(20, 2)))
    terms = make_terms(("x", "y"), ["1", "x", "x*y"], ["y", "x*x"])
    system = SoftSystem.begin(terms, [run], [run.x + 0.1], np.array([0.5, 0.2]), is_discrete=False)
    reduced = system.linearise(np.ones(5, np.bool_)).reduce()
    assert reduced is not None
    # a short damped step goes downhill, and much damping makes it as short as one likes
    steps = [system.linearise(np.ones(5, np.bool_)).take_step(damping) for damping in (1e3, 1e6)]
    assert steps[0].squares < system.squares
    assert np.abs(steps[1].states - system.states).max() < 1e-3


def test_a_state_that_smoothing_lost_comes_back():
    data = make_lorenz(3000, noise=0.6, seed=1)
    lost = data.clean + 0.1
    lost[:, 2] = data.clean[:, 2].mean()
    names = ("x", "y", "z")
    terms = make_terms(names, ["x", "y"], ["x", "y", "x*z"], ["z", "x*y"])
    run = make_run(data.t, data.states)
    noise = 0.6 * np.sqrt(np.mean(data.clean**2, axis=0))
    system = SoftSystem.begin(terms, [run], [lost], noise, is_discrete=False)
    assert np.corrcoef(system.states[:, 2], data.clean[:, 2])[0, 1] > 0.5
    found = fit_all(system, (0.5, 0.25, 0.125, 0.06))
    assert np.corrcoef(found.states[:, 2], data.clean[:, 2])[0, 1] > 0.98


def test_equations_faster_than_the_samples_are_not_resolved():
    t = np.linspace(0, 10, 50)
    run = make_run(t, np.sin(t))
    system = SoftSystem.begin(make_terms(("x",), ["x"]), [run], [run.x], np.array([0.1]), is_discrete=False)
    assert system.is_resolved
    assert not replace(system, factors=np.array([-100.0])).is_resolved


def test_no_step_is_taken_after_the_deadline():
    t = np.linspace(0, 4, 100)
    run = make_run(t, np.exp(-t))
    system = SoftSystem.begin(
        make_terms(("x",), ["x", "x*x"]), [run], [run.x + 0.3], np.array([0.1]), is_discrete=False
    )
    late = system.fit(0.1, np.ones(2, np.bool_), Deadline.after(-1.0))
    assert np.array_equal(late.states, system.states)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_numbers_do_not_raise(scale):
    t = np.linspace(0, 4, 60)
    run = make_run(t, scale * np.exp(-t))
    system = SoftSystem.begin(
        make_terms(("x",), ["x", "x*x"]), [run], [run.x], np.array([0.1 * scale]), is_discrete=False
    )
    assert fit_all(system).states.shape == (60, 1)
