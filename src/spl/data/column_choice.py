"""From tables to datasets: which columns are used, and which rows are complete.

`dataset` checks the result. `trajectory_files` does the same for trajectories.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.data.column_checks import check_column, check_number_column
from spl.data.columns import find_complete_rows
from spl.data.dataset import Dataset, RowPlaces
from spl.data.grouping_columns import (
    GroupingChoice,
    check_groupings,
    find_labelled,
    offer_groupings,
    read_labels_of_column,
)
from spl.data.groupings import Grouping, group_complete_rows
from spl.data.table_files import Table
from spl.data.timestamps import NANO
from spl.errors import DataError, count_noun, list_names


class PreparedDataset(NamedTuple):
    """A dataset, notes on what was left out, and which group each row belongs to."""

    data: Dataset
    notes: list[str]
    groupings: tuple[Grouping, ...] = ()


def prepare_dataset(
    table: Table,
    *,
    target: str,
    features: Sequence[str] | None = None,
    weights: str | None = None,
    sigma: str | None = None,
    sigma_columns: Mapping[str, str] | None = None,
    groups: Sequence[str] | None = None,
) -> PreparedDataset:
    """Return the dataset of the complete rows. Without `features`, all other columns of numbers are used.

    Without `features` and `groups`, columns of text and booleans that may matter are groupings.

    Args:
        table: the table.
        target: the column to find a formula for.
        features: columns that formulas may use.
        weights: the column with the weight of each row.
        sigma: the column with the error bar of each target.
        sigma_columns: for features, the column with their error bars, or a number.
        groups: columns that say to which group each row belongs, or "none".
    """
    notes = list(table.notes)
    bars_of = sigma_columns or {}
    bar_columns = [bars for bars in bars_of.values() if _is_column(table, bars)]
    roles = [("weights", weights), ("error bars", sigma), *(("error bars", name) for name in bar_columns)]
    others = [(role, name) for role, name in roles if name is not None]
    _check_roles(table, target, others)
    taken: set[str | None] = {target, *(name for _, name in others)}
    chosen = _choose_groupings(table, target, features, groups, taken)
    notes += chosen.notes
    taken |= set(chosen.names)
    names = list(features) if features is not None else other_number_columns(table, taken, notes)
    notes += chosen.why_not
    for role, name in (("target", target), *others, *(("groups", name) for name in chosen.names)):
        if name in names:
            verb = "is" if role == "target" else "are"
            raise DataError(f"The {role} '{name}' {verb} also among the features. Remove it from one of them.")
    for name in names:
        check_number_column(table, name, "feature")
    if not names:
        raise DataError(
            f"{table.source} has no column of numbers besides '{target}', so there is nothing to build a formula from."
        )
    used = list(dict.fromkeys([target, *names, *(name for _, name in others)]))
    notes += notes_of_columns(table, used)
    columns = {f"column '{name}'": table.numbers[name] for name in used}
    labels = {name: read_labels_of_column(table, name) for name in chosen.names}
    columns |= {f"column '{name}'": find_labelled(each) for name, each in labels.items()}
    complete, left_out = find_complete_rows(columns, table.source, table.place)
    notes += left_out
    data = Dataset.from_arrays(
        np.column_stack([table.numbers[name][complete] for name in names]),
        table.numbers[target][complete],
        names=names,
        weights=None if weights is None else table.numbers[weights][complete],
        sigma=None if sigma is None else table.numbers[sigma][complete],
        sigma_columns=_read_bars(table, names, bars_of)[complete] if bars_of else None,
        places=RowPlaces(table.lines[complete], table.line_word),
    )
    groupings, about_groups = group_complete_rows(labels, np.flatnonzero(complete), are_asked_for=groups is not None)
    notes += about_groups
    return PreparedDataset(replace(data, notes=tuple(notes)), notes, groupings)


def count_dates_alike(table: Table, like: Table, names: Sequence[str]) -> Table:
    """Return the table with dates counted from the same moments as in another; raise an error if only one of them has dates."""
    numbers, notes = dict(table.numbers), dict(table.column_notes)
    for name in (name for name in names if name in numbers):
        origin, other = table.origins.get(name), like.origins.get(name)
        if (origin is None) != (other is None):
            dated, plain = (table, like) if origin is not None else (like, table)
            raise DataError(
                f"Column '{name}' holds dates in {dated.source}, but numbers in {plain.source}. Give both in the same form."
            )
        if origin is not None and other is not None:
            numbers[name] = numbers[name] + (origin - other) / NANO
            notes.pop(name, None)  # it says from which moment they were counted
    return replace(table, numbers=numbers, column_notes=notes, origins={**table.origins, **like.origins})


def _choose_groupings(
    table: Table, target: str, features: Sequence[str] | None, groups: Sequence[str] | None, taken: set[str | None]
) -> GroupingChoice:
    """Return the columns that are groupings: those named, or, if neither they nor features are, those that may matter."""
    if groups is None:
        return offer_groupings(table, target, taken) if features is None else GroupingChoice(())
    chosen = check_groupings(table, groups)
    for name in chosen.names:
        if name in taken:
            raise DataError(f"The column '{name}' cannot be both a grouping and the target, weights or error bars.")
    return chosen


def _check_roles(table: Table, target: str, others: Sequence[tuple[str, str]]) -> None:
    """Raise a clear error unless target, weights and error bars are columns of numbers, and the target nothing else."""
    check_number_column(table, target, "target")
    for role, name in others:
        check_number_column(table, name, role)
        if name == target:
            raise DataError(f"The column '{name}' cannot be both the target and its {role}. Choose another column.")


def _read_bars(table: Table, names: Sequence[str], bars_of: Mapping[str, str]) -> NDArray[np.float64]:
    """Return the error bars of the features [N, D], 0 where there are none."""
    for name in bars_of:
        if name not in names:
            raise DataError(f"There are error bars for '{name}', which is not among the features: {list_names(names)}.")
    n_rows = table.numbers[names[0]].size
    bars = np.zeros((n_rows, len(names)))
    for name, given in bars_of.items():
        bars[:, names.index(name)] = table.numbers[given] if _is_column(table, given) else float(given)
    return bars


def _is_column(table: Table, bars: str) -> bool:
    """Return whether error bars are named by their column; otherwise they are a number. Raise a clear error if neither."""
    if bars in table.names:
        return True
    try:
        return not math.isfinite(float(bars))
    except ValueError:
        check_column(table, bars)
        return True


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
