"""Formulas on paper: signs, brackets and fractions stand where mathematics has them, and mean the same."""

import pytest
from tests.own_operators import SINC

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.formula_layout import NO_SIGN, write_formula

WORDS = Vocabulary(("x", "y", "speed"), own=(SINC,))


class LineNotation:
    """The simplest notation: one line, with brackets for every group that a page would show by its place."""

    def name(self, name):
        return name

    def word(self, text):
        return text

    def row(self, parts):
        return "".join("_" if part == NO_SIGN else part for part in parts)

    def fraction(self, above, below):
        return f"[{above}/{below}]"

    def power(self, base, exponent):
        return f"{base}^[{exponent}]"

    def root(self, inner, degree):
        return f"root{degree}[{inner}]"

    def bracket(self, inner):
        return f"({inner})"

    def bars(self, inner):
        return f"|{inner}|"

    def call(self, name, arguments):
        return f"{name}({', '.join(arguments)})"


def write(text, digits=6, **constants):
    program = parse_expression(text, WORDS)
    return write_formula(program, LineNotation(), digits)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x + y", "x+y"),
        ("x - (y - 2)", "x−(y−2)"),
        ("x - (-y)", "x+y"),
        ("x + -2 * y", "x−2_y"),
        ("x - -2", "x+2"),
        ("-(x + y)", "−(x+y)"),
        ("-(x + y) * 2", "−(x+y)·2"),
        ("x - -(x + y)", "x+x+y"),
        ("x + -(x + y)", "x−(x+y)"),
        ("-(-x)", "x"),
        ("x / -(y + 1)", "−[x/y+1]"),
        ("-x / -y", "[x/y]"),
        ("(-x)**2", "(−x)^[2]"),
        ("-x**2", "−x^[2]"),
        ("(x + y)**2 * 3", "(x+y)^[2]·3"),
        ("(x*y)**-1.5", "(x_y)^[−[3/2]]"),
        ("x**y", "x^[y]"),
        ("exp(-x)", "e^[−x]"),
        ("exp(x)**2", "(e^[x])^[2]"),
        ("1 / x", "[1/x]"),
        ("inv(x) * y", "[1/x]_y"),
        ("sqrt(x + 1) * cbrt(y)", "root2[x+1]_root3[y]"),
        ("abs(x - y)", "|x−y|"),
        ("log(x) + asin(y)", "ln(x)+arcsin(y)"),
        ("min(x, -y)", "min(x, −y)"),
        ("sinc(x) * x", "sinc(x)_x"),
        ("speed * x", "speed·x"),
        ("2 * speed", "2·speed"),
        ("x * speed**2", "x·speed^[2]"),
        ("x * 2", "x·2"),
        ("2 * x", "2_x"),
        ("2 * (3 * x)", "2·3_x"),
        ("x * sin(y)", "x·sin(y)"),
    ],
)
def test_a_formula_is_written_as_on_paper(text, shown):
    assert write(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.5 * x", "[1/2]_x"),
        ("-0.25", "−[1/4]"),
        ("3.141592653589793 * x", "π_x"),
        ("6.283185307179586", "2π"),
        ("1.23456789 * x", "1.23457_x"),
        ("1e-12 * x", "10^[−12]_x"),
        ("2.5e20", "2.5·10^[20]"),
        ("123456", "123456"),
        ("C * x", "C_x"),
    ],
)
def test_numbers_are_fractions_multiples_of_pi_or_decimals(text, shown):
    assert write(text) == shown


def test_numbers_have_the_digits_that_are_asked_for():
    assert write("1.23456789", digits=3) == "1.23"
