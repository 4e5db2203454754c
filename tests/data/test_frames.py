"""DataFrames become columns according to their dtypes."""

import datetime as dt

import numpy as np
import pandas as pd

from spl.data.cells import MissingMarks
from spl.data.columns import ReadingContext
from spl.data.frames import read_frame


def test_the_columns_of_a_frame_are_read_by_their_types():
    frame = pd.DataFrame(
        {
            "date": pd.to_datetime(["2024-01-01", "2024-01-02", None]),
            "zone": pd.to_datetime(["2024-01-01", "2024-01-02", None]).tz_localize("Europe/Berlin"),
            "span": pd.to_timedelta(["1s", None, "3s"]),
            "flag": [True, False, True],
            "gap": pd.array([1, None, 3], dtype="Int64"),
            "text": ["1.5", "-", "2"],
        }
    )
    reading = ReadingContext(lambda row: f"row {row}", MissingMarks(["3"]), "Fix it.")
    columns, _ = read_frame(frame, list(frame.columns), reading)
    wanted = [[0, 86400, np.nan], [0, 86400, np.nan], [1, np.nan, 3], [1, 0, 1], [1, np.nan, np.nan], [1.5, np.nan, 2]]
    for column, numbers in zip(columns, wanted, strict=True):
        np.testing.assert_allclose(column.numbers, numbers)
    assert [note for column in columns for note in column.notes] == [
        "Column 'date' is in seconds since 2024-01-01.",
        "Column 'zone' is in seconds since 2023-12-31 23:00:00.",
        "Column 'span' holds durations, read in seconds.",
        "Column 'gap': 1 cell is read as missing (row 2: '3').",
        "Column 'text': 1 cell is read as missing (row 1: '-').",
    ]


def test_dates_are_counted_from_where_they_were_counted_before():
    frame = pd.DataFrame({"date": pd.to_datetime(["1970-01-03"]), "text": ["1970-01-03"]})
    reading = ReadingContext(lambda row: f"row {row}", MissingMarks(), "Fix it.", origins={"date": 0, "text": 0})
    columns, _ = read_frame(frame, ["date", "text"], reading)
    assert [column.numbers[0] for column in columns] == [2 * 86400, 2 * 86400]


def test_dates_centuries_apart_do_not_overflow():
    frame = pd.DataFrame({"date": np.array(["1678-01-01", "2262-01-01"], dtype="datetime64[ns]")})
    columns, _ = read_frame(frame, ["date"], ReadingContext(str, MissingMarks(), "Fix it."))
    days = (dt.date(2262, 1, 1) - dt.date(1678, 1, 1)).days
    assert columns[0].numbers[1] == days * 86400
