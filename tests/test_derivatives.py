import numpy as np
import pytest

from spl.datasets import make_lorenz
from spl.derivatives import estimate_derivative, smooth
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
        ([1.0] * 50, 0.0, {}, SettingError, "`step` must be a number above 0; it is 0.0"),
        ([1.0] * 50, np.nan, {}, SettingError, "`step` must be a number above 0; it is nan"),
        ([1.0] * 50, 0.1, {"window": 10}, SettingError, "`window` must be an odd whole number, 1 or more; it is 10"),
        ([1.0] * 50, 0.1, {"window": 5.0}, SettingError, "`window` must be an odd whole number"),
        ([1.0] * 50, 0.1, {"window": -3}, SettingError, "it is -3"),
        ([1.0] * 50, 0.1, {"window": True}, SettingError, "it is True"),
        ([1.0] * 50, 0.1, {"order": -1}, SettingError, "`order` must be a whole number, 0 or more; it is -1"),
        ([1.0] * 50, 0.1, {"window": 5, "order": 5}, SettingError, "below the window of 5 samples; it is 5"),
        ([1.0] * 40 + [np.nan, np.inf], 0.1, {}, DataError, "2 missing or infinite values"),
        (["a", "b", "c"] * 20, 0.1, {}, DataError, "must be numbers"),
        (np.zeros((30, 2, 2)), 0.1, {}, DataError, "they have 3 dimensions"),
    ],
)
def test_a_mistake_is_named_with_its_value(samples, step, options, error, message):
    with pytest.raises(error, match=message):
        estimate_derivative(samples, step, **options)
