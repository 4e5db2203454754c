"""Numbers set free and fixed again mean the same formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.program_twins import WORDS, positive_columns, programs, well_conditioned_values

from spl.formulas.constant_slots import constants_to_numbers, literals_to_constants, numbers_to_constants
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate


def read(text: str) -> Program:
    return parse_expression(text, WORDS)


@settings(max_examples=200, deadline=None)
@given(program=programs())
def test_free_numbers_change_no_value(program: Program) -> None:
    columns = positive_columns()
    values = well_conditioned_values(program, columns)
    np.testing.assert_allclose(evaluate(numbers_to_constants(program), columns), values, rtol=1e-9, atol=1e-10)


@settings(max_examples=200, deadline=None)
@given(program=programs())
def test_all_numbers_fixed_where_they_are_change_no_value(program: Program) -> None:
    columns = positive_columns()
    values = well_conditioned_values(program, columns)
    free = numbers_to_constants(program)
    fixed = constants_to_numbers(free, free.constants)
    assert fixed.n_constants == 0
    np.testing.assert_allclose(evaluate(fixed, columns), values, rtol=1e-9, atol=1e-10)


@settings(max_examples=100, deadline=None)
@given(program=programs())
def test_fixing_none_of_the_constants_gives_the_same_program(program: Program) -> None:
    assert constants_to_numbers(program, [None] * program.n_constants) == program


@pytest.mark.parametrize(
    ("text", "n_constants"),
    [
        ("x", 1),  # a factor
        ("x - y", 2),  # one a term
        ("2*x - y", 2),
        ("-(x + y)", 2),
        ("2*(x + y)", 1),  # the factor of the sum serves both
        ("x*(3 - y) - y", 3),
        ("sin(x + y)", 1),  # what is inside a function stays as it is
        ("7", 1),
    ],
)
def test_each_term_has_one_free_factor(text: str, n_constants: int) -> None:
    assert numbers_to_constants(read(text)).n_constants == n_constants


def test_a_factor_of_one_is_left_out() -> None:
    assert to_text(constants_to_numbers(numbers_to_constants(read("x*y - 3*x")), [1.0, 3.0])) == "x*y - 3*x"


def test_some_constants_can_stay_free() -> None:
    half_fixed = constants_to_numbers(numbers_to_constants(read("2*x - 3*y")), [None, 4.0])
    assert to_text(half_fixed) == "2*x - 4*y"
    assert half_fixed.constants == (2.0,)


def test_a_formula_with_too_many_numbers_stays_as_it_is() -> None:
    program = read(" + ".join(["2*x"] * (tk.MAX_CONSTANTS + 1)))
    assert numbers_to_constants(program) == program


@pytest.mark.parametrize(
    ("text", "expected"),
    [("(x - y)/0.1", "10*(x - y)"), ("x*3", "3*x"), ("x/(y*4)", "x/(4*y)"), ("x/2 - y*5", "0.5*x - 5*y")],
)
def test_factors_stand_first_and_above_the_fraction_line(text: str, expected: str) -> None:
    assert to_text(numbers_to_constants(read(text))) == expected


def test_numbers_of_the_grammar_stay() -> None:
    assert numbers_to_constants(read("sin(2*x)"), kept=(2.0,), has_factors=False) == read("sin(2*x)")


def test_literals_become_constants_in_their_order():
    program = literals_to_constants(parse_expression("2*x + 0.5*y**2 - 2", Vocabulary(("x", "y"))))
    assert program.constants == (2.0, 0.5, 2.0)
    assert to_text(program) == "2*x + 0.5*y**2 - 2"
