import pytest

from spl.errors import UnitError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.units.table_units import read_table_units

COLUMNS = {"m": "kg", "v": "m/s"}


def read(columns=COLUMNS, target="J", known=None, names=("m", "v"), **more):
    return read_table_units(columns, target, known, names=list(names), **more)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": {"m": "kg"}}, "Column 'v' has no unit"),
        ({"columns": {**COLUMNS, "w": "m"}}, "There is no column 'w'"),
        ({"target": None}, "The target has no unit"),
        ({"target": "Jj"}, "Target 'y': There is no unit 'Jj'"),
        ({"known": {"m": "3 kg"}}, "has the name of a column"),
        ({"known": {"y": "3 kg"}}, "has the name of a column"),
        ({"known": {"C": "3 kg"}}, "must be a plain word"),
        ({"known": {"a b": "3 kg"}}, "must be a plain word"),
        ({"known": {3: "3 kg"}}, "must be a plain word"),
        ({"known": {"g": "9.81 m//s"}}, "Constant 'g'"),
    ],
)
def test_bad_units_are_refused_in_words(given, message):
    with pytest.raises(UnitError, match=message):
        read(**given)


def test_named_constants_are_the_last_columns():
    units = read(known={"g": "g", "c": "speed_of_light"})
    assert units.names == ("m", "v", "g", "c")
    assert units.known_names == ("g", "c")
    assert [quantity.value for quantity in units.known] == [9.80665, 299792458.0]


def test_taken_columns_keep_their_units():
    taken = read(known={"g": "g"}).take((2, 0))
    assert taken.names == ("g", "m")
    assert [str(unit) for unit in taken.columns] == ["m s^-2", "kg"]


@pytest.mark.parametrize(
    ("text", "is_allowed"), [("m*v**2", True), ("0.5*m*v*v", True), ("m*v", False), ("m + v", False)]
)
def test_only_formulas_with_the_unit_of_the_target_are_allowed(text, is_allowed):
    units = read()
    assert units.allow(parse_expression(text, Vocabulary(units.names))) is is_allowed


def test_numbers_may_have_units_if_the_user_says_so():
    program = parse_expression("C*m + C*v", Vocabulary(("m", "v"))).with_constants([2.0, 3.0])
    assert not read().allow(program)
    assert read(are_numbers_free=True).allow(program)
