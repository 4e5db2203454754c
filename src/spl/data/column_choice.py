"""Tables into datasets: which columns are used, and which rows are complete.

What a dataset must be is said in `data`. Rows that are samples of trajectories are taken apart in `run_tables`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spl.data.columns import find_complete_rows
from spl.data.dataset import Dataset
from spl.data.delimited_text import is_number
from spl.data.table_files import Table
from spl.errors import DataError, count_noun, shorten, suggest_name

_SHOWN_NAMES = 20  # columns that a message lists


class Prepared(NamedTuple):
    """A dataset, and what was left out on the way to it."""

    data: Dataset
    notes: list[str]


def prepare_dataset(
    table: Table, *, target: str, features: Sequence[str] | None = None, weights: str | None = None
) -> Prepared:
    """Return the dataset of some columns (all others that are numbers, if none are named), without incomplete rows."""
    notes = list(table.notes)
    check_number_column(table, target, "target")
    if weights is not None:
        check_number_column(table, weights, "weights")
    names = list(features) if features is not None else other_number_columns(table, {target, weights}, notes)
    for role, name in (("target", target), ("weights", weights)):
        if name in names:
            raise DataError(f"The {role} '{name}' is also among the features. Take it out of one of the two.")
    for name in names:
        check_number_column(table, name, "feature")
    if not names:
        raise DataError(f"{table.source} has no column of numbers besides '{target}' to search a formula in.")
    used = [target, *names, *([weights] if weights else [])]
    notes += notes_of_columns(table, used)
    columns = {f"column '{name}'": table.numbers[name] for name in used}
    complete, left_out = find_complete_rows(columns, table.source, table.place)
    notes += left_out
    data = Dataset.from_arrays(
        np.column_stack([table.numbers[name][complete] for name in names]),
        table.numbers[target][complete],
        names=names,
        weights=None if weights is None else table.numbers[weights][complete],
    )
    return Prepared(replace(data, notes=tuple(notes)), notes)


def check_number_column(table: Table, name: str, role: str) -> None:
    """Raise a clear error unless a table has such a column of numbers."""
    check_column(table, name)
    if name in table.problems:
        raise DataError(table.problems[name])
    if name not in table.numbers:
        remedy = f" Leave it out of --{role}s." if role in ("feature", "state", "input") else ""
        raise DataError(f"The column '{name}' of {table.source} holds text, not only numbers.{remedy}")


def check_column(table: Table, name: str) -> None:
    """Raise a clear error unless a table has such a column."""
    if name in table.numbers or name in table.texts:
        return
    if all(is_number(known) for known in table.names):
        raise DataError(f"There is no column '{name}': the first line of {table.source} must hold names, not numbers.")
    shown = ", ".join(map(shorten, table.names[:_SHOWN_NAMES])) + (", ..." if len(table.names) > _SHOWN_NAMES else "")
    raise DataError(
        f"There is no column '{name}' in {table.source}.{suggest_name(name, table.names)} The columns are: {shown}."
    )


def other_number_columns(table: Table, taken: set[str | None], notes: list[str]) -> list[str]:
    """Return all columns of numbers that are not taken, and note the others; one of which it is not clear is an error."""
    others = [name for name in table.names if name not in taken]
    for name in others:
        if name in table.problems:
            raise DataError(table.problems[name])
    texts = [name for name in others if name not in table.numbers]
    empty = [name for name in others if name in table.numbers and not np.isfinite(table.numbers[name]).any()]
    if texts:
        notes.append(
            f"{count_noun(len(texts), 'column')} of text left out: {', '.join(map(shorten, texts[:_SHOWN_NAMES]))}."
        )
    notes += [note for name in texts for note in table.column_notes.get(name, ())]
    if empty:
        notes.append(
            f"{count_noun(len(empty), 'column')} without any number left out: {', '.join(map(shorten, empty[:_SHOWN_NAMES]))}."
        )
    left_out = {*texts, *empty}
    return [name for name in others if name not in left_out]


def notes_of_columns(table: Table, names: Sequence[str]) -> list[str]:
    """Return what was repaired in columns of numbers while they were read."""
    return [note for name in names if name in table.numbers for note in table.column_notes.get(name, ())]
