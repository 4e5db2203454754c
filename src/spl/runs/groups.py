"""Groups in run files: the groupings of the rows, and the own numbers of the formulas of a front."""

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.checked_values import (
    Damage,
    StoredFields,
    as_fields,
    as_list,
    as_number,
    as_text,
    as_texts,
    as_whole,
    load_json,
)
from spl.data.groupings import Grouping
from spl.formulas.own_numbers import OwnNumber
from spl.groups.formula import GroupedCandidate
from spl.regression.front import Front

GROUPINGS = "groupings"  # the fact with their names and labels
_CODES = "codes_of_grouping_"  # begins the names of the arrays with the group of each row

Arrays = Mapping[str, NDArray[np.float64]]


def describe_groupings(groupings: Sequence[Grouping]) -> dict[str, Any]:
    """Return the fact about groupings that is written; nothing if there are none."""
    plain = [{"name": grouping.name, "labels": list(grouping.labels)} for grouping in groupings]
    return {GROUPINGS: plain} if plain else {}


def codes_of_groupings(groupings: Sequence[Grouping]) -> dict[str, NDArray[np.float64]]:
    """Return the group of each row by the name of its array."""
    return {f"{_CODES}{place}": grouping.codes.astype(np.float64) for place, grouping in enumerate(groupings)}


def read_groupings(facts: StoredFields, arrays: Arrays, n_rows: int) -> tuple[Grouping, ...]:
    """Return the groupings of a run; older runs and those without groups have none."""
    return tuple(
        _read_grouping(as_fields(plain), arrays.get(f"{_CODES}{place}"), n_rows)
        for place, plain in enumerate(as_list(facts.get(GROUPINGS, [])))
    )


def _read_grouping(plain: StoredFields, codes: NDArray[np.float64] | None, n_rows: int) -> Grouping:
    labels = as_texts(plain["labels"])
    if codes is None or codes.shape != (n_rows,):
        raise Damage("a grouping has not one group per row")
    if not np.all(np.isin(codes, np.arange(len(labels)))):
        raise Damage("a row belongs to a group that does not exist")
    return Grouping(as_text(plain["name"]), labels, codes.astype(np.intp))


# ---- own numbers -----------------------------------------------------------------------------------


def write_own_numbers(connection: sqlite3.Connection, search: int, front: Front) -> None:
    """Replace the own numbers of the formulas of a front."""
    connection.execute("DELETE FROM own_numbers WHERE search = ?", (search,))
    rows = [
        (search, place, json.dumps(_plain_numbers(candidate)))
        for place, candidate in enumerate(front)
        if isinstance(candidate, GroupedCandidate) and candidate.own
    ]
    connection.executemany("INSERT INTO own_numbers VALUES (?, ?, ?)", rows)


def _plain_numbers(candidate: GroupedCandidate) -> dict[str, Any]:
    variables = list(candidate.program.vocabulary.variables)
    return {"variables": variables, "own": [_plain_number(number) for number in candidate.own]}


def _plain_number(number: OwnNumber) -> dict[str, Any]:
    values = [value if math.isfinite(value) else None for value in number.values]
    return {"name": number.name, "grouping": number.grouping, "labels": list(number.labels), "values": values}


@dataclass(frozen=True, slots=True)
class StoredNumbers:
    """The own numbers of a formula, and all variables of its program: the columns, then the own numbers."""

    variables: tuple[str, ...]
    own: tuple[OwnNumber, ...]


def read_own_numbers(connection: sqlite3.Connection, search: int) -> dict[int, StoredNumbers]:
    """Return the own numbers of formulas by their place in the front."""
    rows = connection.execute("SELECT place, numbers FROM own_numbers WHERE search = ?", (search,))
    return {as_whole(place): _read_numbers(as_fields(load_json(as_text(numbers)))) for place, numbers in rows}


def _read_numbers(plain: StoredFields) -> StoredNumbers:
    variables = as_texts(plain["variables"])
    own = tuple(_read_number(as_fields(each)) for each in as_list(plain["own"]))
    if tuple(number.name for number in own) != variables[len(variables) - len(own) :]:
        raise Damage("the own numbers of a formula are not its last variables")
    return StoredNumbers(variables, own)


def _read_number(plain: StoredFields) -> OwnNumber:
    labels = as_texts(plain["labels"])
    values = tuple(math.nan if value is None else as_number(value) for value in as_list(plain["values"]))
    if len(values) != len(labels):
        raise Damage(f"there are {len(values)} values of an own number for {len(labels)} groups")
    return OwnNumber(as_text(plain["name"]), as_text(plain["grouping"]), labels, values)
