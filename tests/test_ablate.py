"""Formulas with one term or function less."""

import numpy as np
import pytest

from spl.ablate import drop_one_function, drop_one_term
from spl.expression import parse_expression, to_text
from spl.program import Vocabulary

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
