"""The numbers that each group has for itself: as lines, as a table for pages, and as JSON."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spl.display.numbers import finite_or_none, with_error
from spl.formulas.own_numbers import OwnNumber

MAX_SHOWN_GROUPS = 12  # of a grouping, on a terminal
NOT_KNOWN = "?"  # the number of a group that has no rows to determine it
Errors = Mapping[str, Sequence[float]]  # of own numbers by name: the standard error of each group's value


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The own numbers of one grouping: a row per group, a column per number."""

    grouping: str
    names: tuple[str, ...]  # of the numbers
    rows: tuple[tuple[str, ...], ...]  # label and numbers, as text


def group_tables(own: Sequence[OwnNumber], errors: Errors | None = None) -> list[GroupTable]:
    """Return a table of own numbers for each grouping that has any.

    Examples:
        >>> rate = OwnNumber("k1", "cup", ("blue", "tin"), (0.0512, 0.25))
        >>> group_tables([rate], {"k1": [0.0011, 0.02]})
        [GroupTable(grouping='cup', names=('k1',), rows=(('blue', '0.0512 ± 0.0011'), ('tin', '0.250 ± 0.020')))]
    """
    known = errors or {}
    tables = []
    for grouping in dict.fromkeys(number.grouping for number in own):
        members = [number for number in own if number.grouping == grouping]
        rows = tuple(
            (label, *(_write(number.values[place], known.get(number.name), place) for number in members))
            for place, label in enumerate(members[0].labels)
        )
        tables.append(GroupTable(grouping, tuple(number.name for number in members), rows))
    return tables


def own_number_lines(own: Sequence[OwnNumber], errors: Errors | None = None) -> list[str]:
    """Return own numbers as lines, one block per grouping; only the first groups of many.

    Examples:
        >>> rate = OwnNumber("k1", "cup", ("blue", "tin"), (0.0512, 0.25))
        >>> print(*own_number_lines([rate]), sep="\\n")
        Numbers of each group:
          cup   k1
          blue  0.0512
          tin   0.25
    """
    lines = ["Numbers of each group:"] if own else []
    for table in group_tables(own, errors):
        shown = [(table.grouping, *table.names), *table.rows[:MAX_SHOWN_GROUPS]]
        widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
        lines += [
            "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in shown
        ]
        n_more = len(table.rows) - MAX_SHOWN_GROUPS
        if n_more > 0:
            lines.append(f"  ... and {n_more:,} more")
    return lines


def describe_own_numbers(own: Sequence[OwnNumber], errors: Errors | None = None) -> list[dict[str, Any]]:
    """Return own numbers as `--json` prints them; what is not known is null.

    Examples:
        >>> describe_own_numbers([OwnNumber("k1", "cup", ("blue", "tin"), (0.0512, float("nan")))])
        [{'name': 'k1', 'grouping': 'cup', 'values': {'blue': 0.0512, 'tin': None}, 'standard_errors': {'blue': None, 'tin': None}}]
    """
    known = errors or {}
    described = []
    for number in own:
        of_number = known.get(number.name, len(number.labels) * [math.nan])
        described.append(
            {
                "name": number.name,
                "grouping": number.grouping,
                "values": dict(zip(number.labels, map(finite_or_none, number.values), strict=True)),
                "standard_errors": dict(zip(number.labels, map(finite_or_none, of_number), strict=True)),
            }
        )
    return described


def _write(value: float, errors: Sequence[float] | None, place: int) -> str:
    if math.isnan(value):
        return NOT_KNOWN
    return with_error(value, math.nan if errors is None else errors[place])
