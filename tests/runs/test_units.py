import json

import pytest

from spl.checked_values import Damage
from spl.data.trajectories import Trajectories
from spl.runs.units import decode_system_units, decode_units, encode_system_units, encode_units
from spl.units.system_units import read_system_units
from spl.units.table_units import read_table_units

UNITS = read_table_units(
    {"h": "cm", "k": ""},
    "J/kg",
    {"g": "9.80665 m/s**2", "G": "gravitational_constant", "p": "pi", "d": "3 m 2"},
    names=["h", "k"],
    are_numbers_free=True,
)
PLAIN = {"units": {"h": "cm"}, "target_unit": "J/kg", "known": {"g": [9.81, "m/s**2"]}, "constants": ""}


def test_units_come_back_as_they_were():
    stored = json.loads(json.dumps(encode_units(UNITS)))
    assert decode_units(stored, UNITS.names, "y") == UNITS


def test_no_units_take_no_place_and_older_runs_have_none():
    assert encode_units(None) == {}
    assert decode_units({}, ["x"], "y") is None


def test_plain_settings_are_units():
    units = decode_units(PLAIN, ["h", "g"], "y")
    assert (units.measured_names, units.known_names, units.are_numbers_free) == (("h",), ("g",), False)


@pytest.mark.parametrize(
    "damage",
    [
        {"units": ["cm"]},
        {"units": {"h": 3}},
        {"units": {"h": "parsnip"}},
        {"units": {"x": "cm"}},
        {"units": {"h": "cm", "k": "cm"}},
        {"target_unit": "parsnip"},
        {"target_unit": None},
        {"known": {}},
        {"known": {"h": [1.0, "m"]}},
        {"known": {"g": "9.81 m/s**2"}},
        {"known": {"g": [9.81]}},
        {"known": {"g": [0.0, "m"]}},
        {"known": {"g": [float("inf"), "m"]}},
        {"known": {"g": ["9.81", "m"]}},
        {"known": {"g": [9.81, "parsnip"]}},
        {"known": {"g": [9.81, 3]}},
        {"constants": "many"},
        {"constants": True},
    ],
)
def test_damage_is_found(damage):
    with pytest.raises(Damage):
        decode_units(PLAIN | damage, ["h", "g"], "y")


PLAN = {"order": 2, "is_discrete": False}
SWING = Trajectories.from_arrays(
    range(9), 0.1, u=[[float(k), 9.81] for k in range(9)], names=["a"], input_names=["u", "g"]
)
SYSTEM_UNITS = read_system_units({"a": "deg", "u": ""}, "ms", {"g": "9.81 m/s**2"}, states=["a"], inputs=["u"], order=2)


def test_units_of_a_system_come_back_as_they_were():
    stored = json.loads(json.dumps(encode_system_units(SYSTEM_UNITS)))
    assert decode_system_units(stored | {"plan": PLAN}, SWING) == SYSTEM_UNITS


def test_a_system_without_units_has_none():
    assert encode_system_units(None) == {}
    assert decode_system_units({"plan": PLAN}, SWING) is None


@pytest.mark.parametrize(
    "damage",
    [
        {"units": {"a": "deg"}},
        {"units": {"a": "parsnip", "u": ""}},
        {"time_unit": "parsnip"},
        {"known": {"g": ["9.81", "m"]}},
    ],
)
def test_damage_to_the_units_of_a_system_is_found(damage):
    with pytest.raises(Damage):
        decode_system_units(encode_system_units(SYSTEM_UNITS) | {"plan": PLAN} | damage, SWING)
