"""Keys against a canonical form written from the definition: equal keys exactly for equal forms."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.program_twins import BINARY, CONSTANT, LITERAL, UNARY, X0, X1, power_token, programs
from tests.kernels.search_twins import fewer

from spl.kernels.programs import tokens as tk
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.program_keys import KEY_WORK, structure_key, value_key

WORK = make_record(KEY_WORK)
LEAVES = [X0, X1, X0 + 2, CONSTANT, LITERAL, LITERAL + 1]
INNER_UNARY = [*UNARY, power_token(4), power_token(-2), tk.USER_UNARY, tk.USER_UNARY + 1]
INNER_BINARY = [*BINARY, tk.USER_BINARY, tk.USER_BINARY + 1]
GROUPS = {tk.ADD: tk.ADD, tk.SUB: tk.ADD, tk.MUL: tk.MUL, tk.DIV: tk.MUL}


def key_of(tokens) -> int:
    array = np.array(tokens, np.int32)
    return int(structure_key(array, array.size, WORK))


def to_tree(tokens):
    """Return (token, arguments...) of a prefix sequence."""
    stack = []
    for token in reversed(tokens):
        kind = token >> tk.KIND_SHIFT
        is_operator = kind == tk.OPERATOR
        n = (
            0
            if kind >= tk.VARIABLE
            else 2
            if is_operator and (token < tk.FIRST_UNARY or token >= tk.USER_BINARY)
            else 1
        )
        stack.append((token, *(stack.pop() for _ in range(n))))
    return stack.pop()


def to_tokens(tree):
    return [tree[0], *(token for argument in tree[1:] for token in to_tokens(argument))]


def canonical_form(tree):
    """Return a form that does not depend on the order and grouping of sums and products."""
    if tree[0] not in GROUPS:
        return (tree[0], *map(canonical_form, tree[1:]))
    return (GROUPS[tree[0]], "terms", *sorted(terms_of(tree, GROUPS[tree[0]]), key=repr))


def terms_of(tree, group):
    """Return the terms of a sum (or the factors of a product), each with whether it is taken away (or divided by)."""
    if GROUPS.get(tree[0]) != group:
        return [(False, canonical_form(tree))]
    first, second = tree[1:]
    if tree[0] == group:
        return terms_of(first, group) + terms_of(second, group)
    return [*terms_of(first, group), (True, canonical_form(second))]


def random_tree(choose, depth):
    shape = choose.random()
    if depth == 0 or shape < 0.2:
        return (choose.choice(LEAVES),)
    if shape < 0.4:
        return (choose.choice(INNER_UNARY), random_tree(choose, depth - 1))
    token = choose.choice(INNER_BINARY) if shape < 0.6 else choose.choice([*GROUPS])
    return (token, random_tree(choose, depth - 1), random_tree(choose, depth - 1))


def respell(tree, choose):
    """Return the tree with the terms of its sums and products in another order and grouping."""
    tree = (tree[0], *(respell(argument, choose) for argument in tree[1:]))
    if tree[0] not in (tk.ADD, tk.MUL):
        return tree
    terms = flatten(tree, tree[0])
    choose.shuffle(terms)
    while len(terms) > 1:
        at = choose.randrange(len(terms) - 1)
        terms[at : at + 2] = [(tree[0], terms[at], terms[at + 1])]
    return terms[0]


def flatten(tree, token):
    return [term for side in tree[1:] for term in flatten(side, token)] if tree[0] == token else [tree]


@pytest.mark.slow
@settings(max_examples=fewer(200, 60))
@given(programs(max_depth=5, binary=(tk.ADD, tk.MUL, tk.SUB, tk.DIV, tk.POW)), st.randoms(use_true_random=False))
def test_order_and_grouping_of_sums_and_products_do_not_change_the_key(program, choose):
    other = to_tokens(respell(to_tree(program), choose))
    assert key_of(program) == key_of(other)


@pytest.mark.slow
def test_programs_have_the_same_key_exactly_if_they_have_the_same_form():
    choose = random.Random(1)
    keys, forms = {}, {}
    for _ in range(fewer(30_000, 1_500)):
        tree = random_tree(choose, choose.randrange(1, 5))
        tokens = to_tokens(tree)
        if len(tokens) > tk.MAX_PROGRAM_LENGTH:
            continue
        form, key = repr(canonical_form(tree)), key_of(tokens)
        assert keys.setdefault(form, key) == key, tokens
        assert forms.setdefault(key, form) == form, tokens
    assert len(keys) > fewer(15_000, 800)


def test_small_programs_that_look_alike_have_different_keys():
    leaves = [[X0], [X1], [CONSTANT], [LITERAL]]
    unary = [[op, *a] for op in INNER_UNARY for a in leaves]
    binary = [[op, *a, *b] for op in INNER_BINARY for a in leaves for b in leaves]
    nested = [[op, *a, *b] for op in INNER_BINARY for a in leaves for b in binary[:: fewer(1, 7)]]
    everything = [*leaves, *unary, *binary, *nested]
    n_forms = len({repr(canonical_form(to_tree(tokens))) for tokens in everything})
    assert len({key_of(tokens) for tokens in everything}) == n_forms


def test_only_the_given_length_counts():
    array = np.array([tk.SIN, X0, X1, X1], np.int32)
    assert int(structure_key(array, 2, WORK)) == key_of([tk.SIN, X0])


def test_a_program_of_the_greatest_length_has_a_key():
    wide = [tk.ADD] * (tk.MAX_PROGRAM_LENGTH // 2 - 1) + [X0] * (tk.MAX_PROGRAM_LENGTH // 2)
    deep = [tk.SIN] * (tk.MAX_PROGRAM_LENGTH - 1) + [X0]
    assert key_of(wide) != key_of(deep)


# Halves have short mantissas, so noise in the last places does not bring them to a rounding boundary
SHORT_NUMBERS = st.lists(st.integers(-(2**20), 2**20).map(lambda k: k / 2), min_size=1, max_size=16)


@given(SHORT_NUMBERS, st.integers(0, 2**32 - 1))
def test_rounding_errors_do_not_change_the_key_of_values(numbers, seed):
    values = np.array(numbers)
    noise = np.random.default_rng(seed).uniform(-1e-12, 1e-12, values.size)
    assert value_key(values, values.size) == value_key(values * (1 + noise), values.size)


@given(SHORT_NUMBERS, st.integers(0, 15), st.sampled_from([1e-8, -1e-8, 1.0]))
def test_a_difference_in_the_eighth_digit_of_any_value_changes_the_key(numbers, place, change):
    values = np.array(numbers)
    place %= values.size
    other = values.copy()
    other[place] = values[place] * (1 + change) if values[place] else change
    assert value_key(values, values.size) != value_key(other, values.size)


def test_zero_and_minus_zero_are_one_value():
    assert value_key(np.array([0.0, 1.0]), 2) == value_key(np.array([-0.0, 1.0]), 2)


def test_a_sign_changes_the_key_of_values():
    assert value_key(np.array([2.0, 1.0]), 2) != value_key(np.array([2.0, -1.0]), 2)


def test_the_order_of_values_changes_the_key():
    assert value_key(np.array([1.0, 2.0]), 2) != value_key(np.array([2.0, 1.0]), 2)


def test_values_beyond_the_first_n_do_not_count():
    assert value_key(np.array([1.0, 2.0]), 1) == value_key(np.array([1.0, 3.0]), 1)


def test_random_values_have_keys_of_their_own(rng):
    values = rng.normal(size=(fewer(20_000, 2_000), 3))
    assert len({int(value_key(row, 3)) for row in values}) == len(values)
