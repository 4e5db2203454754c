"""The units of a law or a system are checked as the user types, and become options of a command."""

import pytest

from spl.cli.unit_options import split_known, split_units
from spl.errors import UnitError
from spl.web.given_units import GivenUnits, check_units, explain_law, explain_system

FALL = GivenUnits(columns={"v": "m/s", "h": "m"}, target="m/s")


def check_law(units, known, names=("v", "h")):
    return check_units(units, known, "u", lambda given: explain_law(given.read_law(names, "u")))


def check_system(units, known="", order=1, *, is_discrete=False):
    return check_units(
        units, known, "t", lambda given: explain_system(given.read_system(["x"], [], order, is_discrete=is_discrete))
    )


def test_right_units_say_what_is_possible():
    assert check_law(FALL, "g = 9.80665 m/s**2") == {
        "is_right": True,
        "explanation": "Only formulas in m/s.",
    }
    answer = check_law(GivenUnits(columns={"v": "m/s", "h": "km/h"}, target="1"), "")
    assert answer["explanation"] == "Only formulas that are pure numbers."


@pytest.mark.parametrize(
    ("units", "known", "of", "line", "message"),
    [
        (GivenUnits(columns={"v": "m/s", "h": "meterz"}, target="m"), "", "h", None, "Did you mean 'meter'?"),
        (GivenUnits(columns={"v": "m/s", "h": "m"}, target="degC"), "", "u", None, "counts from a zero of its own"),
        (GivenUnits(columns={"v": "m/s"}, target="m"), "", None, None, "Column 'h' has no unit"),
        (FALL, "g 9.8", None, 1, "is not NAME=QUANTITY"),
        (FALL, "\ng = 9.8 parsnip", None, 2, "There is no unit 'parsnip'"),
        (FALL, "g = 9.8 m/s**2\ng = 9.9 m/s**2", None, None, "The constant 'g' is given twice"),
        (FALL, "h = 2 m", None, None, "has the name of a column"),
        (GivenUnits(columns={"v": "m/s", "h": "m"}, target="N"), "", None, None, "nothing has the dimension mass"),
    ],
)
def test_a_mistake_is_told_with_the_column_or_line(units, known, of, line, message):
    answer = check_law(units, known)
    assert not answer["is_right"]
    assert (answer["of"], answer["line"]) == (of, line)
    assert message in answer["message"]


def test_the_units_of_a_system_say_what_its_rates_have():
    units = GivenUnits(columns={"x": "cm"}, time="s")
    assert check_system(units, "T = 2 s")["explanation"].endswith("the units: x in cm/s.")
    assert check_system(units, "T = 2 s", 2)["explanation"].endswith("the units: x in cm/s**2.")
    assert check_system(GivenUnits(columns={"x": "cm"}), is_discrete=True)["explanation"].endswith("x in cm.")


@pytest.mark.parametrize(
    ("units", "of", "message"),
    [
        (GivenUnits(columns={"x": "cm"}, time="sek"), "t", "There is no unit 'sek'"),
        (GivenUnits(columns={"x": "cm"}), None, "The time has no unit"),
        (GivenUnits(columns={"x": "cm"}, time="s"), None, "The equation of 'x': No formula"),
    ],
)
def test_a_mistake_in_the_units_of_a_system_is_told(units, of, message):
    answer = check_system(units)
    assert (answer["is_right"], answer["of"]) == (False, of)
    assert message in answer["message"]


def test_numbers_with_units_make_any_target_possible():
    free = GivenUnits(columns={"v": "m/s"}, target="N", are_numbers_free=True)
    assert check_law(free, "", ["v"])["is_right"]
    with pytest.raises(UnitError, match="No formula can have the unit"):
        GivenUnits(columns={"v": "m/s"}, target="N").read_law(["v"], "F")


def test_options_say_the_same_to_the_command():
    units = GivenUnits(columns={"a,b": "m", "n": "1"}, target="m", known=("g = 9.8 m/s**2",), are_numbers_free=True)
    options = dict(option.removeprefix("--").split("=", 1) for option in units.options())
    assert split_units(None, None, options["units"]) == {"a,b": "m", "n": "1"}
    assert split_known(None, None, (options["known"],)) == {"g": "9.8 m/s**2"}
    assert (options["target-unit"], options["constants"]) == ("m", "any")
    assert GivenUnits(columns={"x": "m"}, time="s").options() == ["--units=x=m", "--time-unit=s"]
