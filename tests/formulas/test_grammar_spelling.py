"""Formulas in the spelling of a grammar: the same values, and a tree that the grammar has."""

import numpy as np
import pytest

from spl.formulas.forms import Form
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.grammar_spelling import derive, spell_in_grammar
from spl.formulas.operators import Operator
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate

NAMES = ("p", "T")
USUAL = Grammar.from_operators(DEFAULT_OPERATORS, NAMES)
ROWS = np.random.default_rng(0).uniform(0.5, 2.0, (2, 20))


@pytest.mark.parametrize(
    "text",
    ["2*p**2 + 1", "p**-3", "-p", "1/p", "-(2*p)", "p - 3", "4 - T", "p/3", "-sin(p)/T", "(p + 1)**4", "exp(-p**2/2)", "3", "p*T*2"],
)  # fmt: skip
def test_another_spelling_has_the_same_values_and_is_in_the_grammar(text):
    written = parse_expression(text, USUAL.vocabulary)
    spelled = spell_in_grammar(written, USUAL)
    assert USUAL.derives(spelled)
    np.testing.assert_allclose(evaluate(spelled, ROWS), evaluate(written, ROWS), rtol=1e-12)


@pytest.mark.parametrize("text", ["tanh(p)", "p**T", "max(p, T)"])
def test_a_formula_that_the_grammar_does_not_have_has_no_spelling(text):
    assert spell_in_grammar(parse_expression(text, USUAL.vocabulary), USUAL) is None


def test_numbers_are_constants_where_the_rules_have_constants_and_exact_elsewhere():
    grammar = Grammar.from_text("f -> 2*x + g\ng -> C*x | 3")
    spelled = spell_in_grammar(parse_expression("2*x + 5*x", grammar.vocabulary), grammar)
    assert (to_text(spelled), spelled.constants) == ("2*x + 5*x", (5.0,))
    assert spell_in_grammar(parse_expression("2*x + 3", grammar.vocabulary), grammar).constants == ()
    assert spell_in_grammar(parse_expression("2*x + 4", grammar.vocabulary), grammar) is None


def test_a_number_without_a_value_stays_without_one():
    spelled = spell_in_grammar(parse_expression("C*p + 1", USUAL.vocabulary), USUAL)
    assert np.isnan(spelled.constants[0])
    assert spelled.constants[1] == 1.0


def test_operators_of_your_own_are_found_in_another_vocabulary():
    bump, other = Operator("bump", lambda x: np.exp(-x * x)), Operator("other", lambda x: x + 1)
    grammar = Grammar.from_operators(["+", other, bump], ["x"])
    written = parse_expression("bump(x)", Grammar.from_operators(["+", bump], ["x"]).vocabulary)
    assert to_text(spell_in_grammar(written, grammar)) == "bump(x)"


@pytest.mark.parametrize("text", ["2*p**2 + 1", "sin(p*T)/T - exp(-p)"])
def test_a_derivation_says_which_symbol_began_each_part(text):
    program = spell_in_grammar(parse_expression(text, USUAL.vocabulary), USUAL)
    derivation = derive(program, USUAL)
    assert derivation.origins[0] == 0
    assert len(derivation.origins) == len(program)
    assert derivation.n_rules == sum(
        origin >= 0 for origin in derivation.origins
    )  # no rule here leads to a bare symbol


def test_the_parts_of_a_form_begin_with_their_holes():
    grammar = Form.from_text("a(T)*exp(-b(p))", NAMES).grammar(["+", "*"])
    program = parse_expression("T*exp(-p)", grammar.vocabulary)
    assert derive(program, grammar).origins == (0, 1, -1, -1, 2)


def test_a_tree_that_the_grammar_does_not_have_has_no_derivation():
    assert derive(parse_expression("p + tanh(T)", USUAL.vocabulary), USUAL) is None


def test_symbols_that_lead_to_each_other_do_not_loop():
    grammar = Grammar.from_text("f -> g | x\ng -> f | g + g")
    assert derive(parse_expression("x + x", grammar.vocabulary), grammar) is not None
