import numpy as np
import pytest

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.knowledge.box import Box
from spl.knowledge.proofs import bound, is_proved
from spl.knowledge.reading import read_statement

BOX = Box(("x", "y"), np.array([0.5, 1.0]), np.array([4.0, 2.0]))


def prove(statement: str, text: str) -> bool:
    program = parse_expression(text, Vocabulary(BOX.names))
    return is_proved(read_statement(statement, BOX.names), program, BOX, 1.0)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("f > 0", "x - sin(x)"),  # bounds over the whole box do not show it, those over its parts do
        ("increasing in x", "x + sin(x)"),
        ("convex in x", "x*log(x)"),
        ("f < 1.1", "x*y/(x**2 + y**2) + 0.5"),
        ("f -> 2 as x -> inf", "2 + y*exp(-x)"),
        ("f -> 0 as x -> -inf", "y/(1 + x**2)"),
        ("increasing in y for x < 1", "y*cos(x)"),
        ("f(x=0) = 2", "2*cos(x)"),
    ],
)
def test_what_is_true_is_proved_by_dividing_the_box(statement, text):
    assert prove(statement, text)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("f > 0", "x - 2"),
        ("f > 0", "1/(x - 2)**2"),
        ("increasing in x", "sin(x)"),
        ("convex in x", "abs(x - 1)"),
        ("f -> 0 as x -> inf", "0.01 + exp(-x)"),
        ("even in x", "x**2 + 0.001*x"),
        ("symmetric in x, y", "x - y"),
        ("f(x=0) = 0", "sin(x)/x"),
    ],
)
def test_what_is_false_or_unknown_is_not_proved(statement, text):
    assert not prove(statement, text)


def test_a_derivative_has_no_bounds_where_the_formula_is_undefined():
    program = parse_expression("x + 0*log(y - 1.5)", Vocabulary(BOX.names))
    found = bound(program, BOX.low[:, np.newaxis], BOX.high[:, np.newaxis], 0, 1)
    assert np.isnan(found.low[0])
