"""The units of a table, in one line and as JSON."""

from typing import Any

from spl.formulas.text import quote_name
from spl.units.number_units import PURE
from spl.units.table_units import TableUnits


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
