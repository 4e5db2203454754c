"""Which columns a target depends on: interactions, weak columns, columns of all kinds, and chance."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.regression.column_screening import (
    MAX_FACTORS,
    MAX_PROMISING,
    MIN_PROMISING,
    SCREENED_ROWS,
    ask_residual,
    screen_columns,
)


def draw(n_columns=40, n_rows=300, seed=0):
    """Return independent normal columns [N, D]."""
    return np.random.default_rng(seed).normal(size=(n_rows, n_columns))


def screen(table, target, **options):
    return screen_columns(Dataset.from_arrays(table, target), **options)


LAWS = {
    "sum": lambda a, b, c: a + 2 * b - c,
    "product of two, around 0": lambda a, b, c: a * b + c,
    "product of three, around 0": lambda a, b, c: a * b * c,
    "quotient": lambda a, b, c: a / (1 + b**2) + 0.5 * c,
    "exponential": lambda a, b, c: np.exp(2 * a + b - c),
    "length": lambda a, b, c: np.sqrt(a**2 + b**2 + c**2),
    "wave": lambda a, b, c: np.sin(3 * a) + np.cos(b - c),
    "weak column": lambda a, b, c: 5 * a * b + 0.5 * c,
}


@pytest.mark.parametrize("noise", [0.0, 0.1], ids=["exact", "noisy"])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_the_columns_of_a_law_are_promising(law, noise):
    table = draw(n_columns=60)
    target = law(*table[:, [11, 52, 30]].T)
    target += noise * target.std() * np.random.default_rng(1).normal(size=len(target))
    assert {11, 30, 52} <= set(screen(table, target).promising)


def test_the_columns_of_a_law_score_above_chance_and_come_first():
    table = draw()
    found = screen(table, table[:, 5] + table[:, 9] * table[:, 22])
    assert set(found.promising[:3]) == {5, 9, 22}
    assert found.scores[[5, 9, 22]].min() > 1
    assert np.delete(found.scores, [5, 9, 22]).max() < 1


def test_a_product_of_two_columns_is_found_among_500():
    table = draw(n_columns=500, n_rows=400)
    assert {17, 404} <= set(screen(table, table[:, 17] * table[:, 404]).promising)


def test_unrelated_columns_rarely_exceed_chance():
    exceeding = [screen(draw(seed=seed), draw(1, seed=1000 + seed)[:, 0]).scores.max() > 1 for seed in range(20)]
    assert sum(exceeding) <= 2  # one in 100 tables, as measured on 540


def test_heavy_tails_do_not_exceed_chance():
    random = np.random.default_rng(5)
    assert screen(random.standard_cauchy((300, 40)), random.standard_cauchy(300)).scores.max() < 1.2


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_columns_does_not_matter(seed):
    table = draw(n_columns=50)
    target = table[:, 4] * table[:, 31] + np.abs(table[:, 8])
    names = [f"x{k}" for k in range(50)]
    order = np.random.default_rng(seed).permutation(50)
    before = screen_columns(Dataset.from_arrays(table, target, names=names))
    after = screen_columns(Dataset.from_arrays(table[:, order], target, names=[names[k] for k in order]))
    assert tuple(order[list(after.promising)]) == before.promising
    np.testing.assert_array_equal(after.scores, before.scores[order])


def test_the_order_of_the_rows_does_not_matter():
    table = draw()
    target = table[:, 4] * table[:, 31] + np.abs(table[:, 8])
    order = np.random.default_rng(0).permutation(len(table))
    assert screen(table[order], target[order]).promising == screen(table, target).promising


def test_a_factor_or_offset_of_columns_and_target_does_not_matter():
    table = draw()
    target = table[:, 4] * table[:, 31] + table[:, 8]
    scaled = screen(table * np.logspace(-100, 100, 40) + 0.0, 1e-120 * target)
    assert scaled.promising == screen(table, target).promising


# ---- columns of all kinds --------------------------------------------------------------------------


def test_constant_columns_are_left_out():
    table = draw()
    table[:, [3, 7]] = 5.0, -1e100
    found = screen(table, table[:, 1])
    assert found.constants == (3, 7)
    assert not {3, 7} & set(found.promising)
    assert not found.scores[[3, 7]].any()


def test_of_equal_columns_the_first_by_name_is_kept():
    table = draw(12)
    table[:, 9] = table[:, 2]
    names = [f"c{11 - k:02d}" for k in range(12)]
    found = screen_columns(Dataset.from_arrays(table, table[:, 2] ** 2, names=names))
    assert found.duplicates == ((2, 9),)
    assert 9 in found.promising
    assert 2 not in found.promising


def test_columns_that_differ_only_where_they_are_not_looked_at_are_no_duplicates():
    table = draw(12, n_rows=SCREENED_ROWS * 4)
    target = table[:, 0] + table[:, 1]
    shown = np.argsort(target)[np.linspace(0, len(target) - 1, SCREENED_ROWS).round().astype(int)]
    table[:, 5] = table[:, 4]
    table[np.setdiff1d(np.arange(len(target)), shown)[0], 5] += 1.0
    assert screen(table, target).duplicates == ()


def test_columns_in_other_units_come_along():
    table = draw()
    table[:, 20] = 1.8 * table[:, 6] + 32
    table[:, 25] = np.exp(-table[:, 6])
    assert {6, 20, 25} <= set(screen(table, table[:, 6] ** 2 + table[:, 7]).promising)


def test_columns_that_nearly_agree_do_not_hide_the_others():
    table = draw()
    table[:, :10] = table[:, :1] + 0.1 * table[:, :10]
    assert {3, 17, 29} <= set(screen(table, table[:, 3] + 0.5 * table[:, 17] * table[:, 29]).promising)


def test_columns_of_zeros_and_ones_are_screened_like_others():
    table = draw()
    table[:, 10:] = table[:, 10:] > 0
    found = screen(table, table[:, 12] * table[:, 3] + 0.7 * table[:, 15])
    assert set(found.promising[:3]) == {3, 12, 15}


def test_parity_of_two_switches_is_found():
    table = np.random.default_rng(2).integers(0, 2, (300, 40)).astype(float)
    target = (table[:, 8] != table[:, 33]).astype(float)
    assert set(screen(table, target).promising[:2]) == {8, 33}


def test_integers_are_screened_like_others():
    table = np.random.default_rng(3).integers(1, 7, (300, 40)).astype(float)
    found = screen(table, table[:, 8] / table[:, 33] + table[:, 20])
    assert set(found.promising[:3]) == {8, 20, 33}


def test_a_rare_switch_is_found():
    table = draw()
    table[:, 19] = np.arange(300) % 25 == 0
    assert 19 in screen(table, table[:, 2] + 3 * table[:, 19]).promising


# ---- limits ----------------------------------------------------------------------------------------


def test_there_are_some_promising_columns_even_by_chance():
    assert len(screen(draw(), draw(1, seed=9)[:, 0]).promising) == MIN_PROMISING


def test_there_are_not_too_many_promising_columns():
    table = draw()
    target = table[:, :15].sum(axis=1)
    assert len(screen(table, target).promising) <= MAX_PROMISING
    assert len(screen(table, target, most=3).promising) == 3


def test_rows_of_weight_0_do_not_count():
    table, weights = draw(), np.ones(300)
    target = table[:, 5] * table[:, 6]
    target[200:], weights[200:] = 1e6 * table[200:, 20], 0.0
    found = screen_columns(Dataset.from_arrays(table, target), weights=weights)
    assert set(found.promising[:2]) == {5, 6}


def test_rows_count_by_their_weights():
    table = draw(n_rows=400)
    target = np.where(np.arange(400) < 200, table[:, 5], table[:, 6])
    weights = np.where(np.arange(400) < 200, 1.0, 1e-4)
    assert screen_columns(Dataset.from_arrays(table, target, weights=weights)).scores[6] < 1


def test_of_many_rows_some_are_enough():
    table = draw(n_rows=20_000)
    assert set(screen(table, table[:, 5] * table[:, 6]).promising[:2]) == {5, 6}


def test_more_columns_than_factors_are_no_error():
    table = draw(n_columns=MAX_FACTORS + 100, n_rows=80)
    assert 2050 in screen(table, np.exp(table[:, 2050])).promising


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5])
def test_few_rows_are_no_error(n_rows):
    assert len(screen(draw(n_rows=n_rows), np.arange(n_rows) * 1.0).promising) <= MIN_PROMISING


def test_a_constant_target_has_no_relevant_column():
    assert not screen(draw(), np.full(300, 7.0)).scores.any()


def test_a_table_of_constants_has_no_promising_column():
    assert screen(np.ones((50, 20)), np.arange(50.0)).promising == ()


# ---- what a formula leaves -------------------------------------------------------------------------


def test_the_residual_asks_for_what_is_missing():
    table = draw()
    data = Dataset.from_arrays(table, table[:, 4] * 3 + table[:, 9] * table[:, 30])
    assert set(ask_residual(data, data.target - 3 * table[:, 4], data.weights, [4, 7])) == {9, 30}


def test_the_residual_asks_for_nothing_if_the_columns_are_known():
    table = draw()
    data = Dataset.from_arrays(table, table[:, 9] * table[:, 30])
    assert ask_residual(data, data.target - table[:, 9], data.weights, [9, 30]) == ()


def test_noise_asks_for_nothing():
    data = Dataset.from_arrays(draw(), draw(1, seed=77)[:, 0])
    assert ask_residual(data, data.target, data.weights, [1, 2]) == ()


def test_a_copy_of_a_known_column_is_not_asked_for():
    table = draw()
    table[:, 11] = table[:, 9]
    data = Dataset.from_arrays(table, table[:, 9] ** 2 + table[:, 20])
    assert ask_residual(data, data.target, data.weights, [11]) == (20,)


def test_rows_without_a_residual_do_not_count():
    table = draw()
    data = Dataset.from_arrays(table, table[:, 9])
    residual = data.target.copy()
    residual[::3] = np.nan
    assert ask_residual(data, residual, data.weights, [0]) == (9,)


def test_a_formula_without_values_asks_for_nothing():
    data = Dataset.from_arrays(draw(), draw(1)[:, 0])
    assert ask_residual(data, np.full(300, np.nan), data.weights, [0]) == ()
