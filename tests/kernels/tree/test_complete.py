"""Completion against numpy: the goal in place of the hole gives the target, and what is assembled is in the grammar."""

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kernels.completion_twins import HOLE_COLUMNS, SmallCompletion, assert_origins_derive
from tests.kernels.doors import open_door
from tests.kernels.program_twins import evaluate_slowly
from tests.kernels.search_twins import fewer, is_symbol, rules_of

from spl.formulas.text import to_text
from spl.kernels.programs import tokens as tk
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.complete import (
    ENTRY,
    close_by_look_up,
    evaluate_sibling,
    fill_hole,
    find_slope,
    random_place,
    spell_entry,
    walk,
)
from spl.kernels.tree.derivation import DERIVATION, begin, complete_at_random, take_rule
from spl.kernels.tree.ledger import RECORD, write_record
from spl.kernels.tree.skeleton import (
    MAX_OPEN,
    MAX_STEPS,
    append_constant,
    append_entry,
    append_token,
    begin_closing,
    find_way,
    lay_out,
    lay_out_jump,
    step_with,
)

pytestmark = pytest.mark.slow

N_EXAMPLES = fewer(150, 40)
SEEDS = st.integers(0, 2**32 - 1)
PLAIN = "f -> f + f | f * f | sin(f) | x | y"  # each rule adds one token
SMOOTH = (
    "f -> f + g | f - g | f * g | f / f | sin(g) | exp(g) | x**2 * f | f**3 | x\ng -> sqrt(f) | cos(g) | g * g | y | 2"
)
ROUGH = SMOOTH.replace("| x\n", "| abs(f) | min(f, g) | x\n")
WITH_CONSTANTS = "f -> f + f | C * f | sin(g) | f / (f + C) | x\ng -> f | C * y + C | g * g"

call_lay_out, call_lay_out_jump, call_find_way = open_door(lay_out), open_door(lay_out_jump), open_door(find_way)
call_sibling, call_walk, call_slope = open_door(evaluate_sibling), open_door(walk), open_door(find_slope)
call_spell, call_look_up = open_door(spell_entry), open_door(close_by_look_up)


@pytest.fixture(scope="module")
def smalls():
    with np.errstate(all="ignore"):
        return {text: SmallCompletion(text) for text in (PLAIN, SMOOTH, ROUGH, WITH_CONSTANTS)}


def make_state(seed):
    return np.array([seed], np.uint64)


def derive(small, taken):
    derivation = make_record(DERIVATION)
    begin(small.rules, derivation)
    for rule in taken:
        take_rule(small.rules, derivation, rule)
    return derivation


def derive_at_random(small, choose, n_rules):
    """Return an unfinished derivation without constants."""
    derivation = derive(small, ())
    for _ in range(n_rules):
        symbol = int(derivation.open[derivation.n_open - 1]) & tk.PAYLOAD_MASK
        take_rule(small.rules, derivation, choose.choice(rules_of(small.rules, symbol)))
        if derivation.n_open == 0:
            return derive_at_random(small, choose, n_rules)
    return derivation


def lay_out_at_random(small, seed, n_rules=4):
    """Make a random skeleton with entries in all holes but one, which is noted; tell whether there is one."""
    choose = random.Random(seed)
    if not call_lay_out(
        derive_at_random(small, choose, choose.randrange(1, n_rules + 1)), small.n_columns, small.skeleton
    ):
        return False
    for hole in range(small.skeleton.n_open):
        small.fill(hole, choose.choice(members(small, small.skeleton.symbol[hole])[:30]))
    small.skeleton.hole = choose.randrange(small.skeleton.n_open)
    return True


def members(small, symbol):
    return small.bank.member[symbol, : small.bank.n_of[symbol]].tolist()


def values_with(small, frame, hole_values):
    """Return the values of the skeleton with these values in the hole."""
    skeleton = small.skeleton
    columns = frame.columns.copy()
    columns[small.n_columns + skeleton.hole] = hole_values
    return evaluate_slowly(skeleton.tokens[: skeleton.length].tolist(), (), small.grammar.vocabulary.literals, columns)


def walk_to_hole(small, frame, seed=0):
    """Return the goal, or None if there is none."""
    if not call_find_way(small.skeleton, make_state(seed)):
        return None
    for k in range(small.skeleton.n_steps):
        call_sibling(small.skeleton, k, small.alphabet, frame)
    if not call_walk(small.skeleton, 0, small.alphabet, frame):
        return None
    at = 2 * small.skeleton.n_steps * frame.n
    return frame.rows[at : at + frame.n].copy()


# --- laying out


@settings(max_examples=N_EXAMPLES)
@given(SEEDS)
def test_a_skeleton_is_the_derivation_with_its_open_symbols_as_columns_of_their_own(smalls, seed):
    small = smalls[SMOOTH]
    choose = random.Random(seed)
    derivation = derive_at_random(small, choose, choose.randrange(6))
    items = [*derivation.tokens[: derivation.n_tokens], *derivation.open[: derivation.n_open][::-1]]
    holes = [k for k, item in enumerate(items) if is_symbol(int(item))]
    assert call_lay_out(derivation, small.n_columns, small.skeleton) == (len(holes) <= MAX_OPEN)
    assume(len(holes) <= MAX_OPEN)
    skeleton = small.skeleton
    assert skeleton.position[: skeleton.n_open].tolist() == holes
    assert skeleton.symbol[: skeleton.n_open].tolist() == [int(items[k]) & tk.PAYLOAD_MASK for k in holes]
    expected = [HOLE_COLUMNS + 2 + holes.index(k) if k in holes else int(item) for k, item in enumerate(items)]
    assert skeleton.tokens[: skeleton.length].tolist() == expected
    assert skeleton.n_rules == derivation.n_rules


def test_a_derivation_with_constants_is_not_laid_out(smalls):
    small = smalls[WITH_CONSTANTS]
    _, scale, _, ratio, _ = rules_of(small.rules, 0)
    assert not call_lay_out(derive(small, [scale]), 2, small.skeleton)  # one among the tokens
    assert not call_lay_out(derive(small, [ratio]), 2, small.skeleton)  # one that is still to come


def test_a_derivation_with_too_many_open_symbols_is_not_laid_out(smalls):
    small = smalls[PLAIN]
    assert call_lay_out(derive(small, [0] * (MAX_OPEN - 1)), 2, small.skeleton)
    assert not call_lay_out(derive(small, [0] * MAX_OPEN), 2, small.skeleton)


def test_a_finished_or_an_overlong_derivation_is_not_laid_out(smalls):
    small = smalls[PLAIN]
    add, _, sine, x, _ = range(5)
    assert not call_lay_out(derive(small, [x]), 2, small.skeleton)
    assert call_lay_out(derive(small, [sine] * (tk.MAX_LENGTH - 1)), 2, small.skeleton)
    assert not call_lay_out(derive(small, [sine] * tk.MAX_LENGTH), 2, small.skeleton)
    assert not call_lay_out(derive(small, [sine] * (tk.MAX_LENGTH - 2) + [add]), 2, small.skeleton)


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
    goal = walk_to_hole(small, frame, seed)
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
                n_reached += walk_to_hole(small, frame, seed) is not None
    assert n_reached > 0.6 * n_tried  # squares and roots of wrong sign leave the domain


@settings(max_examples=N_EXAMPLES)
@given(SEEDS)
def test_the_steps_lead_from_the_root_to_the_hole(smalls, seed):
    small = smalls[ROUGH]
    assume(lay_out_at_random(small, seed, 7))
    skeleton = small.skeleton
    assert call_find_way(skeleton, make_state(seed))
    tokens = skeleton.tokens[: skeleton.length].tolist()
    expected = slow_way(tokens, skeleton.position[skeleton.hole], small.grammar.vocabulary)
    found = [
        (skeleton.step_token[k], skeleton.step_side[k], skeleton.sibling_first[k], skeleton.sibling_end[k])
        for k in range(skeleton.n_steps)
    ]
    assert [step[:2] for step in found] == [step[:2] for step in expected]
    assert [step[2:] for step in found if step[2] >= 0] == [step[2:] for step in expected if step[2] >= 0]
    assert set(skeleton.step_branch[: skeleton.n_steps].tolist()) <= {0, 1}


def slow_way(tokens, hole, vocabulary, at=0):
    """Return (token, side, where the sibling begins, where it ends) of each operator above the hole; -1 for no sibling."""
    if at == hole:
        return []
    starts, end = [], at + 1
    for _ in range(vocabulary.arity_of(tokens[at])):
        starts.append(end)
        end = end_of(tokens, end, vocabulary)
    ends = [*starts[1:], end]
    side = next(k for k in range(len(starts)) if starts[k] <= hole < ends[k])
    sibling = (starts[1 - side], ends[1 - side]) if len(starts) == 2 else (-1, -1)
    return [(tokens[at], side, *sibling), *slow_way(tokens, hole, vocabulary, starts[side])]


def end_of(tokens, at, vocabulary):
    n_open = 1
    while n_open > 0:
        n_open += vocabulary.arity_of(tokens[at]) - 1
        at += 1
    return at


@settings(max_examples=N_EXAMPLES)
@given(SEEDS)
def test_each_other_hole_is_in_the_sibling_of_the_step_that_is_told(smalls, seed):
    small = smalls[ROUGH]
    assume(lay_out_at_random(small, seed, 7))
    skeleton = small.skeleton
    call_find_way(skeleton, make_state(seed))
    for k in range(skeleton.n_open):
        step = step_with(skeleton, k)
        if k == skeleton.hole:
            assert step == -1
        else:
            assert skeleton.sibling_first[step] <= skeleton.position[k] < skeleton.sibling_end[step]


def test_a_way_with_more_steps_than_there_is_room_for_is_not_found(smalls):
    small = smalls[PLAIN]
    for n_steps, is_found in ((MAX_STEPS, True), (MAX_STEPS + 1, False)):
        call_lay_out(derive(small, [2] * n_steps), 2, small.skeleton)
        small.skeleton.hole = 0
        assert call_find_way(small.skeleton, make_state(0)) == is_found


def test_the_goal_of_the_longest_way_has_room(smalls):
    small = smalls[WITH_CONSTANTS]
    frame = small.completion.frame
    call_lay_out(derive(small, [0, 4] * MAX_STEPS), 2, small.skeleton)  # x + (x + (x + ...
    small.skeleton.hole = 0
    x = small.columns[0, : frame.n]
    small.set_target(np.resize(small.columns[1] + MAX_STEPS * small.columns[0], small.sample.n_rows))
    goal = walk_to_hole(small, frame)
    np.testing.assert_allclose(goal, small.columns[1, : frame.n], rtol=1e-9)
    call_slope(small.skeleton, small.alphabet, frame)
    slope = frame.rows[(2 * MAX_STEPS + 1) * frame.n :][: frame.n]
    np.testing.assert_array_equal(slope, np.ones(x.size))


def test_the_walk_begins_at_the_step_that_is_named(smalls):
    small = smalls[PLAIN]
    frame = small.completion.frame
    call_lay_out(derive(small, [0, 3]), 2, small.skeleton)  # x + hole
    small.skeleton.hole = 0
    call_find_way(small.skeleton, make_state(0))
    frame.rows[2 * frame.n : 3 * frame.n] = 77.0
    assert call_walk(small.skeleton, 1, small.alphabet, frame)
    assert np.all(frame.rows[2 * frame.n : 3 * frame.n] == 77.0)


def test_filling_a_hole_puts_the_values_of_the_entry_into_its_column(smalls):
    small = smalls[PLAIN]
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
    goal = walk_to_hole(small, frame, seed)
    assume(goal is not None and np.min(np.abs(goal)) > 1e-2 and np.max(np.abs(goal)) < 1e2)
    call_slope(small.skeleton, small.alphabet, frame)
    slope = frame.rows[(2 * MAX_STEPS + 1) * frame.n :][: frame.n].copy()
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
    assert walk_to_hole(small, small.completion.frame) is not None
    return call_look_up(small.completion)


def test_an_entry_with_the_goals_values_finishes_the_program(smalls):
    small = smalls[PLAIN]
    x, y = small.columns
    assert lay_out_text_case(small, [0, 2], {0: x * y}, 1, np.sin(x * y) + y * y)
    leaf = small.assemble()
    assert small.assembled_text() == "sin(y*x) + y*y"  # as the bank spells it
    assert (leaf.n_rules, leaf.n_constants, leaf.n_open, leaf.is_full) == (8, 0, 0, 0)
    assert leaf.origin[: leaf.n_tokens].tolist() == [0] * 8


def test_a_program_without_an_entry_for_the_goal_is_not_finished(smalls):
    small = smalls[PLAIN]
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
    assert call_spell(small.completion, 0, ENTRY, entries[hole], 1.0, 0.0)
    leaf = small.assemble()
    assert small.assembled_text() == "sin(x) + 1"
    assert small.grammar.derives(small.program_of(leaf))
    assert (leaf.n_rules, leaf.n_constants) == (4, 1)


def test_an_entry_with_too_many_constants_is_not_finished():
    small = SmallCompletion("f -> f + f | f * f | sin(f) | C | x | y", n_entries=20)
    begin_closing(small.skeleton)
    one = small.entry_of(np.ones(24))
    for _ in range(tk.MAX_CONSTANTS):
        append_entry(small.skeleton, small.bank, small.completion.rules, one)
    assert small.skeleton.closing_length == tk.MAX_CONSTANTS
    append_entry(small.skeleton, small.bank, small.completion.rules, one)
    assert small.skeleton.closing_length == -1


def test_nothing_is_finished_without_room(smalls):
    small = smalls[PLAIN]
    x, y = small.columns
    entry = small.entry_of(x * y)
    call_lay_out(derive(small, [2] * (tk.MAX_LENGTH - 4)), 2, small.skeleton)
    small.skeleton.hole = 0
    assert call_spell(small.completion, 0, ENTRY, entry, 1.0, 0.0)
    assert small.assemble().n_tokens == tk.MAX_LENGTH - 1
    call_lay_out(derive(small, [2] * (tk.MAX_LENGTH - 2)), 2, small.skeleton)
    assert call_spell(small.completion, 0, ENTRY, entry, 1.0, 0.0)
    assert small.assemble() is None


def test_a_closing_that_is_too_long_says_so(smalls):
    skeleton = smalls[PLAIN].skeleton
    begin_closing(skeleton)
    for _ in range(tk.MAX_LENGTH):
        append_token(skeleton, tk.SIN, 0)
    assert skeleton.closing_length == tk.MAX_LENGTH
    append_token(skeleton, tk.SIN, 0)
    append_token(skeleton, tk.SIN, 0)
    assert skeleton.closing_length == -1


def test_a_closing_with_too_many_constants_says_so(smalls):
    skeleton = smalls[PLAIN].skeleton
    begin_closing(skeleton)
    for _ in range(tk.MAX_CONSTANTS):
        append_constant(skeleton, 2.0, 0)
    assert skeleton.closing_length == tk.MAX_CONSTANTS
    append_constant(skeleton, 2.0, 0)
    assert skeleton.closing_length == -1


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


# --- jumps


def make_random_record(small, seed, max_rules=14):
    derivation, record = derive(small, ()), make_record(RECORD)
    complete_at_random(small.rules, derivation, max_rules, make_state(seed))
    write_record(record, derivation, np.arange(1.0, 1 + tk.MAX_CONSTANTS), 0.5, 0.5)
    return record


def lay_out_jump_from(small, record, seed, n_holes=1):
    return call_lay_out_jump(record, n_holes, small.completion.rules, 2, small.skeleton, make_state(seed))


def close_with(small, seed):
    """Close the hole with one of the first entries of its symbol, and fill all others so."""
    pick = random.Random(seed)
    for k in range(small.skeleton.n_open):
        small.skeleton.entry[k] = pick.choice(members(small, int(small.skeleton.symbol[k]))[:12])
    hole = small.skeleton.hole
    assert call_spell(small.completion, small.skeleton.symbol[hole], ENTRY, small.skeleton.entry[hole], 1.0, 0.0)


@pytest.mark.parametrize("n_holes", [1, 2])
@pytest.mark.parametrize("text", [PLAIN, SMOOTH, WITH_CONSTANTS])
def test_the_grammar_derives_what_a_jump_leads_to(smalls, text, n_holes):
    small = smalls[text]
    n_made = 0
    for seed in range(fewer(400, 120)):
        record = make_random_record(small, seed)
        if not lay_out_jump_from(small, record, seed, n_holes):
            continue
        assert small.skeleton.n_open == n_holes
        small.skeleton.hole = seed % n_holes
        n_made += 1
        close_with(small, seed)
        leaf = small.assemble()
        assert small.grammar.derives(small.program_of(leaf))
        assert_origins_derive(small, leaf)
    assert n_made > fewer(250, 70)


def test_a_jump_counts_the_rules_of_what_it_leads_to(smalls):
    small = smalls[PLAIN]
    n_made = 0
    for seed in range(fewer(200, 60)):
        record = make_random_record(small, seed)
        if not lay_out_jump_from(small, record, seed):
            continue
        n_made += 1
        close_with(small, seed)
        leaf = small.assemble()
        assert leaf.n_rules == leaf.n_tokens
    assert n_made > fewer(120, 35)


def test_a_jump_keeps_the_constants_outside_the_hole(smalls):
    small = smalls[WITH_CONSTANTS]
    n_kept = 0
    for seed in range(fewer(200, 60)):
        record = make_random_record(small, seed)
        if not lay_out_jump_from(small, record, seed):
            continue
        close_with(small, seed)
        leaf = small.assemble()
        guesses = leaf.guesses[: leaf.n_constants].tolist()
        assert guesses == sorted(set(guesses))  # those of the record in order, without those of the part left out
        n_kept += len(guesses)
    assert n_kept > 0


def test_a_jump_leaves_a_part_out_goes_into_a_function_or_puts_a_hole_beside_it(smalls):
    small = smalls[PLAIN]
    record = make_record(RECORD)
    write_record(record, derive(small, [3]), np.zeros(tk.MAX_CONSTANTS), 0.5, 0.5)  # x
    x, hole = HOLE_COLUMNS, HOLE_COLUMNS + 2
    found = set()
    for seed in range(200):
        assert lay_out_jump_from(small, record, seed)
        found.add(tuple(small.skeleton.tokens[: small.skeleton.length].tolist()))
    beside = {(token, *sides) for token in (tk.ADD, tk.MUL) for sides in ((x, hole), (hole, x))}
    assert found == {(hole,), (tk.SIN, hole)} | beside


def test_a_jump_with_two_holes_puts_both_operands_of_an_operator_in_place_of_a_part(smalls):
    small = smalls[PLAIN]
    record = make_record(RECORD)
    write_record(record, derive(small, [3]), np.zeros(tk.MAX_CONSTANTS), 0.5, 0.5)  # x
    first, second = HOLE_COLUMNS + 2, HOLE_COLUMNS + 3
    found = set()
    for seed in range(100):
        assert lay_out_jump_from(small, record, seed, 2)
        found.add(tuple(small.skeleton.tokens[: small.skeleton.length].tolist()))
    assert found == {(tk.ADD, first, second), (tk.MUL, first, second)}


def test_there_is_no_jump_from_a_program_that_no_rule_made(smalls):
    small = smalls[PLAIN]
    record = make_random_record(small, 3)
    record.origin[:] = -1
    assert not lay_out_jump_from(small, record, 0)


@pytest.mark.parametrize("text", ["f -> sin(f) | x", "f -> f + f | sin(f) | x"])
def test_a_jump_without_room_is_refused(text):
    small = SmallCompletion(text, n_entries=10)
    assert_jumps_are_whole(small, text.count("|") - 1)


def test_a_jump_without_room_for_the_end_of_a_template_is_refused():
    assert_jumps_are_whole(SmallCompletion("f -> f * 2 | sin(f) | x", n_entries=10), 1)


def assert_jumps_are_whole(small, sine):
    """Jump from programs that nearly fill their array: some jumps are refused, the skeletons of others are programs."""
    is_made = []
    for n_sines in range(tk.MAX_LENGTH - 4, tk.MAX_LENGTH):
        record = make_record(RECORD)
        derivation = derive(small, [sine] * n_sines + [sine + 1])
        write_record(record, derivation, np.zeros(tk.MAX_CONSTANTS), 0.5, 0.5)
        record.origin[: n_sines - 1] = -1  # so that the end is what is jumped from
        for seed in range(12):
            is_made.append(bool(lay_out_jump_from(small, record, seed)))
            if not is_made[-1]:
                continue
            skeleton = small.skeleton
            tokens = skeleton.tokens[: skeleton.length].tolist()
            n_open = 1 + sum(small.grammar.vocabulary.arity_of(token) - 1 for token in tokens)
            assert n_open == 0
    assert set(is_made) == {True, False}
