"""The numbers of a formula are those that its text shows, in their order and with their signs."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.formulas.printed_numbers import PrintedNumber, printed_numbers
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text

WORDS = Vocabulary(("x", "y", "number"))
DIGITS = 6


def read(text, constants=()):
    return parse_expression(text, WORDS).with_constants(np.array(constants))


def numbers_in(text):
    """Return the numbers of a text that are no exponents of whole powers, each with the minus before it, if there is one."""
    powers = text.replace("**-", "^").replace("**", "^")
    found = re.findall(r"(-? ?)(?<![\w.^])(\d+\.?\d*(?:e[-+]\d+)?)", powers)
    return [float(digits) * (-1 if "-" in sign else 1) for sign, digits in found]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x - 3.5*y", [(-3.5, "[-3.5]*y")]),
        ("x + -3.5*y", [(-3.5, "[-3.5]*y")]),
        ("x - -3.5*y", [(3.5, "[3.5]*y")]),
        ("-(3.5*x)", [(3.5, "-([3.5]*x)")]),
        ("-3.5*x*y", [(-3.5, "[-3.5]*x*y")]),
        ("x - 28", [(-28.0, "x + [-28]")]),
        ("28 - x", [(28.0, "[28] - x")]),
        ("x/(y + 0.3)", [(0.3, "y + [0.3]")]),
        ("2*sin(3*x + 1)", [(2.0, "[2]*sin(3*x + 1)"), (3.0, "[3]*x"), (1.0, "3*x + [1]")]),
        ("y*x**0.3", [(0.3, "x**[0.3]")]),
        ("x**2 + number", []),
        ("9.81", [(9.81, "[9.81]")]),
    ],
)
def test_a_number_has_the_sign_that_is_printed_and_the_term_it_is_part_of(text, told):
    assert [(number.value, number.term) for number in printed_numbers(read(text), DIGITS)] == told


def test_fitted_and_exact_numbers_are_told_apart():
    numbers = printed_numbers(read("2*x - C*y", [0.7]), DIGITS)
    assert [(number.value, number.is_fitted) for number in numbers] == [(2.0, False), (-0.7, True)]


VALUES = st.floats(-1e4, 1e4).filter(lambda value: abs(value) > 1e-3)
LEAVES = st.one_of(st.sampled_from(["x", "y"]), VALUES.map(lambda value: f"({value!r})"))
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map("({0[0]} {0[1]} {0[2]})".format),
        inner.map("(-{})".format),
        inner.map("sin({})".format),
        inner.map("({})**2".format),
    ),
    max_leaves=12,
)


@given(FORMULAS)
def test_every_number_is_printed_with_its_sign_in_this_order(text):
    program = read(text)
    printed = to_text(program, DIGITS)
    told = [float(f"{number.value:.{DIGITS}g}") for number in printed_numbers(program, DIGITS)]
    assert told == numbers_in(printed), printed


@pytest.mark.parametrize(
    ("is_fitted", "error", "kind"),
    [(True, 0.1, "fitted"), (True, math.inf, "fitted"), (False, 0.1, "rounded"), (False, math.nan, "exact")],
)
def test_the_kind_follows_from_the_error(is_fitted, error, kind):
    assert PrintedNumber(2.0, "[2]*x", is_fitted).kind(error) == kind
