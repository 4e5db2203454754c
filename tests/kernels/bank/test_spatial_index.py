"""The entry closest to a goal, against numpy's least squares over the whole bank."""

import numpy as np
import pytest
from tests.kernels.completion_twins import SmallCompletion
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer

from spl.kernels.bank.spatial_index import (
    BY_BOTH,
    BY_OFFSET,
    BY_SCALE,
    N_DIRECTIONS,
    N_RANKED,
    UNCHANGED,
    Match,
    find_nearest,
    rank_entries,
)
from spl.kernels.bank.value_index import IDENTICAL, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET
from spl.kernels.programs.prices import MATCH_NUMBER_CHARGE, MATCH_TOKEN_CHARGE

GRAMMARS = {
    IDENTICAL: "f -> f + f | f * f | f / f | sin(f) | x | y",
    UP_TO_SCALE: "f -> f + f | f * f | f / f | sin(f) | C * f | x | y",
    UP_TO_SCALE_AND_OFFSET: "f -> f + f | f * f | f / f | sin(f) | C | x | y",
}

call_nearest = open_door(find_nearest)
call_rank = open_door(rank_entries)


def make_small(mode):
    with np.errstate(all="ignore"):
        small = SmallCompletion(GRAMMARS[mode], n_rows=24, n_entries=fewer(400, 60))
    assert small.completion.rules.mode[0] == mode
    return small


def values_of(small, entry):
    n = small.bank.n_values
    return small.bank.values[entry * n : (entry + 1) * n]


def charged_error(small, entry, goal, weights, way):
    """Return the error of an entry fitted in some way, with the charges for its tokens and numbers."""
    values, root = values_of(small, entry), np.sqrt(weights)
    free = {
        UNCHANGED: [],
        BY_SCALE: [values],
        BY_OFFSET: [np.ones_like(values)],
        BY_BOTH: [values, np.ones_like(values)],
    }[way]
    rest = goal if way in (BY_SCALE, BY_BOTH) else goal - values
    if free:
        design = np.column_stack(free)
        rest = rest - design @ np.linalg.lstsq(design * root[:, None], rest * root, rcond=None)[0]
    charge = MATCH_TOKEN_CHARGE * small.bank.cost[entry] + MATCH_NUMBER_CHARGE * len(free)
    return np.sum(weights * rest**2) * (1 + charge / goal.size)


def ways_of(mode):
    return {IDENTICAL: [UNCHANGED], UP_TO_SCALE: [UNCHANGED, BY_SCALE]}.get(
        mode, [UNCHANGED, BY_SCALE, BY_OFFSET, BY_BOTH]
    )


def find(small, mode, goal, weights, most_error):
    rows = np.concatenate([goal, weights])
    found = call_nearest(
        small.completion.spatial_index, small.bank, 0, mode, rows, 0, goal.size, goal.size, float(most_error)
    )
    return Match(*found)


@pytest.mark.parametrize("mode", GRAMMARS)
def test_what_is_found_is_at_least_as_near_as_the_entry_that_the_goal_was_made_of(mode, rng):
    small = make_small(mode)
    scale = 1.0 if mode == IDENTICAL else -2.5
    offset = 0.7 if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    n_found = 0
    for entry in range(0, small.bank.n_of[0], 7):
        values = values_of(small, entry)
        if np.ptp(values) < 1e-6:
            continue
        weights = rng.uniform(0.5, 2.0, values.size)
        noise = 1e-3 * np.std(values) * rng.standard_normal(values.size)
        goal = scale * values + offset + noise
        own = min(charged_error(small, entry, goal, weights, way) for way in ways_of(mode))
        found = find(small, mode, goal, weights, 4 * own)
        if found.entry < 0:
            continue  # the noise put the goal outside of its box
        n_found += 1
        rounding = 1e-12 * np.sum(weights * goal**2)
        assert found.error <= own + rounding
        assert abs(found.error - charged_error(small, found.entry, goal, weights, found.way)) <= rounding
    assert n_found > 0.8 * len(range(0, small.bank.n_of[0], 7))


@pytest.mark.parametrize("mode", GRAMMARS)
def test_no_entry_of_the_bank_is_nearer_than_an_exact_one(mode):
    small = make_small(mode)
    goals = [values_of(small, entry).copy() for entry in range(0, small.bank.n_of[0], 11)]
    goals = [goal for goal in goals if np.ptp(goal) >= 1e-6]
    assert len(goals) > 3
    for goal in goals:
        found = find(small, mode, goal, np.ones(goal.size), 1e-2 * np.sum((goal - goal.mean()) ** 2))
        assert found.entry >= 0
        assert charged_error(small, found.entry, goal, np.ones(goal.size), found.way) <= 1e-12 * np.sum(goal**2)


def test_nothing_is_found_that_is_farther_away_than_allowed(rng):
    small = make_small(UP_TO_SCALE_AND_OFFSET)
    goal, weights = rng.standard_normal(small.bank.n_values), np.ones(small.bank.n_values)
    lowest = min(
        charged_error(small, entry, goal, weights, way)
        for entry in range(small.bank.n_of[0])
        for way in ways_of(UP_TO_SCALE_AND_OFFSET)
    )
    assert find(small, UP_TO_SCALE_AND_OFFSET, goal, weights, 0.99 * lowest).entry == -1


@pytest.mark.parametrize(
    ("goal", "weights", "most_error"),
    [
        (np.full(24, 3.0), np.ones(24), 1.0),
        (np.r_[np.nan, np.ones(23)], np.ones(24), 1.0),
        (np.linspace(1, 2, 24), np.r_[0.0, np.ones(23)], 1.0),
        (np.linspace(1, 2, 24), np.r_[np.inf, np.ones(23)], 1.0),
        (np.linspace(1, 2, 24), np.ones(24), np.inf),
        (np.linspace(1, 2, 24) * 1e300, np.ones(24), 1e300),
    ],
)
def test_goals_without_a_place_do_no_harm(goal, weights, most_error):
    small = make_small(UP_TO_SCALE_AND_OFFSET)
    with np.errstate(all="ignore"):
        found = find(small, UP_TO_SCALE_AND_OFFSET, goal, weights, most_error)
    assert found.entry in (-1, *small.bank.member[0, : small.bank.n_of[0]])


@pytest.mark.parametrize("mode", GRAMMARS)
def test_the_ranked_entries_are_the_nearest_of_all_in_order(mode, rng):
    small = make_small(mode)
    n, index = small.bank.n_values, small.completion.spatial_index
    goal, weights = np.sin(small.columns[0]) + 0.1 * rng.standard_normal(n), rng.uniform(0.5, 2.0, n)
    n_ranked = call_rank(index, small.bank, 0, mode, np.concatenate([goal, weights]), 0, n, n)
    errors = [
        min(charged_error(small, entry, goal, weights, way) for way in ways_of(mode))
        for entry in small.bank.member[0, : small.bank.n_of[0]]
    ]
    assert n_ranked == min(N_RANKED, len(errors))
    np.testing.assert_allclose(index.ranked.error[:n_ranked], np.sort(errors)[:n_ranked], rtol=1e-6)


def test_a_goal_that_is_no_number_is_compared_with_nothing():
    small = make_small(UP_TO_SCALE_AND_OFFSET)
    n = small.bank.n_values
    rows = np.concatenate([np.full(n, np.nan), np.ones(n)])
    assert call_rank(small.completion.spatial_index, small.bank, 0, UP_TO_SCALE_AND_OFFSET, rows, 0, n, n) == 0


def test_the_coordinates_of_the_index_are_those_of_its_entries():
    small = make_small(UP_TO_SCALE_AND_OFFSET)
    index, n = small.completion.spatial_index, small.bank.n_values
    np.testing.assert_allclose(index.directions @ index.directions.T, np.eye(N_DIRECTIONS), atol=1e-9)
    np.testing.assert_allclose(index.directions @ np.ones(n), 0.0, atol=1e-9)
    assert index.first[0, -1] == index.entry.size
    for place, entry in enumerate(index.entry):
        values = values_of(small, entry) - values_of(small, entry).mean()
        spot = index.directions @ values / np.linalg.norm(values)
        np.testing.assert_allclose(index.spot[place], spot if spot[0] >= 0 else -spot, atol=1e-5)
