"""Closers by entries of the bank, against numpy's least squares over all of them."""

import numpy as np
import pytest
from tests.kernels.completion_twins import SmallCompletion, assert_derived, closing_values, set_goal, weights_of
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer

from spl.kernels.bank.spatial_index import BY_BOTH, BY_OFFSET, BY_SCALE, UNCHANGED, Match
from spl.kernels.bank.value_index import IDENTICAL, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET
from spl.kernels.programs import tokens as tk
from spl.kernels.tree.bank_closers import (
    FEW_ROWS,
    N_NEAREST,
    N_STEPS,
    _scanned_constant,
    _scanned_shift,
    close_by_correlation,
    close_by_match,
    close_by_scan,
    find_match,
    form_of,
    rank_matches,
    ranked_match,
)
from spl.kernels.tree.complete import AFFINE_FORM, ENTRY_FORM, SCALED_FORM

pytestmark = pytest.mark.slow

SCALED = "f -> f + f | f * f | C * f | sin(f) | cos(f) | C | x | y"
SHIFTED = "f -> f + f | f * f | C * f + C | sin(f) | x | y"
WHOLE = "f -> f + f | f - f | f * f | x | y | 1 | 2"

call_match, call_close = open_door(find_match), open_door(close_by_match)
call_rank_matches, call_ranked_match = open_door(rank_matches), open_door(ranked_match)
call_correlation, call_scan = open_door(close_by_correlation), open_door(close_by_scan)


@pytest.fixture(scope="module")
def smalls():
    with np.errstate(all="ignore"):
        return {
            SCALED: SmallCompletion(SCALED, n_rows=200, n_entries=60, low=-2.0),
            SHIFTED: SmallCompletion(SHIFTED, n_rows=60, n_entries=60, low=-2.0),
            WHOLE: SmallCompletion(WHOLE, n_rows=60, n_entries=60, low=-2.0),
        }


# --- nearest


def make_affine():
    text = "f -> f + f | f * f | f / f | sin(f) | C | x | y"
    return SmallCompletion(text, n_rows=24, n_entries=fewer(400, 60))


LAWS = [
    (lambda x, y: x * y, UNCHANGED),
    (lambda x, y: -3 * x * y, BY_SCALE),
    (lambda x, y: x * y + 2, BY_OFFSET),
    (lambda x, y: 5 * x * y + 2, BY_BOTH),
]


@pytest.mark.parametrize(("law", "way"), LAWS)
def test_a_hole_is_closed_in_the_simplest_way_that_explains_the_goal(law, way, rng):
    small = make_affine()
    exact = law(*small.columns)
    noise = rng.standard_normal(exact.size)
    design = np.column_stack([exact, np.ones_like(exact)])
    noise -= design @ np.linalg.lstsq(design, noise, rcond=None)[0]  # which no number explains
    goal = exact + 1e-3 * np.std(exact) * noise
    small.begin_with_hole(goal)
    found = Match(*call_match(small.completion, small.alphabet, 1e-3 * np.sum((exact - exact.mean()) ** 2)))
    assert found.way == way
    assert call_close(small.completion, found)
    program = small.program_of(small.assemble())
    assert program.n_constants == {UNCHANGED: 0, BY_BOTH: 2}.get(way, 1)
    np.testing.assert_allclose(
        small.closing()[1], {UNCHANGED: [], BY_SCALE: [-3], BY_OFFSET: [2], BY_BOTH: [5, 2]}[way], rtol=0.02
    )


def test_an_entry_that_the_index_does_not_have_is_ranked(rng):
    small = make_affine()
    last = small.bank.member[0, small.bank.n_of[0] - 1]
    index = small.completion.spatial_index
    completion = small.completion._replace(spatial_index=index._replace(entry=index.entry[:0]))
    n = small.bank.n_values
    values = small.bank.values[last * n : (last + 1) * n]
    goal = 2.0 * values + 1e-4 * np.std(values) * rng.standard_normal(values.size)
    small.begin_with_hole(goal)
    assert call_rank_matches(completion, small.alphabet) > 0
    first = Match(*call_ranked_match(completion, 0))
    assert first.error <= 1e-6 * np.sum(goal**2)


@pytest.mark.parametrize(
    ("mode", "form"), [(IDENTICAL, ENTRY_FORM), (UP_TO_SCALE, SCALED_FORM), (UP_TO_SCALE_AND_OFFSET, AFFINE_FORM)]
)
def test_a_form_has_the_constants_that_the_mode_allows(mode, form):
    assert form_of(mode) == form


# --- correlation


def lowest_error(small, goal, weights, mode):
    """Return the lowest weighted squared error, on all rows, of the entries that are closest on a few."""
    near = small.completion.cheap_values[0, : small.completion.n_cheap[0]]
    few = slice(FEW_ROWS)
    nearest = np.argsort(errors_of(near[:, few], goal[few], weights[few], mode), kind="stable")[:N_NEAREST]
    return errors_of(near[nearest], goal, weights, mode).min()


def errors_of(near, goal, weights, mode):
    """Return the weighted squared error of each row with the best scale and offset; inf if it has none."""
    errors = []
    for row in near:
        if not np.any(row):
            errors.append(np.inf)  # outside its domain
            continue
        columns = [row, np.ones(row.size)][: 1 + (mode == UP_TO_SCALE_AND_OFFSET)]
        design, root = np.stack(columns, axis=1), np.sqrt(weights)
        fitted = np.linalg.lstsq(design * root[:, None], goal * root, rcond=None)[0] if mode else [1.0]
        errors.append(np.sum(weights * (goal - design @ fitted) ** 2))
    return np.array(errors)


@pytest.mark.parametrize("text", [SCALED, SHIFTED, WHOLE])
def test_the_entry_that_is_closest_is_chosen(smalls, text):
    small = smalls[text]
    mode = small.completion.rules.mode[0]
    for seed in range(fewer(60, 12)):
        rng = np.random.default_rng(seed)
        goal = rng.choice(small.completion.cheap_values[0, : small.completion.n_cheap[0]]) * rng.uniform(0.8, 1.2)
        goal = goal + 0.2 * rng.standard_normal(goal.size)
        assert set_goal(small, goal, rng.uniform(0.1, 2.0, goal.size))
        assert call_correlation(small.completion)
        weights = weights_of(small)
        error = np.sum(weights * (goal - closing_values(small)) ** 2)
        assert error == pytest.approx(lowest_error(small, goal, weights, mode), rel=1e-6)
        assert_derived(small)


def test_weights_decide_which_entry_is_closest(smalls):
    small = smalls[WHOLE]
    x, y = small.columns
    is_first = np.arange(x.size) < 30
    for slope, expected in ((np.where(is_first, 1.0, 1e-3), x * y), (np.where(is_first, 1e-3, 1.0), x + y)):
        set_goal(small, np.where(is_first, x * y, x + y), slope)
        assert call_correlation(small.completion)
        np.testing.assert_allclose(closing_values(small), expected)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_goal_that_is_no_number_has_no_nearest_entry(smalls, value):
    small = smalls[WHOLE]
    set_goal(small, np.full(60, value))
    assert not call_correlation(small.completion)


def test_an_entry_that_leaves_its_domain_is_never_the_nearest():
    columns = np.random.default_rng(0).uniform(1.5, 2.0, (2, 60))
    columns[:, 40:] *= -1.0  # behind the rows of the bank
    small = SmallCompletion("f -> f * f | log(f) | x | y", n_entries=40, columns=columns)
    set_goal(small, 1e-3 * columns[0])
    assert call_correlation(small.completion)
    assert np.all(np.isfinite(closing_values(small)))


# --- scan


WAVES = "f -> f + f | f * f | C * f | sin(f) | exp(f) | C | x | y"
SHIFTS = "f -> f + f | f * f | f / f | C * f | log(f) | C | x | y"


@pytest.mark.parametrize(
    ("text", "law"),
    [
        (WAVES, lambda x, y: 2.0 * np.sin(3.1 * x) + 1.0),
        (WAVES, lambda x, y: 5.0 * np.exp(-0.7 * x * y)),
        (SHIFTS, lambda x, y: 0.6 - 1.5 * x / (0.3 + x)),
        (SHIFTS, lambda x, y: 2.0 / (x * y - 9.0) + 1.0),
        (SHIFTS, lambda x, y: 3.0 * np.log(x + 0.2) - 1.0),
        (SHIFTS, lambda x, y: 10.0 - 4.0 * x * y / (2.0 + x * x)),
        (SHIFTS, lambda x, y: 3.0 * y / (x - 7.0)),
    ],
)
def test_a_scan_comes_close_to_a_function_with_a_constant_inside(text, law):
    small = SmallCompletion(text, n_rows=60, n_entries=60)
    goal = law(*small.columns)
    assert any(share_left_by_scan(small, goal, seed) < 0.02 for seed in range(40))


def share_left_by_scan(small, goal, seed):
    """Return the share of the goal's variance that a scan leaves over; all of it if there is no scan."""
    assert set_goal(small, goal)
    if not call_scan(small.completion, small.alphabet, np.array([seed], np.uint64)):
        return 1.0
    assert_derived(small)
    return np.var(goal - closing_values(small)) / np.var(goal)


def test_a_grammar_without_functions_has_nothing_to_scan():
    small = SmallCompletion("f -> f + f | C * f | C | x | y", n_rows=30, n_entries=20)
    assert set_goal(small, np.sin(small.columns[0]))
    assert not call_scan(small.completion, small.alphabet, np.array([1], np.uint64))


def test_scanned_addends_put_all_values_on_one_side_of_0():
    values = np.array([-3.0, 0.5, 2.0])
    for step in range(N_STEPS):
        shifted = values + _scanned_shift(step, values, values.size)
        assert np.all(shifted > 0 if step % 2 == 0 else shifted < 0)


def test_scanned_factors_are_evenly_spaced_for_waves_and_have_both_signs_for_other_functions():
    waves = [_scanned_constant(tk.SIN, step, 2.0) for step in range(N_STEPS)]
    np.testing.assert_allclose(np.diff(waves), waves[0])
    others = np.array([_scanned_constant(tk.EXP, step, 2.0) for step in range(N_STEPS)])
    np.testing.assert_allclose(others[1::2], -others[::2])
    np.testing.assert_allclose(others[2::2] / others[:-2:2], others[2] / others[0])
