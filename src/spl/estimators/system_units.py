"""The units that people give for a system, in Python or a shell, checked; and back, as parameters of `SPLDynamics`."""

from typing import Any

from spl.data.trajectories import Trajectories
from spl.dynamics.rows import Plan
from spl.estimators.fitted_units import allows_any, check_mappings, check_no_units, read_headers
from spl.units.entries import HEADER
from spl.units.system_units import SystemUnits, read_system_units
from spl.units.table_units import ANY


def read_given_units(
    units: Any, time_unit: Any, known: Any, constants: Any, data: Trajectories, plan: Plan
) -> SystemUnits | None:
    """Return the units that an estimator was given; None if there are none.

    Args:
        units: the unit of each state and input, or "header" for those in their names.
        time_unit: the unit of time.
        known: named constants, with units.
        constants: "any" lets fitted numbers have units.
        data: the trajectories.
        plan: how they become rows.
    """
    are_numbers_free = allows_any(constants)
    if units is None:
        check_no_units(are_numbers_free, time_unit=time_unit, known=known)
        return None
    if isinstance(units, str) and units == HEADER:
        units = read_headers(data.names)
    check_mappings(units=units, known={} if known is None else known)
    return read_system_units(
        units,
        time_unit,
        known,
        states=data.states,
        inputs=data.inputs,
        order=plan.order,
        is_discrete=plan.is_discrete,
        are_numbers_free=are_numbers_free,
    )


def parameters_of_system_units(units: SystemUnits | None) -> dict[str, Any]:
    """Return the parameters of an estimator that say what these units do; nothing without units.

    Examples:
        >>> parameters_of_system_units(read_system_units({"x": "m"}, "s", states=["x"]))
        {'units': {'x': 'm'}, 'time_unit': 's', 'known': {}, 'constants': True}
    """
    if units is None:
        return {}
    return {
        "units": {name: unit.text for name, unit in units.measured.items()},
        "time_unit": None if units.is_discrete else units.time.text,
        "known": units.known,
        "constants": ANY if units.are_numbers_free else True,
    }
