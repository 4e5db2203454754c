"""From tables to trajectories: which columns are time, states and inputs, and which rows belong to one run.

`trajectories` checks the result. Incomplete rows are kept for it, because their times show how long a gap is.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.data.column_checks import check_column, check_number_column
from spl.data.column_choice import notes_of_columns, other_number_columns
from spl.data.table_files import Table
from spl.data.trajectories import Trajectories
from spl.errors import DataError, count_noun


class PreparedTrajectories(NamedTuple):
    """Trajectories, and notes on what was changed or left out; the notes of the data begin with them."""

    data: Trajectories
    notes: list[str]


def prepare_trajectories(
    table: Table,
    *,
    time: str,
    states: Sequence[str] | None = None,
    inputs: Sequence[str] = (),
    group: str | None = None,
) -> PreparedTrajectories:
    """Return the runs in a table: one per value of the column `group`, or a single one.

    Without `states`, all other columns of numbers are states. Rows without a time or a value of `group` are left out.
    """
    notes = list(table.notes)
    check_number_column(table, time, "time")
    if group is not None:
        check_column(table, group)
    names = list(states) if states is not None else other_number_columns(table, {time, group, *inputs}, notes)
    _check_roles(table, time, group, names, inputs)
    notes += notes_of_columns(table, [time, *names, *inputs])
    notes += _note_infinite(table, [*names, *inputs])
    rows = _rows_of_runs(table, time, group, notes)
    for each in rows:
        _check_times(table, time, each, has_groups=group is not None)
    data = Trajectories.from_arrays(
        [_columns(table, names, each) for each in rows],
        [table.numbers[time][each] for each in rows],
        u=[_columns(table, inputs, each) for each in rows] if inputs else None,
        names=names,
        input_names=inputs or None,
        labels=[_label_of(table, group, each) for each in rows] if group is not None else None,
    )
    return PreparedTrajectories(replace(data, notes=(*notes, *data.notes)), notes)


def _check_roles(table: Table, time: str, group: str | None, states: Sequence[str], inputs: Sequence[str]) -> None:
    """Raise a clear error unless each column has one role, and states and inputs are numbers."""
    if not states:
        raise DataError(f"{table.source} has no column of numbers besides '{time}', so there is no state.")
    for role, names in (("state", states), ("input", inputs)):
        for name in names:
            check_number_column(table, name, role)
    roles = [(time, "the time"), *((name, "a state") for name in states), *((name, "an input") for name in inputs)]
    if group is not None:
        roles.append((group, "the group"))
    seen: dict[str, str] = {}
    for name, role in roles:
        if name in seen:
            raise DataError(f"The column '{name}' is {seen[name]} and {role}. Give it one role.")
        seen[name] = role


def _rows_of_runs(table: Table, time: str, group: str | None, notes: list[str]) -> list[NDArray[np.intp]]:
    """Return the rows of each run, in the order of the file."""
    has_time = np.isfinite(table.numbers[time])
    _note_missing(has_time, f"a time in '{time}'", notes)
    if not has_time.any():
        raise DataError(f"The column '{time}' of {table.source} holds no times.")
    if group is None:
        return [np.flatnonzero(has_time)]
    labels = table.numbers[group] if group in table.numbers else table.texts[group]
    has_label = np.array([not _is_missing(label) for label in labels], dtype=bool)
    _note_missing(has_label, f"a value of '{group}'", notes)
    runs: dict[Any, list[int]] = {}
    for row in np.flatnonzero(has_time & has_label):
        runs.setdefault(labels[row], []).append(int(row))
    if not runs:
        raise DataError(f"No row of {table.source} has both a time and a value of '{group}'.")
    return [np.array(rows) for rows in runs.values()]


def _label_of(table: Table, group: str, rows: NDArray[np.intp]) -> Any:
    labels = table.numbers[group] if group in table.numbers else table.texts[group]
    return labels[rows[0]]


def _is_missing(label: Any) -> bool:
    return label is None or label != label  # NaN is not equal to itself


def _note_missing(is_there: NDArray[np.bool_], what: str, notes: list[str]) -> None:
    n_missing = int(np.count_nonzero(~is_there))
    if n_missing:
        notes.append(f"{count_noun(n_missing, 'row')} of {is_there.size} without {what} left out.")


def _check_times(table: Table, time: str, rows: NDArray[np.intp], *, has_groups: bool) -> None:
    """Raise an error that names the line of the file if times repeat or go back."""
    times = table.numbers[time][rows]
    places = np.flatnonzero(np.diff(times) <= 0)
    if not places.size:
        return
    place = int(places[0])
    before, after = times[place], times[place + 1]
    row = f"{table.place(int(rows[place + 1]))} of {table.source}"
    if before == after:
        remedy = "Keep one of them." if has_groups else "Keep one of them, or separate runs with --group COLUMN."
        raise DataError(f"The time '{time}' is {after:g} twice, again in {row}. {remedy}")
    remedy = "Sort the rows by time" + (
        "." if has_groups else "; if another run begins there, separate runs with --group COLUMN."
    )
    raise DataError(f"The time '{time}' goes back from {before:g} to {after:g} in {row}. {remedy}")


def _columns(table: Table, names: Sequence[str], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return columns of some rows; infinite values become missing."""
    values = np.column_stack([table.numbers[name][rows] for name in names])
    return np.where(np.isinf(values), np.nan, values)


def _note_infinite(table: Table, names: Sequence[str]) -> list[str]:
    places = {name: np.flatnonzero(np.isinf(table.numbers[name])) for name in names}
    return [
        f"Column '{name}': {count_noun(rows.size, 'infinite value')} read as missing (the first: {table.place(int(rows[0]))})."
        for name, rows in places.items()
        if rows.size
    ]
