"""Subsets of columns that explain most of a target."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from spl.dynamics.column_subsets import (
    MAX_SUBSET,
    N_BEST,
    eliminate_columns,
    find_best_few,
    measure_misfit,
    pursue_columns,
    solve_least_squares,
)


@pytest.fixture
def table(rng):
    return rng.normal(size=(200, 12)) * 10.0 ** rng.integers(-3, 4, 12)


def make_target(table, rng, *chosen):
    """Return a sum of columns of about equal size, with a little noise."""
    size = table[:, list(chosen)].std(axis=0)
    return table[:, list(chosen)] @ (1 / size) + 0.01 * rng.normal(size=len(table))


def misfit_by_definition(table, target, chosen):
    columns = table[:, list(chosen)]
    return np.linalg.norm(target - columns @ np.linalg.lstsq(columns, target, rcond=None)[0])


def test_the_misfit_is_what_least_squares_leaves(table, rng):
    target = rng.normal(size=200)
    assert measure_misfit(table[:, [2, 5]], target) == pytest.approx(misfit_by_definition(table, target, (2, 5)))


def test_factors_are_those_that_the_target_was_made_with(table):
    target = 3.0 * table[:, 4] - 0.5 * table[:, 1]
    assert solve_least_squares(table, target, (1, 4)) == pytest.approx([-0.5, 3.0])


def test_elimination_keeps_the_columns_that_the_target_was_made_of(table, rng):
    target = make_target(table, rng, 1, 4, 7)
    found = {len(chosen): chosen for chosen in eliminate_columns(table, target, range(12))}
    assert sorted(found) == list(range(1, MAX_SUBSET + 1))
    assert found[3] == (1, 4, 7)


def test_elimination_drops_the_column_whose_loss_hurts_least(table, rng):
    target = rng.normal(size=200)
    sets = list(eliminate_columns(table, target, range(MAX_SUBSET)))
    for before, after in pairwise(sets):
        shorter = [tuple(k for k in before if k != dropped) for dropped in before]
        best = min(shorter, key=lambda chosen: misfit_by_definition(table, target, chosen))
        assert after == best


def test_elimination_of_nothing_gives_nothing(table):
    assert list(eliminate_columns(table, table[:, 0], [])) == []


def test_pursuit_adds_the_column_that_explains_most_of_what_is_left(table, rng):
    target = rng.normal(size=200)
    sets = list(pursue_columns(table, target, (3,)))
    assert [len(chosen) for chosen in sets] == list(range(1, MAX_SUBSET + 1))
    for before, after in pairwise(sets):
        longer = [(*before, k) for k in range(12) if k not in before]
        assert after == min(longer, key=lambda chosen: misfit_by_definition(table, target, chosen))


def test_pursuit_ends_where_no_column_is_independent(table):
    twice = np.hstack([table[:, :2], table[:, :2]])
    assert list(pursue_columns(twice, twice[:, 0], (0, 1))) == [(0, 1)]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_best_few_are_the_best_of_all_sets(table, rng, size):
    target = make_target(table, rng, 0, 5, 9) + rng.normal(size=200)
    found = [chosen for chosen in find_best_few(table, target) if len(chosen) == size]
    every = sorted(combinations(range(12), size), key=lambda chosen: misfit_by_definition(table, target, chosen))
    assert found == every[:N_BEST]


def test_columns_in_the_same_direction_never_appear_together(table, rng):
    twice = np.hstack([table[:, :3], 2.0 * table[:, :1]])
    target = twice[:, 0] / twice[:, 0].std() + 0.1 * rng.normal(size=200)
    assert not any({0, 3} <= set(chosen) and len(chosen) == 2 for chosen in find_best_few(twice, target))
