import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from spl.data.trajectories import Trajectory
from spl.dynamics.derivatives import smooth
from spl.dynamics.refine import find_standard_errors, refine, refine_in_steps, refine_joined
from spl.errors import DataError
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

PREDATORS = np.array([1.1, -0.4, 0.1, -0.4])


def make(states, *texts, constants, inputs=(), order=1, is_discrete=False):
    columns = states + (tuple(f"d{name}" for name in states) if order == 2 else ()) + inputs
    programs = tuple(parse_expression(text, Vocabulary(columns)) for text in texts)
    return System(states, inputs, programs, order, is_discrete).with_constants(constants)


def make_predators(constants=PREDATORS):
    return make(("x", "y"), "C*x + C*x*y", "C*x*y + C*y", constants=constants)


def make_run(t, x, u=None):
    return Trajectory(t, x, np.empty((t.size, 0)) if u is None else u, None)


def solve(slopes, x0, t):
    return solve_ivp(slopes, (t[0], t[-1]), x0, t_eval=t, rtol=1e-10, atol=1e-10).y.T


def solve_predators(t, x0=(10.0, 5.0)):
    a, b, c, d = PREDATORS
    return solve(lambda _, s: [a * s[0] + b * s[0] * s[1], c * s[0] * s[1] + d * s[1]], x0, t)


def solve_lorenz(t):
    return solve(
        lambda _, s: [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]], [-8, 7, 27], t
    )


def add_noise(x, share, rng):
    noise = share * np.sqrt((x**2).mean(axis=0))
    return x + noise * rng.normal(size=x.shape), noise


@pytest.mark.slow
def test_chaos_is_fitted_from_constants_that_are_off(rng):
    t = np.arange(2000) * 0.01
    x, noise = add_noise(solve_lorenz(t), 0.05, rng)
    truth = np.array([10, 28, 8 / 3])
    system = make(("x", "y", "z"), "C*(y - x)", "x*(C - z) - y", "x*y - C*z", constants=truth * [0.95, 1.05, 0.95])
    found = refine(system, [make_run(t, x)], [smooth(x)], noise)
    assert_allclose(found.system.constants, truth, rtol=0.01)
    assert (np.abs(found.system.constants - truth) < 4 * found.standard_errors).all()
    assert found.chi2 == pytest.approx(1, abs=0.1)
    assert found.segments.length > 200
    assert found.notes == ()


def test_chaos_under_strong_noise_is_followed_along_segments_that_are_joined(rng):
    t = np.arange(2000) * 0.01
    x, noise = add_noise(solve_lorenz(t), 0.2, rng)
    system = make(("x", "y", "z"), "C*(y - x)", "x*(C - z) - y", "x*y - C*z", constants=[9.5, 28.5, 2.5])
    runs, starts = [make_run(t, x)], [smooth(x)]
    fit = refine(system, runs, starts, noise, length=32)
    for _ in range(3):
        fit = refine_joined(fit, runs, starts, noise)
    assert fit.segments.n_segments <= 10  # of the 64 at first; a few may stay cut
    assert fit.is_used.all()
    assert fit.error == pytest.approx(1, abs=0.05)  # one segment on a wrong way would add 1


def test_a_segment_that_was_left_out_gets_another_chance_when_joined(rng):
    t = np.linspace(0, 4, 100)
    x = np.exp(-t)[:, np.newaxis] + rng.normal(0, 0.01, (100, 1))
    system = make(("x",), "C*x", constants=[-1.1])
    fit = refine(system, [make_run(t, x)], [x], [0.01], length=10)
    left_out = dataclasses.replace(fit, is_used=np.arange(fit.is_used.size) > 0)
    assert refine_joined(left_out, [make_run(t, x)], [x], [0.01]).is_used.all()


@pytest.mark.slow
def test_standard_errors_are_honest():
    t = np.linspace(0, 12, 60)
    clean = solve_predators(t)
    is_inside = []
    for seed in range(40):
        x, noise = add_noise(clean, 0.05, np.random.default_rng(seed))
        found = refine(make_predators(1.05 * PREDATORS), [make_run(t, x)], [smooth(x, window=9, order=3)], 0.7 * noise)
        is_inside.append(np.abs(found.system.constants - PREDATORS) < 2 * found.standard_errors)
    # 160 draws of 0.95, in fours that depend on each other: the sd of the share is at most 0.035
    assert 0.88 <= np.mean(is_inside) <= 0.995


@pytest.mark.slow
def test_standard_errors_of_another_form_are_those_of_its_own_numbers():
    t = np.linspace(0, 12, 60)
    clean = solve_predators(t)
    other = make(("x", "y"), "C*x*(1 - y/C)", "C*x*y + C*y", constants=PREDATORS)
    values, errors = [], []
    for seed in range(60):
        x, noise = add_noise(clean, 0.05, np.random.default_rng(seed))
        runs, starts = [make_run(t, x)], [smooth(x, window=9, order=3)]
        found = refine(make_predators(1.05 * PREDATORS), runs, starts, noise)
        a, b, c, d = found.system.constants
        values.append([a, -a / b, c, d])
        errors.append(find_standard_errors(other.with_constants(values[-1]), found, runs, starts, noise))
    assert_allclose(np.mean(errors, axis=0), np.std(values, axis=0), rtol=0.3)  # 60 draws tell a spread to 9 %


def test_data_without_noise_give_the_constants_to_many_digits():
    t = np.linspace(0, 10, 100)
    x = solve_predators(t)
    found = refine(make_predators(0.95 * PREDATORS), [make_run(t, x)], [x], [0.0, 0.0])
    assert_allclose(found.system.constants, PREDATORS, rtol=1e-5)
    assert (np.abs(found.system.constants - PREDATORS) < 4 * found.standard_errors).all()


def test_accelerations_are_fitted_to_positions(rng):
    t = np.linspace(0, 15, 300)
    clean = solve(lambda _, s: [s[1], -2 * np.sin(s[0]) - 0.1 * s[1]], [2.0, 0.0], t)[:, :1]
    x = clean + 0.03 * rng.normal(size=clean.shape)
    smoothed = smooth(x, window=15, order=3)
    starts = np.column_stack([smoothed, np.gradient(smoothed[:, 0], t)])
    pendulum = make(("a",), "C*sin(a) + C*da", constants=[-1.9, -0.12], order=2)
    found = refine(pendulum, [make_run(t, x)], [starts], [0.03])
    assert_allclose(found.system.constants, [-2, -0.1], rtol=0.05)
    assert found.initial_states.shape[1] == 2


def test_inputs_and_several_runs_with_uneven_times_are_used(rng):
    runs = []
    for n in (70, 120):
        t = np.sort(rng.uniform(0, 10, n))
        u = np.interp(t, np.linspace(0, 10, 30), rng.normal(size=30))
        x = solve(lambda s, z, t=t, u=u: [-0.5 * z[0] + 2 * np.interp(s, t, u)], [1.0], t)
        runs.append(make_run(t, x + 0.01 * rng.normal(size=x.shape), u[:, np.newaxis]))
    system = make(("x",), "C*x + C*u", constants=[-0.6, 1.8], inputs=("u",))
    found = refine(system, runs, [run.x for run in runs], [0.01])
    assert_allclose(found.system.constants, [-0.5, 2], rtol=0.02)
    assert found.n_observations == 190


def test_a_map_is_fitted(rng):
    x = [0.4]
    for _ in range(199):
        x.append(3.7 * x[-1] * (1 - x[-1]))
    noisy = np.array(x)[:, np.newaxis] + 0.005 * rng.normal(size=(200, 1))
    system = make(("x",), "C*x*(1 - x)", constants=[3.65], is_discrete=True)
    found = refine(system, [make_run(np.arange(200.0), noisy)], [noisy], [0.005])
    assert_allclose(found.system.constants, [3.7], rtol=0.002)


def test_a_constant_that_the_data_do_not_show_has_an_infinite_error(rng):
    t = np.linspace(0, 3, 60)
    x = np.exp(-t)[:, np.newaxis] + 0.01 * rng.normal(size=(60, 1))
    found = refine(make(("x",), "(C + C)*x", constants=[-0.5, -0.4]), [make_run(t, x)], [x], [0.01])
    assert np.isinf(found.standard_errors).all()
    assert found.system.constants.sum() == pytest.approx(-1, abs=0.03)


def test_a_system_without_constants_is_only_followed(rng):
    t = np.linspace(0, 3, 60)
    x = np.exp(-t)[:, np.newaxis] + 0.01 * rng.normal(size=(60, 1))
    found = refine(make(("x",), "-x", constants=[]), [make_run(t, x)], [x], [0.01])
    assert found.standard_errors.shape == (0,)
    assert found.chi2 == pytest.approx(1, abs=0.5)


def test_segments_that_cannot_be_followed_are_left_out_with_a_note():
    t = np.linspace(0, 4, 80)
    x = (5 - t)[:, np.newaxis]
    x[40:] -= 10  # the logarithm has no value there
    found = refine(make(("x",), "C + 0*log(x)", constants=[-0.9]), [make_run(t, x)], [x], [0.01], length=8)
    assert not found.is_used[-5:].any()
    assert found.notes == ("5 of 10 segments could not be followed and were left out.",)
    assert_allclose(found.system.constants, [-1], rtol=1e-6)


def test_equations_that_never_hold_give_a_result_with_a_note():
    t = np.linspace(0, 4, 80)
    x = np.ones((80, 1))
    found = refine(make(("x",), "C*log(-x)", constants=[1.0]), [make_run(t, x)], [x], [0.01])
    assert found.n_observations == 0
    assert np.isinf(found.standard_errors).all()
    assert "left out" in found.notes[0]


def test_the_time_is_kept():
    t = np.linspace(0, 12, 100)
    x = solve_predators(t)
    found = refine(make_predators(0.9 * PREDATORS), [make_run(t, x)], [x], [0.1, 0.1], max_seconds=0.0)
    assert found.notes[0].startswith("The time was up")


def test_the_right_system_has_a_smaller_error(rng):
    t = np.linspace(0, 12, 100)
    x, noise = add_noise(solve_predators(t), 0.03, rng)
    runs, starts = [make_run(t, x)], [smooth(x, window=9, order=3)]
    without = make(("x", "y"), "C*x", "C*x*y + C*y", constants=PREDATORS[[0, 2, 3]])
    right, wrong = (
        refine(system, runs, starts, noise, length=32, keeps_constants=True).error
        for system in (make_predators(), without)
    )
    assert right == pytest.approx(1, abs=0.3)
    assert wrong > 2 * right


def test_constants_are_kept_if_only_first_states_are_fitted(rng):
    t = np.linspace(0, 12, 100)
    x, noise = add_noise(solve_predators(t), 0.03, rng)
    given = make_predators(1.05 * PREDATORS)
    found = refine_in_steps(given, [make_run(t, x)], [x], noise, (25, 100), keeps_constants=True)
    assert np.array_equal(found.system.constants, given.constants)
    assert not np.array_equal(found.initial_states[0], x[0])


def test_a_joined_segment_is_cut_again_where_one_trajectory_does_not_fit():
    t = np.linspace(0, 6, 120)
    x = np.where(t < 3, np.exp(-t), 2 * np.exp(-t))[:, np.newaxis]  # a jump that no trajectory follows
    decay = make(("x",), "C*x", constants=[-1.0])
    short = refine(decay, [make_run(t, x)], [x], [0.01], length=60)
    assert refine_joined(short, [make_run(t, x)], [x], [0.01]).segments.n_segments == 2
    assert refine_joined(short, [make_run(t, x)], [x], [0.01], exact_error=1e6).segments.n_segments == 1


def test_steps_end_at_the_last_length(rng):
    t = np.linspace(0, 12, 100)
    x, noise = add_noise(solve_predators(t), 0.03, rng)
    found = refine_in_steps(make_predators(0.95 * PREDATORS), [make_run(t, x)], [x], noise, (25, 50))
    assert found.segments.n_segments == 2
    assert found.system.constants == pytest.approx(PREDATORS, rel=0.1)


def test_no_system_has_a_larger_error_than_the_spread_of_the_data(rng):
    t = np.linspace(0, 12, 100)
    x, noise = add_noise(solve_predators(t), 0.03, rng)
    hopeless = make(("x", "y"), "exp(x**2)", "log(-y)", constants=[])
    worst = refine(hopeless, [make_run(t, x)], [x], noise, length=32).error
    assert worst == pytest.approx((x.var(axis=0) / noise**2).mean())


def test_the_log_likelihood_is_that_of_normal_noise():
    t = np.linspace(0, 1, 16)
    x = np.exp(-t)[:, np.newaxis]
    found = refine(make(("x",), "C*x", constants=[-1.0]), [make_run(t, x)], [x], [0.1])
    assert found.log_likelihood == pytest.approx(-16 * np.log(0.1 * np.sqrt(2 * np.pi)))


@pytest.mark.parametrize(
    ("starts", "noise", "message"),
    [
        ([np.ones((9, 2))], [0.1, 0.1], "the samples of the run"),
        ([np.ones((10, 2))], [0.1], "0 or more, for each of x, y"),
    ],
)
def test_what_does_not_fit_the_runs_is_refused(starts, noise, message):
    with pytest.raises(DataError, match=message):
        refine(make_predators(), [make_run(np.arange(10.0), np.ones((10, 2)))], starts, noise)
