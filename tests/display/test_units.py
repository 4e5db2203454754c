import pytest

from spl.display.units import axis_label, describe_units, units_line
from spl.units.table_units import read_table_units


def read(known=None, **more):
    return read_table_units({"m": "kg", "r s": ""}, "J", known, names=["m", "r s"], **more)


def test_the_line_names_every_unit():
    line = units_line(read({"g": "9.81 m/s**2", "k": 0.5}), "energy")
    assert line == "Units: energy in J; m in kg, 'r s' in 1; g = 9.81 m/s**2, k = 0.5."


def test_without_named_constants_the_line_ends_with_the_columns():
    assert units_line(read(), "E (J)") == "Units: 'E (J)' in J; m in kg, 'r s' in 1."


@pytest.mark.parametrize(
    ("name", "unit", "what", "label"),
    [
        ("v", "m/s", "", "v (m/s)"),
        ("v (m/s)", "m/s", "", "v (m/s)"),
        ("v (mean)", "m/s", "", "v (mean) (m/s)"),
        ("v [m/s]", "m/s", "predicted", "v [m/s], predicted"),
        ("v", "m/s", "predicted", "v, predicted (m/s)"),
        ("n", "1", "", "n"),
        ("n", "", "measured", "n, measured"),
    ],
)
def test_axes_have_the_unit_once(name, unit, what, label):
    assert axis_label(name, unit, what) == label


def test_units_as_json():
    assert describe_units(None) is None
    assert describe_units(read({"g": "9.81 m/s**2"}, are_numbers_free=True)) == {
        "columns": {"m": "kg", "r s": ""},
        "target": "J",
        "known": {"g": {"value": 9.81, "unit": "m/s**2"}},
        "numbers": "any",
    }
