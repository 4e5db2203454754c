from spl.display.units import describe_units, units_line
from spl.units.table_units import read_table_units


def read(known=None, **more):
    return read_table_units({"m": "kg", "r s": ""}, "J", known, names=["m", "r s"], **more)


def test_the_line_names_every_unit():
    line = units_line(read({"g": "9.81 m/s**2", "k": 0.5}), "energy")
    assert line == "Units: energy in J; m in kg, 'r s' in 1; g = 9.81 m/s**2, k = 0.5."


def test_without_named_constants_the_line_ends_with_the_columns():
    assert units_line(read(), "E (J)") == "Units: 'E (J)' in J; m in kg, 'r s' in 1."


def test_units_as_json():
    assert describe_units(None) is None
    assert describe_units(read({"g": "9.81 m/s**2"}, are_numbers_free=True)) == {
        "columns": {"m": "kg", "r s": ""},
        "target": "J",
        "known": {"g": {"value": 9.81, "unit": "m/s**2"}},
        "numbers": "any",
    }
