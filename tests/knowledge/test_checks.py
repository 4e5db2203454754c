import numpy as np
import pytest

from spl.errors import KnowledgeError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.knowledge.box import Box
from spl.knowledge.checks import ROUNDED_BREACH, make_checks
from spl.knowledge.reading import read_statement

BOX = Box(("x", "y"), np.array([1.0, 2.0]), np.array([3.0, 2.0]))
ROWS = np.array([[1.0, 3.0], [2.0, 2.0]])


def make(statement: str):
    return make_checks(read_statement(statement, BOX.names), BOX, ROWS, 1.0)


def formula(text: str):
    return parse_expression(text, Vocabulary(BOX.names))


def test_margins_are_values_slopes_and_curvatures():
    program = formula("x**3")
    for statement, expected in [("f > 0", 1.0), ("increasing in x", 3.0), ("convex in x", 6.0), ("f < 30", 3.0)]:
        first, *_ = make(statement)
        assert np.nanmin(first.margins(program)) == pytest.approx(expected, abs=1e-6), statement


def test_the_margin_of_an_equality_is_how_far_it_is_off():
    [check] = make("f(x=0) = 1")
    assert check.margins(formula("x + 1.5")) == pytest.approx(-0.5)
    assert check.is_broken(formula("x + 1.5"), is_quick=True)


def test_rounding_does_not_break_a_statement():
    [check] = make("f >= 0")
    assert not check.is_broken(formula(f"0*x - {0.5 * ROUNDED_BREACH!r}"), is_quick=False)
    assert check.is_broken(formula(f"0*x - {2 * ROUNDED_BREACH!r}"), is_quick=False)


def test_a_strict_sign_is_broken_by_zero():
    [strict], [weak] = make("f > 0"), make("f >= 0")
    assert strict.is_broken(formula("x - x"), is_quick=False)
    assert not weak.is_broken(formula("x - x"), is_quick=False)


def test_values_along_lines_show_jumps_and_kinks_that_derivatives_hide():
    _, lines = make("increasing in x")
    assert lines.is_broken(formula("x - 3*sign(x - 1.5)"), is_quick=False)
    assert not lines.is_broken(formula("x + sign(x - 1.5)"), is_quick=False)


def test_two_sides_are_two_checks():
    below, above = make("0 < f < 2")
    assert not below.is_broken(formula("x"), is_quick=False)
    assert above.is_broken(formula("x"), is_quick=False)


@pytest.mark.parametrize("statement", ["increasing in y", "convex in y", "depends on y"])
def test_a_column_with_a_single_value_cannot_be_checked(statement):
    with pytest.raises(KnowledgeError, match=r"y has the single value 2 there\. Give bounds for y"):
        make(statement)
