"""The system: one program per state."""

import pytest

from spl.errors import DataError, ExpressionError, SettingError
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression


def read(text, *names, own=()):
    return parse_expression(text, Vocabulary(names, own=own))


def make_lorenz():
    programs = [read(text, "x", "y", "z") for text in ("C * (y - x)", "x * (C - z) - y", "x*y - C*z")]
    return System(("x", "y", "z"), (), tuple(programs)).with_constants([10, 28, 8 / 3])


def test_constants_go_round():
    system = make_lorenz()
    assert system.n_constants == 3
    assert system.constants.tolist() == [10, 28, 8 / 3]
    assert system.with_constants([1, 2, 3]).constants.tolist() == [1, 2, 3]
    assert system.with_constants([1, 2, 3]).programs[1].constants == (2.0,)


def test_a_wrong_number_of_constants_is_refused():
    with pytest.raises(ExpressionError, match="3 constants, but 2 values"):
        make_lorenz().with_constants([1.0, 2.0])


def test_equations_are_texts():
    assert make_lorenz().equations(3) == ["10*(y - x)", "x*(28 - z) - y", "x*y - 2.67*z"]


def test_columns_of_order_2_are_states_velocities_inputs():
    names = ("a", "b", "da", "db", "u")
    system = System(("a", "b"), ("u",), (read("-a + u", *names), read("-db", *names)), order=2)
    assert system.columns == names
    assert system.first_order_states == names[:4]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((("x", "y"), (), (read("x", "x", "y"),)), ExpressionError, "1 programs for 2 states"),
        ((("x",), ("u",), (read("x", "x"),)), ExpressionError, "must be over x, u"),
        ((("x",), (), (read("x", "x"),), 3), SettingError, "it is 3"),
        ((("x",), (), (read("x", "x", "dx"),), 2, True), SettingError, "A map has order 1"),
        ((("x",), ("x",), (read("x", "x"),)), DataError, "same name: x, x"),
    ],
)
def test_a_system_that_does_not_fit_together_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        System(*arguments)
