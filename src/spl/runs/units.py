"""Units in a run file: those of the columns and of target or time as they were written, and the named constants with their values."""

from collections.abc import Mapping, Sequence
from typing import Any

from spl.checked_values import Damage, as_fields, as_finite, as_list, as_text, as_truth, as_whole
from spl.data.trajectories import Trajectories
from spl.errors import UnitError
from spl.units.system_units import SystemUnits, read_system_units
from spl.units.table_units import ANY, TableUnits, read_table_units
from spl.units.unit import Quantity, read_unit

UNREADABLE = "its units cannot be read ({})"


def encode_units(units: TableUnits | None) -> dict[str, Any]:
    """Return units as settings of a run, values that JSON can hold; nothing if there are none.

    Examples:
        >>> units = read_table_units({"h": "m"}, "J/kg", {"g": "9.81 m/s**2"}, names=["h"])
        >>> encode_units(units)
        {'units': {'h': 'm'}, 'target_unit': 'J/kg', 'known': {'g': [9.81, 'm/s**2']}, 'constants': ''}
    """
    if units is None:
        return {}
    return {
        "units": units.unit_texts,
        "target_unit": units.target.text,
        "known": _encode_known(dict(zip(units.known_names, units.known, strict=True))),
        "constants": ANY if units.are_numbers_free else "",
    }


def encode_system_units(units: SystemUnits | None) -> dict[str, Any]:
    """Return the units of a system as settings of a run; nothing if there are none.

    Examples:
        >>> encode_system_units(read_system_units({"x": "m"}, "s", states=["x"]))
        {'units': {'x': 'm'}, 'time_unit': 's', 'known': {}, 'constants': ''}
    """
    if units is None:
        return {}
    return {
        "units": {name: unit.text for name, unit in units.measured.items()},
        "time_unit": units.time.text,
        "known": _encode_known(units.known),
        "constants": ANY if units.are_numbers_free else "",
    }


def _encode_known(known: Mapping[str, Quantity]) -> dict[str, list[Any]]:
    return {name: [quantity.value, quantity.unit.text] for name, quantity in known.items()}


def decode_units(settings: Mapping[str, Any], columns: Sequence[str], target: str) -> TableUnits | None:
    """Return the units in the settings of a run; None if there are none, as in older runs. Raises `Damage` if they cannot be read.

    Args:
        settings: of the run.
        columns: the columns of its data, the named constants last.
        target: the name of the target.
    """
    units, known, are_numbers_free = _read_settings(settings, columns)
    if not units:
        return None
    target_unit = as_text(settings.get("target_unit", ""))
    try:
        return read_table_units(
            units, target_unit, known, names=tuple(units), target_name=target, are_numbers_free=are_numbers_free
        )
    except UnitError as error:
        raise Damage(UNREADABLE.format(error)) from None


def decode_system_units(settings: Mapping[str, Any], data: Trajectories) -> SystemUnits | None:
    """Return the units of a system in the settings of a run; None if there are none. Raises `Damage` if they cannot be read.

    Args:
        settings: of the run.
        data: its trajectories, with the named constants as the last inputs.
    """
    units, known, are_numbers_free = _read_settings(settings, data.names)
    if not units:
        return None
    plan = as_fields(settings["plan"])
    is_discrete = as_truth(plan["is_discrete"])
    try:
        return read_system_units(
            units,
            None if is_discrete else as_text(settings.get("time_unit", "")),
            known,
            states=data.states,
            inputs=tuple(units)[len(data.states) :],
            order=as_whole(plan["order"]),
            is_discrete=is_discrete,
            are_numbers_free=are_numbers_free,
        )
    except UnitError as error:
        raise Damage(UNREADABLE.format(error)) from None


def _read_settings(
    settings: Mapping[str, Any], columns: Sequence[str]
) -> tuple[dict[str, str], dict[str, Quantity], bool]:
    """Return the units of the columns, the named constants, and whether numbers may have units; no units if there are none."""
    units = {name: as_text(text) for name, text in as_fields(settings.get("units", {})).items()}
    constants = as_text(settings.get("constants", ""))
    try:
        known = {name: _read_known(pair) for name, pair in as_fields(settings.get("known", {})).items()}
    except UnitError as error:
        raise Damage(UNREADABLE.format(error)) from None
    if units and ((*units, *known) != tuple(columns) or constants not in ("", ANY)):
        raise Damage("its units are not those of its columns")
    return units, known, constants == ANY


def _read_known(pair: object) -> Quantity:
    values = as_list(pair)
    if len(values) != 2 or not as_finite(values[0]):
        raise Damage("a named constant is not a number with a unit")
    return Quantity(as_finite(values[0]), read_unit(as_text(values[1])))
