"""Sums are split into their terms and put together again."""

import numpy as np
import pytest

from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.program import Vocabulary
from spl.formulas.summands import split_sum, without_summands
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate

WORDS = Vocabulary(("x", "y"))
COLUMNS = np.random.default_rng(0).uniform(1.0, 2.0, (2, 10))


def make_free(text):
    return numbers_to_constants(parse_expression(text, WORDS))


@pytest.mark.parametrize("text", ["3*x - 2*y + 1", "-(x - 2*y)", "x*y/3 - (y - x**2)", "2*sin(x) - x/(y + 4)"])
def test_the_summands_add_up_to_the_formula(text):
    program = make_free(text)
    total = sum(evaluate(summand.part, COLUMNS) for summand in split_sum(program))
    np.testing.assert_allclose(total, evaluate(program, COLUMNS), rtol=1e-12)


@pytest.mark.parametrize("text", ["3*x - 2*y + 1", "-(x - 2*y)", "2*sin(x) - x/(y + 4)"])
def test_a_factor_of_0_and_a_summand_left_out_are_the_same(text):
    program = make_free(text)
    for summand in split_sum(program):
        constants = np.array(program.constants)
        constants[summand.factor] = 0.0
        expected = evaluate(program.with_constants(constants), COLUMNS)
        np.testing.assert_allclose(evaluate(without_summands(program, [summand]), COLUMNS), expected, rtol=1e-12)


def test_constants_inside_a_summand_belong_to_it():
    program = make_free("2*x + 3*y/(y + 4)")
    assert [summand.constants for summand in split_sum(program)] == [(0,), (1, 2)]


def test_nothing_is_left_without_all_summands():
    program = make_free("x + y")
    assert without_summands(program, split_sum(program)) is None


def test_what_has_no_constant_as_a_factor_is_no_summand_and_stays():
    program = parse_expression("sin(C*x) + C*y", WORDS).with_constants([2.0, 3.0])
    (only,) = split_sum(program)
    assert to_text(only.part) == "3*y"
    assert to_text(without_summands(program, [only])) == "sin(2*x)"
