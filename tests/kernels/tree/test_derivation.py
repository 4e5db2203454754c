"""Derivations against the slow twin on Python lists, and random completions against the grammar."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.grammar_twins import grammars
from tests.kernels.search_twins import SlowDerivation, fewer, is_symbol, make_rules, rules_of

from spl.formulas.program import Program
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.derivation import (
    DERIVATION,
    begin_derivation,
    complete_at_random,
    copy_derivation,
    current_symbol,
    is_allowed,
    random_rule,
    take_rule,
)
from spl.regression.packing import pack_rules

N_EXAMPLES = fewer(60, 25)
N_DRAWS = fewer(6_000, 1_500)
SEEDS = st.integers(0, 2**32 - 1)


def make_derivation(rules, taken=()):
    derivation = make_record(DERIVATION)
    begin_derivation(rules, derivation)
    for rule in taken:
        take_rule(rules, derivation, rule)
    return derivation


def make_state(seed):
    return np.array([seed], np.uint64)


def tokens_of(derivation):
    return derivation.tokens[: derivation.n_tokens].tolist()


def assert_same(derivation, twin, rules):
    assert tokens_of(derivation) == twin.tokens
    assert derivation.open[: derivation.n_open].tolist() == [token for token, _ in reversed(twin.open)]
    assert derivation.n_rules == twin.n_rules
    assert derivation.n_rules + derivation.n_rest == twin.fewest(rules)
    assert derivation.n_constants == len(twin.guesses)
    np.testing.assert_array_equal(derivation.guesses[: min(len(twin.guesses), tk.MAX_CONSTANTS)], twin.guesses[:20])


@settings(max_examples=N_EXAMPLES)
@given(grammars(), SEEDS)
def test_each_step_is_that_of_the_leftmost_derivation(grammar, seed):
    rules, choose = pack_rules(grammar), random.Random(seed)
    derivation, twin = make_derivation(rules), SlowDerivation()
    assert_same(derivation, twin, rules)
    for _ in range(8):
        if not twin.open:
            break
        assert current_symbol(derivation) == twin.symbol
        rule = choose.choice(rules_of(rules, twin.symbol))
        take_rule(rules, derivation, rule)
        twin = twin.take(rules, rule)
        assert_same(derivation, twin, rules)


def subtree(tokens, at, vocabulary):
    end, n_open = at, 1
    while n_open > 0:
        n_open += vocabulary.arity_of(tokens[end]) - 1
        end += 1
    return tokens[at:end]


@settings(max_examples=N_EXAMPLES)
@given(grammars(), SEEDS)
def test_an_origin_is_the_symbol_that_its_subtree_was_derived_from(grammar, seed):
    rules, derivation = pack_rules(grammar), make_record(DERIVATION)
    begin_derivation(rules, derivation)
    complete_at_random(rules, derivation, grammar.shortest[0] + 8, make_state(seed))
    tokens = tokens_of(derivation)
    for at, symbol in enumerate(derivation.origin[: derivation.n_tokens].tolist()):
        assert symbol == -1 or grammar.derives_template(subtree(tokens, at, grammar.vocabulary), symbol)


def test_each_rule_gives_its_first_token_an_origin_and_the_others_none():
    _, rules = make_rules("f -> g * 2 + f | x\ng -> h | sin(x)\nh -> cos(g)")
    derivation = make_derivation(rules, [0, 2, 4, 3, 1])  # cos(sin(x)) * 2 + x; g -> h leaves no trace
    assert derivation.origin[: derivation.n_tokens].tolist() == [0, -1, 2, 1, -1, -1, 0]


@settings(max_examples=N_EXAMPLES)
@given(grammars(), st.integers(0, 12), SEEDS)
def test_a_rule_is_allowed_when_its_shortest_completion_fits(grammar, n_more, seed):
    rules, choose = pack_rules(grammar), random.Random(seed)
    max_rules = grammar.shortest[0] + n_more
    derivation, twin = make_derivation(rules), SlowDerivation()
    for _ in range(4):
        if not twin.open:
            break
        fits = {rule: twin.take(rules, rule).fewest(rules) <= max_rules for rule in rules_of(rules, twin.symbol)}
        assert {rule: bool(is_allowed(rules, derivation, rule, twin.symbol, max_rules)) for rule in fits} == fits
        rule = choose.choice([rule for rule in fits if fits[rule]])
        take_rule(rules, derivation, rule)
        twin = twin.take(rules, rule)


@settings(max_examples=N_EXAMPLES)
@given(grammars(), st.integers(0, 30), SEEDS)
def test_a_random_completion_finishes_within_max_rules(grammar, n_more, seed):
    rules, max_rules = pack_rules(grammar), grammar.shortest[0] + n_more
    derivation = make_derivation(rules)
    complete_at_random(rules, derivation, max_rules, make_state(seed))
    assert derivation.n_open == 0
    assert grammar.shortest[0] <= derivation.n_rules <= max_rules


@settings(max_examples=N_EXAMPLES)
@given(grammars(), st.integers(0, 12), SEEDS)
def test_the_grammar_derives_every_random_completion(grammar, n_more, seed):
    rules = pack_rules(grammar)
    derivation = make_derivation(rules)
    complete_at_random(rules, derivation, grammar.shortest[0] + n_more, make_state(seed))
    assert derivation.is_full == 0
    constants = (1.0,) * int(derivation.n_constants)
    assert grammar.derives(Program(tuple(tokens_of(derivation)), grammar.vocabulary, constants))


# The counting path serves the last case: eight draws rarely meet one of two rules in forty
@pytest.mark.parametrize(
    ("text", "max_rules", "n_allowed"),
    [
        ("f -> f + f | f * f | sin(f) | x | y", 3, 5),
        ("f -> f + f | f * f | sin(f) | x | y", 2, 3),
        ("f -> f + f | f * f | sin(f) | x | y", 1, 2),
        ("f -> " + " | ".join(f"f + {k} * f" for k in range(38)) + " | x | y", 2, 2),
    ],
)
def test_each_allowed_rule_is_equally_likely_and_no_other_is_taken(text, max_rules, n_allowed):
    _, rules = make_rules(text)
    derivation, state = make_derivation(rules), make_state(3)
    counts = np.bincount([random_rule(rules, derivation, max_rules, state) for _ in range(N_DRAWS)], minlength=40)
    allowed = [rule for rule in rules_of(rules, 0) if is_allowed(rules, derivation, rule, 0, max_rules)]
    assert len(allowed) == n_allowed
    assert counts[allowed].sum() == N_DRAWS
    assert stats.chisquare(counts[allowed]).pvalue > 1e-4


def test_a_module_counts_for_all_rules_inside_it():
    grammar, _ = make_rules("f -> f + f | C * f | x")
    module = parse_expression("C * x + C * x", grammar.vocabulary).with_constants(np.array([2.0, 3.0]))
    rules = pack_rules(grammar, [(module, 7)])
    place = rules_of(rules, 0)[-1]
    derivation = make_derivation(rules, [place])
    assert derivation.n_rules == 7
    assert not is_allowed(rules, make_derivation(rules), place, 0, 6)
    assert is_allowed(rules, make_derivation(rules), place, 0, 7)


def test_the_constants_of_a_module_become_guesses_in_the_order_of_the_tokens():
    grammar, _ = make_rules("f -> f + f | C * f | x")
    module = parse_expression("C * x + C * x", grammar.vocabulary).with_constants(np.array([2.0, 3.0]))
    rules = pack_rules(grammar, [(module, 7)])
    add, scale, x, module_rule = rules_of(rules, 0)
    derivation = make_derivation(rules, [add, module_rule, add, scale, x, module_rule])
    np.testing.assert_array_equal(derivation.guesses[:5], [2.0, 3.0, np.nan, 2.0, 3.0])


def test_a_program_that_fills_its_array_exactly_is_complete():
    _, rules = make_rules("f -> sin(f) | x")
    derivation = make_derivation(rules, [0] * (tk.MAX_PROGRAM_LENGTH - 1) + [1])
    assert (derivation.is_full, derivation.n_tokens, derivation.n_open) == (0, tk.MAX_PROGRAM_LENGTH, 0)


def test_a_program_longer_than_its_array_ends_the_derivation():
    _, rules = make_rules("f -> sin(f) | x")
    derivation = make_derivation(rules, [0] * tk.MAX_PROGRAM_LENGTH + [1])
    assert (derivation.is_full, derivation.n_open) == (1, 0)


def test_a_stack_longer_than_its_array_ends_the_derivation():
    _, rules = make_rules("f -> f + g | x\ng -> x")
    derivation = make_derivation(rules, [0] * (tk.MAX_PROGRAM_LENGTH - 2))
    assert derivation.is_full == 0
    take_rule(rules, derivation, 0)
    assert (derivation.is_full, derivation.n_open) == (1, 0)


def test_constants_beyond_the_most_are_counted_but_keep_no_guess():
    _, rules = make_rules("f -> C + f | x")
    derivation = make_derivation(rules, [0] * (tk.MAX_CONSTANTS + 3))
    assert derivation.n_constants == tk.MAX_CONSTANTS + 3


def test_a_new_beginning_leaves_nothing_of_the_last_derivation():
    _, rules = make_rules("f -> C * f | sin(f) | x")
    derivation = make_derivation(rules, [0] * tk.MAX_PROGRAM_LENGTH)
    begin_derivation(rules, derivation)
    assert_same(derivation, SlowDerivation(), rules)
    assert derivation.is_full == 0


@settings(max_examples=N_EXAMPLES)
@given(grammars(), SEEDS)
def test_a_copy_goes_its_own_way(grammar, seed):
    rules, choose = pack_rules(grammar), random.Random(seed)
    source, copy, twin = make_derivation(rules), make_record(DERIVATION), SlowDerivation()
    for _ in range(3):
        if twin.open:
            rule = choose.choice(rules_of(rules, twin.symbol))
            take_rule(rules, source, rule)
            twin = twin.take(rules, rule)
    copy_derivation(source, copy)
    assert_same(copy, twin, rules)
    np.testing.assert_array_equal(copy.origin[: copy.n_tokens], source.origin[: source.n_tokens])
    complete_at_random(rules, copy, twin.fewest(rules) + 5, make_state(seed))
    assert_same(source, twin, rules)
    assert tokens_of(copy)[: len(twin.tokens)] == twin.tokens
    assert not any(is_symbol(token) for token in tokens_of(copy))
