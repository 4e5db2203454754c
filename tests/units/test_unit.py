import math

import pytest
from scipy import constants

from spl.errors import UnitError
from spl.units.unit import Quantity, Unit, read_quantity, read_unit, split_header, unit_of_dimension

HOSTILE = [
    "meterz", "m+s", "((", "m/s/", "5 m", "m**9999", "m**(1e400)", "__import__('os')", "lambda: 1",
    "x" * 200, "m;s", "m\n=2", "*", "1e999",
    "m**m", "m**-200", "\x00", "degC", "degF*m", "dB", "degC/m",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_unit_is_refused_in_words(text):
    with pytest.raises(UnitError, match=r"(?s)\w+ .*[.?]$"):
        read_unit(text)


@pytest.mark.parametrize("value", [None, 3, 2.5, ["m"], b"m"])
def test_a_unit_must_be_text(value):
    with pytest.raises(UnitError, match="must be text"):
        read_unit(value)


@pytest.mark.parametrize(
    ("text", "suggested"), [("Kg", "kg"), ("Pascal", "pascal"), ("meterr", "meter"), ("secnd", "second"), ("KM", "km")]
)
def test_the_nearest_known_unit_is_suggested(text, suggested):
    with pytest.raises(UnitError, match=f"Did you mean '{suggested}'"):
        read_unit(text)


def test_an_error_names_the_column():
    with pytest.raises(UnitError, match=r"^Column 'p': There is no unit 'zzz'"):
        read_unit("zzz", "Column 'p'")


@pytest.mark.parametrize("text", ["", "1", "-", "dimensionless", " none "])
def test_a_pure_number_may_be_written_in_several_ways(text):
    assert read_unit(text) == Unit("")


@pytest.mark.parametrize(
    ("text", "in_si", "factor"),
    [
        ("N", "kg*m/s**2", 1.0),
        ("km/h", "m/s", 1 / 3.6),
        ("deg", "", math.pi / 180),
        ("%", "", 0.01),
        ("eV", "J", 1.602176634e-19),
        ("mol/L", "mol/m**3", 1000.0),
        ("m**0.5", "m**(1/2)", 1.0),
        ("delta_degC", "K", 1.0),
        ("delta_degF", "K", 5 / 9),
        ("J/(mol K)", "kg m^2 s^-2 mol^-1 K^-1", 1.0),
    ],
)
def test_a_unit_has_the_dimension_and_the_factor_of_si(text, in_si, factor):
    unit = read_unit(text)
    assert unit.dimension == read_unit(in_si).dimension
    assert unit.factor == pytest.approx(factor, rel=1e-12)


def test_exponents_are_exact_fractions():
    assert read_unit("m**(1/3)").dimension ** 3 == read_unit("m").dimension


@pytest.mark.parametrize(
    ("name", "value", "unit"),
    [
        ("speed_of_light", constants.c, "m/s"),
        ("c", constants.c, "m/s"),
        ("R", constants.R, "J/(mol K)"),
        ("gravitational_constant", constants.G, "m^3/(kg s^2)"),
        ("Stefan_Boltzmann", constants.Stefan_Boltzmann, "W/(m^2 K^4)"),
        ("electron mass", constants.m_e, "kg"),
        ("g", 9.80665, "m/s^2"),
        ("fine_structure", constants.fine_structure, ""),
        ("pi", math.pi, ""),
    ],
)
def test_constants_have_the_value_and_the_unit_of_scipy(name, value, unit):
    quantity = read_quantity(name)
    assert quantity.value == value
    assert quantity.unit.dimension == read_unit(unit).dimension


def test_a_quantity_keeps_the_unit_it_was_given_in():
    quantity = read_quantity("3 km")
    assert (quantity.value, str(quantity.unit), quantity.unit.factor) == (3.0, "km", 1000.0)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("6.6743e-11 m**3/(kg*s**2)", 6.6743e-11, "m**3/(kg*s**2)"),
        ("1.5e+3 Pa", 1500.0, "Pa"),
        ("-2E-3 1/s", -0.002, "1/s"),
        ("5e3 m", 5000.0, "m"),
        ("1e-5", 1e-5, "1"),
        ("9.81*m/s**2", 9.81, "m/s**2"),
        ("6.6743e-11 * m**3", 6.6743e-11, "m**3"),
        ("2**3 m", 8.0, "m"),
    ],
)
def test_numbers_are_read_as_people_write_them(text, value, unit):
    quantity = read_quantity(text)
    assert quantity.value == value
    assert str(quantity.unit) == unit


@pytest.mark.parametrize("value", ["0 m", "nan", math.inf, math.nan, 0.0, None, "zzz", "3 degC", [], "1e999 m"])
def test_what_is_no_named_constant_is_refused(value):
    with pytest.raises(UnitError):
        read_quantity(value, "g")


def test_quantities_pass_through():
    quantity = Quantity(2.0, Unit(""))
    assert read_quantity(quantity) is quantity


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("v (m/s)", ("v", "m/s")),
        ("v [m/s]", ("v", "m/s")),
        ("gas constant (J/(mol K))", ("gas constant", "J/(mol K)")),
        ("x ()", ("x", "")),
        ("x", None),
        ("(m)", None),
        ("f(x) (m)", ("f(x)", "m")),
    ],
)
def test_a_header_holds_a_name_and_a_unit(header, expected):
    assert split_header(header) == expected


def test_dimensions_are_written_in_si_units():
    assert unit_of_dimension(read_unit("W/(m**2 K**4)").dimension) == "kg/(K**4*s**3)"
