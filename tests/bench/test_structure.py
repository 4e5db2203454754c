"""When a formula found under noise counts as the law."""

import numpy as np
import pytest

from spl.bench.structure import has_structure_of_law
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

WORDS = Vocabulary(("x", "y"))
TABLE = np.random.default_rng(0).uniform(0.5, 3.0, size=(400, 2))
X, Y = TABLE.T


def is_law(text, truth):
    return has_structure_of_law(parse_expression(text, WORDS), TABLE, truth)


@pytest.mark.parametrize(
    "text",
    [
        "1.48*sin(2.03*x) + y/x - 0.7",  # the truth but for its numbers
        "-0.73 + (y + 1.5*x*sin(2*x))/x",  # in another spelling
        "1.5*sin(2*x) + 1.01*y/x - 0.7",  # a factor that comes out as 1
        "3/2*sin(2*x) + y/x - 2/3",
    ],
)
def test_the_right_terms_count_whatever_their_numbers(text):
    assert is_law(text, 1.51 * np.sin(1.98 * X) + Y / X - 0.69)


@pytest.mark.parametrize(
    "text",
    [
        "1.51*sin(1.98*x) + y/x",  # a term too few
        "1.51*sin(1.98*x) + y/x - 0.69 + 0.0001*y",  # a term too many
        "1.51*sin(1.98*x) + y/x - 0.69*cos(0.001*y)",  # a function that does nothing
        "(1.51*sin(1.98*x) + y/x - 0.69)*(1 + 0.0001*x)",  # a factor that does nothing
        "(1.51*sin(1.98*x) + y/x - 0.69)*exp(0.0001*x)",
        "1.51*sin(1.98*x) + 1/x - 0.69",
        "0.4*x**2 - 2*x + y/x",
        "log(-x)",
        "x",
    ],
)
def test_a_term_too_few_or_too_many_or_another_form_does_not(text):
    assert not is_law(text, 1.51 * np.sin(1.98 * X) + Y / X - 0.69)


def test_a_law_without_numbers_is_told_from_one_with_a_number_too_many():
    assert is_law("x*y", X * Y)
    assert not is_law("x*y + 0.001", X * Y)


def test_a_missing_number_counts():
    assert not is_law("x + y", 1.02 * X + Y)


def test_more_numbers_than_a_program_may_have_are_no_law():
    assert not is_law(" + ".join(f"{number}.5*x" for number in range(21)), X)


def test_a_formula_longer_than_a_program_may_be_is_no_law():
    assert not is_law(" + ".join(100 * ["x*y"]), 100 * X * Y)
