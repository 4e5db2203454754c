"""Simple terms, and sums and quotients of them."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.dynamics.simple_terms import (
    evaluate_term,
    has_quotients,
    has_sums,
    is_allowed,
    write_fraction,
    write_quotient,
    write_sum,
)
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text

NAMES = ("x", "y")
WORDS = Vocabulary(NAMES)
X, Y, XY = (parse_expression(text, WORDS).tokens for text in ("x", "y", "x*y"))


def bound(*operators):
    return Grammar.from_operators(operators, NAMES).bind(NAMES)


def test_a_grammar_says_whether_it_has_sums_and_quotients():
    assert has_sums(bound("+", "*"))
    assert not has_sums(Grammar.from_text("f -> C*x | C*y | C*x + C*y").bind(NAMES))
    assert has_quotients(bound("+", "/"))
    assert not has_quotients(bound("+", "*"))


def test_a_term_is_allowed_if_the_grammar_has_it_with_a_factor():
    sine = parse_expression("sin(x)", WORDS).tokens
    assert is_allowed(bound("+", "*", "sin"), sine)
    assert not is_allowed(bound("+", "*"), sine)
    assert is_allowed(bound("+", "*"), ())


def test_the_empty_term_is_the_number_1():
    data = Dataset.from_arrays(np.array([[2.0, 3.0], [4.0, 5.0]]), np.zeros(2), names=NAMES)
    assert evaluate_term((), WORDS, data) == pytest.approx([1.0, 1.0])
    assert evaluate_term(XY, WORDS, data) == pytest.approx([6.0, 20.0])


def test_a_sum_has_a_factor_for_each_term():
    assert to_text(write_sum(WORDS, [((), 2.0), (X, 3.0), (XY, -4.0)])) == "2 + 3*x - 4*(x*y)"


def test_a_fraction_has_a_number_beside_its_divisor():
    assert to_text(write_fraction(WORDS, [(X, 2.0)], 0.5, Y)) == "2*x/(0.5 + y)"


@pytest.mark.parametrize(("number", "text"), [(1.0, "2*x/(0.5 + y)"), (3.0, "2*x/(1.5 + y)")])
def test_a_quotient_has_no_redundant_number(number, text):
    assert to_text(write_quotient(WORDS, [(X, 4.0)], [(Y, 2.0)], number)) == text
