"""Equations with rates on both sides: split, solved, refused."""

import numpy as np
import pytest

from spl.errors import ExpressionError
from spl.formulas.program import Vocabulary
from spl.formulas.rates import (
    MAX_COUPLED,
    explicit_system,
    is_linear_in_rates,
    name_coupled,
    rate_matrix,
    solve_rates,
    split_rates,
)
from spl.formulas.system import System, rate_names
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate

STATES = ("x", "y")
NAMES = (*STATES, *rate_names(STATES))
WORDS = Vocabulary(NAMES)


def read(text):
    return parse_expression(text, WORDS)


def make_system(*texts, states=STATES, order=1, inputs=()):
    bare = System(
        states, inputs, tuple(parse_expression("1", Vocabulary(_columns(states, order, inputs))) for _ in states), order
    )
    words = Vocabulary((*bare.columns, *rate_names(states, order)))
    return System(states, inputs, tuple(parse_expression(text, words) for text in texts), order, is_implicit=True)


def _columns(states, order, inputs):
    return (*states, *(f"d{name}" for name in states if order == 2), *inputs)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "y'",
        "-y'",
        "2*y'*cos(x) - x",
        "x + (y' - x)*y",
        "(y' + x)/cos(x)",
        "x*(y - (x*y' - 2)) - y'/2",
        "x' - y' + sin(x)",
    ],
)
def test_the_parts_of_a_linear_program_add_up_to_it(text, rng):
    form = split_rates(read(text), 2)
    columns = rng.normal(size=(4, 20))
    total = 0 if form.rest is None else evaluate(form.rest, columns)
    for rate, factor in form.factors.items():
        assert not any(name in to_text(factor) for name in NAMES[2:])
        total = total + evaluate(factor, columns) * columns[2 + rate]
    np.testing.assert_allclose(total, evaluate(read(text), columns), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("text", ["y'**2", "sin(y')", "x'*y'", "x/y'", "exp(x)*sqrt(y' + 1)", "x + y'*(x - y')"])
def test_other_programs_are_not_linear(text):
    assert not is_linear_in_rates(read(text), 2)


def test_three_coupled_rates_are_those_of_a_linear_solver(rng):
    states = ("a", "b", "c")
    system = make_system("2*b' - c'*sin(a) + a", "0.5*a' + c' - b*c", "0.1*a'*b - b' + 3", states=states)
    solved = solve_rates(system).system
    columns = rng.normal(size=(3, 30))
    found = np.array([evaluate(program, columns) for program in solved.programs])
    for k in range(30):
        a, b, c = columns[:, k]
        matrix = np.array([[1, -2, np.sin(a)], [-0.5, 1, -1], [-0.1 * b, 1, 1]])
        np.testing.assert_allclose(found[:, k], np.linalg.solve(matrix, [a, -b * c, 3]), rtol=1e-9)


def test_rates_that_are_given_are_put_in_without_a_fraction():
    assert solve_rates(make_system("2*y' + x", "x*y")).system.equations() == ["x + 2*(x*y)", "x*y"]


def test_a_constant_keeps_its_number_wherever_it_appears():
    system = make_system("C*y' + C*x", "C*x' + y").with_constants([2.0, 3.0, 5.0])
    solved = solve_rates(system)
    for program, numbers in zip(solved.system.programs, solved.constant_numbers, strict=True):
        np.testing.assert_array_equal(program.constants, system.constants[numbers])
    assert {*solved.constant_numbers[0]} == {0, 1, 2}


def test_an_explicit_system_is_solved_already():
    system = System(("x",), (), (parse_expression("C*x", Vocabulary(("x",))).with_constants(np.array([2.0])),))
    assert solve_rates(system).system is system
    assert explicit_system(system) is system


def test_the_explicit_form_is_tidy_and_over_the_columns():
    system = explicit_system(
        make_system("-0.5*b''*cos(a) + u", "-a''*cos(a) - da", states=("a", "b"), order=2, inputs=("u",))
    )
    assert system.columns == ("a", "b", "da", "db", "u")
    assert system.equations(3) == ["(u + 0.5*da*cos(a))/(1 - 0.5*cos(a)**2)", "(da + u*cos(a))/(0.5*cos(a)**2 - 1)"]


def test_coupled_states_are_named():
    assert name_coupled(make_system("y'", "2*x'")) == [STATES]
    assert name_coupled(make_system("y'", "2*x")) == []


def test_the_matrix_has_the_factor_of_each_rate():
    assert [[part and to_text(part) for part in row] for row in rate_matrix(make_system("x*y'", "y"))] == [
        [None, "x"],
        [None, None],
    ]


def test_an_equation_that_is_not_linear_is_refused():
    with pytest.raises(ExpressionError, match=r"The equation of x is not linear in the rates.*sin\(y'\)"):
        solve_rates(make_system("sin(y')", "x"))


def test_the_rate_of_the_equation_itself_is_refused():
    with pytest.raises(ExpressionError, match=r"The equation of x contains the rate that it gives"):
        solve_rates(make_system("0.5*x' + y", "x"))


def test_too_many_coupled_rates_are_refused():
    states = tuple("abcde")
    texts = [f"0.1*({' + '.join(f'{other}{chr(39)}' for other in states if other != name)})" for name in states]
    with pytest.raises(ExpressionError, match=rf"5 rates depend on each other: a', b', .* At most {MAX_COUPLED}"):
        solve_rates(make_system(*texts, states=states))
