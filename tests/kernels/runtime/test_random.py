"""The random numbers of the kernels against splitmix64 written with Python's own integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.kernels.search_twins import fewer

from spl.kernels.runtime.random import random_below, random_bits, random_normal, random_unit, scramble

SEEDS = st.integers(0, 2**64 - 1)
N = fewer(20_000, 2_000)
UNLIKELY = 1e-4  # the seeds below are fixed, so these tests either always fail or never


def make_state(seed: int) -> np.ndarray:
    return np.array([seed], np.uint64)


def scramble_slowly(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
    return z ^ (z >> 31)


def bits_slowly(seed: int, n: int) -> list[int]:
    return [scramble_slowly((seed + k * 0x9E3779B97F4A7C15) % 2**64) for k in range(1, n + 1)]


def draw_bits(seed: int, n: int) -> list[int]:
    state = make_state(seed)
    return [int(random_bits(state)) for _ in range(n)]


def test_the_twin_gives_the_published_numbers_of_splitmix64():
    assert bits_slowly(1234567, 5) == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip


@pytest.mark.slow
@given(SEEDS)
def test_any_seed_gives_the_numbers_of_splitmix64(seed):
    assert draw_bits(seed, 4) == bits_slowly(seed, 4)


@given(SEEDS)
def test_scrambling_is_the_mixing_of_splitmix64(z):
    assert int(scramble(np.uint64(z))) == scramble_slowly(z)


def test_scrambling_changes_about_half_of_the_bits_when_one_changes():
    flips = [scramble_slowly(12345) ^ int(scramble(np.uint64(12345 ^ (1 << bit)))) for bit in range(64)]
    counts = [flip.bit_count() for flip in flips]
    assert 28 < np.mean(counts) < 36


def test_two_states_do_not_disturb_each_other():
    one, other = make_state(1), make_state(2)
    mixed = [(int(random_bits(one)), int(random_bits(other))) for _ in range(10)]
    assert mixed == list(zip(draw_bits(1, 10), draw_bits(2, 10), strict=True))


@given(SEEDS, st.integers(1, 2**31))
def test_a_number_below_n_is_the_high_half_scaled_to_n(seed, n):
    number = int(random_below(make_state(seed), n))
    assert number == ((bits_slowly(seed, 1)[0] >> 32) * n) >> 32
    assert 0 <= number < n


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64])
def test_numbers_below_n_are_equally_likely(n):
    state = make_state(5)
    counts = np.bincount([random_below(state, n) for _ in range(N)], minlength=n)
    assert counts.size == n
    assert n == 1 or stats.chisquare(counts).pvalue > UNLIKELY


@given(SEEDS)
def test_a_unit_number_holds_the_upper_53_bits(seed):
    number = float(random_unit(make_state(seed)))
    assert number == (bits_slowly(seed, 1)[0] >> 11) / 2**53
    assert 0.0 <= number < 1.0


def test_unit_numbers_are_uniform():
    state = make_state(6)
    assert stats.kstest([random_unit(state) for _ in range(N)], "uniform").pvalue > UNLIKELY


def test_normal_numbers_are_standard_normal():
    state = make_state(7)
    assert stats.kstest([random_normal(state) for _ in range(N)], "norm").pvalue > UNLIKELY


def test_normal_numbers_in_a_row_do_not_depend_on_each_other():
    state = make_state(8)
    numbers = np.array([random_normal(state) for _ in range(N)])
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 4 / np.sqrt(N)
