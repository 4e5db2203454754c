"""Minus signs and where else they may stand."""

import numpy as np
import pytest

from spl.formulas.minus_signs import move_minus, put_minus_before
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

WORDS = Vocabulary(variables=("x", "y"))
COLUMNS = np.random.default_rng(0).uniform(0.1, 0.9, (2, 20))


def parse(text):
    program = parse_expression(text, WORDS)
    return program.with_constants(np.arange(2.0, 2 + program.n_constants))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-x", []),
        ("-(x - y)", ["y - x"]),
        ("-(C*x + y)", ["-2*x - y"]),
        ("-(x + C*y)", ["-2*y - x"]),
        ("-(x + y)", []),
        ("x + (-y)", ["x - y"]),
        ("-y + x", ["x - y"]),
        ("x - (-y)", ["x + y"]),
        ("x + (-exp(y) - y)", ["x - (exp(y) + y)"]),
        ("x - y*sin(-exp(x))/y", ["x + y*sin(exp(x))/y"]),
        ("cos(-x)", ["cos(x)"]),
        ("(-x)**4", ["x**4"]),
        ("x + (-y)**3", ["x - y**3"]),
        ("exp(-x)", []),
        ("-sin(x/(x - y))", ["sin(x/(y - x))"]),
        ("-exp(x - y)", []),
    ],
)
def test_a_minus_sign_moves_into_the_sum_above_or_the_difference_below(text, expected):
    *moved, scaled = move_minus(parse(text))
    assert [to_text(other) for other in moved] == expected
    assert scaled.n_constants == parse(text).n_constants + 1


def test_a_formula_without_minus_signs_has_none_to_be_moved():
    assert list(move_minus(parse("x - y"))) == []


def test_a_formula_with_as_many_numbers_as_there_may_be_gets_no_further_one():
    terms = " + ".join(["C*sin(x)"] * tk.MAX_CONSTANTS)
    assert [other.n_constants for other in move_minus(parse(f"exp(-({terms}))"))] == [tk.MAX_CONSTANTS]
    assert list(move_minus(parse(f"{terms} + exp(-y)"))) == []


@pytest.mark.parametrize("text", ["(y - x)/(-(C*y - x)) - y", "tanh(x*(-(x - y)**3)) + C", "-(x + (C*y + x))*(x - C)"])
def test_values_stay_the_same_wherever_the_minus_sign_is(text):
    program = parse(text)
    moved = [evaluate(other, COLUMNS) for other in move_minus(program)]
    assert len(moved) > 1
    assert np.allclose(moved, evaluate(program, COLUMNS))


def test_a_minus_sign_before_a_formula_changes_its_values():
    program = parse("C*x - y")
    assert np.allclose(evaluate(put_minus_before(program), COLUMNS), -evaluate(program, COLUMNS))
