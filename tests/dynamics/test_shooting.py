"""Trajectories over segments, how far they are from the data, and what would bring them closer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from spl.data.trajectories import Trajectory
from spl.dynamics.segments import cut_segments
from spl.dynamics.shooting import INTEGRATION_ERROR, NormalEquations, make_shooter, one_for_zero, sum_squares
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

T = np.linspace(0, 6, 61)
CONSTANTS = np.array([1.1, -0.4, 0.1, -0.4])
NOISE = np.array([0.2, 0.1])
EDGES = [np.array([0, 20, 35, 61])]  # of unequal length: there is padding


def make_system(*texts, states, constants, inputs=(), order=1, is_discrete=False):
    columns = states + (tuple(f"d{name}" for name in states) if order == 2 else ()) + inputs
    programs = tuple(parse_expression(text, Vocabulary(columns)) for text in texts)
    return System(states, inputs, programs, order, is_discrete).with_constants(constants)


def predators(constants=CONSTANTS):
    return make_system("C*x + C*x*y", "C*x*y + C*y", states=("x", "y"), constants=constants)


def slopes(_, s, constants=CONSTANTS):
    a, b, c, d = constants
    return [a * s[0] + b * s[0] * s[1], c * s[0] * s[1] + d * s[1]]


def solve(first, t, constants=CONSTANTS):
    return solve_ivp(slopes, (t[0], t[-1]), first, t_eval=t, args=(constants,), rtol=1e-10, atol=1e-12).y.T


@pytest.fixture
def run(rng):
    clean = solve([10.0, 5.0], T)
    return Trajectory(T, clean + NOISE * rng.normal(size=clean.shape), np.empty((T.size, 0)), None)


@pytest.fixture
def shooter(run):
    return make_shooter(predators(), cut_segments([run], NOISE, EDGES), [run.x], n_substeps=8)


@pytest.fixture
def initial(run, shooter):
    return shooter.segments.initial_states([run.x])


def residuals_by_definition(run, initial, constants):
    """Return the residuals of each segment, [size, D], from an independent integration."""
    parts = zip(EDGES[0], EDGES[0][1:], initial.T, strict=False)
    return [(run.x[a:b] - solve(first, T[a:b], constants)) / NOISE for a, b, first in parts]


def as_rows(residuals, n_samples):
    """Return residuals as the shooter lays them out: state by state, with 0 for padding."""
    padded = [np.vstack([part, np.zeros((n_samples - len(part), 2))]).T.ravel() for part in residuals]
    return np.array(padded)


def test_residuals_are_those_of_an_independent_integration(run, shooter, initial):
    found = shooter.residuals(CONSTANTS[np.newaxis], initial[np.newaxis])[0]
    expected = as_rows(residuals_by_definition(run, initial, CONSTANTS), shooter.segments.length)
    assert_allclose(found, expected, atol=1e-4)


def test_sets_of_constants_are_followed_independently(shooter, initial):
    sets = np.array([CONSTANTS, 1.1 * CONSTANTS])
    both = shooter.follow(sets, np.array([initial, initial]))
    for constants, states in zip(sets, both, strict=True):
        assert_allclose(states, shooter.follow(constants[np.newaxis], initial[np.newaxis])[0])


def test_slopes_are_the_finite_differences_of_the_predictions(run, shooter, initial):
    _, found = shooter.linearise(CONSTANTS, initial, with_constants=True)
    length = shooter.segments.length
    for place in range(2 + CONSTANTS.size):
        step = 1e-5
        ends = []
        for sign in (1, -1):
            constants, first = CONSTANTS.copy(), initial.copy()
            if place < 2:
                first[place] += sign * step
            else:
                constants[place - 2] += sign * step
            ends.append(as_rows(residuals_by_definition(run, first, constants), length))
        expected = (ends[1] - ends[0]) / (2 * step)  # predictions are subtracted from the data
        assert_allclose(found[:, place], expected, rtol=2e-3, atol=2e-3 * np.abs(expected).max())


def test_without_constants_the_slopes_are_those_by_first_states(shooter, initial):
    _, all_slopes = shooter.linearise(CONSTANTS, initial, with_constants=True)
    _, by_states = shooter.linearise(CONSTANTS, initial, with_constants=False)
    assert_allclose(by_states, all_slopes[:, :2])


def test_sensitivity_grows_like_a_small_error():
    t = np.linspace(0, 3, 61)
    growth = make_system("C*x", states=("x",), constants=[2.0])
    run = Trajectory(t, np.exp(2 * t)[:, np.newaxis], np.empty((61, 0)), None)
    shooter = make_shooter(growth, cut_segments([run], np.ones(1), [np.array([0, 21, 61])]), [run.x], n_substeps=8)
    found = shooter.sensitivity(growth.constants, shooter.segments.initial_states([run.x]))
    assert_allclose(found, np.exp(2 * (t[[20, 60]] - t[[0, 21]])), rtol=1e-3)


def test_a_trajectory_that_leaves_the_data_far_behind_is_lost():
    t = np.linspace(0, 5, 51)
    explosion = make_system("C*x*x", states=("x",), constants=[1.0])  # from 1 it is infinite at t = 1
    run = Trajectory(t, np.ones((51, 1)), np.empty((51, 0)), None)
    shooter = make_shooter(explosion, cut_segments([run], np.ones(1), [np.array([0, 51])]), [run.x])
    first = np.array([[1.0]])
    states = shooter.follow(explosion.constants[np.newaxis], first[np.newaxis])[0, 0, 0]
    assert np.isfinite(states[:9]).all()
    assert np.isnan(states[15:]).all()
    assert np.isinf(sum_squares(shooter.residuals(explosion.constants[np.newaxis], first[np.newaxis])[0])).all()
    assert np.isinf(shooter.sensitivity(explosion.constants, first)).all()
    normal = shooter.normal_equations(explosion.constants, first, np.array([True]))
    assert normal.constants.tolist() == [[0.0]]  # what is lost does not count


def test_a_map_goes_one_step_per_sample():
    logistic = make_system("C*x*(1 - x)", states=("x",), constants=[3.7], is_discrete=True)
    run = Trajectory(np.arange(4.0), np.full((4, 1), 0.5), np.empty((4, 0)), None)
    shooter = make_shooter(logistic, cut_segments([run], np.ones(1), [np.array([0, 4])]), [run.x])
    expected = [0.4]
    for _ in range(3):
        expected.append(3.7 * expected[-1] * (1 - expected[-1]))
    assert_allclose(shooter.follow(logistic.constants[np.newaxis], np.array([[[0.4]]]))[0, 0, 0], expected)
    assert shooter.refined_for(logistic.constants, np.array([[0.4]])) is shooter


def test_positions_of_second_order_are_compared_and_velocities_are_not():
    oscillator = make_system("C*x", states=("x",), constants=[-4.0], order=2)
    run = Trajectory(T, np.cos(2 * T)[:, np.newaxis], np.empty((T.size, 0)), None)
    states = np.column_stack([np.cos(2 * T), -2 * np.sin(2 * T)])
    shooter = make_shooter(oscillator, cut_segments([run], np.ones(1), EDGES), [states], n_substeps=8)
    initial = shooter.segments.initial_states([states])
    found = shooter.residuals(oscillator.constants[np.newaxis], initial[np.newaxis])[0]
    assert found.shape == (3, shooter.segments.length)
    assert_allclose(found, 0.0, atol=1e-4)


def test_inputs_drive_the_trajectories():
    u = 2 * T  # linear between samples, as the integration takes it
    integrator = make_system("C*u", states=("x",), constants=[1.5], inputs=("u",))
    run = Trajectory(T, 1.5 * T[:, np.newaxis] ** 2, u[:, np.newaxis], None)
    shooter = make_shooter(integrator, cut_segments([run], np.ones(1), EDGES), [run.x])
    initial = shooter.segments.initial_states([run.x])
    assert_allclose(shooter.residuals(integrator.constants[np.newaxis], initial[np.newaxis])[0], 0.0, atol=1e-9)


def test_steps_are_refined_until_the_integration_is_accurate():
    t = np.linspace(0, 6, 13)
    fast = make_system("C*y", "-C*x", states=("x", "y"), constants=[3.0, 3.0])
    clean = np.column_stack([np.sin(3 * t), np.cos(3 * t)])
    run = Trajectory(t, clean, np.empty((t.size, 0)), None)
    coarse = make_shooter(fast, cut_segments([run], np.full(2, 0.01), [np.array([0, 13])]), [clean])
    initial = coarse.segments.initial_states([clean])
    errors = []
    for shooter in (coarse, coarse.refined_for(fast.constants, initial)):
        residuals = shooter.residuals(fast.constants[np.newaxis], initial[np.newaxis])[0]
        errors.append(np.sqrt(np.mean(residuals**2)))
    assert errors[0] > 1
    assert errors[1] < 10 * INTEGRATION_ERROR


def test_states_of_whole_runs_are_filled_in_along_the_segments_that_are_wanted(run, shooter, initial):
    [filled] = shooter.fill_in([run.x], CONSTANTS, initial, np.array([False, True, False]))
    assert_allclose(filled[20:35], solve(run.x[20], T[20:35]), atol=1e-4)
    np.testing.assert_array_equal(filled[:20], run.x[:20])
    np.testing.assert_array_equal(filled[35:], run.x[35:])


def test_sizes_of_0_are_replaced_by_1():
    assert one_for_zero(np.array([0.0, 2.0])).tolist() == [1.0, 2.0]


# ---- normal equations ----------------------------------------------------------------------------


@pytest.fixture
def slopes_and_residuals(rng):
    """Return slopes [M, S + C, K] and residuals [M, K] of 4 segments with 2 states and 3 constants."""
    return rng.normal(size=(4, 5, 12)), rng.normal(size=(4, 12))


def make_normal(slopes, residuals):
    gram = slopes @ np.swapaxes(slopes, 1, 2)
    slope = np.einsum("mpk,mk->mp", slopes, residuals)
    return NormalEquations(
        gram[:, :2, :2], gram[:, :2, 2:], gram[:, 2:, 2:].sum(axis=0), slope[:, :2], slope[:, 2:].sum(axis=0)
    )


def make_design(slopes):
    """Return the matrix [M * K, M * S + C] of the same least squares with all unknowns at once."""
    n_segments, _, n_rows = slopes.shape
    design = np.zeros((n_segments * n_rows, 2 * n_segments + 3))
    for m in range(n_segments):
        rows = slice(m * n_rows, (m + 1) * n_rows)
        design[rows, 2 * m : 2 * m + 2] = slopes[m, :2].T
        design[rows, -3:] = slopes[m, 2:].T
    return design


def test_a_step_without_damping_is_that_of_least_squares_with_all_unknowns(slopes_and_residuals):
    slopes, residuals = slopes_and_residuals
    constants, states = make_normal(slopes, residuals).step(np.zeros((4, 2)), np.zeros(3))
    expected = np.linalg.lstsq(make_design(slopes), residuals.ravel(), rcond=None)[0]
    assert_allclose(constants, expected[-3:], rtol=1e-8)
    assert_allclose(states.T.ravel(), expected[:-3], rtol=1e-8)


def test_damping_shortens_a_step(slopes_and_residuals):
    normal = make_normal(*slopes_and_residuals)
    free, damped = (
        np.concatenate([part.ravel() for part in normal.step(np.full((4, 2), d), np.full(3, d))]) for d in (0.0, 1e3)
    )
    assert np.linalg.norm(damped) < 0.1 * np.linalg.norm(free)


def test_standard_errors_are_those_of_least_squares_with_all_unknowns(slopes_and_residuals):
    slopes, residuals = slopes_and_residuals
    design = make_design(slopes)
    expected = np.sqrt(np.diag(np.linalg.inv(design.T @ design)))[-3:]
    assert_allclose(make_normal(slopes, residuals).standard_errors(), expected, rtol=1e-8)


def test_constants_that_the_data_does_not_show_have_infinite_errors(slopes_and_residuals):
    slopes, residuals = slopes_and_residuals
    slopes[:, 3] = slopes[:, 2]  # only the sum of two constants matters
    errors = make_normal(slopes, residuals).standard_errors()
    assert np.isinf(errors).tolist() == [True, True, False]


def test_a_step_of_equations_that_overflow_is_no_number(slopes_and_residuals):
    slopes, residuals = slopes_and_residuals
    with np.errstate(all="ignore"):
        constants, states = make_normal(slopes * 1e200, residuals).step(np.zeros((4, 2)), np.zeros(3))
    assert np.isnan(constants).all()
    assert np.isnan(states).all()
