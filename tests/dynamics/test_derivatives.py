import numpy as np
import pytest

from spl.datasets import make_lorenz
from spl.dynamics.derivatives import (
    DERIVATIVES,
    choose_method,
    estimate_derivative,
    estimate_difference_error,
    smooth,
    smooth_and_differentiate,
)
from spl.errors import DataError, SettingError


def test_the_derivative_of_a_parabola_is_exact_up_to_its_ends():
    t = 0.1 * np.arange(60)
    np.testing.assert_allclose(estimate_derivative(3 * t**2 - t + 5, 0.1), 6 * t - 1, atol=1e-10)


def test_columns_are_differentiated_apart():
    t = 0.01 * np.arange(200)
    both = estimate_derivative(np.column_stack([np.sin(t), np.exp(t)]), 0.01)
    np.testing.assert_allclose(both[:, 0], estimate_derivative(np.sin(t), 0.01), rtol=1e-12)
    np.testing.assert_allclose(both[:, 1], estimate_derivative(np.exp(t), 0.01), rtol=1e-12)


def test_a_window_of_one_leaves_the_central_differences():
    x = np.array([0.0, 1.0, 4.0, 9.0, 16.0])
    np.testing.assert_allclose(estimate_derivative(x, 1.0, window=1, order=0)[1:-1], [2.0, 4.0, 6.0])


def test_half_the_step_gives_twice_the_derivative():
    x = np.sin(0.05 * np.arange(100))
    np.testing.assert_allclose(estimate_derivative(x, 0.025), 2 * estimate_derivative(x, 0.05))


def test_smoothing_keeps_a_cubic_and_removes_noise(rng):
    t = np.linspace(-1, 1, 400)
    cubic = t**3 - t
    np.testing.assert_allclose(smooth(cubic), cubic, atol=1e-12)
    noisy = cubic + rng.normal(0, 0.1, t.size)
    assert np.std(smooth(noisy) - cubic) < 0.4 * np.std(noisy - cubic)


def test_the_input_stays_as_it_was(rng):
    x = rng.normal(size=50)
    before = x.copy()
    smooth(x)
    smooth(x, window=1, order=0)[:] = 0
    estimate_derivative(x, 0.1)
    np.testing.assert_array_equal(x, before)


def test_the_filter_recovers_most_of_a_noisy_lorenz_derivative():
    data = make_lorenz(2000)
    raw = estimate_derivative(data.states, 0.01, window=1, order=0)
    filtered = estimate_derivative(data.states, 0.01)
    spread = np.std(data.derivatives, axis=0)
    assert np.all(np.std(raw - data.derivatives, axis=0) > 0.4 * spread)
    assert np.all(np.std(filtered - data.derivatives, axis=0) < 0.2 * spread)


@pytest.mark.parametrize(
    ("samples", "step", "options", "error", "message"),
    [
        ([1.0] * 10, 0.1, {}, DataError, "There are 10 samples for a window of 31"),
        ([1.0, 2.0], 0.1, {"window": 1, "order": 0}, DataError, "There are 2 samples .* Give more samples"),
        ([], 0.1, {}, DataError, "There are 0 samples"),
        ([1.0] * 50, 0.0, {}, SettingError, "`step` must be a number above 0; got 0.0"),
        ([1.0] * 50, np.nan, {}, SettingError, "`step` must be a number above 0; got nan"),
        ([1.0] * 50, 0.1, {"window": 10}, SettingError, "`window` must be an odd whole number, 1 or more; got 10"),
        ([1.0] * 50, 0.1, {"window": 5.0}, SettingError, "`window` must be an odd whole number"),
        ([1.0] * 50, 0.1, {"window": -3}, SettingError, "got -3"),
        ([1.0] * 50, 0.1, {"window": True}, SettingError, "got True"),
        ([1.0] * 50, 0.1, {"order": -1}, SettingError, "`order` must be a whole number, 0 or more; got -1"),
        ([1.0] * 50, 0.1, {"window": 5, "order": 5}, SettingError, "below the window of 5 samples; got 5"),
        ([1.0] * 40 + [np.nan, np.inf], 0.1, {}, DataError, "2 missing or infinite values"),
        (["a", "b", "c"] * 20, 0.1, {}, DataError, "must be numbers"),
        (np.zeros((30, 2, 2)), 0.1, {}, DataError, "they have 3 dimensions"),
    ],
)
def test_a_mistake_is_named_with_its_value(samples, step, options, error, message):
    with pytest.raises(error, match=message):
        estimate_derivative(samples, step, **options)


# ---- methods by name -----------------------------------------------------------------------------


def relative_errors(found, true, cut=20):
    """Return the root mean square error of each column but for the ends, as a share of its root mean square."""
    return np.sqrt(np.mean((found - true)[cut:-cut] ** 2, axis=0) / np.mean(true[cut:-cut] ** 2, axis=0))


def make_spiky(n_samples=1000, noise=0.05, seed=0):
    """Return times, noisy samples and true slopes of a signal that is slow for long and fast for short."""
    t = np.linspace(0, 20, n_samples)
    clean = np.column_stack([np.tanh(6 * np.sin(t)), np.exp(3 * np.cos(t) - 3)])
    slopes = np.column_stack([6 * np.cos(t) / np.cosh(6 * np.sin(t)) ** 2, -3 * np.sin(t) * np.exp(3 * np.cos(t) - 3)])
    spread = noise * np.sqrt(np.mean(clean**2, axis=0))
    return t, clean + np.random.default_rng(seed).normal(size=clean.shape) * spread, slopes


@pytest.mark.parametrize("method", DERIVATIVES)
@pytest.mark.parametrize("even", [True, False])
def test_every_method_is_exact_for_a_parabola(method, even, rng):
    t = np.linspace(0, 3, 80) if even else np.sort(rng.uniform(0, 3, 80))
    found = smooth_and_differentiate(t, 3 * t**2 - t + 5, method, order=2)
    np.testing.assert_allclose(found.values[:, 0], 3 * t**2 - t + 5, atol=1e-4)
    np.testing.assert_allclose(found.slopes[:, 0], 6 * t - 1, atol=2e-3)
    np.testing.assert_allclose(found.second[2:-2, 0], 6.0, atol=0.05)
    assert found.method == method
    assert found.span >= 1


@pytest.mark.parametrize("method", DERIVATIVES)
def test_second_derivatives_come_only_when_asked_for(method):
    t = np.linspace(0, 6, 200)
    assert smooth_and_differentiate(t, np.sin(t), method).second is None
    second = smooth_and_differentiate(t, np.sin(t), method, order=2).second
    np.testing.assert_allclose(second[10:-10, 0], -np.sin(t)[10:-10], atol=0.02)


def test_finite_differences_are_of_high_accuracy():
    t = np.linspace(0, 6, 200)
    np.testing.assert_allclose(smooth_and_differentiate(t, np.sin(t)).slopes[:, 0], np.cos(t), atol=1e-8)


@pytest.mark.parametrize("order", [1, 2])
def test_the_error_of_finite_differences_is_known_within_a_factor(order):
    t = np.linspace(0, 6, 150)
    found = smooth_and_differentiate(t, np.sin(2 * t), "finite_difference", order=2)
    off = found.slopes[:, 0] - 2 * np.cos(2 * t) if order == 1 else found.second[:, 0] + 4 * np.sin(2 * t)
    estimate = estimate_difference_error(t, np.sin(2 * t), order=order)[0]
    assert 0.1 < estimate / np.sqrt(np.mean(off**2)) < 10


def test_the_error_of_too_few_samples_is_not_known():
    assert estimate_difference_error(np.arange(5.0), np.arange(5.0) ** 2).tolist() == [0.0]


def test_splines_beat_the_filter_with_the_best_window_on_a_spiky_signal():
    t, x, slopes = make_spiky()
    found = relative_errors(smooth_and_differentiate(t, x, "spline").slopes, slopes)
    best = np.min([relative_errors(estimate_derivative(x, t[1], window=w), slopes) for w in range(7, 101, 4)], axis=0)
    assert np.all(found < 0.8 * best)


def test_the_filter_finds_nearly_the_best_window():
    t, x, slopes = make_spiky()
    found = relative_errors(smooth_and_differentiate(t, x, "savgol").slopes, slopes)
    best = np.min([relative_errors(estimate_derivative(x, t[1], window=w), slopes) for w in range(7, 101, 4)], axis=0)
    assert np.all(found < 1.15 * best)


def test_splines_recover_the_lorenz_derivative_at_five_percent_noise():
    data = make_lorenz(2000, noise=0.05)
    found = smooth_and_differentiate(data.t, data.states)
    assert found.method == "spline"
    assert np.all(relative_errors(found.slopes, data.derivatives) < 0.1)
    assert 4 < found.span < 20


@pytest.mark.parametrize("method", ["savgol", "spline"])
def test_noise_on_uneven_times_is_smoothed(method, rng):
    t = np.sort(rng.uniform(0, 20, 800))
    found = smooth_and_differentiate(t, np.sin(t) + rng.normal(0, 0.05, t.size), method)
    assert relative_errors(found.slopes, np.cos(t)[:, None])[0] < 0.1
    assert relative_errors(found.values, np.sin(t)[:, None])[0] < 0.03


def test_clean_data_are_differentiated_as_they_are_and_noisy_ones_smoothed(rng):
    t = np.linspace(0, 20, 1000)
    clean = np.column_stack([np.sin(t), np.cos(2 * t)])
    assert choose_method(t, clean) == "finite_difference"
    assert choose_method(t, clean + rng.normal(0, 0.01, clean.shape)) == "spline"
    assert choose_method(t[:8], rng.normal(size=8)) == "finite_difference"


def test_a_function_of_the_user_leaves_the_values_as_they_are():
    t = np.linspace(0, 1, 50)

    def central(times, columns):
        return np.gradient(columns, times, axis=0)

    found = smooth_and_differentiate(t, t**2, central, order=2)
    np.testing.assert_array_equal(found.values[:, 0], t**2)
    np.testing.assert_allclose(found.slopes[1:-1, 0], 2 * t[1:-1])
    np.testing.assert_allclose(found.second[3:-3, 0], 2.0)
    assert found.method == "central"


@pytest.mark.parametrize("method", DERIVATIVES)
def test_a_constant_column_has_no_slope(method):
    t = np.linspace(0, 1, 40)
    found = smooth_and_differentiate(t, np.column_stack([np.full(40, 7.0), t]), method)
    np.testing.assert_allclose(found.slopes, np.tile([0.0, 1.0], (40, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("t", "x", "method", "order", "error", "message"),
    [
        (np.arange(20), np.ones(20), "splin", 1, SettingError, "no derivative method 'splin'. Did you mean 'spline'"),
        (np.arange(20), np.ones(20), "spline", 3, SettingError, "`order` must be 1 or 2; got 3"),
        (np.arange(8), np.ones(8), "spline", 1, DataError, "8 samples; 'spline' needs 10"),
        (np.arange(8), np.ones(8), "savgol", 1, DataError, "8 samples; 'savgol' needs 10"),
        (np.arange(2), np.ones(2), "auto", 1, DataError, "2 samples; at least 3"),
        (np.arange(20), np.ones(20), lambda t, x: [1.0], 1, DataError, r"shape \(1,\); it must be \(20, 1\)"),
        (np.arange(20), np.ones(20), lambda t, x: x * np.nan, 1, DataError, "missing or infinite"),
    ],
)
def test_a_method_that_cannot_work_says_why(t, x, method, order, error, message):
    with pytest.raises(error, match=message):
        smooth_and_differentiate(t, x, method, order=order)
