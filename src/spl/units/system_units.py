"""The units of a dynamical system: of its states, inputs and named constants, and of the right-hand side of each equation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from spl.errors import SettingError, UnitError
from spl.formulas.program import Program
from spl.formulas.system import System, velocity_names
from spl.units.groups import can_reach_target, explain_impossible
from spl.units.table_units import TableUnits, read_table_units
from spl.units.unit import Quantity, Unit, read_unit

FITTED_NUMBER = 0.123  # stands for all fitted numbers: it is no simple fraction, so a fitted exponent is no exact one


@dataclass(frozen=True, slots=True)
class SystemUnits:
    """The units of a system. Each right-hand side has the unit of its state per time, for order 2 per time squared.

    Args:
        states: the names of the states.
        tables: one per state: the units of the columns, the named constants last, and that of the right-hand side.
        time: the unit of time; that of a pure number for a map.
        inputs: the names of the inputs that are measured.
        is_discrete: whether the system is a map.

    Examples:
        >>> units = read_system_units({"x": "m"}, "s", {"g": "9.81 m/s**2"}, states=["x"], order=2)
        >>> units.names, [str(unit) for unit in units.tables[0].columns], str(units.tables[0].target)
        (('x', 'dx', 'g'), ['m', 'm/s', 'm/s**2'], 'm/s**2')
    """

    states: tuple[str, ...]
    tables: tuple[TableUnits, ...]
    time: Unit
    inputs: tuple[str, ...] = ()
    is_discrete: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of right-hand sides: states, for order 2 their velocities, inputs, and named constants."""
        return self.tables[0].names

    @property
    def known(self) -> dict[str, Quantity]:
        """The named constants, which are the last columns."""
        return dict(zip(self.tables[0].known_names, self.tables[0].known, strict=True))

    @property
    def known_values(self) -> dict[str, float]:
        """The values of the named constants."""
        return {name: quantity.value for name, quantity in self.known.items()}

    @property
    def are_numbers_free(self) -> bool:
        """Whether fitted numbers may have units."""
        return self.tables[0].are_numbers_free

    @property
    def measured(self) -> dict[str, Unit]:
        """The units of the states and the inputs."""
        units = dict(zip(self.names, self.tables[0].columns, strict=True))
        return {name: units[name] for name in (*self.states, *self.inputs)}

    def allow(self, state: int, program: Program) -> bool:
        """Return whether a formula has the unit of the right-hand side of a state, whatever values its fitted numbers take."""
        return self.tables[state].allow(program.with_constants(np.full(program.n_constants, FITTED_NUMBER)))

    def check_possible(self) -> None:
        """Raise `UnitError` if the equation of a state can have no formula at all."""
        for state, table in zip(self.states, self.tables, strict=True):
            if not table.are_numbers_free and not can_reach_target(table):
                raise UnitError(f"The equation of '{state}': {explain_impossible(table)}")


def holds(units: SystemUnits | None, state: int, program: Program) -> bool:
    """Return whether a formula has the unit of the right-hand side of a state; without units, each one does."""
    return units is None or units.allow(state, program)


def fill_known(system: System, units: SystemUnits | None) -> System:
    """Return a system with the values of named constants in their places, for code that does not know their names."""
    if units is None:
        return system
    programs = tuple(table.fill_known(program) for table, program in zip(units.tables, system.programs, strict=True))
    return replace(system, inputs=units.inputs, programs=programs)


def read_system_units(
    columns: Mapping[str, object],
    time: object,
    known: Mapping[str, object] | None = None,
    *,
    states: Sequence[str],
    inputs: Sequence[str] = (),
    order: int = 1,
    is_discrete: bool = False,
    are_numbers_free: bool = False,
) -> SystemUnits:
    """Return the units of a system; raise `UnitError` if one is missing, unknown or of a column that does not exist.

    Args:
        columns: the units of states and inputs, as text.
        time: the unit of time; None for a map, which has no rates.
        known: named constants: numbers with units, or names of scipy.constants.
        states: the names of the states.
        inputs: the names of the inputs.
        order: 2 if the equations give accelerations.
        is_discrete: whether the system is a map.
        are_numbers_free: whether numbers in equations may have whatever units they need.

    Examples:
        >>> read_system_units({"x": "m"}, None, states=["x"])
        Traceback (most recent call last):
        ...
        spl.errors.UnitError: The time has no unit. Give it one (`time_unit`, --time-unit), such as 's'; that of a pure number is '1'.
    """
    if is_discrete and time is not None:
        raise SettingError("A map has steps instead of times, so `time_unit` plays no part. Leave it out.")
    if not is_discrete and time is None:
        raise UnitError(
            "The time has no unit. Give it one (`time_unit`, --time-unit), such as 's'; that of a pure number is '1'."
        )
    of_time = Unit("") if time is None else read_unit(time, "The time")
    velocities = velocity_names(tuple(states)) if order == 2 else ()
    given = read_table_units(
        columns, "", known, names=[*states, *inputs], target_name="t", are_numbers_free=are_numbers_free
    )
    repeated = next((name for name in velocities if name in given.known_names), None)
    if repeated is not None:
        raise UnitError(f"The named constant '{repeated}' has the name of a velocity. Rename it.")
    of_states, others = given.columns[: len(states)], given.columns[len(states) :]
    of_velocities = [_divide_by_time(unit, of_time, 1) for unit in of_states[: len(velocities)]]
    names = (*states, *velocities, *given.names[len(states) :])
    tables = tuple(
        TableUnits(
            names,
            (*of_states, *of_velocities, *others),
            _divide_by_time(unit, of_time, order),
            given.known,
            are_numbers_free,
        )
        for unit in of_states
    )
    return SystemUnits(tuple(states), tables, of_time, tuple(inputs), is_discrete)


def _divide_by_time(unit: Unit, time: Unit, order: int) -> Unit:
    """Return a unit per time, or per time squared."""
    if not time.text:
        return unit
    above, below = _bracket(str(unit)), _bracket(time.text)
    text = f"{above}/{below}" if order == 1 else f"{above}/{below}**{order}"
    return Unit(text, unit.dimension / time.dimension ** Fraction(order), unit.factor / time.factor**order)


def _bracket(text: str) -> str:
    return text if text.isalnum() or text.replace("_", "").isalnum() else f"({text})"
