"""Units and quantities as people write them: `kg*m/s**2`, `km/h`, `9.80665 m/s**2`, `speed_of_light`.

They are read by pint, which is imported when the first unit is read. Everything else in spl knows dimensions and factors only.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from spl.errors import COMPARED_LENGTH, UnitError, shorten, suggest_name
from spl.units.dimension import NO_DIMENSION, Dimension, exact_fraction

PLAIN_NUMBER = ("", "1", "-", "none", "dimensionless")  # ways to write the unit of a pure number
MAX_TEXT = 100  # characters of a unit or quantity
MAX_EXPONENT = 30  # of a base dimension
PURE_NUMBERS = ("pi", "golden")  # of scipy.constants
BY_DEFINITION = (
    "relationship",
    "natural unit",
    "atomic unit",
    "conventional",
)  # rows of scipy's table that repeat a value
_BIG_POWER = re.compile(r"(\*\*|\^)[-+(\s]*\d{3,}")
_WHOLE_NUMBER = re.compile(r"(?<![\w.])(?<![\d.][eE][-+])\d[\d_]*(?![\w.])")  # but no exponent, as in 6.67e-11
_FACTOR = re.compile(r"^([-+\d.eE]+)\s*\*(?!\*)")  # a number times a unit, as in 9.81*m/s**2
_SUPERSCRIPTS = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_PLAIN_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_CHARACTERS = re.compile(r"[\w *\t/^().,+°µΩ%·⁻-]*")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its dimension, and how many SI base units it is.

    Examples:
        >>> unit = read_unit("km/h")
        >>> str(unit.dimension), round(unit.factor, 6)
        ('length/time', 0.277778)
    """

    text: str
    dimension: Dimension = NO_DIMENSION
    factor: float = 1.0

    def __str__(self) -> str:
        return self.text or "1"


def read_unit(text: object, of: str = "") -> Unit:
    """Return the unit that a text names; raise `UnitError` if there is none.

    Args:
        text: such as "m/s", "kg*m**2", "J/(mol K)"; "" or "1" is that of a pure number.
        of: whose unit it is, for messages.

    Examples:
        >>> read_unit("N").dimension == read_unit("kg*m/s**2").dimension
        True
        >>> read_unit("meterz")
        Traceback (most recent call last):
        ...
        spl.errors.UnitError: There is no unit 'meterz'. Did you mean 'meter'?
        >>> read_unit("degC")
        Traceback (most recent call last):
        ...
        spl.errors.UnitError: 'degC' counts from a zero of its own, so that products with it mean nothing. Give temperatures in ...
    """
    if isinstance(text, Unit):
        return text
    written = _check_text(text, "A unit", of)
    if written in PLAIN_NUMBER:
        return Unit("")
    quantity = _parse(written, of)
    if quantity.magnitude != 1:
        raise UnitError(_explain(f"'{shorten(written)}' is a quantity, not a unit. Leave the number out.", of))
    return _as_unit(written, quantity, of)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with a unit."""

    value: float
    unit: Unit

    def __str__(self) -> str:
        return f"{self.value:.12g} {self.unit}".removesuffix(" 1")


def read_quantity(text: object, name: str = "") -> Quantity:
    """Return a named constant: a number with a unit, or a constant of scipy.constants by its name.

    Args:
        text: such as "9.80665 m/s**2", "speed_of_light" or "pi"; or a plain number.
        name: what it is called, for messages.

    Examples:
        >>> str(read_quantity("9.80665 m/s**2")), str(read_quantity("speed_of_light")), str(read_quantity(0.5))
        ('9.80665 m/s**2', '299792458 m s^-1', '0.5')
    """
    if isinstance(text, Quantity):
        return text
    if isinstance(text, int | float) and not isinstance(text, bool):
        quantity = Quantity(float(text), Unit(""))
    else:
        written = _check_text(text, "A named constant", name)
        quantity = _find_constant(written, name) or _read_number_with_unit(written, name)
    if not math.isfinite(quantity.value) or quantity.value == 0:
        raise UnitError(_explain(f"A named constant must be a finite number other than 0; got {text!r}.", name))
    return quantity


def split_header(header: str) -> tuple[str, str] | None:
    """Return the name and the unit in the header of a column, such as `velocity (m/s)` or `velocity [m/s]`; None if it has none.

    Examples:
        >>> split_header("velocity (m/s)"), split_header("p [Pa]"), split_header("velocity")
        (('velocity', 'm/s'), ('p', 'Pa'), None)
    """
    match = re.fullmatch(r"\s*(.*?\S)\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\)|\[([^\[\]]*)\])\s*", header)
    if match is None:
        return None
    unit = match[2] if match[2] is not None else match[3]
    return match[1], unit.strip()


def has_unit_in_header(header: str) -> bool:
    """Return whether the header of a column has the unit of a quantity in it, one that can be read.

    Examples:
        >>> has_unit_in_header("velocity (m/s)"), has_unit_in_header("shape (round)"), has_unit_in_header("ratio (-)")
        (True, False, False)
    """
    parts = split_header(header)
    try:
        return parts is not None and not read_unit(parts[1]).dimension.is_none
    except UnitError:
        return False


@cache
def symbols_of(unit: Unit, *, expands_si: bool = False) -> Dimension:
    """Return a unit as a product of powers of the symbols that it was written with; pure numbers and angles have none.

    Args:
        unit: such as km/h.
        expands_si: whether to write units that are products of SI base units as these: N as kg*m/s**2.

    Examples:
        >>> str(symbols_of(read_unit("kN*km/hour"))), str(symbols_of(read_unit("N*km"), expands_si=True))
        ('kN*km/h', 'kg*km*m/s**2')
    """
    if unit.text in PLAIN_NUMBER:
        return NO_DIMENSION
    registry, product = _registry(), NO_DIMENSION
    for name, power in _parse(unit.text, "").units._units.items():
        atom = _as_unit(name, registry.Quantity(1, name), "")
        symbol = Dimension.of({str(registry.get_symbol(name)): 1})
        if atom.dimension.is_none:
            symbol = NO_DIMENSION
        elif expands_si and atom.factor == 1.0:
            symbol = _in_si_symbols(atom.dimension)
        product *= symbol ** (exact_fraction(float(power)) or Fraction(0))
    return product


def unit_of_dimension(dimension: Dimension) -> str:
    """Return the SI unit of a dimension as text.

    Examples:
        >>> unit_of_dimension(read_unit("km/h").dimension), unit_of_dimension(read_unit("").dimension)
        ('m/s', '1')
    """
    return str(_in_si_symbols(dimension))


def _in_si_symbols(dimension: Dimension) -> Dimension:
    return Dimension.of({SI_UNITS.get(base, base): power for base, power in dimension.powers})


SI_UNITS = {
    "length": "m",
    "mass": "kg",
    "time": "s",
    "current": "A",
    "temperature": "K",
    "substance": "mol",
    "luminosity": "cd",
}


def _check_text(text: object, what: str, of: str) -> str:
    if not isinstance(text, str):
        raise UnitError(_explain(f"{what} must be text, such as 'm/s'; got {shorten(repr(text))}.", of))
    if len(text) > MAX_TEXT or _BIG_POWER.search(text) or not _CHARACTERS.fullmatch(text):
        raise UnitError(_explain(f"{what} must be short text, such as 'm/s' or 'kg*m**2'; got '{shorten(text)}'.", of))
    return text.strip()


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry()


def _parse(text: str, of: str) -> Any:
    """Return what pint reads in a text, as a quantity."""
    import pint

    registry = _registry()
    try:
        return registry.Quantity(registry.parse_expression(_with_floats(text)))
    except pint.UndefinedUnitError as error:
        names = error.unit_names
        unknown = names if isinstance(names, str) else str(names[0])
        raise UnitError(_explain(f"There is no unit '{shorten(unknown)}'.{_suggest_unit(unknown)}", of)) from None
    except pint.OffsetUnitCalculusError:
        raise UnitError(_explain(_explain_offset(text), of)) from None
    except Exception as error:  # pint raises whatever its parser and arithmetic raise
        raise UnitError(
            _explain(
                f"'{shorten(text)}' is not a unit that can be read ({type(error).__name__}). Write it as 'kg*m/s**2'.",
                of,
            )
        ) from None


def _with_floats(text: str) -> str:
    """Return a text whose whole numbers are floats: arithmetic with them is quick, whatever their powers."""
    plain = _SUPERSCRIPTS.sub(lambda found: f"**({found[0].translate(_PLAIN_DIGITS)})", text)
    return _WHOLE_NUMBER.sub(lambda found: f"{found[0]}.0", plain)


def _as_unit(text: str, quantity: Any, of: str) -> Unit:
    if not quantity._is_multiplicative:
        raise UnitError(_explain(_explain_offset(text), of))
    try:
        base = quantity.to_base_units()
        factor = float(base.magnitude) / float(quantity.magnitude)
    except (ArithmeticError, ValueError, TypeError):
        factor = math.nan
    if not (math.isfinite(factor) and factor > 0):
        raise UnitError(_explain(f"The unit '{shorten(text)}' has no size that a number can say. Check it.", of))
    powers = {}
    for name, power in base.dimensionality.items():
        exact = exact_fraction(float(power))
        if not exact or abs(exact) > MAX_EXPONENT:
            raise UnitError(
                _explain(
                    f"The unit '{shorten(text)}' has the exponent {power}; it must be a simple fraction up to {MAX_EXPONENT}.",
                    of,
                )
            )
        powers[name.strip("[]")] = exact
    return Unit(text, Dimension.of(powers), 1.0 if abs(factor - 1.0) < 1e-14 else factor)


def _explain_offset(text: str) -> str:
    if "B" in text and "deg" not in text:
        return f"'{shorten(text)}' is logarithmic. Convert the values to a linear unit first."
    return (
        f"'{shorten(text)}' counts from a zero of its own, so that products with it mean nothing. Give temperatures in kelvin "
        "(degC + 273.15), or differences of temperature as 'delta_degC'."
    )


def _suggest_unit(unknown: str) -> str:
    """Return a question that suggests the nearest known unit: the same in other letters, if there is one."""
    registry = _registry()
    for other in (unknown.lower(), unknown.upper(), unknown.capitalize(), unknown[:1].lower() + unknown[1:]):
        if len(unknown) <= COMPARED_LENGTH and other != unknown and _is_known(other):
            return f" Did you mean '{shorten(other)}'?"
    return suggest_name(unknown, list(registry)) or " Write it in SI units."


def _is_known(unit: str) -> bool:
    try:
        return unit in _registry()
    except AttributeError:  # pint raises it for names that begin or end with underscores
        return False


def _read_number_with_unit(text: str, name: str) -> Quantity:
    quantity = _parse(text, name)
    if not isinstance(quantity.magnitude, int | float):
        raise UnitError(_explain(f"'{shorten(text)}' is not a number with a unit, such as '9.80665 m/s**2'.", name))
    value = float(quantity.magnitude)
    if quantity.units == _registry().dimensionless:
        return Quantity(value, Unit(""))
    words = _FACTOR.sub(r"\1 ", text).split(None, 1)
    is_unit_second = len(words) == 2 and _is_number(words[0]) and _parse(words[1], name).magnitude == 1
    unit_text = words[1] if is_unit_second else f"{quantity.units:~C}"
    if not quantity._is_multiplicative:
        raise UnitError(_explain(_explain_offset(text), name))
    return Quantity(value, _as_unit(unit_text, _registry().Quantity(1, quantity.units), name))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _find_constant(text: str, name: str) -> Quantity | None:
    """Return a constant of scipy.constants, by its name there or in its table of physical constants; None if it has none."""
    from scipy import constants

    table = {
        key: row for key, row in constants.physical_constants.items() if not any(word in key for word in BY_DEFINITION)
    }
    spoken = text.replace("_", " ")
    for known in (text, spoken):
        if known in table:
            value, unit, _ = table[known]
            return Quantity(float(value), read_unit(unit, name))
    value = getattr(constants, text, None) if text.isidentifier() and not text.startswith("_") else None
    if not isinstance(value, float):
        return None
    if text in PURE_NUMBERS:
        return Quantity(value, Unit(""))
    units = [read_unit(unit, name) for number, unit, _ in table.values() if number == value]
    if len({unit.dimension for unit in units}) != 1:
        return None  # pint may know it
    return Quantity(value, units[0])


def _explain(message: str, of: str) -> str:
    return f"{shorten(of)}: {message}" if of else message
