"""Sums of products as closings: exact ones are found, what is written obeys the grammar and fits by least squares."""

import numpy as np
import pytest
from tests.kernels.completion_twins import (
    SmallCompletion,
    assert_derived,
    closing_values,
    make_state,
    set_goal,
    weights_of,
)
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer

from spl.kernels.tree.product_sum_closers import close_by_products

pytestmark = pytest.mark.slow

SCALED = "f -> f + f | f * f | C * f | sin(f) | cos(f) | C | x | y"
FACTOR_LAST = "f -> f + f | f * f | f * C | sin(f) | cos(f) | x | y"
WHOLE = "f -> f + f | f - f | f * f | x | y | 1 | 2"
N_ROWS = 60

call_products = open_door(close_by_products)


@pytest.fixture(scope="module")
def smalls():
    texts = (SCALED, FACTOR_LAST, WHOLE)
    with np.errstate(all="ignore"):
        return {text: SmallCompletion(text, n_rows=N_ROWS, n_entries=fewer(60, 30), low=-2.0) for text in texts}


@pytest.mark.parametrize("text", [SCALED, FACTOR_LAST])
def test_an_exact_sum_of_products_is_found_from_one_of_a_few_starts(smalls, text):
    small = smalls[text]
    x, y = small.columns
    goal = 1.3 * x * np.cos(y) - 0.7 * y * y * np.sin(x) + 0.4 * x
    closest = np.inf
    for seed in range(fewer(20, 6)):
        assert set_goal(small, goal, np.random.default_rng(seed).uniform(0.5, 2.0, N_ROWS))
        assert call_products(small.completion, make_state(seed))
        assert_derived(small)
        closest = min(closest, np.max(np.abs(closing_values(small) - goal)))
    assert closest < 1e-9


def test_the_constants_are_those_of_weighted_least_squares(smalls, rng):
    small = smalls[SCALED]
    goal = rng.standard_normal(N_ROWS)
    assert set_goal(small, goal, rng.uniform(0.5, 2.0, N_ROWS))
    assert call_products(small.completion, make_state(1))
    table, work = small.completion.factor_table, small.completion.least_squares
    second, first = np.divmod(table.work.chosen[work.best_kept[: work.n_best]], table.n_first[0])
    roots = np.sqrt(weights_of(small))
    terms = table.values[0, first] * table.values[0, second]
    expected = np.linalg.lstsq((terms * roots).T, goal * roots, rcond=None)[0] @ terms
    np.testing.assert_allclose(closing_values(small), expected, atol=1e-8)


def test_a_number_can_be_a_term(smalls):
    small = smalls[SCALED]
    x, y = small.columns
    assert set_goal(small, 2.5 + 1.3 * x * y)
    texts = []
    for seed in range(12):
        assert call_products(small.completion, make_state(seed))
        texts.append(small.closing_text())
    assert any("+ 2.5" in text or text.startswith("2.5") for text in texts)


def test_a_symbol_without_scaled_products_is_not_closed(smalls):
    small = smalls[WHOLE]
    x, y = small.columns
    assert set_goal(small, x * y + x)
    assert not call_products(small.completion, make_state(0))


def test_a_goal_of_zeros_is_not_closed(smalls):
    small = smalls[SCALED]
    assert set_goal(small, np.zeros(N_ROWS))
    assert not call_products(small.completion, make_state(0))
