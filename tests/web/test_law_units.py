"""The units of a law are checked as the user types, and become options of a command."""

import pytest

from spl.cli.unit_options import split_known, split_units
from spl.errors import UnitError
from spl.web.law_units import LawUnits, check_units

FALL = LawUnits(columns={"v": "m/s", "h": "m"}, target="m/s")


def test_right_units_say_what_is_possible():
    assert check_units(FALL, "g = 9.80665 m/s**2", ["v", "h"], "u") == {
        "is_right": True,
        "explanation": "Only formulas in m/s.",
    }
    answer = check_units(LawUnits(columns={"v": "m/s", "u": "km/h"}, target="1"), "", ["v", "u"], "ratio")
    assert answer["explanation"] == "Only formulas that are pure numbers."


@pytest.mark.parametrize(
    ("units", "known", "of", "line", "message"),
    [
        (LawUnits(columns={"v": "m/s", "h": "meterz"}, target="m"), "", "h", None, "Did you mean 'meter'?"),
        (LawUnits(columns={"v": "m/s", "h": "m"}, target="degC"), "", "u", None, "counts from a zero of its own"),
        (LawUnits(columns={"v": "m/s"}, target="m"), "", None, None, "Column 'h' has no unit"),
        (FALL, "g 9.8", None, 1, "is not NAME=QUANTITY"),
        (FALL, "\ng = 9.8 parsnip", None, 2, "There is no unit 'parsnip'"),
        (FALL, "g = 9.8 m/s**2\ng = 9.9 m/s**2", None, None, "The constant 'g' is given twice"),
        (FALL, "h = 2 m", None, None, "has the name of a column"),
        (LawUnits(columns={"v": "m/s", "h": "m"}, target="N"), "", None, None, "nothing has the dimension mass"),
    ],
)
def test_a_mistake_is_told_with_the_column_or_line(units, known, of, line, message):
    answer = check_units(units, known, ["v", "h"], "u")
    assert not answer["is_right"]
    assert (answer["of"], answer["line"]) == (of, line)
    assert message in answer["message"]


def test_numbers_with_units_make_any_target_possible():
    free = LawUnits(columns={"v": "m/s"}, target="N", are_numbers_free=True)
    assert check_units(free, "", ["v"], "F")["is_right"]
    with pytest.raises(UnitError, match="No formula can have the unit"):
        LawUnits(columns={"v": "m/s"}, target="N").read(["v"], "F")


def test_options_say_the_same_to_the_command():
    units = LawUnits(columns={"a,b": "m", "n": "1"}, target="m", known=("g = 9.8 m/s**2",), are_numbers_free=True)
    options = dict(option.removeprefix("--").split("=", 1) for option in units.options())
    assert split_units(None, None, options["units"]) == {"a,b": "m", "n": "1"}
    assert split_known(None, None, (options["known"],)) == {"g": "9.8 m/s**2"}
    assert (options["target-unit"], options["constants"]) == ("m", "any")
