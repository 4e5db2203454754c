import pytest

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.units.number_units import units_of_numbers
from spl.units.table_units import read_table_units


def units_in(text, columns, target, *, are_numbers_free=True):
    units = read_table_units(columns, target, names=list(columns), are_numbers_free=are_numbers_free)
    return units_of_numbers(parse_expression(text, Vocabulary(units.names)), units)


@pytest.mark.parametrize(
    ("text", "columns", "target", "found"),
    [
        ("3*x", {"x": "m"}, "J", ["J/m"]),
        ("3*x + 2", {"x": "km/h"}, "m/s", ["h*m/(km*s)", "m/s"]),
        ("3*sin(2*t + 1)", {"t": "ms"}, "V", ["V", "1/ms", "1"]),
        ("3*sqrt(x)", {"x": "cm"}, "s", ["s/cm**(1/2)"]),
        ("2*x**0.5", {"x": "m"}, "m**(1/2)", ["1"]),
        ("2*pow(x, 0.7)", {"x": "1"}, "K", ["K", "1"]),
        ("pow(x, 0.25)*2", {"x": "m"}, "m**(1/4)", ["1", "1"]),
        ("2*x*3", {"x": "m"}, "m", ["", ""]),  # each number may have any unit, if the other one has its inverse
        ("m*v*v + 3*m", {"m": "kg", "v": "m/s"}, "J", ["m**2/s**2"]),  # J is kg*m**2/s**2
        ("3*sin(a)", {"a": "deg"}, "m", ["m"]),
    ],
)
def test_numbers_have_the_units_that_the_formula_needs(text, columns, target, found):
    assert units_in(text, columns, target) == found


def test_where_units_do_not_fit_nothing_is_claimed():
    assert units_in("x + y + 3*x", {"x": "m", "y": "cm"}, "m") == [""]


def test_numbers_are_pure_unless_they_may_have_units():
    assert units_in("3*x + 2*x", {"x": "m"}, "m", are_numbers_free=False) == ["1", "1"]
