"""From cells to columns: numbers, missing values, and clear messages with places."""

import datetime as dt
import decimal
import fractions

import numpy as np
import pandas as pd
import pytest

from spl.data.cells import ColumnCells, MissingMarks
from spl.data.columns import ReadingContext, read_columns


def read(cells, *, separator=None, missing=(), others=()):
    """Read one column, the first of a table; lines begin with 2."""
    columns = [list(cells), *map(list, others)]
    gathered = [ColumnCells() for _ in columns]
    for column, each in zip(gathered, columns, strict=True):
        column.add(each)
    reading = ReadingContext(
        lambda row: f"line {row + 2}", MissingMarks(missing), "Fix it.", columns.__getitem__, separator
    )
    found, notes = read_columns([f"c{place}" for place in range(len(columns))], gathered, reading)
    return found[0], notes


NUMBERS = [str(k) for k in range(20)]


@pytest.mark.parametrize(
    "mark", ["-", "n/a", "N/A", "?", ".", "null", "None", "NA", "--", "#DIV/0!", " - ", "#N/A", "missing"]
)
def test_a_mark_for_a_missing_value_is_read_as_missing_and_named(mark):
    column, _ = read([*NUMBERS[:15], mark, *NUMBERS[16:]])
    assert np.flatnonzero(np.isnan(column.numbers)).tolist() == [15]
    assert column.notes == (f"Column 'c0': 1 cell is read as missing (line 17: {mark.strip()!r}).",)


@pytest.mark.parametrize("empty", ["", "  ", "nan", "NaN", None])
def test_an_empty_cell_is_missing_without_a_word(empty):
    column, _ = read([*NUMBERS, empty])
    assert np.isnan(column.numbers[-1])
    assert column.notes == ()


def test_marks_are_counted():
    column, _ = read(["-", *NUMBERS, "?", "NA"])
    assert column.notes == ("Column 'c0': 3 cells are read as missing (the first: line 2: '-').",)


def test_stray_text_among_numbers_stops_with_line_and_value():
    column, _ = read([*NUMBERS[:15], "bad", *NUMBERS[16:]])
    assert column.numbers is None
    assert column.problem == "Column 'c0' has text in 1 of 20 cells (line 17: 'bad'). Fix it."


def test_further_texts_and_numbers_can_be_declared_missing():
    column, _ = read([*NUMBERS, "bad", "-9999.0", "BAD"], missing=["bad", "-9999"])
    assert np.count_nonzero(np.isnan(column.numbers)) == 3
    assert column.notes == ("Column 'c0': 3 cells are read as missing (the first: line 22: 'bad').",)


def test_a_column_of_text_keeps_its_cells_as_they_stand():
    column, _ = read(["a", "007", "b", "", "NA", "-"])
    assert column.texts.tolist() == ["a", "007", "b", None, None, "-"]
    assert column.notes == ("Column 'c0' is text: only 1 of 3 cells are numbers (line 2: 'a' is not).",)


def test_true_and_false_are_numbers_with_gaps_between_them():
    column, _ = read(["True", "", "false"])
    np.testing.assert_array_equal(column.numbers, [1.0, np.nan, 0.0])


# ---- separators


@pytest.mark.parametrize(
    ("cells", "separator", "numbers"),
    [
        (["1,234.5", "7"], ",", [1234.5, 7]),
        (["1,234", "7"], ",", [1234, 7]),
        (["1.234,5", "7"], ";", [1234.5, 7]),
        (["1,5", "1.234", "2.345.678"], ";", [1.5, 1234, 2345678]),
        (["1,234", "0,5"], "\t", [1.234, 0.5]),
        (["1 234,5", "7"], "\t", [1234.5, 7]),
        (["1'234.5", "-1'000"], ";", [1234.5, -1000]),
        (["1\u202f234", "\u22125"], "\t", [1234, -5]),
        (["1,5e3", "-0,5E-2"], ";", [1500, -0.005]),
        (["1,234", "2,5"], ";", [1.234, 2.5]),
    ],
)
def test_separators_of_thousands_and_decimal_commas_are_read(cells, separator, numbers):
    column, notes = read(cells, separator=separator)
    np.testing.assert_allclose(column.numbers, numbers, rtol=1e-15)
    assert notes[0].startswith("Numbers with separators: line ")


def test_another_column_tells_what_a_comma_means():
    doubtful = ["1,234", "5,678"]
    assert read(doubtful, separator="\t", others=[["0,5", "1"]])[0].numbers.tolist() == [1.234, 5.678]
    assert read(doubtful, separator="\t", others=[["0.5", "1"]])[0].numbers.tolist() == [1234, 5678]


def test_a_comma_that_may_mean_two_things_is_refused_with_both():
    column, _ = read(["1,234", "5,678"], separator="\t")
    assert column.numbers is None
    assert column.problem.startswith("Column 'c0' is ambiguous (line 2: '1,234' is 1234 or 1.234).")


def test_stray_text_does_not_hide_decimal_commas():
    column, _ = read(["1,5", "2,5", "bad", "3,5"], separator=";")
    assert column.problem == "Column 'c0' has text in 1 of 4 cells (line 4: 'bad'). Fix it."


# ---- dates


@pytest.mark.parametrize(
    ("cells", "seconds", "origin"),
    [
        (["2024-01-31", "2024-02-01"], [0, 86400], "2024-01-31"),
        (["2024-01-31 12:00:00.25", "2024-01-31 12:00:01"], [0, 0.75], "2024-01-31 12:00:00.25"),
        (["2024-01-31T12:00Z", "2024-01-31T12:00+01:00"], [0, -3600], "2024-01-31T12:00Z"),
        (["31.01.2024 08:00", "01.02.2024 08:00"], [0, 86400], "31.01.2024 08:00"),
        (["01/31/2024", "02/01/2024"], [0, 86400], "01/31/2024"),
        (["31/01/2024", "01/02/2024"], [0, 86400], "31/01/2024"),
        (["12:30", "12:31:00.5"], [0, 60.5], "12:30 (hours:minutes)"),
        (["11:59 PM", "12:01 AM"], [0, -86280], "11:59 PM (hours:minutes)"),
        ([dt.datetime(2024, 1, 1), None, dt.datetime(2024, 1, 2)], [0, np.nan, 86400], "2024-01-01 00:00:00"),
        ([pd.Timestamp("2024-01-01"), pd.NaT], [0, np.nan], "2024-01-01 00:00:00"),
    ],
)
def test_dates_and_times_become_seconds_since_the_first(cells, seconds, origin):
    column, _ = read(cells)
    np.testing.assert_allclose(column.numbers, seconds)
    assert column.notes == (f"Column 'c0' is in seconds since {origin}.",)


def test_days_that_may_be_months_are_refused():
    column, _ = read(["01/02/2024", "02/02/2024"])
    assert column.problem.startswith("Column 'c0' is ambiguous (line 2: '01/02/2024'): the day or the month may")


def test_stray_text_among_dates_stops_with_line_and_value():
    column, _ = read(["2024-01-01", "2024-01-02", "never", "2024-01-04"])
    assert column.problem == "Column 'c0' has text in 1 of 4 cells (line 4: 'never'). Fix it."


@pytest.mark.parametrize("cell", ["2024-02-30", "25:00", "12:60", "0000-01-01"])
def test_a_day_that_never_was_is_text(cell):
    assert read([cell, cell])[0].texts is not None


# ---- objects and frames


@pytest.mark.parametrize(
    "cell", [10**400, 10**5000, 1j, object(), [1]], ids=["400", "5000", "complex", "object", "list"]
)
def test_an_object_that_is_no_number_is_named(cell):
    column, _ = read([1.0, 2.0, cell, 4.0])
    assert column.problem.startswith("Column 'c0' has something that is not a number in 1 of 4 cells (line 4: ")


def test_objects_that_are_numbers_are_read_beside_gaps_too():
    for gap in (0.0, "-"):
        assert read([decimal.Decimal("1.5"), b"2", fractions.Fraction(1, 2), gap])[0].numbers[:3].tolist() == [
            1.5,
            2,
            0.5,
        ]
