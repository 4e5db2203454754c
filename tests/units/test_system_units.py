import numpy as np
import pytest

from spl.errors import SettingError, UnitError
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.units.system_units import fill_known, holds, read_system_units

PENDULUM = {"columns": {"theta": "rad"}, "time": "s", "states": ["theta"], "order": 2}
LENGTHS = {"g": "9.81 m/s**2", "l": "0.5 m"}


def read(**changes):
    return read_system_units(**{**PENDULUM, "known": LENGTHS, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"columns": {}}, UnitError, "Column 'theta' has no unit"),
        ({"columns": {"theta": "radd"}}, UnitError, "There is no unit 'radd'. Did you mean 'rad'"),
        ({"columns": {"theta": "rad", "dtheta": "rad/s"}}, UnitError, "There is no column 'dtheta'"),
        ({"time": None}, UnitError, "The time has no unit"),
        ({"time": "sec ond"}, UnitError, "The time: "),
        ({"known": {"dtheta": "1 m"}}, UnitError, "'dtheta' has the name of a velocity"),
        ({"known": {"theta": "1 m"}}, UnitError, "has the name of a column"),
        ({"is_discrete": True, "order": 1}, SettingError, "A map has steps instead of times"),
    ],
)
def test_bad_units_are_refused_in_words(changes, error, message):
    with pytest.raises(error, match=message):
        read(**changes)


@pytest.mark.parametrize(
    ("state", "time", "order", "target"),
    [
        ("m", "s", 1, "m/s"),
        ("m", "h", 2, "m/h**2"),
        ("", "s", 1, "1/s"),
        ("1/m**2", "day", 1, "(1/m**2)/day"),
        ("kg", "", 1, "kg"),
    ],
)
def test_right_hand_sides_have_the_unit_of_the_state_per_time(state, time, order, target):
    [table] = read_system_units({"x": state}, time, states=["x"], order=order).tables
    assert str(table.target) == target
    expected = read_system_units({"x": target}, "", states=["x"]).tables[0].target
    assert table.target.dimension == expected.dimension
    assert table.target.factor == pytest.approx(expected.factor)


def test_a_map_gives_the_state_itself():
    units = read_system_units({"n": "kg"}, None, states=["n"], is_discrete=True)
    assert str(units.tables[0].target) == "kg"


@pytest.mark.parametrize(
    ("text", "is_held"),
    [
        ("-(g/l)*sin(theta)", True),
        ("C*dtheta*dtheta - g*theta/l", True),
        ("g*sin(theta)", False),
        ("g/l + dtheta", False),
        ("sin(dtheta)*g/l", False),
    ],
)
def test_only_formulas_of_the_right_unit_hold(text, is_held):
    units = read()
    program = parse_expression(text, Vocabulary(units.names))
    assert units.allow(0, program) is is_held
    assert holds(units, 0, program) is is_held
    assert holds(None, 0, program)


def test_a_fitted_exponent_counts_as_any_number():
    units = read_system_units({"x": "m"}, "s", {"k": "1 1/(m*s)"}, states=["x"])
    words = Vocabulary(units.names)
    assert not units.allow(0, parse_expression("k*x**C", words).with_constants(np.array([2.0])))
    assert units.allow(0, parse_expression("k*x**2", words))


def test_an_equation_that_no_formula_can_have_is_told_by_its_state():
    units = read_system_units({"x": "1", "y": "m"}, "s", {"k": "2 m/s"}, states=["x", "y"])
    units.check_possible()
    with pytest.raises(UnitError, match=r"The equation of 'x'.*nothing has the dimension time"):
        read_system_units({"x": "1", "y": "m"}, "s", states=["x", "y"]).check_possible()
    read_system_units({"x": "1"}, "s", states=["x"], are_numbers_free=True).check_possible()


def test_named_constants_are_filled_in():
    units = read()
    program = parse_expression("-g*sin(theta)/l", Vocabulary(units.names))
    system = System(("theta",), ("g", "l"), (program,), 2)
    filled = fill_known(system, units)
    assert filled.equations() == ["-9.81*sin(theta)/0.5"]
    assert filled.inputs == ()
    assert fill_known(system, None) is system
