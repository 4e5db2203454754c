"""Drawing random programs, and which of them are worth finding."""

import numpy as np
import pytest

from spl.datasets.random_programs import CONSTANT_DIGITS, can_be_shorter, draw_program, is_worth_finding, shape_of
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression


def draw(**options):
    rng = np.random.default_rng(0)
    drawn = (draw_program(rng, **options) for _ in range(300))
    return [program for program in drawn if program is not None]


def test_a_program_has_the_cost_and_all_the_variables_that_were_asked_for():
    programs = draw(cost=9, names=("x", "y"), has_constants=False)
    assert len(programs) > 100
    for program in programs:
        assert program.cost == 9
        assert {program.vocabulary.variable_token(name) for name in ("x", "y")} <= set(program.tokens)


def test_constants_are_short_and_there_only_if_they_were_asked_for():
    assert all(not program.constants for program in draw(cost=7, names=("x",), has_constants=False))
    for program in draw(cost=7, names=("x",), has_constants=True):
        assert program.constants
        for value in program.constants:
            assert 0.1 <= abs(value) <= 10
            assert value == float(f"{value:.{CONSTANT_DIGITS}g}")


def test_a_tree_with_too_few_leaves_gives_no_program():
    assert draw(cost=2, names=("x", "y"), has_constants=False) == []


@pytest.mark.parametrize(
    ("one", "other"), [("x*(x - C)", "(C + x)*x"), ("x/C - y", "C*x - y"), ("x - (y - z)", "z - y + x")]
)
def test_formulas_that_differ_in_spelling_only_are_alike(one, other):
    words = Vocabulary(("x", "y", "z"))
    assert shape_of(parse_expression(one, words)) == shape_of(parse_expression(other, words))


def test_formulas_that_differ_in_sign_are_not_alike():
    words = Vocabulary(("x", "y", "z"))
    assert shape_of(parse_expression("x - y - z", words)) != shape_of(parse_expression("x - y + z", words))


@pytest.mark.parametrize(
    "text",
    ["x - x", "C + (x - C)", "C*(x*C)", "sin(C)", "sqrt(exp(x))", "exp(x)*(y*exp(y))", "log(x) - log(y)", "x*y + x*y"],
)
def test_a_formula_with_a_plainly_shorter_form_is_refused(text):
    assert can_be_shorter(parse_expression(text, Vocabulary(("x", "y"))))


@pytest.mark.parametrize("text", ["C*x + C*y", "C + C*x", "exp(x) + exp(y)", "sin(x)*sin(y)", "sqrt(x + sqrt(y))"])
def test_a_formula_without_one_is_not(text):
    assert not can_be_shorter(parse_expression(text, Vocabulary(("x", "y"))))


@pytest.mark.parametrize(
    "text",
    [
        "y/x",  # a pole
        "log(x) + y",  # outside the domain
        "sqrt(x + 1.001)*y",  # touches its edge
        "5 + 0.1*x*y",  # nearly constant
        "y + x/1000",  # a variable without influence
        "exp(6*y)*x",  # a large argument
        "y*sin(x/10)",  # nearly a straight line
        "y + x**2 + 0.01*x",  # a term that does not count
        "x**3*y**3*x**3",  # too many orders of magnitude
        "y**2",  # without x
    ],
)
def test_a_formula_that_is_not_worth_finding_is_refused(text):
    table = np.random.default_rng(0).uniform([-1.0, 1.0], [1.0, 2.0], size=(1000, 2))
    assert not is_worth_finding(parse_expression(text, Vocabulary(("x", "y"))), table)


@pytest.mark.parametrize("text", ["x*y", "x/y", "sin(3*x) + y", "sqrt(x + 2)*y", "exp(x)*log(y + 1)"])
def test_a_formula_that_is_worth_finding_is_kept(text):
    table = np.random.default_rng(0).uniform([-1.0, 1.0], [1.0, 2.0], size=(1000, 2))
    assert is_worth_finding(parse_expression(text, Vocabulary(("x", "y"))), table)
