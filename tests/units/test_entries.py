import pytest

from spl.errors import UnitError
from spl.units.entries import split_known, split_units


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("m=kg, v=m/s", {"m": "kg", "v": "m/s"}),
        ("  m  =  kg  ", {"m": "kg"}),
        ("ratio=,n=1", {"ratio": "", "n": "1"}),
        ('"a,b=m/s",c=K', {"a,b": "m/s", "c": "K"}),
        ("x=y=m", {"x=y": "m"}),
        ("v (m/s)=km/h", {"v (m/s)": "km/h"}),
        (" header ", "header"),
        ("header=m", {"header": "m"}),
    ],
)
def test_units_are_split_at_commas(text, units):
    assert split_units(text) == units


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not COLUMN=UNIT"),
        ("m", "'m' is not COLUMN=UNIT"),
        ("m=kg,", "'' is not COLUMN=UNIT"),
        ("=kg", "'=kg' is not COLUMN=UNIT"),
        ("m=kg, m=g", "The unit of 'm' is given twice"),
        ("m=kg\nv=m", "cannot be read as a list of units"),
    ],
)
def test_what_is_no_list_of_units_is_named(text, message):
    with pytest.raises(UnitError, match=message):
        split_units(text)


def test_named_constants_are_split_at_the_first_equals_sign():
    assert split_known(("g=9.81 m/s**2", " c = speed_of_light")) == {"g": "9.81 m/s**2", "c": "speed_of_light"}
    assert split_known(()) == {}


@pytest.mark.parametrize("text", ["", "g", "g=", "=9.81"])
def test_what_is_no_named_constant_is_named(text):
    with pytest.raises(UnitError, match="is not NAME=QUANTITY"):
        split_known([text])


def test_a_constant_is_named_once():
    with pytest.raises(UnitError, match="'g' is given twice"):
        split_known(["g=1", "g=2"])
