"""Models of the flow between samples: slopes of coarse samples, their errors, and what noise allows."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectory
from spl.datasets import make_lorenz, make_lotka_volterra, make_van_der_pol
from spl.dynamics.derivatives import smooth_and_differentiate
from spl.dynamics.flow_model import LEAST_STEPS, MAX_STEPS, fit_flow


def make_run(data, every=1):
    return Trajectory(data.t[::every].copy(), data.states[::every].copy(), data.u[::every].copy(), None)


def slope_error(model, run, slopes):
    """Return the error of the slopes, relative to their spread, of the worst state."""
    error = np.sqrt(np.mean((model.slopes(run) - slopes) ** 2, axis=0))
    return float(np.max(error / slopes.std(axis=0)))


def test_slopes_of_seven_samples_per_oscillation_are_right_where_a_spline_is_far_off():
    data = make_lorenz(300, 0.1, noise=0.0)
    run = make_run(data)
    spline = smooth_and_differentiate(run.t, run.x, "spline").slopes
    off = np.sqrt(np.mean((spline - data.derivatives) ** 2, axis=0)) / data.derivatives.std(axis=0)
    assert off.max() > 0.1
    assert slope_error(fit_flow([run]), run, data.derivatives) < 1e-4


def test_a_cubic_law_is_found_although_a_quadratic_one_predicts_no_better_than_a_line():
    data = make_van_der_pol(200, 0.9, mu=1.0)
    assert slope_error(fit_flow([make_run(data)]), make_run(data), data.derivatives) < 1e-3


def test_the_step_error_is_about_that_of_the_noise_of_two_samples():
    data = make_lotka_volterra(400, 0.8, noise=0.01)
    noise = np.std(data.states - data.clean, axis=0)
    error = fit_flow([make_run(data)]).step_error
    assert (error > noise).all()
    assert (error < 8 * noise).all()


def test_inputs_and_several_runs_take_part():
    t = np.arange(80) * 0.7
    runs, slopes = [], []
    for phase in (0.0, 1.0):
        u = np.interp(np.arange(0, 80), np.arange(0, 80, 4), np.sin(np.arange(20) + phase))
        x = _respond(t, u)
        runs.append(Trajectory(t, x[:, np.newaxis], u[:, np.newaxis], None))
        slopes.append(u - 0.5 * x)
    model = fit_flow(runs)
    for run, expected in zip(runs, slopes, strict=True):
        np.testing.assert_allclose(model.slopes(run)[:, 0], expected, atol=1e-4)


def _respond(t, u):
    """Return x with x' = u - x/2 and x(0) = 1, for inputs that are linear between the samples."""
    x = [1.0]
    for k in range(len(t) - 1):
        step, slope = t[k + 1] - t[k], (u[k + 1] - u[k]) / (t[k + 1] - t[k])
        settled = 2 * u[k] - 4 * slope
        x.append((x[-1] - settled) * np.exp(-step / 2) + settled + 2 * slope * step)
    return np.array(x)


def test_many_samples_are_thinned_out_but_all_get_slopes():
    data = make_lotka_volterra(3 * MAX_STEPS, 0.5)
    run = make_run(data)
    model = fit_flow([run])
    assert model.slopes(run).shape == run.x.shape
    assert slope_error(model, run, data.derivatives) < 1e-3


def test_too_few_samples_have_no_model():
    data = make_lotka_volterra(LEAST_STEPS)
    assert fit_flow([make_run(data)]) is None


def test_the_model_is_the_same_every_time():
    run = make_run(make_lorenz(200, 0.1, noise=0.0))
    one, two = (fit_flow([run]) for _ in range(2))
    np.testing.assert_array_equal(one.polynomials.factors, two.polynomials.factors)


@pytest.mark.parametrize("value", [0.0, 1e150])
def test_values_of_any_size_give_finite_slopes(value):
    t = np.arange(40.0)
    x = np.column_stack([np.sin(t) * 1e-8, value + np.cos(t) * max(value, 1.0)])
    run = Trajectory(t, x, np.empty((40, 0)), None)
    assert np.isfinite(fit_flow([run]).slopes(run)).all()
