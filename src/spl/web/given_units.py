"""The units of a search as a page gives them: texts of columns, named constants one per line. Checked as the user types."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spl.errors import UnitError
from spl.units.entries import split_known
from spl.units.groups import can_reach_target, explain_impossible
from spl.units.system_units import SystemUnits, read_system_units
from spl.units.table_units import ANY, TableUnits, read_table_units
from spl.units.unit import read_quantity, read_unit
from spl.web.option_lists import join_names
from spl.web.request_fields import RequestFields
from spl.web.statement_check import split_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUnits:
    """The units of a law or a system, as texts; "1" is that of a pure number.

    Args:
        columns: the unit of each variable, or of each state and input, by its name.
        target: the unit of the target of a law.
        time: the unit of the times of a system; none for a map.
        known: named constants, such as "g = 9.80665 m/s**2".
        are_numbers_free: whether fitted numbers may have units.
    """

    columns: Mapping[str, str]
    target: str | None = None
    time: str | None = None
    known: tuple[str, ...] = ()
    are_numbers_free: bool = False

    def read_law(self, names: Sequence[str], target: str) -> TableUnits:
        """Return the units of a table with these columns; raise `UnitError` if one is wrong, or if no formula is possible."""
        units = read_table_units(
            self.columns,
            self.target,
            split_known(self.known),
            names=names,
            target_name=target,
            are_numbers_free=self.are_numbers_free,
        )
        if not (units.are_numbers_free or can_reach_target(units)):
            raise UnitError(explain_impossible(units))
        return units

    def read_system(
        self, states: Sequence[str], inputs: Sequence[str], order: int, *, is_discrete: bool
    ) -> SystemUnits:
        """Return the units of a system; raise `UnitError` if one is wrong, or if an equation is impossible."""
        units = read_system_units(
            self.columns,
            self.time,
            split_known(self.known),
            states=states,
            inputs=inputs,
            order=order,
            is_discrete=is_discrete,
            are_numbers_free=self.are_numbers_free,
        )
        units.check_possible()
        return units

    def options(self) -> list[str]:
        """Return these units as options of a command."""
        return [
            f"--units={join_names([f'{name}={unit}' for name, unit in self.columns.items()])}",
            *([] if self.target is None else [f"--target-unit={self.target}"]),
            *([] if self.time is None else [f"--time-unit={self.time}"]),
            *(f"--known={constant}" for constant in self.known),
            *([f"--constants={ANY}"] if self.are_numbers_free else []),
        ]


def check_units(given: GivenUnits, known: str, whole: str, read: Callable[[GivenUnits], str]) -> dict[str, Any]:
    """Return what units mean, or the message, and the column or line of the first mistake.

    Args:
        given: as given so far; the named constants are in `known`.
        known: named constants, one per line.
        whole: the name of the target of a law, or of the times of a system.
        read: says what units mean; raises `UnitError` if they are wrong.

    Examples:
        >>> def read(units):
        ...     return explain_law(units.read_law(["v", "h"], "d"))
        >>> check_units(GivenUnits(columns={"v": "m/s", "h": "m"}, target="m"), "g = 9.81 m/s**2", "d", read)
        {'is_right': True, 'explanation': 'Only formulas in m.'}
        >>> wrong = check_units(GivenUnits(columns={"v": "m/z", "h": "m"}, target="m"), "", "d", read)
        >>> wrong["message"], wrong["of"]
        ("Column 'v': There is no unit 'z'. Did you mean 'oz'?", 'v')
    """
    for name, text in {**given.columns, whole: given.target or given.time or ""}.items():
        try:
            read_unit(text, f"Column '{name}'")
        except UnitError as error:
            return _wrong(error, of=name)
    for number, line in enumerate(known.split("\n"), start=1):
        try:
            for name, text in split_known([line] if line.strip() else []).items():
                read_quantity(text, f"Constant '{name}'")
        except UnitError as error:
            return _wrong(error, line=number)
    try:
        return {"is_right": True, "explanation": read(replace(given, known=split_statements(known)))}
    except UnitError as error:
        return _wrong(error)


def explain_law(units: TableUnits) -> str:
    """Return which formulas the units of a law allow."""
    is_number = units.target.dimension.is_none
    return "Only formulas that are pure numbers." if is_number else f"Only formulas in {units.target.text}."


def explain_system(units: SystemUnits) -> str:
    """Return which right-hand sides the units of a system allow.

    Examples:
        >>> explain_system(GivenUnits(columns={"x": "m"}, time="s").read_system(["x"], [], 2, is_discrete=False))
        'Only equations whose right-hand sides have the units: x in m/s**2.'
    """
    sides = [f"{state} in {table.target}" for state, table in zip(units.states, units.tables, strict=True)]
    return f"Only equations whose right-hand sides have the units: {', '.join(sides)}."


def read_given_units(fields: RequestFields) -> GivenUnits | None:
    """Return the units among the fields of a page; None if there are none."""
    given = fields.fields_or_none("units")
    if given is None:
        return None
    return GivenUnits(
        columns=given.texts_by_name("columns"),
        target=given.text_or_none("target"),
        time=given.text_or_none("time"),
        known=given.texts("known"),
        are_numbers_free=given.truth("are_numbers_free"),
    )


def _wrong(error: UnitError, of: str | None = None, line: int | None = None) -> dict[str, Any]:
    return {"is_right": False, "message": str(error), "of": of, "line": line, "column": None if line is None else 1}
