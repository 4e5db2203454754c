"""Which formulas a grammar has: the automaton against the slow twin, and spellings that print alike."""

import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grammar_twins import OWN, derive, derives, grammars, mutate, to_tree

from spl.errors import ExpressionError, GrammarError
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_membership import Membership
from spl.formulas.program import Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, parse_expression, to_text
from spl.kernels.programs import tokens as tk

pytestmark = pytest.mark.slow

TEXT = """
    f   -> f + f | f - f | f * f | f / f | exp(f) | sin(arg) | cos(arg) | C * f | x
    arg -> arg + arg | x | x**2 | x**3 | 1
"""
SEEDS = st.integers(0, 2**32)


def test_a_symbol_accepts_what_its_templates_lead_to():
    words = Vocabulary(("x",))
    x, symbol = words.variable_token("x"), tk.SYMBOL << tk.KIND_SHIFT
    membership = Membership([(0, (tk.SIN, symbol | 1)), (1, (tk.MUL, CONSTANT_TOKEN, x)), (1, (x,))], 2, words)
    formulas = [parse_expression(text, words) for text in ("x", "sin(x)", "sin(2*x)", "sin(sin(x))")]
    assert [membership.accepts(formula, 0) for formula in formulas] == [False, True, True, False]
    assert [membership.accepts(formula, 1) for formula in formulas] == [True, False, False, False]
    assert membership.accepts_template((tk.SIN, symbol | 1), 0)
    assert not membership.accepts_template((symbol | 1,), 0)


@given(grammars(), SEEDS)
def test_a_random_derivation_is_a_member(grammar, seed):
    assert grammar.derives(derive(grammar, random.Random(seed)))


@given(grammars(), SEEDS)
def test_a_mutated_derivation_is_a_member_where_the_slow_twin_says_so(grammar, seed):
    choose = random.Random(seed)
    program = mutate(derive(grammar, choose), choose)
    for number, name in enumerate(grammar.symbols):
        assert grammar.derives(program, name) == derives(grammar, to_tree(program.tokens, grammar), number)


@given(grammars(), SEEDS)
def test_a_symbol_derives_every_template_that_its_rules_lead_to(grammar, seed):
    choose = random.Random(seed)
    for symbol in range(len(grammar.symbols)):
        tokens = [tk.SYMBOL << tk.KIND_SHIFT | symbol]
        for _ in range(4):
            places = [k for k, token in enumerate(tokens) if token >> tk.KIND_SHIFT == tk.SYMBOL]
            if places:
                at = choose.choice(places)
                rules = [rule for rule in grammar.rules if rule.symbol == tokens[at] & tk.PAYLOAD_MASK]
                tokens[at : at + 1] = choose.choice(rules).tokens
            assert grammar.derives_template(tokens, symbol)


@given(grammars(), SEEDS)
def test_a_template_without_symbols_is_derived_where_its_program_is(grammar, seed):
    choose = random.Random(seed)
    program = mutate(derive(grammar, choose), choose)
    names = grammar.symbols
    as_template = {name for number, name in enumerate(names) if grammar.derives_template(program.tokens, number)}
    assert as_template <= {name for name in names if grammar.derives(program, name)}  # which may put numbers for C
    plain = derive(grammar, choose)
    assert grammar.derives_template(plain.tokens, 0)


@pytest.mark.parametrize("text", ["sin(-(-x))", "-(-x)", "sin(-(-(-x)))", "-(-(-x))"])
def test_double_minus_signs_are_derived_although_reading_leaves_them_out(text):
    assert Grammar.from_text("f -> g | x\ng -> -(f) | sin(-(f))").derives(text)


def test_a_double_minus_sign_needs_a_rule_with_a_minus_sign():
    assert not Grammar.from_text("f -> sin(g) | x\ng -> -(y)").derives("sin(-(-x))")
    assert not Grammar.from_text("f -> sin(-(g))\ng -> x").derives("sin(x)")


@given(grammars(), SEEDS)
def test_the_text_of_a_derivation_is_a_member(grammar, seed):
    program = derive(grammar, random.Random(seed))
    assert grammar.derives(to_text(program))


@pytest.mark.parametrize(
    ("formula", "is_member"),
    [
        ("x", True),
        ("2.5 * x", True),
        ("C * x", True),
        ("-2.5 * x", True),
        ("x * 2.5", False),
        ("2.5", False),
        ("sin(x**2 + x)", True),
        ("sin(x + 1)", True),
        ("sin(x + 2)", False),
        ("sin(2 * x)", False),
        ("sin(sin(x))", False),
        ("exp(sin(x)) / x - x", True),
        ("x**2", False),
        ("log(x)", False),
    ],
)
def test_the_grammar_of_the_design_has_the_formulas_it_should(formula, is_member):
    assert Grammar.from_text(TEXT).derives(formula) == is_member


@pytest.mark.parametrize(
    ("rules", "formula"),
    [
        ("f -> f**C | x", "x**2"),
        ("f -> f**n | x\nn -> 2 | 3", "(x**3)**2"),
        ("f -> f**-n | x\nn -> 2", "x**-2"),
        ("f -> f**C | x", "sqrt(x)"),
        ("f -> inv(f) | x", "1/x"),
        ("f -> f / f | x | 1", "x**-1"),
        ("f -> f + f | C | x", "x - 2.5"),
        ("f -> f + f | C * f | x", "x - 2.5*x"),
        ("f -> f + f | -f | x", "x - x"),
        ("f -> -f | 3", "-3"),
        ("f -> x + -3", "x - 3"),
        ("f -> x + -(-C)", "x - -3"),
        ("A -> B\nB -> A | x", "x"),
        ("f -> C*wdot*cos(x1 - x2) | f + f", "0.2*wdot*cos(x1 - x2) + 3*wdot*cos(x1 - x2)"),
    ],
)
def test_text_is_a_member_in_any_spelling_of_the_same_formula(rules, formula):
    assert Grammar.from_text(rules).derives(formula)


def test_a_program_is_a_member_in_its_own_spelling_only():
    grammar = Grammar.from_text("f -> f**C | x")
    assert not grammar.derives(parse_expression("x**2", grammar.vocabulary))


def test_a_constant_of_a_program_is_no_number():
    grammar = Grammar.from_text("f -> 2 * x")
    assert grammar.derives("2 * x")
    assert not grammar.derives("C * x")


def test_programs_of_another_vocabulary_are_compared_by_name():
    grammar = Grammar.from_text("f -> sinc(a) | blend(f, 2)", OWN)
    words = Vocabulary(("b", "a"), literals=(5.0, 2.0), own=(OWN[1], OWN[0]))
    assert grammar.derives(parse_expression("blend(sinc(a), 2)", words))
    assert not grammar.derives(parse_expression("blend(sinc(b), 2)", words))
    assert not Grammar.from_text("f -> sin(a)").derives(parse_expression("sinc(a)", words))


def test_membership_from_a_named_symbol_is_asked_of_that_symbol():
    grammar = Grammar.from_text(TEXT)
    assert grammar.derives("x**2", symbol="arg")
    with pytest.raises(GrammarError, match=re.escape("There is no symbol 'args' in the grammar. Did you mean 'arg'?")):
        grammar.derives("x", symbol="args")


def test_membership_of_text_that_cannot_be_read_is_an_error():
    with pytest.raises(ExpressionError, match=re.escape("There is no variable 'z'. Known names: x.")):
        Grammar.from_text(TEXT).derives("x + z")


def test_membership_is_quick_enough_to_ask_of_every_program():
    grammar = Grammar.from_text(TEXT)
    program = parse_expression("x + 2.5*sin(x**2 + x)*exp(x - cos(x + 1 + x**3)) / x", grammar.vocabulary)
    began = time.perf_counter()
    assert all(grammar.derives(program) for _ in range(5_000))
    assert time.perf_counter() - began < 5  # measured: 0.13
