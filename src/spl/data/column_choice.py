"""From tables to datasets: which columns are used, and which rows are complete.

`dataset` checks the result. `trajectory_files` does the same for trajectories.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spl.data.columns import find_complete_rows
from spl.data.dataset import Dataset
from spl.data.delimited_text import is_number
from spl.data.table_files import Table
from spl.errors import DataError, count_noun, list_names, suggest_name


class PreparedDataset(NamedTuple):
    """A dataset, and notes on what was left out."""

    data: Dataset
    notes: list[str]


def prepare_dataset(
    table: Table, *, target: str, features: Sequence[str] | None = None, weights: str | None = None
) -> PreparedDataset:
    """Return the dataset of the complete rows. Without `features`, all other columns of numbers are used."""
    notes = list(table.notes)
    check_number_column(table, target, "target")
    if weights is not None:
        check_number_column(table, weights, "weights")
    names = list(features) if features is not None else other_number_columns(table, {target, weights}, notes)
    for role, name in (("target", target), ("weights", weights)):
        if name in names:
            raise DataError(f"The {role} '{name}' is also among the features. Remove it from one of them.")
    for name in names:
        check_number_column(table, name, "feature")
    if not names:
        raise DataError(
            f"{table.source} has no column of numbers besides '{target}', so there is nothing to build a formula from."
        )
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
    return PreparedDataset(replace(data, notes=tuple(notes)), notes)


def check_number_column(table: Table, name: str, role: str) -> None:
    """Raise a clear error unless a table has this column and it holds numbers."""
    check_column(table, name)
    if name in table.problems:
        raise DataError(table.problems[name])
    if name not in table.numbers:
        remedy = f" Leave it out of --{role}s." if role in ("feature", "state", "input") else ""
        raise DataError(f"The column '{name}' of {table.source} holds text, not only numbers.{remedy}")


def check_column(table: Table, name: str) -> None:
    """Raise a clear error unless a table has this column."""
    if name in table.numbers or name in table.texts:
        return
    if all(is_number(known) for known in table.names):
        raise DataError(
            f"There is no column '{name}'. The first line of {table.source} must hold the column names, not numbers."
        )
    hint = suggest_name(name, table.names)
    raise DataError(f"There is no column '{name}' in {table.source}.{hint} The columns are: {list_names(table.names)}.")


def other_number_columns(table: Table, taken: set[str | None], notes: list[str]) -> list[str]:
    """Return all columns of numbers that are not taken, and note the others; an ambiguous column is an error."""
    others = [name for name in table.names if name not in taken]
    for name in others:
        if name in table.problems:
            raise DataError(table.problems[name])
    texts = [name for name in others if name not in table.numbers]
    empty = [name for name in others if name in table.numbers and not np.isfinite(table.numbers[name]).any()]
    if texts:
        notes.append(f"{count_noun(len(texts), 'column')} of text left out: {list_names(texts)}.")
    notes += [note for name in texts for note in table.column_notes.get(name, ())]
    if empty:
        notes.append(f"{count_noun(len(empty), 'column')} without numbers left out: {list_names(empty)}.")
    left_out = {*texts, *empty}
    return [name for name in others if name not in left_out]


def notes_of_columns(table: Table, names: Sequence[str]) -> list[str]:
    """Return the notes on columns of numbers: what was repaired while they were read."""
    return [note for name in names if name in table.numbers for note in table.column_notes.get(name, ())]
