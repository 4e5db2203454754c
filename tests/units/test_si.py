import numpy as np
import pytest

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate
from spl.units.si import program_in_si, units_in_si
from spl.units.table_units import read_table_units

UNITS = read_table_units(
    {"m": "g", "v": "km/h", "h": "cm"}, "kJ", {"g": "980.665 cm/s**2"}, names=["m", "v", "h"], are_numbers_free=True
)
LONG = " + ".join(f"{k}.5*m*sin({k}.25*v)*h" for k in range(1, 20))


def read(text, units=UNITS):
    return parse_expression(text, Vocabulary(units.names))


@pytest.mark.parametrize(
    "text",
    [
        "m*(3.858e-5*v**2 + 1e-7*h*g)",
        "sqrt(m)*exp(-v/20) + 2",
        "sin(2*h)*m - max(m, h)",
        "m**2/(v + h) + abs(v - 3)",
        "pow(m, 0.3)*h",
        "5*log(v/h)",
        "sign(m - 2*h)*v",
        "7",
        LONG,
    ],
)
def test_a_formula_in_si_units_has_the_same_value(text, rng):
    columns = np.vstack([rng.uniform(1, 3, (3, 50)), np.full((1, 50), 980.665)])
    in_si = columns * np.array([[unit.factor] for unit in UNITS.columns])
    program = read(text)
    found = evaluate(program_in_si(program, UNITS), in_si)
    np.testing.assert_allclose(found, evaluate(program, columns) * UNITS.target.factor, rtol=1e-9)


def test_factors_of_units_disappear():
    units = read_table_units({"m": "kg", "v": "km/h", "h": "cm"}, "kg*s", names=["m", "v", "h"])
    assert to_text(program_in_si(read("0.036*m*h/v", units), units)) == "m*h/v"


def test_a_formula_that_is_in_si_units_stays_as_it_is():
    units = read_table_units({"m": "kg", "v": "m/s"}, "J", names=["m", "v"])
    program = read("0.5*m*v**2", units)
    assert program_in_si(program, units) is program


def test_units_in_names_become_those_of_si():
    units = read_table_units({"h (cm)": "cm", "m [kg]": "kg"}, "N", names=["h (cm)", "m [kg]"], are_numbers_free=True)
    program = read("3*'h (cm)'*'m [kg]'", units)
    assert to_text(program_in_si(program, units)) == "300*'h (m)'*'m [kg]'"
    units = read_table_units({"h (cm)": "cm", "h (m)": "m"}, "m", names=["h (cm)", "h (m)"])
    assert units_in_si(units).names == units.names  # two columns of one name would be worse


def test_named_constants_have_their_values_in_si_units():
    units = units_in_si(UNITS)
    assert [str(unit) for unit in (*units.columns, units.target)] == ["kg", "m/s", "m", "m/s**2", "kg*m**2/s**2"]
    assert units.known[0].value == 9.80665
    assert units.names == UNITS.names
