"""Systems: what they refuse, their columns, and their constants taken together."""

import pickle

import numpy as np
import pytest

from spl.errors import DataError, ExpressionError, SettingError
from spl.formulas.program import Program, Vocabulary
from spl.formulas.system import System, velocity_names
from spl.formulas.text import parse_expression


def read(text: str, *names: str, constants: tuple[float, ...] = ()) -> Program:
    program = parse_expression(text, Vocabulary(names))
    return program.with_constants(np.array(constants))


def make_lotka_volterra() -> System:
    names = ("x", "y")
    programs = (
        read("C*x - C*x*y", *names, constants=(0.5, 0.02)),
        read("C*x*y - y", *names, constants=(0.01,)),
    )
    return System(names, (), programs)


def test_first_order_columns_are_states_then_inputs():
    system = System(("x",), ("u",), (read("u - x", "x", "u"),))
    assert system.columns == ("x", "u")
    assert system.first_order_states == ("x",)


def test_second_order_columns_have_the_velocities_after_the_states():
    names = ("a", "b", "da", "db", "u")
    system = System(("a", "b"), ("u",), (read("b - da", *names), read("u", *names)), order=2)
    assert system.columns == names
    assert system.first_order_states == ("a", "b", "da", "db")
    assert velocity_names(("a", "b")) == ("da", "db")


def test_the_constants_of_all_equations_are_numbered_together():
    system = make_lotka_volterra()
    assert system.n_constants == 3
    np.testing.assert_array_equal(system.constants, [0.5, 0.02, 0.01])
    changed = system.with_constants([1.0, 2.0, 3.0])
    assert changed.equations() == ["1*x - 2*x*y", "3*x*y - y"]
    assert system.equations(1) == ["0.5*x - 0.02*x*y", "0.01*x*y - y"]


def test_a_wrong_number_of_constants_is_refused():
    with pytest.raises(ExpressionError, match="The system has 3 constants, but 2 values were given"):
        make_lotka_volterra().with_constants([1.0, 2.0])


def test_a_system_survives_pickling():
    system = make_lotka_volterra()
    assert pickle.loads(pickle.dumps(system)) == system


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"order": 3}, SettingError, "`order` must be 1 or 2"),
        ({"order": 2, "is_discrete": True}, SettingError, "A map has order 1"),
        ({"programs": ()}, ExpressionError, "There are 0 programs for 1 states"),
        ({"inputs": ("x",)}, DataError, "Two columns have the same name: x, x"),
        ({"inputs": ("u",)}, ExpressionError, "The program of 'x' is over x; it must be over x, u"),
    ],
)
def test_a_system_that_cannot_be_is_refused(options, error, message):
    fields = {"states": ("x",), "inputs": (), "programs": (read("x", "x"),)} | options
    with pytest.raises(error, match=message):
        System(**fields)
