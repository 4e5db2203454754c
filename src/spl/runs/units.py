"""Units in a run file: those of the columns and the target as they were written, and the named constants with their values."""

from collections.abc import Mapping, Sequence
from typing import Any

from spl.checked_values import Damage, as_fields, as_finite, as_list, as_text
from spl.errors import UnitError
from spl.units.table_units import ANY, TableUnits, read_table_units
from spl.units.unit import Quantity, read_unit


def encode_units(units: TableUnits | None) -> dict[str, Any]:
    """Return units as settings of a run, values that JSON can hold; nothing if there are none.

    Examples:
        >>> units = read_table_units({"h": "m"}, "J/kg", {"g": "9.81 m/s**2"}, names=["h"])
        >>> encode_units(units)
        {'units': {'h': 'm'}, 'target_unit': 'J/kg', 'known': {'g': [9.81, 'm/s**2']}, 'constants': ''}
    """
    if units is None:
        return {}
    known = zip(units.known_names, units.known, strict=True)
    return {
        "units": units.unit_texts,
        "target_unit": units.target.text,
        "known": {name: [quantity.value, quantity.unit.text] for name, quantity in known},
        "constants": ANY if units.are_numbers_free else "",
    }


def decode_units(settings: Mapping[str, Any], columns: Sequence[str], target: str) -> TableUnits | None:
    """Return the units in the settings of a run; None if there are none, as in older runs. Raises `Damage` if they cannot be read.

    Args:
        settings: of the run.
        columns: the columns of its data, the named constants last.
        target: the name of the target.
    """
    units = {name: as_text(text) for name, text in as_fields(settings.get("units", {})).items()}
    if not units:
        return None
    constants = as_text(settings.get("constants", ""))
    try:
        known = {name: _read_known(pair) for name, pair in as_fields(settings.get("known", {})).items()}
        if (*units, *known) != tuple(columns) or constants not in ("", ANY):
            raise Damage("its units are not those of its columns")
        return read_table_units(
            units,
            as_text(settings.get("target_unit", "")),
            known,
            names=tuple(units),
            target_name=target,
            are_numbers_free=constants == ANY,
        )
    except UnitError as error:
        raise Damage(f"its units cannot be read ({error})") from None


def _read_known(pair: object) -> Quantity:
    values = as_list(pair)
    if len(values) != 2 or not as_finite(values[0]):
        raise Damage("a named constant is not a number with a unit")
    return Quantity(as_finite(values[0]), read_unit(as_text(values[1])))
