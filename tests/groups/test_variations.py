"""Variations of a structure: one step to others."""

import pytest

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.groups.variations import vary_one_part
from spl.kernels.programs import tokens as tk

WORDS = Vocabulary(("x", "z"))


def vary(text, *functions):
    program = parse_expression(text, WORDS)
    return [to_text(each).replace(" ", "") for each in vary_one_part(program, functions)]


@pytest.mark.parametrize(
    ("text", "function", "law"),
    [
        ("C*z*exp(C*x) + C", tk.EXP, "C*(z+C)*exp(C*x)+C"),
        ("C*x**2 + C", tk.SQRT, "sqrt(C*x**2+C)"),
        ("C*x/(x + C)", tk.EXP, "C*x/(x+(C+C*z))"),
        ("C/(C + 1/exp(x))", tk.EXP, "C/(C+1/exp(C*x))"),
        ("C*x/(z + C) + C", tk.EXP, "C*x/(z+C)+C/z**2"),
        ("x*exp(sqrt(z))", tk.EXP, "x*(z+C)"),
    ],
)
def test_a_law_is_one_step_away(text, function, law):
    law_program = parse_expression(law, WORDS)
    tokens = [each.tokens for each in vary_one_part(parse_expression(text, WORDS), [function])]
    assert law_program.tokens in tokens


def test_new_numbers_change_nothing_where_that_is_possible():
    program = parse_expression("exp(x) + C", WORDS).with_constants([2.0])
    assert {"exp(x)+0+2", "exp(x+0*z)+2", "exp(1*x)+2", "exp(x)+(2+0*z)"} <= {
        to_text(each).replace(" ", "") for each in vary_one_part(program, [])
    }


def test_numbers_get_no_factor_and_no_function():
    assert not [
        each for each in vary("C", tk.EXP) if "exp" in each or "*C" in each.replace("C*x", "").replace("C*z", "")
    ]


def test_no_variation_is_too_long_for_a_search():
    long = " + ".join("x" for _ in range(tk.MAX_PROGRAM_LENGTH // 2))
    lengths = [len(each) for each in vary_one_part(parse_expression(long, WORDS), [tk.EXP])]
    assert lengths
    assert max(lengths) <= tk.MAX_PROGRAM_LENGTH
