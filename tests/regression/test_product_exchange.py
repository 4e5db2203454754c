"""Sums of products of two factors, found by exchanging terms."""

from itertools import combinations

import numpy as np
import pytest

from spl.errors import DataError
from spl.regression.product_exchange import (
    MAX_EXCHANGE_ROWS,
    Product,
    ProductSum,
    ProductTable,
    exchange_products,
)


@pytest.fixture
def factors(rng):
    return np.column_stack([np.ones(60), rng.normal(size=(60, 4)) * [1.0, 1e3, 1e-3, 1.0]])


def values_of(factors, target, product):
    """Return the values of a product from its definition, without its part along the target if it is below the bar."""
    values = factors[:, product.first] * factors[:, product.second]
    if product.is_below:
        values = target * values
        values = values - target * (values @ target) / (target @ target)
    return values


def left_by_definition(factors, target, products):
    """Return what least squares leaves, as a share of the target's square."""
    columns = np.column_stack([values_of(factors, target, product) for product in products])
    columns = columns / np.linalg.norm(columns, axis=0)
    rest = target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0]
    return (rest @ rest) / (target @ target)


def best_sums(table, n_terms, seed=0, **settings):
    """Return the best sums of each size; of a size that is yielded twice, the later ones."""
    every = exchange_products(table, n_terms, np.random.default_rng(seed), **settings)
    return {len(sums[0].products): sums for sums in every}


# ---- the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("has_quotients", [False, True])
def test_scores_are_the_correlations_of_each_product_with_the_target(factors, rng, has_quotients):
    target = rng.normal(size=60)
    table = ProductTable(factors, target, rng, has_quotients=has_quotients)
    assert len(table) == 15 + 14 * has_quotients  # below the bar, the number 1 has no part besides the target
    for number in range(len(table)):
        values = values_of(factors, target, table.product(number))
        expected = values @ target / np.linalg.norm(values) / np.linalg.norm(target)
        assert abs(table.correlations[number]) == pytest.approx(abs(expected), abs=1e-12)


def test_inner_products_are_those_of_all_pairs_of_products(factors, rng):
    target = rng.normal(size=60)
    table = ProductTable(factors, target, rng, has_quotients=True)
    columns = np.column_stack([values_of(factors, target, table.product(number)) for number in range(len(table))])
    columns = columns / np.linalg.norm(columns, axis=0)
    found = np.array([table.inner_products(number) for number in range(len(table))])
    assert np.abs(found) == pytest.approx(np.abs(columns.T @ columns), abs=1e-10)


def test_of_products_with_the_same_values_the_cheapest_is_used(rng):
    x = rng.normal(size=50)
    table = ProductTable(np.column_stack([np.ones(50), x, x * x, -x]), x, rng, costs=[0, 1, 3, 2])
    used = [table.product(number) for number in range(len(table))]
    assert used == [Product(0, 0), Product(0, 1), Product(1, 1), Product(1, 2), Product(2, 2)]


def test_products_that_are_not_allowed_are_not_used(factors, rng):
    allowed = np.ones((5, 5), dtype=bool)
    allowed[1, 2] = False
    table = ProductTable(factors, factors[:, 1] * factors[:, 2], rng, is_allowed=allowed)
    assert Product(1, 2) not in [table.product(number) for number in range(len(table))]
    assert len(table) == 14


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_factors_without_finite_values_or_only_0_are_not_used(factors, rng, bad):
    factors[:, 3] = bad
    table = ProductTable(factors, factors[:, 1], rng)
    used = {
        place for number in range(len(table)) for place in (table.product(number).first, table.product(number).second)
    }
    assert used == {0, 1, 2, 4}


@pytest.mark.parametrize("size", [1e-250, 1.0, 1e250])
def test_huge_and_tiny_values_are_compared_like_others(rng, size):
    x, y = rng.normal(size=(2, 50))
    factors = np.column_stack([np.ones(50), 1e200 * x, 1e-200 * y])
    [best, *_] = best_sums(ProductTable(factors, size * x * y, rng, has_quotients=True), 1)[1]
    assert best.products == (Product(1, 2),)
    assert best.left < 1e-12


def test_rows_of_weight_0_do_not_count(factors, rng):
    target, weights = factors[:, 1] * factors[:, 4], np.ones(60)
    target[::5], weights[::5] = 100 * rng.normal(size=12), 0.0
    assert best_sums(ProductTable(factors, target, rng, weights=weights), 1)[1][0].left < 1e-12
    assert best_sums(ProductTable(factors, target, rng), 1)[1][0].left > 0.1


def test_of_many_rows_only_some_are_used(rng):
    x = rng.normal(size=5 * MAX_EXCHANGE_ROWS)
    table = ProductTable(np.column_stack([np.ones_like(x), x]), x, rng)
    assert table._factors.shape == (MAX_EXCHANGE_ROWS, 2)


def test_without_factors_there_is_a_clear_error(rng):
    with pytest.raises(DataError, match=r"at least one factor and one row.*\(5, 0\)"):
        ProductTable(np.empty((5, 0)), np.ones(5), rng)


def test_targets_of_another_length_are_refused(factors, rng):
    with pytest.raises(DataError, match=r"The target must have one number for each of the 60 rows.*\(59,\)"):
        ProductTable(factors, np.ones(59), rng)


def test_targets_that_are_not_finite_are_refused(factors, rng):
    with pytest.raises(DataError, match="not finite"):
        ProductTable(factors, np.full(60, np.nan), rng)


# ---- the exchange --------------------------------------------------------------------------------


@pytest.mark.parametrize("has_quotients", [False, True])
def test_what_a_sum_leaves_is_what_least_squares_leaves(factors, rng, has_quotients):
    target = rng.normal(size=60) + factors[:, 1]
    found = best_sums(ProductTable(factors, target, rng, has_quotients=has_quotients), 4)
    assert sorted(found) == [1, 2, 3, 4]
    for each in (each for sums in found.values() for each in sums):
        assert each.left == pytest.approx(left_by_definition(factors, target, each.products), abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_best_sum_is_the_best_of_all(factors, rng, size):
    target = rng.normal(size=60)
    products = [Product(i, j) for i in range(5) for j in range(i, 5)]
    best = min(left_by_definition(factors, target, chosen) for chosen in combinations(products, size))
    found = best_sums(ProductTable(factors, target, rng), size)[size]
    assert found[0].left == pytest.approx(best, abs=1e-9)
    assert [each.left for each in found] == sorted(each.left for each in found)


def make_pendulum(rng, n_rows=400):
    """Return factors by name, and the terms of the upper arm of a double pendulum."""
    columns = dict(zip("qpwva", rng.normal(size=(5, n_rows)) * [[1.0], [1.0], [3.0], [3.0], [10.0]], strict=True))
    angles = columns | {"q-p": columns["q"] - columns["p"], "q+p": columns["q"] + columns["p"]}
    factors = {"1": np.ones(n_rows), **columns, **{f"{name}^2": values**2 for name, values in columns.items()}}
    factors |= {f"sin({name})": np.sin(values) for name, values in angles.items()}
    factors |= {f"cos({name})": np.cos(values) for name, values in angles.items()}
    return factors, [("a", "cos(q-p)"), ("v^2", "sin(q-p)"), ("1", "sin(q)")]


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
def test_the_three_terms_of_a_double_pendulum_are_the_best_sum_of_three(rng, noise):
    factors, terms = make_pendulum(rng)
    law = sum(
        number * factors[one] * factors[two] for number, (one, two) in zip((-0.5, -0.5, -9.81), terms, strict=True)
    )
    target = law + noise * law.std() * rng.normal(size=law.size)
    names = list(factors)
    table = ProductTable(np.column_stack(list(factors.values())), target, rng)
    [best, *_] = best_sums(table, 3)[3]
    assert {frozenset((names[each.first], names[each.second])) for each in best.products} == set(map(frozenset, terms))


def test_the_products_above_and_below_the_bar_of_a_quotient_are_found(rng):
    x, y, z = rng.normal(size=(3, 300))
    factors = np.column_stack([np.ones(300), x, y, z])
    target = (2 * x * y - z) / (1 + 0.3 * x * x + 0.1 * z * z)
    [best, *_] = best_sums(ProductTable(factors, target, rng, has_quotients=True), 4)[4]
    assert set(best.products) == {Product(1, 2), Product(0, 3), Product(1, 1, True), Product(3, 3, True)}
    assert best.left < 1e-12


def test_products_below_the_bar_explain_nothing_by_themselves(rng):
    angle, target = rng.normal(size=(2, 100))
    factors = np.column_stack([np.ones(100), np.sin(angle), np.cos(angle)])  # sin**2 + cos**2 = 1
    found = best_sums(ProductTable(factors, target, rng, has_quotients=True), 3)
    assert min(sums[0].left for sums in found.values()) > 0.5


def test_one_seed_gives_one_result(factors, rng):
    target = rng.normal(size=60)
    results = [best_sums(ProductTable(factors, target, np.random.default_rng(1)), 3, seed=2) for _ in range(2)]
    assert results[0] == results[1]


def test_a_single_row_is_explained_by_one_product(rng):
    table = ProductTable(np.array([[1.0, 2.0]]), np.array([3.0]), rng)
    assert best_sums(table, 3) == {1: [ProductSum((Product(0, 0),), pytest.approx(0.0, abs=1e-12))]}


def test_a_target_of_0_has_no_sums(factors, rng):
    assert best_sums(ProductTable(factors, np.zeros(60), rng, has_quotients=True), 3) == {}


def test_no_more_products_are_used_than_there_are(rng):
    x = rng.normal(size=30)
    found = best_sums(ProductTable(x[:, np.newaxis], x + rng.normal(size=30), rng), 5)
    assert sorted(found) == [1]


def test_products_that_depend_on_each_other_are_not_in_one_sum(rng):
    x = rng.normal(size=100)
    factors = np.column_stack([np.ones(100), x, 1 + x, 1 + 1e-9 * rng.normal(size=100)])
    found = best_sums(ProductTable(factors, x + rng.normal(size=100), rng), 5)
    assert max(found) == 3  # 1, x and x**2 explain all others


def test_once_nothing_is_left_no_longer_sums_are_searched(factors, rng):
    target = 2 * factors[:, 1] * factors[:, 4] + factors[:, 4]
    assert sorted(best_sums(ProductTable(factors, target, rng), 5)) == [1, 2]


def test_the_exchange_ends_when_it_must_stop(factors, rng):
    table = ProductTable(factors, rng.normal(size=60), rng)
    assert sorted(best_sums(table, 5, must_stop=lambda: True)) == [1]
