"""The units of a law as a page gives them: texts of columns and target, named constants one per line. Checked as the user types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spl.errors import UnitError
from spl.units.entries import split_known
from spl.units.groups import can_reach_target, explain_impossible
from spl.units.table_units import ANY, TableUnits, read_table_units
from spl.units.unit import read_quantity, read_unit
from spl.web.option_lists import join_names
from spl.web.request_fields import RequestFields
from spl.web.statement_check import split_statements


@dataclass(frozen=True, slots=True, kw_only=True)
class LawUnits:
    """The units of a law, as texts; "1" is that of a pure number.

    Args:
        columns: the unit of each column, by its name.
        target: the unit of the target.
        known: named constants, such as "g = 9.80665 m/s**2".
        are_numbers_free: whether fitted numbers may have units.
    """

    columns: Mapping[str, str]
    target: str
    known: tuple[str, ...] = ()
    are_numbers_free: bool = False

    def read(self, names: Sequence[str], target: str) -> TableUnits:
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

    def options(self) -> list[str]:
        """Return these units as options of `spl fit`."""
        return [
            f"--units={join_names([f'{name}={unit}' for name, unit in self.columns.items()])}",
            f"--target-unit={self.target}",
            *(f"--known={constant}" for constant in self.known),
            *([f"--constants={ANY}"] if self.are_numbers_free else []),
        ]


def check_units(units: LawUnits, known: str, names: Sequence[str], target: str) -> dict[str, Any]:
    """Return what the units of a law mean, or the message, and the column or line of the first mistake.

    Args:
        units: as given so far; the named constants are in `known`.
        known: named constants, one per line.
        names: the columns of the law.
        target: the name of its target.

    Examples:
        >>> check_units(LawUnits(columns={"v": "m/s", "h": "m"}, target="m"), "g = 9.81 m/s**2", ["v", "h"], "d")
        {'is_right': True, 'explanation': 'Only formulas in m.'}
        >>> wrong = check_units(LawUnits(columns={"v": "m/z"}, target="m"), "", ["v"], "d")
        >>> wrong["message"], wrong["of"]
        ("Column 'v': There is no unit 'z'. Did you mean 'oz'?", 'v')
    """
    for name, text in {**units.columns, target: units.target}.items():
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
        read = replace(units, known=split_statements(known)).read(names, target)
    except UnitError as error:
        return _wrong(error)
    is_number = read.target.dimension.is_none
    explanation = "Only formulas that are pure numbers." if is_number else f"Only formulas in {read.target.text}."
    return {"is_right": True, "explanation": explanation}


def read_law_units(fields: RequestFields) -> LawUnits | None:
    """Return the units among the fields of a page; None if there are none."""
    given = fields.fields_or_none("units")
    if given is None:
        return None
    return LawUnits(
        columns=given.texts_by_name("columns"),
        target=given.text("target"),
        known=given.texts("known"),
        are_numbers_free=given.truth("are_numbers_free"),
    )


def _wrong(error: UnitError, of: str | None = None, line: int | None = None) -> dict[str, Any]:
    return {"is_right": False, "message": str(error), "of": of, "line": line, "column": None if line is None else 1}
