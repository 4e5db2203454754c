"""The input of `SPLRegressor` as numbers: frames and arrays, with dates as seconds and without incomplete rows.

scikit-learn checks shapes and names.
"""

import datetime as dt
import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from spl.data.cells import MissingMarks
from spl.data.columns import Column, ReadingContext, find_complete_rows, note_durations
from spl.data.frames import read_dates, read_frame, read_objects
from spl.errors import DataError, DataRepaired, show_value

_REMEDY = "Fix it, or replace it by NaN to treat it as missing."
_NUMERIC = "biufc"  # kinds of numpy's dtypes that scikit-learn checks


class Features(NamedTuple):
    """A table that scikit-learn can check, the instants from which its dates are counted, and what was changed."""

    table: Any
    origins: dict[str, int]
    notes: list[str]


class Rows(NamedTuple):
    """Complete rows, and what was left out."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    notes: list[str]
    places: NDArray[np.intp]  # where they were among all rows
    n_all: int  # rows that there were

    def take(self, values: Any) -> Any:
        """Return those of the values, one per row of all or one for all rows, that belong to the complete rows."""
        array = _as_array(values)
        has_all = array is not None and array.ndim > 0 and len(array) == self.n_all and self.places.size < self.n_all
        return array[self.places] if has_all and array is not None else values


def read_features(X: Any, origins: Mapping[str, int] | None = None) -> Features:
    """Return a table whose columns of dates and text are numbers where possible; NaN where a value is missing.

    Args:
        X: a frame or an array; anything else is passed on to scikit-learn, which refuses it.
        origins: instants from which dates were counted in the fit; None in the fit itself.
    """
    reading = ReadingContext(_place, MissingMarks(), _REMEDY, origins=origins or {})
    if isinstance(X, pd.DataFrame):
        if all(dtype.kind in _NUMERIC for dtype in X.dtypes):
            return Features(X, {}, [])
        names = [str(name) for name in X.columns]
        columns, notes = read_frame(X, names, reading)
    else:
        array = _as_array(X)
        if array is None or array.ndim != 2 or not _needs_reading(array):
            return Features(X if array is None else array, {}, [])
        names = [f"x{place}" for place in range(array.shape[1])]
        columns, notes = _read_array(array, names, reading)
    numbers = np.column_stack(
        [_numbers_in(column, f"Column '{name}'") for name, column in zip(names, columns, strict=True)]
    )
    found = {name: column.origin for name, column in zip(names, columns, strict=True) if column.origin is not None}
    unknown = next((name for name in found if origins is not None and name not in origins), None)
    if unknown is not None:
        raise DataError(f"Column '{unknown}' holds dates, but it held numbers in the fit. Give numbers.")
    is_new = origins is None
    notes += [note for column in columns for note in column.notes if is_new or column.origin is None]
    table = pd.DataFrame(numbers, X.index, X.columns) if isinstance(X, pd.DataFrame) else numbers
    return Features(table, found, notes)


def complete_rows(X: NDArray[np.float64], y: Any, weights: Any, names: Sequence[str] | None) -> Rows:
    """Return the rows in which table, target and weights have finite numbers; raise an error if there are none."""
    y, notes = _read_series(column_or_1d(y, warn=True), "The target")
    if isinstance(weights, Number):
        weights = np.full(len(X), weights)
    more: list[str] = []
    if weights is not None:
        weights, more = _read_series(_as_array(weights), "`sample_weight`")
    check_consistent_length(X, y, weights)
    if names is None:
        names = [f"x{place}" for place in range(X.shape[1])]
    columns = {f"column '{name}'": X[:, place] for place, name in enumerate(names)}
    used = {**columns, "target": y, **({} if weights is None else {"`sample_weight`": weights})}
    complete, left_out = find_complete_rows(
        {key: values for key, values in used.items() if values.ndim == 1}, "the data", _place
    )
    notes = [*notes, *more, *left_out]
    places = np.flatnonzero(complete)
    if complete.all():
        return Rows(X, y, weights, notes, places, len(X))
    return Rows(X[complete], y[complete], None if weights is None else weights[complete], notes, places, len(X))


def warn_of_repairs(notes: Iterable[str], stacklevel: int) -> None:
    """Warn about what was changed in the data or left out; `stacklevel` is that of `warnings.warn`, seen from here."""
    for note in notes:
        warnings.warn(note, DataRepaired, stacklevel=stacklevel)


def read_origins(given: object) -> dict[str, int]:
    """Return the instants in a run file from which dates are counted.

    Examples:
        >>> read_origins({"when": 5, "else": "nonsense"})
        {'when': 5}
    """
    pairs = given.items() if isinstance(given, Mapping) else ()
    return {str(name): instant for name, instant in pairs if isinstance(instant, int)}


def _place(row: int) -> str:
    return f"row {row}"


def _as_array(values: Any) -> NDArray[Any] | None:
    """Return an array, with NaN for what is masked; None if it is not a table, or one that scikit-learn must refuse."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan) if values.dtype.kind in "biuf" else None
    if hasattr(values, "toarray"):  # sparse
        return None
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        return None
    if array.dtype.kind == "f" and array.dtype.itemsize > np.dtype(np.float64).itemsize:
        with np.errstate(over="ignore"):
            return array.astype(np.float64)
    return array


def _needs_reading(array: NDArray[Any]) -> bool:
    """Return whether an array holds text, dates, or whole numbers that may be too large for numpy."""
    if array.dtype.kind != "O":
        return array.dtype.kind not in _NUMERIC
    return any(isinstance(cell, str | dt.date | dt.time | dt.timedelta | np.datetime64 | int) for cell in array.flat)


def _read_array(array: NDArray[Any], names: Sequence[str], reading: ReadingContext) -> tuple[list[Column], list[str]]:
    if array.dtype.kind == "M":
        return [read_dates(dates, name, reading) for dates, name in zip(array.T, names, strict=True)], []
    if array.dtype.kind == "m":
        notes = (note_durations(name) for name in names)
        seconds = (array / np.timedelta64(1, "s")).T
        return [Column(each, notes=(note,)) for each, note in zip(seconds, notes, strict=True)], []
    return read_objects([column.tolist() for column in array.T], names, reading)


def _numbers_in(column: Column, what: str) -> NDArray[np.float64]:
    if column.numbers is not None:
        return column.numbers
    if column.problem is not None:
        raise DataError(column.problem)
    assert column.texts is not None
    row = next(row for row, text in enumerate(column.texts) if text is not None)
    raise DataError(
        f"{what} holds text: {show_value(column.texts[row])} in row {row}. Leave it out, encode it as numbers, or pass it as `groups`."
    )


def _read_series(values: Any, what: str) -> tuple[NDArray[np.float64], list[str]]:
    """Return one column of numbers."""
    array = _as_array(values)
    if array is None or array.ndim != 1 or array.dtype.kind in _NUMERIC:
        return np.asarray(values if array is None else array), []
    columns, notes = _read_array(
        array[:, np.newaxis], [what.strip("`")], ReadingContext(_place, MissingMarks(), _REMEDY)
    )
    return _numbers_in(columns[0], what), [*notes, *columns[0].notes]
