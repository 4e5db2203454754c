import math

import numpy as np
import pytest

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.knowledge.limits import LIMIT_SHARE, approach_value, measure_limit
from spl.knowledge.reading import read_statement

POINTS = np.array([[0.5, 1.0, 2.0]])


def formula(text: str):
    return parse_expression(text, Vocabulary(("x",)))


def deviation(statement: str, text: str) -> float:
    limit = read_statement(statement, ["x"])
    return float(np.max(np.abs(measure_limit(formula(text), POINTS, limit, 0, 1.0, 1.0))))


@pytest.mark.parametrize(
    ("statement", "text", "expected"),
    [
        ("f -> 0 as x -> inf", "1/x", 0.0),
        ("f -> 0 as x -> inf", "0.25 + 1/x", 0.25),
        ("f -> 1 as x -> inf", "tanh(x)", 0.0),
        ("f -> 1 as x -> -inf", "tanh(x)", 2.0),
        ("f -> 0 as x -> inf", "exp(x)", math.inf),
        ("f -> 2 as x -> 0", "2 + x", 0.0),
        ("f -> 2 as x -> 1", "(x**2 - 1)/(x - 1)", 0.0),
        ("f -> inf as x -> 0", "1/x", 0.0),
        ("f -> inf as x -> 0", "-1/x", math.inf),
    ],
)
def test_a_limit_is_measured_at_the_end_of_the_way(statement, text, expected):
    found = deviation(statement, text)
    assert (
        found == expected or found == pytest.approx(expected, abs=LIMIT_SHARE) or found > 1e6 * (expected == math.inf)
    )


def test_values_that_rounding_spoils_are_not_trusted():
    """In floating-point numbers, x*(exp(1/x) - 1) is 0 for x above 1e16; it tends to 1."""
    assert deviation("f -> 1 as x -> inf", "x*(exp(1/x) - 1)") < LIMIT_SHARE
    assert deviation("f -> 0 as x -> inf", "x*(exp(1/x) - 1)") == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("text", "goal"), [("sin(x)/x", 1.0), ("x*log(x)", 0.0), ("(1 - cos(x))/x**2", 0.5)])
def test_a_gap_has_the_value_that_is_approached(text, goal):
    at = np.zeros((1, 2))
    assert approach_value(formula(text), at, {0: 1.0}, np.full(2, goal)) == pytest.approx(goal, abs=1e-7)


def test_a_gap_that_nothing_approaches_stays_one():
    assert np.isnan(approach_value(formula("log(-x)"), np.zeros((1, 1)), {0: 1.0}, np.zeros(1))).all()
