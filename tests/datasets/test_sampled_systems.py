"""Systems that are sampled a few times per turn: the lengths of their turns, and what is sampled."""

import numpy as np
import pytest

from spl.datasets import SAMPLED_SYSTEMS, SYSTEMS
from spl.errors import SettingError

OSCILLATING = {"lorenz": 2, "hyperchaotic_rossler": 1}  # the state whose maxima are counted, if not the first
CHAOTIC = ("lorenz", "rossler", "thomas", "halvorsen", "hyperchaotic_rossler")
PERIODIC = tuple(name for name in SAMPLED_SYSTEMS if name not in CHAOTIC)
FINE = 200  # samples per turn


def find_maxima(values):
    """Return where a fine sequence has its maxima, in samples, by parabolas through three values."""
    places = np.flatnonzero((values[1:-1] > values[:-2]) & (values[1:-1] >= values[2:])) + 1
    before, at, after = (values[places + shift] for shift in (-1, 0, 1))
    return places + 0.5 * (before - after) / (before - 2 * at + after)


def turns_of(name):
    """Return the times between maxima over the length of a turn, without the first 8 of 40 turns."""
    data = SAMPLED_SYSTEMS[name].sample(FINE)
    settled = data.clean[8 * FINE :, OSCILLATING.get(name, 0)]
    return np.diff(find_maxima(settled)) / FINE


def test_there_are_ten_systems_and_the_twelve_are_another_table():
    assert len(SAMPLED_SYSTEMS) == 10
    assert len(SYSTEMS) == 12
    with pytest.raises(TypeError):
        SAMPLED_SYSTEMS["other"] = None


@pytest.mark.parametrize("name", PERIODIC)
def test_a_turn_is_a_little_longer_than_the_period(name):
    turns = turns_of(name)
    assert np.ptp(turns) < 1e-3  # the orbit is periodic
    assert 1.01 < 1 / turns.mean() < 1.03


@pytest.mark.parametrize("name", CHAOTIC)
def test_a_turn_is_the_mean_time_between_maxima_of_a_chaotic_state(name):
    turns = turns_of(name)
    assert np.std(turns) > 0.02
    assert turns.mean() == pytest.approx(1.0, abs=0.1)  # the mean of 40 irregular turns


@pytest.mark.parametrize("name", SAMPLED_SYSTEMS)
def test_coarse_samples_are_some_of_the_fine_ones(name):
    system = SAMPLED_SYSTEMS[name]
    fine, coarse = system.sample(40), system.sample(5)
    assert (len(fine.t), len(coarse.t)) == (1600, 200)
    assert coarse.t[1] == pytest.approx(system.turn / 5)
    np.testing.assert_array_equal(coarse.states, coarse.clean)
    scale = fine.clean.std(axis=0)
    np.testing.assert_allclose(coarse.clean[:20] / scale, fine.clean[:160:8] / scale, atol=1e-6)  # before chaos tells


def test_noise_and_seed_are_those_asked_for():
    system = SAMPLED_SYSTEMS["lorenz"]
    one, two = (system.sample(10, noise=0.01, seed=seed) for seed in (1, 2))
    np.testing.assert_array_equal(one.clean, two.clean)
    share = np.std(one.states - one.clean, axis=0) / np.sqrt(np.mean(one.clean**2, axis=0))
    np.testing.assert_allclose(share, 0.01, rtol=0.25)
    assert not np.array_equal(one.states, two.states)


@pytest.mark.parametrize("given", [1, 2.5, True])
def test_a_turn_has_at_least_two_samples(given):
    with pytest.raises(SettingError, match="`samples_per_turn` must be"):
        SAMPLED_SYSTEMS["thomas"].sample(given)
