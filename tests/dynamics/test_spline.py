import numpy as np
import pytest

from spl.dynamics.spline import MIN_SPLINE_SAMPLES, fit_splines
from spl.errors import DataError


def make_noisy_sine(n_samples=500, noise=0.1, seed=0):
    t = np.linspace(0, 12, n_samples)
    return t, (np.sin(t) + np.random.default_rng(seed).normal(0, noise, t.size))[:, None]


def fit_densely(t, x, strength):
    """The slow twin: Gaussian process regression with a twice integrated Wiener process and a vague quadratic."""
    t = t / t[1]
    low = np.minimum(t[:, None], t)
    high = np.maximum(t[:, None], t)
    kernel = low**5 / 20 + (high - low) * low**4 / 8 + (high - low) ** 2 * low**3 / 12
    trend = np.vander(t / t[-1], 3, increasing=True)
    covariance = kernel / strength + np.eye(t.size)
    solved = np.linalg.solve(covariance, np.column_stack([trend, x]))
    constants = np.linalg.solve(trend.T @ solved[:, :3], trend.T @ solved[:, 3:])
    return trend @ constants + kernel / strength @ (solved[:, 3:] - solved[:, :3] @ constants)


def test_a_spline_with_equal_weights_is_the_smoother_of_an_integrated_wiener_process():
    from spl.dynamics.spline import _fit_evenly

    t, x = make_noisy_sine(120)
    spline = _fit_evenly(np.arange(120.0), x[:, 0])
    twin = fit_densely(t, x, 10.0**spline.strength)[:, 0]
    np.testing.assert_allclose(spline.evaluate(0)[5:-5], twin[5:-5], atol=0.005)  # the penalty is a sum over knots


def test_the_fit_moves_and_scales_with_the_data():
    t, x = make_noisy_sine()
    plain, moved = fit_splines(t, x), fit_splines(10 * t + 3, 1e6 * x - 4e6)
    np.testing.assert_allclose(moved.values, 1e6 * plain.values - 4e6, rtol=1e-6, atol=1.0)
    np.testing.assert_allclose(moved.slopes, 1e5 * plain.slopes, rtol=1e-4, atol=1.0)
    np.testing.assert_allclose(moved.second, 1e4 * plain.second, rtol=1e-3, atol=10.0)


def test_clean_samples_are_kept():
    t, x = make_noisy_sine(noise=0.0)
    fit = fit_splines(t, x)
    np.testing.assert_allclose(fit.values, x, atol=1e-7)
    np.testing.assert_allclose(fit.slopes[:, 0], np.cos(t), atol=1e-4)


def test_more_noise_leaves_less_freedom():
    freedoms = [fit_splines(*make_noisy_sine(noise=noise)).freedom[0] for noise in (0.001, 0.03, 0.5)]
    assert freedoms[0] > freedoms[1] > freedoms[2] > 3


@pytest.mark.parametrize("n_samples", [20_000, 1000])
def test_many_samples_of_a_slow_signal_stay_well_conditioned(n_samples):
    t, x = make_noisy_sine(n_samples, noise=0.2)
    fit = fit_splines(t, x)
    error = np.abs(fit.slopes[:, 0] - np.cos(t))[n_samples // 20 : -n_samples // 20]
    assert error.max() < 0.25 * np.sqrt(1000 / n_samples) + 0.05


def test_a_spline_is_rough_only_where_the_signal_is():
    t = np.linspace(-4, 4, 800)
    x = (np.tanh(8 * t) + np.random.default_rng(1).normal(0, 0.05, t.size))[:, None]
    slopes = fit_splines(t, x).slopes[:, 0]
    assert np.abs(slopes[np.abs(t) < 0.05] - 8).max() < 2
    assert np.std(slopes[(np.abs(t) > 1) & (np.abs(t) < 3.5)]) < 0.15


@pytest.mark.parametrize("n_samples", [MIN_SPLINE_SAMPLES, 11, 33])
def test_few_samples_are_enough(n_samples):
    t, x = make_noisy_sine(n_samples)
    fit = fit_splines(t, x)
    assert np.all(np.isfinite(fit.slopes))


def test_times_of_very_different_density_are_fitted():
    t = np.geomspace(0.01, 10, 300)
    x = (np.exp(-t) + np.random.default_rng(2).normal(0, 0.01, t.size))[:, None]
    assert np.abs(fit_splines(t, x).values[:, 0] - np.exp(-t)).max() < 0.02


def test_times_too_uneven_for_a_spline_are_named():
    t = np.geomspace(1e-6, 10, 300)
    with pytest.raises(DataError, match=r"too uneven for a spline: 5\.5\d+e-08 to 0\.52"):
        fit_splines(t, np.sin(t)[:, None])
