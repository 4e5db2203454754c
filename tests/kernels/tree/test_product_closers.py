"""Products of powers: exponents against the goals that were made of them, and what the grammar cannot spell."""

import numpy as np
import pytest
from tests.kernels.completion_twins import SmallCompletion, assert_derived, closing_values, set_goal
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer

from spl.kernels.tree.product_closers import close_by_monomial, close_by_power_look_up

pytestmark = pytest.mark.slow

MONOMIALS = "f -> f * f | f / f | sqrt(f) | x | y | z"
SCALED_MONOMIALS = "f -> f * f | f / f | sqrt(f) | f * C | C | x | y | z"
SUMS = "f -> f + f | f - f | f * f | f / f | sqrt(f) | sin(f) | f * C | x | y | z"
PLAIN_SUMS = "f -> f + f | f - f | f * f | f / f | sqrt(f) | x | y | z"

call_monomial, call_power = open_door(close_by_monomial), open_door(close_by_power_look_up)


@pytest.fixture(scope="module")
def smalls():
    names = ("x", "y", "z")
    with np.errstate(all="ignore"):
        return {
            MONOMIALS: SmallCompletion(MONOMIALS, n_rows=40, n_entries=40, names=names),
            SCALED_MONOMIALS: SmallCompletion(SCALED_MONOMIALS, n_rows=40, n_entries=40, names=names, low=-2.0),
            SUMS: SmallCompletion(SUMS, n_rows=40, n_entries=600, names=names, low=-2.0),
            PLAIN_SUMS: SmallCompletion(PLAIN_SUMS, n_rows=40, n_entries=600, names=names),
        }


# --- monomials


def random_exponents(seed, step):
    rng = np.random.default_rng(seed)
    while True:
        exponents = rng.integers(-2 / step, 2 / step + 1, 3) * step
        if np.any(exponents):
            return exponents


def test_random_whole_and_half_exponents_are_found(smalls):
    small = smalls[MONOMIALS]
    for seed in range(fewer(150, 40)):
        goal = np.prod(small.columns ** random_exponents(seed, 0.5)[:, None], axis=0)
        set_goal(small, goal, np.random.default_rng(seed).uniform(0.5, 2.0, goal.size))
        assert call_monomial(small.completion)
        np.testing.assert_allclose(closing_values(small), goal, rtol=1e-9)
        assert_derived(small)


def test_random_whole_exponents_of_negative_variables_are_found_up_to_a_factor(smalls):
    small = smalls[SCALED_MONOMIALS]
    assert np.any(small.columns < 0, axis=1).all()
    for seed in range(fewer(150, 40)):
        goal = -3.7 * np.prod(small.columns ** random_exponents(seed, 1.0)[:, None], axis=0)
        set_goal(small, goal)
        assert call_monomial(small.completion)
        assert len(small.closing()[1]) == 1
        np.testing.assert_allclose(closing_values(small, [-3.7]), goal, rtol=1e-9)
        assert_derived(small)


def test_nine_of_ten_monomials_are_found_at_5_percent_noise(smalls):
    small = smalls[MONOMIALS]
    n_tried, n_found = fewer(100, 30), 0
    for seed in range(n_tried):
        rng = np.random.default_rng(seed)
        goal = np.prod(small.columns ** random_exponents(seed, 1.0)[:, None], axis=0)
        set_goal(small, goal * (1 + 0.05 * rng.standard_normal(goal.size)))
        n_found += bool(call_monomial(small.completion)) and np.allclose(closing_values(small), goal)
    assert n_found >= 0.9 * n_tried


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        (MONOMIALS, lambda x, y, z: x**0.25),  # not a whole or half power
        (MONOMIALS, lambda x, y, z: x**7),  # beyond the largest
        (MONOMIALS, lambda x, y, z: 3.0 + 0 * x),  # no variable at all
        (MONOMIALS, lambda x, y, z: 0 * x),
        (MONOMIALS, lambda x, y, z: np.nan * x),
        ("f -> f + f | C * f | x | y | z", lambda x, y, z: x * y),  # the grammar has no products
        ("f -> f * f | x | y | z", lambda x, y, z: x / y),  # no quotients
        ("f -> f * f | x | y | z", lambda x, y, z: x * np.sqrt(y)),  # no roots
    ],
)
def test_a_monomial_that_cannot_be_spelled_is_refused(smalls, text, goal):
    small = smalls.get(text) or SmallCompletion(text, n_rows=40, n_entries=20, names=("x", "y", "z"))
    set_goal(small, goal(*small.columns))
    assert not call_monomial(small.completion)


# --- powers of entries


FACTORS = {
    "x + y": lambda x, y, z: x + y,
    "x - z": lambda x, y, z: x - z,
    "x**2 - y**2": lambda x, y, z: x * x - y * y,
    "x*y + z**2": lambda x, y, z: x * y + z * z,
}


@pytest.mark.parametrize("factor", FACTORS)
def test_a_power_of_an_entry_times_powers_of_the_variables_is_found(smalls, factor):
    small = smalls[PLAIN_SUMS]
    base = FACTORS[factor](*small.columns)
    for seed in range(fewer(40, 10)):
        exponent = np.random.default_rng(seed).choice([-2.0, -1.0, 1.0, 2.0])
        goal = base**exponent * np.prod(small.columns ** random_exponents(seed, 0.5)[:, None], axis=0)
        set_goal(small, goal)
        assert call_power(small.completion)
        np.testing.assert_allclose(np.abs(closing_values(small)), np.abs(goal), rtol=1e-9)
        assert_derived(small)


@pytest.mark.parametrize("factor", FACTORS)
def test_it_is_found_up_to_a_number_where_the_grammar_has_constants(smalls, factor):
    small = smalls[SUMS]
    goal = -3.7 * FACTORS[factor](*small.columns) ** -2 * small.columns[0] / small.columns[2]
    set_goal(small, goal)
    assert call_power(small.completion)
    assert len(small.closing()[1]) == 1
    np.testing.assert_allclose(closing_values(small, [-3.7]), goal, rtol=1e-9)
    assert_derived(small)


def test_a_root_of_an_entry_is_found(smalls):
    small = smalls[PLAIN_SUMS]
    x, y, z = small.columns
    goal = z / np.sqrt(x * x + y * y)
    set_goal(small, goal)
    assert call_power(small.completion)
    np.testing.assert_allclose(closing_values(small), goal, rtol=1e-9)


@pytest.mark.parametrize(
    "goal",
    [
        lambda x, y, z: (x + y) * (x * x + z + y * z),  # two factors, one of which the bank does not have
        lambda x, y, z: (x + y) ** 0.3,  # not a whole or half power
        lambda x, y, z: (x + y) * x**0.3,
        lambda x, y, z: (x + y) ** 7,  # beyond the largest
        lambda x, y, z: x * y / z,  # nothing but variables: a monomial
        lambda x, y, z: (x + y) * (1 + 1e-3 * np.cos(np.arange(x.size))),  # noise
        lambda x, y, z: np.where(np.arange(x.size) == 0, 0.0, x + y),  # a zero
        lambda x, y, z: np.nan * x,
    ],
)
def test_a_goal_that_is_no_such_product_is_refused(smalls, goal):
    small = smalls[PLAIN_SUMS]
    set_goal(small, goal(*small.columns))
    assert not call_power(small.completion)


def test_without_products_in_the_grammar_nothing_is_found():
    small = SmallCompletion("f -> f + f | f - f | C * f | x | y", n_rows=40, n_entries=20)
    set_goal(small, (small.columns[0] + small.columns[1]) ** 2)
    assert not call_power(small.completion)


def test_with_too_few_rows_nothing_is_found():
    small = SmallCompletion(PLAIN_SUMS, n_rows=7, n_entries=20, names=("x", "y", "z"))
    set_goal(small, (small.columns[0] + small.columns[1]) ** 2)
    assert not call_power(small.completion)
