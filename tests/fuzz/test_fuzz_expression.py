"""Formulas of strangers: each is read or refused in words, and what was read can be used."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.guard import cases, guarded
from tests.fuzz.texts import formula, hostile_formula, name

from spl.errors import ExpressionError, SplError
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import MAX_FORMULA_CHARACTERS, parse_expression, quote_name, to_text
from spl.notation.latex import to_latex
from spl.notation.to_sympy import to_sympy
from spl.regression.fit import evaluate
from spl.regression.simplify import simplify

pytestmark = pytest.mark.slow

WORDS = Vocabulary(("x", "y", "flow rate"))
COLUMNS = np.array([[0.0, 1.0, -2.5, 1e300], [3.0, 1e-300, 0.0, -1e300], [1.0, 2.0, 3.0, 4.0]])


def with_numbers(program):
    return Program(program.tokens, program.vocabulary, tuple(1.5 * k for k in range(program.n_constants)))


@cases(500)
@given(hostile_formula)
def test_any_text_is_a_formula_or_an_error_in_words(text):
    with guarded("formulas"):
        try:
            program = parse_expression(text, WORDS)
        except ExpressionError as error:
            assert len(str(error)) < 1_000
            return
        written = to_text(program)
        if len(written) > MAX_FORMULA_CHARACTERS:  # with blanks between its terms
            return
        again = parse_expression(written, program.vocabulary)
        np.testing.assert_array_equal(evaluate(with_numbers(again), COLUMNS), evaluate(with_numbers(program), COLUMNS))


@cases(60)
@given(formula)
def test_a_formula_that_was_read_can_be_used(text):
    with guarded("formulas"):
        try:
            program = with_numbers(parse_expression(text, WORDS))
        except ExpressionError:
            return
        with contextlib.suppress(SplError):
            str(to_sympy(program))
            to_latex(program)
        simplify(program)


@cases(300)
@given(st.lists(name, min_size=1, max_size=4, unique=True))
def test_any_names_can_stand_in_a_formula(names):
    with guarded("names"):
        words = Vocabulary(tuple(names))
        text = " + ".join(quote_name(each) for each in names)
        program = parse_expression(text, words)
        assert program.tokens == parse_expression(to_text(program), words).tokens
        str(to_sympy(program))
        to_latex(program)
