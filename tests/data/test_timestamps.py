"""Dates and times are read to the nanosecond."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.data.timestamps import NANO, first_instant, read_instants, seconds_of_dates, seconds_since

EPOCH = dt.datetime(1970, 1, 1)


def nanoseconds(moment):
    """Return nanoseconds since 1970, from the definition."""
    return (moment - EPOCH) // dt.timedelta(microseconds=1) * 1000


@given(st.datetimes(min_value=dt.datetime(1000, 1, 1)))
def test_a_date_is_the_same_as_text_as_object_and_as_array(moment):
    ways = [moment, moment.isoformat(), moment.isoformat(sep=" "), f"{moment:%d.%m.%Y %H:%M:%S.%f}"]
    for way in ways:
        assert read_instants([way]).nanoseconds == (nanoseconds(moment),), way
    array = np.array([moment], dtype="datetime64[us]")
    assert first_instant(array) == nanoseconds(moment)
    assert seconds_of_dates(array, 0)[0] == pytest.approx(nanoseconds(moment) / NANO, rel=1e-15, abs=1e-6)


@given(
    st.datetimes(min_value=dt.datetime(1900, 1, 1), max_value=dt.datetime(2100, 1, 1)), st.integers(-12 * 60, 12 * 60)
)
def test_a_time_zone_is_an_offset(moment, minutes):
    zone = dt.timezone(dt.timedelta(minutes=minutes))
    text = moment.replace(tzinfo=zone).isoformat()
    assert read_instants([text]).nanoseconds == (nanoseconds(moment - dt.timedelta(minutes=minutes)),)


def test_only_instants_of_one_kind_are_compared():
    found = read_instants(["2024-01-01", "2024-01-02", "12:30", "2024-01-03T00:00Z"])
    assert [each is None for each in found.nanoseconds] == [False, False, True, True]


@pytest.mark.parametrize(
    "text", ["now", "today", "NaT", "2024", "2024-13-01", "2024-01-32", "1/2/24", "12:30:61", "x" * 99]
)
def test_what_is_no_date_is_none(text):
    assert read_instants([text]).nanoseconds == (None,)


def test_differences_of_nanoseconds_survive():
    instants = read_instants(["2024-01-01 00:00:00.000000001", "2024-01-01 00:00:00.000000003"]).nanoseconds
    assert seconds_since(instants, instants[0]).tolist() == [0.0, 2e-9]
