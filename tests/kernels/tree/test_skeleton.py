"""Skeletons against lists of tokens: how they are laid out, their paths to the hole, and the programs assembled from them."""

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kernels.completion_twins import (
    HOLE_COLUMNS,
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
    derive_at_random,
    lay_out_at_random,
    make_state,
    members,
)
from tests.kernels.doors import open_door
from tests.kernels.search_twins import fewer, is_symbol, rules_of

from spl.kernels.programs import tokens as tk
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.complete import ENTRY_FORM
from spl.kernels.tree.derivation import complete_at_random
from spl.kernels.tree.ledger import RECORD, write_record
from spl.kernels.tree.skeleton import (
    MAX_INVERSIONS,
    MAX_OPEN,
    append_constant,
    append_entry,
    append_token,
    begin_closing,
    lay_out_variant,
    sibling_step,
)

pytestmark = pytest.mark.slow

N_EXAMPLES = fewer(150, 40)
SEEDS = st.integers(0, 2**32 - 1)

call_lay_out_variant = open_door(lay_out_variant)


@pytest.fixture(scope="module")
def smalls():
    with np.errstate(all="ignore"):
        return {text: SmallCompletion(text) for text in (SIMPLE, SMOOTH, ROUGH, WITH_CONSTANTS)}


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
    small = smalls[SIMPLE]
    assert call_lay_out(derive(small, [0] * (MAX_OPEN - 1)), 2, small.skeleton)
    assert not call_lay_out(derive(small, [0] * MAX_OPEN), 2, small.skeleton)


def test_a_finished_or_an_overlong_derivation_is_not_laid_out(smalls):
    small = smalls[SIMPLE]
    add, _, sine, x, _ = range(5)
    assert not call_lay_out(derive(small, [x]), 2, small.skeleton)
    assert call_lay_out(derive(small, [sine] * (tk.MAX_PROGRAM_LENGTH - 1)), 2, small.skeleton)
    assert not call_lay_out(derive(small, [sine] * tk.MAX_PROGRAM_LENGTH), 2, small.skeleton)
    assert not call_lay_out(derive(small, [sine] * (tk.MAX_PROGRAM_LENGTH - 2) + [add]), 2, small.skeleton)


# --- the path from the root to the hole


@settings(max_examples=N_EXAMPLES)
@given(SEEDS)
def test_the_steps_lead_from_the_root_to_the_hole(smalls, seed):
    small = smalls[ROUGH]
    assume(lay_out_at_random(small, seed, 7))
    skeleton = small.skeleton
    assert call_find_path(skeleton, make_state(seed))
    tokens = skeleton.tokens[: skeleton.length].tolist()
    expected = slow_path(tokens, skeleton.position[skeleton.hole], small.grammar.vocabulary)
    found = [
        (skeleton.step_token[k], skeleton.step_side[k], skeleton.sibling_first[k], skeleton.sibling_end[k])
        for k in range(skeleton.n_steps)
    ]
    assert [step[:2] for step in found] == [step[:2] for step in expected]
    assert [step[2:] for step in found if step[2] >= 0] == [step[2:] for step in expected if step[2] >= 0]
    assert set(skeleton.step_branch[: skeleton.n_steps].tolist()) <= {0, 1}


def slow_path(tokens, hole, vocabulary, at=0):
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
    return [(tokens[at], side, *sibling), *slow_path(tokens, hole, vocabulary, starts[side])]


def end_of(tokens, at, vocabulary):
    n_open = 1
    while n_open > 0:
        n_open += vocabulary.arity_of(tokens[at]) - 1
        at += 1
    return at


@settings(max_examples=N_EXAMPLES)
@given(SEEDS)
def test_each_other_hole_is_in_the_sibling_of_its_step(smalls, seed):
    small = smalls[ROUGH]
    assume(lay_out_at_random(small, seed, 7))
    skeleton = small.skeleton
    call_find_path(skeleton, make_state(seed))
    for k in range(skeleton.n_open):
        step = sibling_step(skeleton, k)
        if k == skeleton.hole:
            assert step == -1
        else:
            assert skeleton.sibling_first[step] <= skeleton.position[k] < skeleton.sibling_end[step]


def test_a_path_with_more_steps_than_there_is_room_for_is_not_found(smalls):
    small = smalls[SIMPLE]
    for n_steps, is_found in ((MAX_INVERSIONS, True), (MAX_INVERSIONS + 1, False)):
        call_lay_out(derive(small, [2] * n_steps), 2, small.skeleton)
        small.skeleton.hole = 0
        assert call_find_path(small.skeleton, make_state(0)) == is_found


# --- the closing


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
    small = smalls[SIMPLE]
    x, y = small.columns
    entry = small.entry_of(x * y)
    call_lay_out(derive(small, [2] * (tk.MAX_PROGRAM_LENGTH - 4)), 2, small.skeleton)
    small.skeleton.hole = 0
    assert call_spell(small.completion, 0, ENTRY_FORM, entry, 1.0, 0.0)
    assert small.assemble().n_tokens == tk.MAX_PROGRAM_LENGTH - 1
    call_lay_out(derive(small, [2] * (tk.MAX_PROGRAM_LENGTH - 2)), 2, small.skeleton)
    assert call_spell(small.completion, 0, ENTRY_FORM, entry, 1.0, 0.0)
    assert small.assemble() is None


def test_a_closing_that_is_too_long_says_so(smalls):
    skeleton = smalls[SIMPLE].skeleton
    begin_closing(skeleton)
    for _ in range(tk.MAX_PROGRAM_LENGTH):
        append_token(skeleton, tk.SIN, 0)
    assert skeleton.closing_length == tk.MAX_PROGRAM_LENGTH
    append_token(skeleton, tk.SIN, 0)
    append_token(skeleton, tk.SIN, 0)
    assert skeleton.closing_length == -1


def test_a_closing_with_too_many_constants_says_so(smalls):
    skeleton = smalls[SIMPLE].skeleton
    begin_closing(skeleton)
    for _ in range(tk.MAX_CONSTANTS):
        append_constant(skeleton, 2.0, 0)
    assert skeleton.closing_length == tk.MAX_CONSTANTS
    append_constant(skeleton, 2.0, 0)
    assert skeleton.closing_length == -1


# --- variants of programs


def make_random_record(small, seed, max_rules=14):
    derivation, record = derive(small, ()), make_record(RECORD)
    complete_at_random(small.rules, derivation, max_rules, make_state(seed))
    write_record(record, derivation, np.arange(1.0, 1 + tk.MAX_CONSTANTS), 0.5, 0.5)
    return record


def lay_out_variant_of(small, record, seed, n_holes=1):
    return call_lay_out_variant(record, n_holes, small.completion.rules, 2, small.skeleton, make_state(seed))


def close_with(small, seed):
    """Close the hole with one of the first entries of its symbol, and fill all others so."""
    pick = random.Random(seed)
    for k in range(small.skeleton.n_open):
        small.skeleton.entry[k] = pick.choice(members(small, int(small.skeleton.symbol[k]))[:12])
    hole = small.skeleton.hole
    assert call_spell(small.completion, small.skeleton.symbol[hole], ENTRY_FORM, small.skeleton.entry[hole], 1.0, 0.0)


@pytest.mark.parametrize("n_holes", [1, 2])
@pytest.mark.parametrize("text", [SIMPLE, SMOOTH, WITH_CONSTANTS])
def test_the_grammar_derives_what_a_jump_leads_to(smalls, text, n_holes):
    small = smalls[text]
    n_made = 0
    for seed in range(fewer(400, 120)):
        record = make_random_record(small, seed)
        if not lay_out_variant_of(small, record, seed, n_holes):
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
    small = smalls[SIMPLE]
    n_made = 0
    for seed in range(fewer(200, 60)):
        record = make_random_record(small, seed)
        if not lay_out_variant_of(small, record, seed):
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
        if not lay_out_variant_of(small, record, seed):
            continue
        close_with(small, seed)
        leaf = small.assemble()
        guesses = leaf.guesses[: leaf.n_constants].tolist()
        assert guesses == sorted(set(guesses))  # those of the record in order, without those of the part left out
        n_kept += len(guesses)
    assert n_kept > 0


def test_a_jump_leaves_a_part_out_goes_into_a_function_or_puts_a_hole_beside_it(smalls):
    small = smalls[SIMPLE]
    record = make_record(RECORD)
    write_record(record, derive(small, [3]), np.zeros(tk.MAX_CONSTANTS), 0.5, 0.5)  # x
    x, hole = HOLE_COLUMNS, HOLE_COLUMNS + 2
    found = set()
    for seed in range(200):
        assert lay_out_variant_of(small, record, seed)
        found.add(tuple(small.skeleton.tokens[: small.skeleton.length].tolist()))
    beside = {(token, *sides) for token in (tk.ADD, tk.MUL) for sides in ((x, hole), (hole, x))}
    assert found == {(hole,), (tk.SIN, hole)} | beside


def test_a_jump_with_two_holes_puts_both_operands_of_an_operator_in_place_of_a_part(smalls):
    small = smalls[SIMPLE]
    record = make_record(RECORD)
    write_record(record, derive(small, [3]), np.zeros(tk.MAX_CONSTANTS), 0.5, 0.5)  # x
    first, second = HOLE_COLUMNS + 2, HOLE_COLUMNS + 3
    found = set()
    for seed in range(100):
        assert lay_out_variant_of(small, record, seed, 2)
        found.add(tuple(small.skeleton.tokens[: small.skeleton.length].tolist()))
    assert found == {(tk.ADD, first, second), (tk.MUL, first, second)}


def test_there_is_no_jump_from_a_program_that_no_rule_made(smalls):
    small = smalls[SIMPLE]
    record = make_random_record(small, 3)
    record.origin[:] = -1
    assert not lay_out_variant_of(small, record, 0)


@pytest.mark.parametrize("text", ["f -> sin(f) | x", "f -> f + f | sin(f) | x"])
def test_a_jump_without_room_is_refused(text):
    small = SmallCompletion(text, n_entries=10)
    assert_jumps_are_whole(small, text.count("|") - 1)


def test_a_jump_without_room_for_the_end_of_a_template_is_refused():
    assert_jumps_are_whole(SmallCompletion("f -> f * 2 | sin(f) | x", n_entries=10), 1)


def assert_jumps_are_whole(small, sine):
    """Jump from programs that nearly fill their array: some jumps are refused, the skeletons of others are programs."""
    is_made = []
    for n_sines in range(tk.MAX_PROGRAM_LENGTH - 4, tk.MAX_PROGRAM_LENGTH):
        record = make_record(RECORD)
        derivation = derive(small, [sine] * n_sines + [sine + 1])
        write_record(record, derivation, np.zeros(tk.MAX_CONSTANTS), 0.5, 0.5)
        record.origin[: n_sines - 1] = -1  # so that the end is what is jumped from
        for seed in range(12):
            is_made.append(bool(lay_out_variant_of(small, record, seed)))
            if not is_made[-1]:
                continue
            skeleton = small.skeleton
            tokens = skeleton.tokens[: skeleton.length].tolist()
            n_open = 1 + sum(small.grammar.vocabulary.arity_of(token) - 1 for token in tokens)
            assert n_open == 0
    assert set(is_made) == {True, False}
