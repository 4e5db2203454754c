"""A system fitted along given segments."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import least_squares

from spl.data.trajectories import Trajectory
from spl.dynamics.budget import NEVER, Deadline
from spl.dynamics.segment_fit import FitTask, fit_constants_and_states, fit_first_states
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

T = np.linspace(0, 4, 81)
EDGES = [np.array([0, 30, 50, 81])]
NOISE = np.array([0.02])


def make_system(text, *constants):
    return System(("x",), (), (parse_expression(text, Vocabulary(("x",))),)).with_constants(constants)


def make_fit(x, system, *, first_states=None, deadline=NEVER):
    """Return a fit that is not begun, with given first states [M] of the segments."""
    states = x.copy()
    if first_states is not None:
        states[EDGES[0][:-1], 0] = first_states
    task = FitTask([Trajectory(T, x, np.empty((T.size, 0)), None)], NOISE, deadline)
    return task.begin(system, [states], EDGES)


@pytest.fixture
def decay(rng):
    """Return noisy samples of exp(-1.5*t)."""
    return np.exp(-1.5 * T)[:, np.newaxis] + NOISE * rng.normal(size=(T.size, 1))


def fit_by_definition(x):
    """Return the rate and first states of segments that scipy fits to the known solution a * exp(c * t)."""
    parts = list(zip(EDGES[0], EDGES[0][1:], strict=False))

    def residuals(unknown):
        solutions = [
            first * np.exp(unknown[0] * (T[a:b] - T[a])) for first, (a, b) in zip(unknown[1:], parts, strict=True)
        ]
        return (np.concatenate(solutions) - x[:, 0]) / NOISE[0]

    found = least_squares(residuals, [-1.0, *x[EDGES[0][:-1], 0]], xtol=1e-12, ftol=1e-12)
    return found.x, 2 * found.cost


def test_constants_of_clean_data_are_recovered():
    x = np.exp(-1.5 * T)[:, np.newaxis]
    fit = fit_constants_and_states(make_fit(x, make_system("C*x", -1.0)))
    assert_allclose(fit.constants, [-1.5], rtol=1e-5)
    assert_allclose(fit.initial[0], x[EDGES[0][:-1], 0], rtol=1e-4)


def test_noisy_data_give_the_constants_and_first_states_of_least_squares(decay):
    fit = fit_constants_and_states(make_fit(decay, make_system("C*x", -1.0)))
    expected, squares = fit_by_definition(decay)
    assert fit.loss == pytest.approx(squares, rel=1e-3)
    assert_allclose(np.concatenate([fit.constants, fit.initial[0]]), expected, atol=0.002)


def test_first_states_are_fitted_while_the_constants_stay(decay):
    begun = make_fit(decay, make_system("C*x", -1.5), first_states=[0.5, 0.5, 0.5])
    fit = fit_first_states(begun)
    np.testing.assert_array_equal(fit.constants, [-1.5])
    for m, (a, b) in enumerate(zip(EDGES[0], EDGES[0][1:], strict=False)):
        shape = np.exp(-1.5 * (T[a:b] - T[a]))
        assert fit.initial[0, m] == pytest.approx(shape @ decay[a:b, 0] / (shape @ shape), abs=1e-3)
    assert np.all(fit.losses <= begun.losses)


def test_a_fit_never_raises_the_error(decay):
    begun = make_fit(decay, make_system("C*x*x + C*sin(3*x)", 0.5, -0.5))
    assert fit_constants_and_states(begun).loss <= begun.loss


def test_segments_that_are_not_used_do_not_count(decay):
    decay[50:] += 5.0
    begun = make_fit(decay, make_system("C*x", -1.0))
    fit = fit_constants_and_states(replace(begun, is_used=np.array([True, True, False])))
    assert fit.constants[0] == pytest.approx(-1.5, abs=0.1)
    assert fit.is_used.tolist() == [True, True, False]


def test_segments_that_are_lost_are_left_out():
    x = np.where(T[50] > T, 1.0, -1.0)[:, np.newaxis] * np.exp(-0.1 * T)[:, np.newaxis]  # the root has no value below 0
    fit = fit_constants_and_states(make_fit(x, make_system("C*sqrt(x)", -0.1)))
    assert fit.is_used.tolist() == [True, True, False]
    assert np.isinf(fit.losses[2])


def test_a_system_that_is_lost_everywhere_is_returned_as_it_is():
    begun = make_fit(-np.ones((T.size, 1)), make_system("C*sqrt(x)", -0.1))
    fit = fit_constants_and_states(begun)
    assert not fit.is_used.any()
    np.testing.assert_array_equal(fit.constants, begun.constants)


@pytest.mark.parametrize("improve", [fit_first_states, fit_constants_and_states])
def test_nothing_changes_when_the_time_is_up(decay, improve):
    begun = make_fit(decay, make_system("C*x", -1.0), deadline=Deadline.after(-1.0))
    fit = improve(begun)
    np.testing.assert_array_equal(fit.constants, begun.constants)
    np.testing.assert_array_equal(fit.initial, begun.initial)


def test_the_scale_is_about_1_for_the_true_law_and_noise(decay):
    fit = fit_constants_and_states(make_fit(decay, make_system("C*x", -1.0)))
    assert fit.n_free == T.size - 3 - 1
    assert fit.scale == pytest.approx(1, abs=0.4)
