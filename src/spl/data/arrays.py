"""Arrays from callers as numbers: missing values become NaN and dates seconds; everything else is an error."""

import datetime as dt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.cells import MissingMarks
from spl.data.columns import Column, ReadingContext, note_durations
from spl.data.frames import read_dates, read_objects
from spl.errors import DataError, show_value

_TEXT, _DATES, _SPANS, _COMPLEX, _OBJECTS = "US", "M", "m", "c", "O"  # kinds of numpy's dtypes
_READING = ReadingContext(lambda row: f"row {row}", MissingMarks(), "Fix it, or put NaN in its place.")


def read_matrix(values: Any, what: str, notes: list[str] | None = None) -> NDArray[np.float64]:
    """Return a copy as numbers [N, D]; missing values are NaN.

    Args:
        values: anything array-like.
        what: its name in messages.
        notes: receives a note for each column of dates; without it, dates are an error.
    """
    array = read_numbers(values, what, notes)
    if array.ndim not in (1, 2):
        raise DataError(
            f"{what} has {array.ndim} dimensions. A trajectory has rows and columns; give several as a list."
        )
    return np.array(array if array.ndim == 2 else array[:, np.newaxis], dtype=np.float64, order="C")


def read_numbers(values: Any, what: str, notes: list[str] | None = None) -> NDArray[np.float64]:
    """Return an array of any shape as numbers; missing values are NaN."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(f"{what} has rows of different lengths. Give each row one value per column.") from None
    if notes is not None and array.ndim in (1, 2) and _holds_dates(array):
        return _read_seconds(array, _column_names(values, array, what), what, notes)
    _check_kind(array, what)
    if isinstance(values, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(values), np.nan, array)
    try:
        if array.dtype.kind == _OBJECTS and hasattr(values, "to_numpy"):  # pandas has its own missing values
            return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
        with np.errstate(over="ignore"):  # long doubles may overflow to infinity
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{what} holds something that is not a number: {show_value(values)}. Give numbers.") from None


def _check_kind(array: NDArray[Any], what: str) -> None:
    elements = array.ravel() if array.dtype.kind in _TEXT + _OBJECTS else ()
    text = next((str(element) for element in elements if isinstance(element, str)), None)
    if text is not None:
        raise DataError(f"{what} holds text: {show_value(text)}. Give numbers; leave text columns out.")
    if _holds_dates(array):
        raise DataError(f"{what} holds dates or durations. Give numbers, such as seconds since the first sample.")
    if array.dtype.kind in _COMPLEX or any(isinstance(element, complex) for element in elements):
        raise DataError(f"{what} holds complex numbers. Give their real and imaginary parts as two columns.")


# ---- dates ---------------------------------------------------------------------------------------


def _holds_dates(array: NDArray[Any]) -> bool:
    """Return whether an array holds dates, times or durations, also as objects."""
    kinds = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
    is_object = array.dtype.kind == _OBJECTS
    return array.dtype.kind in _DATES + _SPANS or (is_object and any(isinstance(cell, kinds) for cell in array.flat))


def _column_names(values: Any, array: NDArray[Any], what: str) -> list[str]:
    """Return the names of the columns in notes: those of a DataFrame, else their numbers."""
    given = getattr(values, "columns", None)
    if given is not None:
        return [str(name) for name in given]
    name = what.replace("`", "")
    return [name] if array.ndim == 1 else [f"{index} of {name}" for index in range(array.shape[1])]


def _read_seconds(array: NDArray[Any], names: list[str], what: str, notes: list[str]) -> NDArray[np.float64]:
    """Return an array with dates as seconds since the first date of each column."""
    table = array if array.ndim == 2 else array[:, np.newaxis]
    columns = [_read_column(column, name) for column, name in zip(table.T, names, strict=True)]
    for name, column in zip(names, columns, strict=True):
        if column.numbers is None:
            raise DataError(column.problem or f"Column '{name}' of {what} holds text. Give numbers or dates.")
        notes += column.notes
    numbers = np.column_stack([column.numbers for column in columns if column.numbers is not None])
    return numbers if array.ndim == 2 else numbers[:, 0]


def _read_column(column: NDArray[Any], name: str) -> Column:
    if column.dtype.kind == _DATES:
        return read_dates(column, name, _READING)
    if column.dtype.kind == _SPANS:
        seconds = column / np.timedelta64(1, "s")
        return Column(seconds, notes=(note_durations(name),))
    [read], _ = read_objects([column.tolist()], [name], _READING)
    return read
