"""Formulas that are the same but for their numbers."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.same_structure import columns_of, comparison_points, have_same_structure, split_terms

WORDS = Vocabulary(("x", "y"))
DATA = Dataset.from_arrays(np.random.default_rng(0).uniform(0.5, 3.0, (30, 2)), np.arange(30.0), names=["x", "y"])
POINTS = comparison_points(DATA)


def read(text):
    return parse_expression(text, WORDS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2.5*x/(0.6 + x)", "1/(0.4 + 0.3/x)"),
        ("x + 1.3", "1.1*x + 1.2"),  # a factor of 1 was rounded away
        ("2*x - y", "-1.2*y + 1.9*x"),
        ("2*(x + y)*x", "2.2*x**2 + 2.2*x*y"),
        ("exp(1.2 - 0.5*x)", "3.1*exp(-0.4*x)"),
        ("3*sin(2*x + 1)", "1.5*sin(2.1*x) + 2.6*cos(2.1*x)"),
        ("5", "7.1"),
    ],
)
def test_the_same_function_in_another_spelling_has_the_same_structure(one, other):
    assert have_same_structure(read(one), read(other), POINTS)
    assert have_same_structure(read(other), read(one), POINTS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2*x", "2*x + 0.01"),
        ("2*x", "2*y"),
        ("2*x", "3"),
        ("x**2", "x**3"),
        ("sqrt(x)", "log(x)"),
        ("2*x*y", "2*x*y + 0.001*x"),
        ("2*x*y", "1.9*x*y**1.01"),
        ("log(x - 10)", "log(x - 11) + 1"),  # neither has a value on the data
    ],
)
def test_a_part_more_or_less_is_another_structure(one, other):
    assert not have_same_structure(read(one), read(other), POINTS)
    assert not have_same_structure(read(other), read(one), POINTS)


def test_numbers_of_the_grammar_cannot_change():
    assert have_same_structure(read("9.81*x"), read("9.5*x"), POINTS)
    given = (9.81,)
    assert not have_same_structure(read("sin(9.81*x)"), read("cos(9.5*x)"), POINTS, given)


def test_points_lie_among_the_rows():
    low, high = DATA.columns.min(axis=1), DATA.columns.max(axis=1)
    assert (low - 1e-12 <= POINTS.T).all()
    assert (high + 1e-12 >= POINTS.T).all()


def test_terms_are_those_of_the_outermost_sum():
    assert [to_text(term) for term in split_terms(read("-(2*x - y*(x + 1)) + 3"))] == ["2*x", "y*(x + 1)", "3"]
    assert [to_text(term) for term in split_terms(read("x*y"))] == ["x*y"]


def test_columns_are_counted_from_0():
    assert columns_of(read("y**2 + 1")) == {1}
    assert columns_of(read("3")) == frozenset()
