"""Grammars without some of their columns."""

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.grammar_twins import derive, grammars
from tests.own_operators import BLEND, SINC

from spl.formulas.grammar import Grammar
from spl.formulas.grammar_restriction import arrange_grammar, restrict_grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk

COLUMNS = ("a", "b", "c", "d")


def test_the_default_grammar_of_some_columns_is_the_one_made_for_them():
    restricted = restrict_grammar(Grammar.from_operators(DEFAULT_OPERATORS, COLUMNS), ["d", "b"])
    assert restricted == Grammar.from_operators(DEFAULT_OPERATORS, ["b", "d"])


@pytest.mark.parametrize("inside", ["variables", "polynomials"])
def test_constrained_grammars_are_restricted_like_others(inside):
    operators = ["+", "*", "sin", "log", SINC, BLEND]
    restricted = restrict_grammar(Grammar.from_operators(operators, COLUMNS, inside=inside), ["a", "c"])
    assert restricted == Grammar.from_operators(operators, ["a", "c"], inside=inside)


def test_nothing_changes_if_all_columns_are_kept():
    grammar = Grammar.from_text("f -> f + f | x | y")
    assert restrict_grammar(grammar, ["y", "x", "z"]) is grammar


def test_columns_without_rules_count_as_columns():
    grammar = Grammar.from_text("f -> f + f | y").bind(["x", "y", "z"])
    restricted = restrict_grammar(grammar, ["y", "z"])
    assert restricted is not None
    assert restricted.vocabulary.variables == ("y", "z")
    assert restricted.derives("y + y")


def test_rules_that_can_no_longer_finish_are_left_out_with_their_symbols():
    grammar = Grammar.from_text("""
        f -> f*g | sin(h) | x
        g -> g + h | k
        h -> y | h*h
        k -> h/2
    """)
    restricted = restrict_grammar(grammar, ["x"])
    assert str(restricted) == "f -> x"


def test_symbols_that_nothing_leads_to_are_left_out():
    grammar = Grammar.from_text("""
        f -> y*g | h + h
        g -> x + C
        h -> x | 2*h
    """)
    restricted = restrict_grammar(grammar, ["x"])
    assert restricted is not None
    assert restricted.symbols == ("f", "h")
    assert restricted.derives("x + 2*x")


@pytest.mark.parametrize(
    "text", ["f -> f + f | x", "f -> g + C\ng -> x | g*g", "f -> x*g\ng -> y | C"], ids=["leaf", "symbol", "both"]
)
def test_there_is_no_grammar_if_the_start_cannot_finish(text):
    assert restrict_grammar(Grammar.from_text(text), ["z"]) is None


def test_formulas_without_columns_remain_formulas():
    restricted = restrict_grammar(Grammar.from_text("f -> f + f | x | C | 2"), [])
    assert restricted is not None
    assert restricted.vocabulary.variables == ()
    assert restricted.derives("2 + 3.5")


def rename(program, vocabulary):
    """Return the program with its variables numbered as in another vocabulary, or None if it uses others."""
    names = program.vocabulary.variables
    tokens = []
    for token in program.tokens:
        if token >> tk.KIND_SHIFT == tk.VARIABLE:
            if names[token & tk.PAYLOAD_MASK] not in vocabulary.variables:
                return None
            token = vocabulary.variable_token(names[token & tk.PAYLOAD_MASK])
        tokens.append(token)
    return Program(tuple(tokens), vocabulary, program.constants)


SEEDS = st.integers(0, 2**32)


@given(grammars(), SEEDS)
def test_all_its_formulas_are_formulas_of_the_whole_grammar(grammar, seed):
    restricted = restrict_grammar(grammar, ["x"])
    assume(restricted is not None)
    assert grammar.derives(rename(derive(restricted, random.Random(seed)), grammar.vocabulary))


@given(grammars(), SEEDS)
def test_no_formula_of_the_columns_kept_is_lost(grammar, seed):
    program = derive(grammar, random.Random(seed))
    words = replace(grammar.vocabulary, variables=tuple(name for name in grammar.vocabulary.variables if name == "x"))
    renamed = rename(program, words)
    assume(renamed is not None)
    restricted = restrict_grammar(grammar, ["x"])
    assert restricted is not None
    assert restricted.derives(renamed)


def test_columns_and_their_rules_can_be_arranged():
    grammar = Grammar.from_text("f -> a | f + f | b*c | C")
    arranged = arrange_grammar(grammar, ["c", "b", "a"])
    assert arranged.vocabulary.variables == ("c", "b", "a")
    assert str(arranged) == "f -> f + f | C | b*c | a"


def test_arranged_grammars_do_not_depend_on_the_order_before():
    one, other = (Grammar.from_operators(DEFAULT_OPERATORS, names) for names in (COLUMNS, COLUMNS[::-1]))
    assert arrange_grammar(one, COLUMNS) == arrange_grammar(other, COLUMNS)
