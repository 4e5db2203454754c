"""Products of two factors against numpy: inner products, what each explains by least squares, and exchange until nothing improves."""

import numpy as np
import pytest
from tests.kernels.completion_twins import SmallCompletion, make_state
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer

from spl.kernels.bank.factor_table import (
    MAX_PRODUCT_TERMS,
    choose_product,
    exchange_terms,
    fill_gains,
    pair_factors,
    score_products,
)

pytestmark = pytest.mark.slow

TEXT = "f -> f + f | f * f | C * f | sin(f) | cos(f) | C | x | y"
N_ROWS = 60

call_pair, call_score = open_door(pair_factors), open_door(score_products)
call_choose, call_gains = open_door(choose_product), open_door(fill_gains)
call_exchange = open_door(exchange_terms)


@pytest.fixture(scope="module")
def table():
    with np.errstate(all="ignore"):
        return SmallCompletion(TEXT, n_rows=N_ROWS, n_entries=fewer(60, 14), low=-2.0).completion.factor_table


def all_products(table):
    """Return the values of all products, in order of their numbers."""
    first, second = table.values[0, : table.n_first[0]], table.values[0, : table.n_second[0]]
    return (second[:, np.newaxis] * first).reshape(-1, N_ROWS)


def make_rows(rng, goal):
    """Return rows as the closers have them: weights, then the goal."""
    return np.concatenate([rng.uniform(0.5, 2.0, N_ROWS), goal])


def begin(table, rng, goal):
    """Score all products for a goal; return its rows, the weighted products and the weighted goal of norm 1."""
    rows = make_rows(rng, goal)
    assert call_score(table, 0, rows, 0, N_ROWS)
    roots = np.sqrt(rows[:N_ROWS])
    weighted = goal * roots
    return rows, all_products(table) * roots, weighted / np.linalg.norm(weighted)


def share_left(products, goal):
    """Return the share of the goal's square that the best sum of these products leaves."""
    if len(products) == 0:
        return 1.0
    unit = products / np.linalg.norm(products, axis=1, keepdims=True)
    return float(np.sum((goal - unit.T @ np.linalg.lstsq(unit.T, goal, rcond=1e-12)[0]) ** 2))


@pytest.mark.parametrize("is_squared", [False, True])
def test_inner_products_are_those_of_the_products(table, rng, is_squared):
    vector, out = rng.standard_normal(N_ROWS), np.zeros(table.size.size)
    call_pair(table, 0, vector, 0, is_squared, out)
    products = all_products(table)
    np.testing.assert_allclose(out, (products**2 if is_squared else products) @ vector, rtol=1e-9, atol=1e-9)


def test_products_are_scored_by_their_correlation_with_the_goal(table, rng):
    _, products, goal = begin(table, rng, rng.standard_normal(N_ROWS))
    expected = products @ goal / np.linalg.norm(products, axis=1)
    np.testing.assert_allclose(table.goal, np.where(table.is_distinct[0], expected, 0.0), atol=1e-12)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_goal_without_a_norm_is_refused(table, rng, value):
    assert not call_score(table, 0, make_rows(rng, np.full(N_ROWS, value)), 0, N_ROWS)


@pytest.mark.parametrize("without", [-1, 0, 2])
def test_gains_are_what_least_squares_gains(table, rng, without):
    rows, products, goal = begin(table, rng, rng.standard_normal(N_ROWS))
    chosen = rng.choice(np.flatnonzero(table.is_distinct[0]), 3, replace=False)
    for place, number in enumerate(chosen):
        call_choose(table, 0, rows, 0, place, int(number))
    share = call_gains(table, 0, 3, without)
    others = [int(number) for place, number in enumerate(chosen) if place != without]
    assert share == pytest.approx(share_left(products[others], goal))
    for number in rng.choice(np.flatnonzero(table.is_distinct[0]), 20):
        gain = share - share_left(products[[*others, int(number)]], goal)
        assert table.left[number] == pytest.approx(gain, abs=1e-7)


def test_exchange_ends_where_no_other_product_in_one_place_is_better(table, rng):
    for seed in range(fewer(10, 1)):
        rows, products, goal = begin(table, rng, rng.standard_normal(N_ROWS))
        assert call_exchange(table, 0, rows, 0, 3, make_state(seed)) == 3
        chosen = table.work.chosen[:3].tolist()
        reached = share_left(products[chosen], goal)
        for place in range(3):
            others = chosen[:place] + chosen[place + 1 :]
            best = min(share_left(products[[*others, p]], goal) for p in np.flatnonzero(table.is_distinct[0]))
            assert reached <= best + 1e-9


def test_exchange_finds_products_that_greedy_pursuit_misses(table, rng):
    distinct = np.flatnonzero(table.is_distinct[0])
    n_found, n_greedy, n_tried = 0, 0, fewer(30, 2)
    for seed in range(n_tried):
        law = rng.choice(distinct, 3, replace=False)
        rows, products, goal = begin(table, rng, rng.uniform(-2.0, 2.0, 3) @ all_products(table)[law])
        left = []
        for start in range(fewer(8, 3)):
            n_terms = call_exchange(table, 0, rows, 0, 3, make_state(seed * 100 + start))
            left.append(share_left(products[table.work.chosen[:n_terms]], goal))
        n_found += min(left) < 1e-9
        taken = []
        for _ in range(3):
            taken.append(min(distinct, key=lambda p: share_left(products[[*taken, p]], goal)))
        n_greedy += share_left(products[taken], goal) < 1e-9
    assert n_found > n_greedy or n_found == n_tried


def test_one_random_state_gives_one_sum(table, rng):
    rows, _, _ = begin(table, rng, rng.standard_normal(N_ROWS))
    sums = []
    for _ in range(2):
        n_terms = call_exchange(table, 0, rows, 0, MAX_PRODUCT_TERMS, make_state(5))
        sums.append(table.work.chosen[:n_terms].tolist())
    assert sums[0] == sums[1]
    assert len(set(sums[0])) == MAX_PRODUCT_TERMS
