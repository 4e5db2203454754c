"""The units of a table: in one line, as JSON, and on the axes of figures."""

from typing import Any

from spl.formulas.text import quote_name
from spl.units.number_units import PURE
from spl.units.table_units import TableUnits
from spl.units.unit import PLAIN_NUMBER, split_header


def units_line(units: TableUnits, target: str) -> str:
    """Return the units of the target, the columns and the named constants for people.

    Examples:
        >>> from spl.units.table_units import read_table_units
        >>> units = read_table_units({"m": "kg", "h": "m"}, "J", {"g": "9.81 m/s**2"}, names=["m", "h"])
        >>> units_line(units, "energy")
        'Units: energy in J; m in kg, h in m; g = 9.81 m/s**2.'
    """
    columns = [_write(name, text) for name, text in units.unit_texts.items()]
    known = [f"{name} = {quantity}" for name, quantity in zip(units.known_names, units.known, strict=True)]
    parts = [_write(target, units.target.text), ", ".join(columns), ", ".join(known)]
    return f"Units: {'; '.join(filter(None, parts))}."


def _write(name: str, unit: str) -> str:
    return f"{quote_name(name)} in {unit or PURE}"


def axis_label(name: str, unit: str, what: str = "") -> str:
    """Return what is written at an axis: the name of a column with its unit, unless the name has it already.

    Args:
        name: of the column.
        unit: as text; "" without units, and for pure numbers.
        what: is shown of it, if it is not the column itself.

    Examples:
        >>> axis_label("v", "m/s"), axis_label("v (m/s)", "m/s"), axis_label("n", "")
        ('v (m/s)', 'v (m/s)', 'n')
        >>> axis_label("v", "m/s", "measured"), axis_label("v [m/s]", "m/s", "measured")
        ('v, measured (m/s)', 'v [m/s], measured')
    """
    header = split_header(name)
    whole = f"{name}, {what}" if what else name
    is_named = unit in PLAIN_NUMBER or (header is not None and header[1] == unit)
    return whole if is_named else f"{whole} ({unit})"


def target_unit_of(units: TableUnits | None) -> str:
    """Return the unit of the target as text; "" without units."""
    return "" if units is None else units.target.text


def describe_units(units: TableUnits | None) -> dict[str, Any] | None:
    """Return the units of a table as `--json` prints them; None if there are none."""
    if units is None:
        return None
    known = zip(units.known_names, units.known, strict=True)
    return {
        "columns": units.unit_texts,
        "target": units.target.text,
        "known": {name: {"value": quantity.value, "unit": quantity.unit.text} for name, quantity in known},
        "numbers": "any" if units.are_numbers_free else "pure",
    }
