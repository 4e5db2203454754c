"""Completion against numpy: the goal in place of the hole gives the target, and what is assembled is in the grammar."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kernels.completion_twins import (
    ROUGH,
    SIMPLE,
    SMOOTH,
    WITH_CONSTANTS,
    SmallCompletion,
    assert_origins_derive,
    call_find_path,
    call_lay_out,
    call_spell,
    derive,
    lay_out_at_random,
    make_state,
)
from tests.kernels.doors import open_door
from tests.kernels.program_twins import evaluate_slowly
from tests.kernels.search_twins import fewer, rules_of

from spl.formulas.text import to_text
from spl.kernels.programs import tokens as tk
from spl.kernels.tree.complete import (
    ENTRY_FORM,
    close_by_look_up,
    evaluate_sibling,
    fill_hole,
    find_goal,
    find_goal_slope,
    random_place,
)
from spl.kernels.tree.skeleton import MAX_INVERSIONS

pytestmark = pytest.mark.slow

N_EXAMPLES = fewer(150, 40)
SEEDS = st.integers(0, 2**32 - 1)

call_sibling, call_find_goal, call_slope = open_door(evaluate_sibling), open_door(find_goal), open_door(find_goal_slope)
call_look_up = open_door(close_by_look_up)


@pytest.fixture(scope="module")
def smalls():
    with np.errstate(all="ignore"):
        return {text: SmallCompletion(text) for text in (SIMPLE, SMOOTH, ROUGH, WITH_CONSTANTS)}


def values_with(small, frame, hole_values):
    """Return the values of the skeleton with these values in the hole."""
    skeleton = small.skeleton
    columns = frame.columns.copy()
    columns[small.n_columns + skeleton.hole] = hole_values
    return evaluate_slowly(skeleton.tokens[: skeleton.length].tolist(), (), small.grammar.vocabulary.literals, columns)


def goal_of(small, frame, seed=0):
    """Return the goal, or None if there is none."""
    if not call_find_path(small.skeleton, make_state(seed)):
        return None
    for k in range(small.skeleton.n_steps):
        call_sibling(small.skeleton, k, small.alphabet, frame)
    if not call_find_goal(small.skeleton, 0, small.alphabet, frame):
        return None
    at = 2 * small.skeleton.n_steps * frame.n
    return frame.rows[at : at + frame.n].copy()


# --- from the root to the hole


@settings(max_examples=N_EXAMPLES)
@given(SEEDS)
def test_the_goal_in_place_of_the_hole_gives_the_target(smalls, seed):
    small = smalls[ROUGH]
    assume(lay_out_at_random(small, seed))
    frame = small.completion.frame
    target = values_with(small, frame, frame.columns[small.n_columns + small.skeleton.hole])
    assume(np.all(np.isfinite(target)) and np.max(np.abs(target)) < 1e6)
    small.set_target(target)
    goal = goal_of(small, frame, seed)
    assume(goal is not None)
    np.testing.assert_allclose(values_with(small, frame, goal), target, rtol=1e-5, atol=1e-7)


def test_most_goals_are_reached(smalls):
    small = smalls[SMOOTH]
    frame, n_reached, n_tried = small.completion.frame, 0, 0
    for seed in range(fewer(300, 80)):
        if lay_out_at_random(small, seed):
            target = values_with(small, frame, frame.columns[small.n_columns + small.skeleton.hole])
            if np.all(np.isfinite(target)):
                small.set_target(target)
                n_tried += 1
                n_reached += goal_of(small, frame, seed) is not None
    assert n_reached > 0.6 * n_tried  # squares and roots of wrong sign leave the domain


def test_the_goal_of_the_longest_path_has_room(smalls):
    small = smalls[WITH_CONSTANTS]
    frame = small.completion.frame
    call_lay_out(derive(small, [0, 4] * MAX_INVERSIONS), 2, small.skeleton)  # x + (x + (x + ...
    small.skeleton.hole = 0
    x = small.columns[0, : frame.n]
    small.set_target(np.resize(small.columns[1] + MAX_INVERSIONS * small.columns[0], small.sample.n_rows))
    goal = goal_of(small, frame)
    np.testing.assert_allclose(goal, small.columns[1, : frame.n], rtol=1e-9)
    call_slope(small.skeleton, small.alphabet, frame)
    slope = frame.rows[(2 * MAX_INVERSIONS + 1) * frame.n :][: frame.n]
    np.testing.assert_array_equal(slope, np.ones(x.size))


def test_the_inversion_begins_at_the_step_that_is_named(smalls):
    small = smalls[SIMPLE]
    frame = small.completion.frame
    call_lay_out(derive(small, [0, 3]), 2, small.skeleton)  # x + hole
    small.skeleton.hole = 0
    call_find_path(small.skeleton, make_state(0))
    frame.rows[2 * frame.n : 3 * frame.n] = 77.0
    assert call_find_goal(small.skeleton, 1, small.alphabet, frame)
    assert np.all(frame.rows[2 * frame.n : 3 * frame.n] == 77.0)


def test_filling_a_hole_puts_the_values_of_the_entry_into_its_column(smalls):
    small = smalls[SIMPLE]
    frame = small.completion.frame
    call_lay_out(derive(small, [0, 1]), 2, small.skeleton)  # hole * hole + hole
    entry = small.entry_of(small.columns[0] * small.columns[1])
    fill_hole(small.skeleton, 1, entry, small.bank, frame, 2)
    assert small.skeleton.entry[1] == entry
    np.testing.assert_allclose(frame.columns[3], (small.columns[0] * small.columns[1])[: frame.n])


STEP = 1e-5


@settings(max_examples=N_EXAMPLES)
@given(SEEDS)
def test_the_slope_is_the_central_difference(smalls, seed):
    small = smalls[SMOOTH]
    assume(lay_out_at_random(small, seed, 3))
    frame = small.completion.wide
    target = values_with(small, frame, frame.columns[small.n_columns + small.skeleton.hole])
    assume(np.all(np.isfinite(target)) and np.max(np.abs(target)) < 1e3)
    small.set_target(target)
    goal = goal_of(small, frame, seed)
    assume(goal is not None and np.min(np.abs(goal)) > 1e-2 and np.max(np.abs(goal)) < 1e2)
    call_slope(small.skeleton, small.alphabet, frame)
    slope = frame.rows[(2 * MAX_INVERSIONS + 1) * frame.n :][: frame.n].copy()
    h = STEP * np.abs(goal)
    difference = (values_with(small, frame, goal + h) - values_with(small, frame, goal - h)) / (2 * h)
    curved = (values_with(small, frame, goal + 3 * h) - values_with(small, frame, goal - 3 * h)) / (6 * h)
    is_smooth = np.abs(difference - curved) < 1e-6 * np.abs(difference)  # elsewhere a difference tells little
    np.testing.assert_allclose(slope[is_smooth], difference[is_smooth], rtol=1e-5)


# --- what closes the hole, and the finished program


def lay_out_text_case(small, taken, fillings, hole, target):
    """Lay out a derivation, fill holes, work out the goal, look it up; tell whether it was there."""
    assert call_lay_out(derive(small, taken), small.n_columns, small.skeleton)
    for number, values in fillings.items():
        small.fill(number, small.entry_of(values))
    small.skeleton.hole = hole
    small.set_target(target)
    assert goal_of(small, small.completion.frame) is not None
    return call_look_up(small.completion)


def test_an_entry_with_the_goals_values_finishes_the_program(smalls):
    small = smalls[SIMPLE]
    x, y = small.columns
    assert lay_out_text_case(small, [0, 2], {0: x * y}, 1, np.sin(x * y) + y * y)
    leaf = small.assemble()
    assert small.assembled_text() == "sin(y*x) + y*y"  # as the bank spells it
    assert (leaf.n_rules, leaf.n_constants, leaf.n_open, leaf.is_full) == (8, 0, 0, 0)
    assert leaf.origin[: leaf.n_tokens].tolist() == [0] * 8


def test_a_program_without_an_entry_for_the_goal_is_not_finished(smalls):
    small = smalls[SIMPLE]
    x, y = small.columns
    assert not lay_out_text_case(small, [0, 2], {0: x * y}, 1, np.sin(x * y) + y**0.3)


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        ("f -> f + f | C * f | sin(f) | x | y", lambda x, y: np.sin(x) + y, "sin(x) + y"),
        ("f -> f + f | C * f | sin(f) | x | y", lambda x, y: np.sin(x) - 3 * y, "sin(x) - 3*y"),
        ("f -> f + f | f * C | sin(f) | x | y", lambda x, y: np.sin(x) - 3 * y, "sin(x) + y*(-3)"),
        ("f -> f + f | C * f + C | C * f | sin(f) | x | y", lambda x, y: np.sin(x) - 3 * y, "sin(x) - 3*y"),
        ("f -> f + f | C * f + C | sin(f) | x | y", lambda x, y: np.sin(x) - 3 * y + 9, "sin(x) + (-3*y + 9)"),
        ("f -> f + f | C + f * C | sin(f) | x | y", lambda x, y: np.sin(x) - 3 * y + 9, "sin(x) + (9 + y*(-3))"),
        ("f -> f + g | sin(f) | x\ng -> C * g | y", lambda x, y: np.sin(x) + 4 * y, "sin(x) + 4*y"),
    ],
)
def test_a_goal_is_met_up_to_the_scale_and_offset_that_the_grammar_has(text, target, expected):
    small = SmallCompletion(text, n_entries=20)
    x, y = small.columns
    sine = next(k for k in rules_of(small.rules, 0) if tk.SIN in small.grammar.rules[k].tokens)
    assert lay_out_text_case(small, [0, sine], {0: x}, 1, target(x, y))
    leaf = small.assemble()
    program = small.program_of(leaf)
    rounded = program.with_constants(np.round(program.constants, 9))
    assert small.grammar.derives(program)
    assert_origins_derive(small, leaf)
    assert to_text(rounded) == expected


def test_a_goal_without_an_offset_is_met_by_a_form_with_one_if_there_is_no_other():
    small = SmallCompletion("f -> f + f | C * f + C | x | y", n_entries=20)
    x, y = small.columns
    assert lay_out_text_case(small, [0], {0: x}, 1, x - 3 * y)


@pytest.mark.parametrize("hole", [0, 1])
def test_the_number_1_becomes_a_constant_that_begins_at_1(hole):
    small = SmallCompletion("f -> f + f | f * f | sin(f) | C | x | y", n_entries=20)
    x, _ = small.columns
    entries = [small.entry_of(np.sin(x)), small.entry_of(np.ones_like(x))]
    assert call_lay_out(derive(small, [0]), 2, small.skeleton)
    small.fill(1 - hole, entries[1 - hole])
    small.skeleton.hole = hole
    assert call_spell(small.completion, 0, ENTRY_FORM, entries[hole], 1.0, 0.0)
    leaf = small.assemble()
    assert small.assembled_text() == "sin(x) + 1"
    assert small.grammar.derives(small.program_of(leaf))
    assert (leaf.n_rules, leaf.n_constants) == (4, 1)


@pytest.mark.parametrize(("n_cheapest", "n"), [(0, 1), (3, 1), (0, 20), (3, 20), (20, 20)])
def test_random_places_are_those_below_n_and_the_first_come_most_often(n_cheapest, n):
    state = make_state(5)
    counts = np.bincount([random_place(n_cheapest, n, state) for _ in range(fewer(5_000, 2_000))])
    assert counts.size == n
    assert np.all(counts > 0)
    assert counts[0] >= counts[-1]


def test_random_places_are_the_cheapest_more_often_than_not():
    state = make_state(5)
    places = [random_place(3, 20, state) for _ in range(fewer(5_000, 2_000))]
    assert 0.5 < np.mean(np.array(places) < 3) < 0.8
