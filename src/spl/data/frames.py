"""Tables in memory as columns: pandas DataFrames, and arrays of objects or dates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spl.data.cells import ColumnCells
from spl.data.columns import Column, ReadingContext, note_durations, note_missing, read_columns
from spl.data.timestamps import first_instant, seconds_of_dates, show_instant

if TYPE_CHECKING:
    import pandas as pd


def read_frame(frame: "pd.DataFrame", names: Sequence[str], reading: ReadingContext) -> tuple[list[Column], list[str]]:
    """Return the columns of a DataFrame, and notes that concern all of them."""
    columns: dict[int, Column] = {}
    objects: dict[int, Any] = {}
    for index, name in enumerate(names):
        values = frame.iloc[:, index]
        column = _read_typed(values, name, reading)
        if column is None:
            objects[index] = values.astype(object).to_numpy()
        else:
            columns[index] = column
    read, notes = read_objects(list(objects.values()), [names[index] for index in objects], reading)
    columns |= dict(zip(objects, read, strict=True))
    return [columns[index] for index in range(len(names))], notes


def read_objects(
    columns: Sequence[Sequence[object]], names: Sequence[str], reading: ReadingContext
) -> tuple[list[Column], list[str]]:
    """Return columns of texts and other objects, and notes that concern all of them."""
    gathered = [ColumnCells() for _ in columns]
    for column, cells in zip(gathered, columns, strict=True):
        column.add(cells)
    return read_columns(names, gathered, reading._replace(raw=columns.__getitem__))


def read_dates(dates: NDArray[np.datetime64], name: str, reading: ReadingContext) -> Column:
    """Return dates as seconds since the origin of this column, or since the first date if it has none."""
    first = first_instant(dates)
    if first is None:
        return Column(np.full(dates.shape, np.nan))
    origin = reading.origins.get(name, first)
    note = f"Column '{name}' is in seconds since {show_instant(origin)}."
    return Column(seconds_of_dates(dates, origin), notes=(note,), origin=origin)


def _read_typed(values: "pd.Series[Any]", name: str, reading: ReadingContext) -> Column | None:
    """Return a column of numbers, booleans, dates or durations, as its dtype says; None for all others."""
    from pandas.api.types import (
        is_bool_dtype,
        is_complex_dtype,
        is_datetime64_any_dtype,
        is_numeric_dtype,
        is_timedelta64_dtype,
    )

    if is_datetime64_any_dtype(values.dtype):
        is_zoned = getattr(values.dtype, "tz", None) is not None
        dates = (values.dt.tz_convert(None) if is_zoned else values).to_numpy()
        return read_dates(dates.astype(dates.dtype if dates.dtype.kind == "M" else "datetime64[ns]"), name, reading)
    if is_timedelta64_dtype(values.dtype):
        seconds = values.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan)
        return Column(seconds, notes=(note_durations(name),))
    if not is_numeric_dtype(values.dtype) or is_complex_dtype(values.dtype):
        return None
    numbers = np.array(values.to_numpy(dtype=np.float64, na_value=np.nan))
    notes = note_missing(name, reading.missing.blank_out(numbers), reading)
    return Column(numbers, notes=notes, is_boolean=is_bool_dtype(values.dtype))
