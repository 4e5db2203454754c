import numpy as np
import pytest

from spl.datasets import make_lorenz
from spl.dynamics.signals import as_series, estimate_noise, is_even
from spl.errors import DataError


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.001, 0.01, 0.1, 0.5])
def test_noise_of_a_chaotic_system_is_told_within_a_tenth(noise):
    data = make_lorenz(2000, noise=noise)
    true = np.std(data.states - data.clean, axis=0)
    np.testing.assert_allclose(estimate_noise(data.t, data.states), true, rtol=0.1)


@pytest.mark.parametrize("deviation", [0.003, 0.03, 0.3])
def test_noise_on_uneven_times_is_told_within_a_tenth(deviation, rng):
    t = np.sort(rng.uniform(0, 20, 1000))
    noise = rng.normal(0, deviation, t.size)
    assert estimate_noise(t, np.sin(t) + noise)[0] == pytest.approx(np.std(noise), rel=0.1)


def test_noise_of_a_signal_with_rare_spikes_is_told(rng):
    t = np.linspace(0, 30, 600)
    spikes = np.exp(-(((t % 6) - 3) ** 2) / 0.02)
    noise = rng.normal(0, 0.02, t.size)
    assert estimate_noise(t, spikes + noise)[0] == pytest.approx(np.std(noise), rel=0.2)


def test_a_few_outliers_hardly_change_the_noise(rng):
    t = np.linspace(0, 20, 1000)
    x = np.sin(t) + rng.normal(0, 0.05, t.size)
    x[::200] += 3.0
    assert estimate_noise(t, x)[0] == pytest.approx(0.05, rel=0.15)


def test_clean_signals_have_next_to_no_noise():
    data = make_lorenz(1000, noise=0.0)
    assert np.all(estimate_noise(data.t, data.states) < 1e-6 * np.std(data.clean, axis=0))


def test_the_noise_scales_with_the_samples_and_not_with_time(rng):
    t = np.linspace(0, 5, 300)
    x = np.cos(t) + rng.normal(0, 0.1, t.size)
    np.testing.assert_allclose(estimate_noise(1000 * t + 7, 50 * x), 50 * estimate_noise(t, x), rtol=1e-8)


def test_steps_are_even_but_for_rounding():
    assert is_even(1e5 + 0.01 * np.arange(100))
    assert not is_even(np.array([0.0, 1.0, 2.001]))


@pytest.mark.parametrize(
    ("t", "x", "message"),
    [
        ([0, 1, 1], [1, 2, 3], "must increase; 1 follows 1"),
        ([0, 2, 1], [1, 2, 3], "must increase; 1 follows 2"),
        ([0, 1], [1, 2, 3], "2 times, but 3 samples"),
        ([[0, 1]], [1, 2], "times must be one series"),
        ([0, 1], np.zeros((2, 1, 1)), "they have 3 dimensions"),
        ([0, 1], [1, np.nan], "samples hold 1 missing"),
        ([0, np.inf], [1, 2], "times hold 1 missing or infinite"),
        ([0, 1], ["a", "b"], "samples must be numbers"),
        ([0], [1], "1 samples; at least 2"),
    ],
)
def test_a_bad_series_is_named(t, x, message):
    with pytest.raises(DataError, match=message):
        as_series(t, x)
