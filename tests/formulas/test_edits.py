"""Formulas with one number, term or function less."""

import numpy as np
import pytest

from spl.formulas.edits import drop_one_function, drop_one_number, drop_one_term, replace_one_function_by_powers
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

WORDS = Vocabulary(variables=("x", "y"))


def shorter(text, constants=()):
    program = parse_expression(text, WORDS).with_constants(constants)
    return sorted(to_text(other) for other in drop_one_term(program))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + y", ["x", "y"]),
        ("x - y", ["-y", "x"]),
        ("x * (y + 1)", ["x*1", "x*y"]),
        ("sin(x) * y", []),
        ("x", []),
    ],
)
def test_each_side_of_each_sum_is_left_out_once(text, expected):
    assert shorter(text) == expected


def test_constants_stay_with_their_terms():
    assert shorter("C * x + C * y - C", (2.5, 3.5, 4.5)) == ["-4.5", "2.5*x + 3.5*y", "2.5*x - 4.5", "3.5*y - 4.5"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("C*sin(C*x)", ["2*(3*x)"]), ("x/(y + C)", ["x*(y + 2)"]), ("exp(-x)", ["-x"]), ("x*y - x", [])],
)
def test_each_function_gives_way_to_its_argument_and_each_quotient_to_a_product(text, expected):
    program = parse_expression(text, WORDS)
    program = program.with_constants(np.arange(2.0, 2 + program.n_constants))
    assert [to_text(other) for other in drop_one_function(program)] == expected


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("C*x", [2.0], ["x"]),
        ("C*x", [-2.0], ["-x"]),
        ("x*C + y", [2.0], ["y", "x + y"]),
        ("y - x/C", [2.0], ["y - x"]),
        ("y - C/x", [2.0], ["y"]),
        ("C - x", [2.0], ["-x"]),
        ("x*(C*sin(y))*y + x", [2.0], ["x", "x*sin(y)*y + x"]),
        ("sin(C*x) + y", [2.0], ["sin(x) + y"]),  # a sine of 0 is no term of a sum
        ("sin(C)", [2.0], []),
        ("C", [2.0], []),
    ],
)
def test_a_number_goes_with_all_that_it_did(text, constants, expected):
    program = parse_expression(text, WORDS).with_constants(constants)
    assert [to_text(other) for other in drop_one_number(program)] == expected


def test_a_number_less_is_the_same_as_that_number_at_0_or_1():
    columns = np.random.default_rng(0).uniform(1, 2, (2, 20))
    text = "C*x*y - (C + y)*C/x + y/C"
    constants = [2.0, 3.0, 4.0, 5.0]
    program = parse_expression(text, WORDS).with_constants(constants)
    neutral = []
    for place, value in ((0, 0), (0, 1), (1, 0), (2, 0), (2, 1), (3, 1)):
        changed = [value if k == place else number for k, number in enumerate(constants)]
        neutral.append(evaluate(program.with_constants(changed), columns))
    found = [evaluate(other, columns) for other in drop_one_number(program)]
    assert np.allclose(np.array(found), np.array(neutral))


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("C - C*cos(C*x)", [9.0, 8.0, 0.5], ["9 - 8*(0.5*x)", "9 - 8*(x*x)", "9 - 8*(x*x*x)"]),
        ("y*sin(C*x + C)", [2.0, 3.0], ["y*(2*x + 3)", "y*(x*x)", "y*(x*x*x)"]),
        ("y + C/(x - C)", [2.0, 3.0], ["y + 2*(x - 3)", "y + 2*(x*x)", "y + 2*(x*x*x)"]),
        ("exp(C/x)", [2.0], ["2/x"]),  # its square would have two numbers
        ("C/x - y*x + x/(y + C)", [2.0, 3.0], []),  # none of these is a function with numbers
    ],
)
def test_each_function_gives_way_to_powers_of_its_argument(text, constants, expected):
    program = parse_expression(text, WORDS).with_constants(constants)
    assert [to_text(other) for other in replace_one_function_by_powers(program)] == expected


def test_no_formula_is_made_that_is_too_long_to_be_fitted():
    program = parse_expression("sin(" + " + ".join(["x*y"] * 30) + ")", WORDS)
    assert all(len(other) <= tk.MAX_PROGRAM_LENGTH for other in replace_one_function_by_powers(program))
