"""Columns of a table as groupings of its rows: which of them may be one, and the labels in them.

`groupings` says what a grouping is. Names and identifiers, which differ in nearly every row, are no grouping.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.column_checks import check_column
from spl.data.groupings import MAX_GROUPINGS, MAX_GROUPS
from spl.data.table_files import Table
from spl.data.timestamps import NANO, show_instant
from spl.errors import DataError, count_noun, list_names

LEAST_ROWS = 2  # of a group, on average, in a column that is a grouping without being named as one
LEAST_LABELLED = 0.9  # of the rows that must have a label there, because the others are left out
NO_GROUPS = "none"  # instead of the name of a column

Labels = NDArray[np.object_]  # [N], text; None where missing


@dataclass(frozen=True, slots=True)
class GroupingChoice:
    """The columns that are groupings, with notes, and notes on why others are not."""

    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()


def offer_groupings(table: Table, target: str | None, taken: set[str | None]) -> GroupingChoice:
    """Return the columns of text and booleans that may be groupings, at most two, and why others are not.

    Of more than two, those are taken between whose groups the target differs most; without a target, the first.
    """
    offered, why_not = [], []
    for name in table.names:
        if name in taken or name in table.problems or not (name in table.texts or name in table.booleans):
            continue
        reason = _why_no_grouping(name, read_labels_of_column(table, name))
        if not reason:
            offered.append(name)
        elif name in table.texts:
            why_not.append(reason)
    shares = {name: 0.0 if target is None else _share_between(table, name, target) for name in offered}
    chosen = sorted(offered, key=lambda name: -shares[name])[:MAX_GROUPINGS]
    names = tuple(name for name in offered if name in chosen)
    others = [name for name in offered if name not in chosen]
    if others:
        why_not.append(
            f"{count_noun(len(others), 'more column')} could be a grouping: {list_names(others)}. "
            f"--groups names up to {MAX_GROUPINGS} to use."
        )
    return GroupingChoice(names, tuple(_note_use(table, name) for name in names), tuple(why_not))


def check_groupings(table: Table, names: Sequence[str]) -> GroupingChoice:
    """Return the columns that were named as groupings; raise a clear error unless there are at most two, each of them usable."""
    if NO_GROUPS in names:
        if len(names) > 1:
            raise DataError(
                f"Groups cannot be '{NO_GROUPS}' and a column at once. Name columns, or '{NO_GROUPS}' alone."
            )
        return GroupingChoice(())
    if len(names) > MAX_GROUPINGS:
        raise DataError(f"There may be up to {MAX_GROUPINGS} groupings; got {len(names)}: {list_names(names)}.")
    for place, name in enumerate(names):
        check_column(table, name)
        if name in names[:place]:
            raise DataError(f"The column '{name}' is named twice as a grouping. Name it once.")
    return GroupingChoice(tuple(names))


def read_labels_of_column(table: Table, name: str) -> Labels:
    """Return the labels of a column of text, numbers, booleans or dates [N]; None where missing."""
    if name in table.texts:
        cells = [None if cell is None else str(cell).strip() for cell in table.texts[name]]
        return _as_objects([cell or None for cell in cells])
    numbers = table.numbers[name]
    if name in table.booleans:
        return _as_objects([None if value != value else str(bool(value)) for value in numbers.tolist()])
    if name in table.origins:
        origin = table.origins[name]
        return _as_objects([
            None if value != value else show_instant(origin + round(value * NANO)) for value in numbers.tolist()
        ])  # fmt: skip
    return _as_objects([None if not np.isfinite(value) else f"{value:.15g}" for value in numbers.tolist()])


def find_labelled(labels: Labels) -> NDArray[np.float64]:
    """Return 0 where there is a label and NaN elsewhere [N], as a column that decides which rows are complete."""
    return np.array([np.nan if label is None else 0.0 for label in labels])


def _count_labels(labels: Labels) -> tuple[int, int]:
    """Return how many labels there are, and in how many rows."""
    there = [label for label in labels if label is not None]
    return len(set(there)), len(there)


def _why_no_grouping(name: str, labels: Labels) -> str:
    """Return why a column is not used as a grouping, unless it is named as one; empty if it is."""
    n_labels, n_rows = _count_labels(labels)
    if n_labels < 2:
        return f"Column '{name}' is the same in all rows." if n_labels else f"Column '{name}' is empty."
    if n_rows < LEAST_LABELLED * len(labels):
        return f"Column '{name}' is empty in {len(labels) - n_rows:,} of {len(labels):,} rows, too many for a grouping."
    if n_labels > MAX_GROUPS or LEAST_ROWS * n_labels > n_rows:
        return f"Column '{name}' has {n_labels:,} different texts in {n_rows:,} rows, too many for a grouping."
    return ""


def _share_between(table: Table, name: str, target: str) -> float:
    """Return the share of the target's variance that lies between the groups, less what chance puts there."""
    labels, values = read_labels_of_column(table, name), table.numbers[target]
    used = np.array([label is not None for label in labels]) & np.isfinite(values)
    if np.count_nonzero(used) < 2 or np.ptp(values[used]) == 0:
        return 0.0
    codes = np.unique(labels[used].astype(str), return_inverse=True)[1]
    counts = np.bincount(codes)
    means = np.bincount(codes, values[used]) / counts
    between = float(
        np.sum(counts * (means - values[used].mean()) ** 2) / np.sum((values[used] - values[used].mean()) ** 2)
    )
    return between - (counts.size - 1) / max(codes.size - 1, 1)


def _note_use(table: Table, name: str) -> str:
    n_labels, _ = _count_labels(read_labels_of_column(table, name))
    return (
        f"Column '{name}' is used as a grouping: each of its {n_labels:,} groups may have numbers of its own "
        f"(--groups {NO_GROUPS} leaves it out)."
    )


def _as_objects(values: Sequence[str | None]) -> Labels:
    labels = np.empty(len(values), dtype=object)
    labels[:] = values
    return labels
