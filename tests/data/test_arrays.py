"""Arrays from callers become numbers, or are refused with a clear message."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import pytest

from spl.data.arrays import read_matrix, read_numbers
from spl.errors import DataError

DATES = pd.date_range("2024-03-01 12:00", periods=3, freq="min")


@pytest.mark.parametrize(
    "values",
    [
        DATES,
        DATES.to_numpy(),
        DATES.tz_localize("Asia/Tokyo"),
        pd.Series(DATES.tz_localize("Asia/Tokyo")),
        list(DATES.to_pydatetime()),
        [dt.time(12, minute) for minute in range(3)],
        np.arange(3).astype("timedelta64[m]"),
        [dt.timedelta(minutes=minute) for minute in range(3)],
    ],
    ids=["index", "array", "zone", "series", "objects", "clock", "spans", "span objects"],
)
def test_dates_times_and_durations_are_seconds_with_a_note(values):
    notes = []
    np.testing.assert_array_equal(read_matrix(values, "`t`", notes)[:, 0], [0, 60, 120])
    assert notes[0].startswith("Column 't' ")


def test_a_frame_with_dates_among_numbers_is_read_column_by_column():
    notes = []
    frame = pd.DataFrame({"when": [DATES[0], None, DATES[2]], "x": [1.0, 2.0, None]})
    np.testing.assert_array_equal(read_matrix(frame, "`x`", notes), [[0, 1], [np.nan, 2], [120, np.nan]])
    assert notes == ["Column 'when' is in seconds since 2024-03-01 12:00:00."]


def test_dates_are_refused_where_nothing_can_be_said_about_them():
    with pytest.raises(DataError, match="`x0` holds dates or durations"):
        read_numbers(DATES, "`x0`")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([10**400], "holds something that is not a number"),
        ([10**5000], "holds something that is not a number: a whole number of thousands of digits"),
        (["1"], "holds text: '1'"),
        ([1j], "holds complex numbers"),
        ([[1], [1, 2]], "rows of different lengths"),
    ],
    ids=["400", "5000", "text", "complex", "ragged"],
)
def test_what_is_no_number_is_refused_in_words(values, message):
    with pytest.raises(DataError, match=message):
        read_numbers(values, "`x`")


def test_numbers_of_any_type_are_read():
    values = np.array([decimal.Decimal("1.5"), None, True], dtype=object)
    np.testing.assert_array_equal(read_numbers(values, "`x`"), [1.5, np.nan, 1.0])
    assert np.isposinf(read_numbers(np.array([np.longdouble(10) ** 4000]), "`x`"))[0]


def test_what_is_masked_is_missing():
    np.testing.assert_array_equal(read_numbers(np.ma.masked_array([1, 2], [False, True]), "`x`"), [1.0, np.nan])
