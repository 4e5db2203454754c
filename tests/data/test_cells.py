"""Single cells: numbers, missing values, and units below the header."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from spl.data.cells import ColumnCells, MissingMarks, is_empty, number_or_nan, starts_with_units


def gather(*cells):
    column = ColumnCells()
    column.add(cells)
    return column


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1e3", 1000.0),
        (" -2 ", -2.0),
        (Decimal("0.5"), 0.5),
        (Fraction(1, 4), 0.25),
        (np.float32(2), 2.0),
        (True, 1.0),
        (dt.timedelta(minutes=1), 60.0),
    ],
)
def test_a_plain_number_is_read(cell, number):
    assert number_or_nan(cell) == number


@pytest.mark.parametrize("cell", ["1,5", "word", "", None, 1 + 2j, dt.date(2024, 1, 1), pd.NaT, 10**400])
def test_anything_else_is_nan(cell):
    assert np.isnan(number_or_nan(cell))


@pytest.mark.parametrize("cell", ["", "  ", "NaN", "-nan", None, np.nan, pd.NA, pd.NaT])
def test_an_empty_cell_is_recognised(cell):
    assert is_empty(cell)


@pytest.mark.parametrize("cell", ["0", "-", "NA", 0, False])
def test_a_cell_with_content_is_not_empty(cell):
    assert not is_empty(cell)


@pytest.mark.parametrize("text", ["NA", " n/a ", "#N/A", "null"])
def test_usual_marks_are_missing_in_any_column(text):
    assert MissingMarks().has(text, among_numbers=True)
    assert MissingMarks().has(text, among_numbers=False)


@pytest.mark.parametrize("text", ["-", "?", "none", "#DIV/0!"])
def test_placeholders_are_missing_only_among_numbers(text):
    assert MissingMarks().has(text, among_numbers=True)
    assert not MissingMarks().has(text, among_numbers=False)


def test_named_numbers_are_replaced_by_nan_however_they_are_written():
    numbers = np.array([1.0, -9999.0, 3.0, -9999.0])
    assert MissingMarks(["-9999.0"]).blank_out(numbers) == [(1, "-9999"), (3, "-9999")]
    np.testing.assert_array_equal(numbers, [1.0, np.nan, 3.0, np.nan])


def test_cells_keep_their_rows_over_several_parts():
    column = gather("1", "a")
    column.add([None, "b", 4])
    np.testing.assert_array_equal(column.numbers, [1.0, np.nan, np.nan, np.nan, 4.0])
    assert column.others == {1: "a", 3: "b"}
    assert column.n_rows == 5


def test_without_its_first_row_a_column_counts_from_the_second():
    rest = gather("m/s", "1", "x").without_first()
    np.testing.assert_array_equal(rest.numbers, [1.0, np.nan])
    assert (rest.others, rest.n_rows) == ({1: "x"}, 2)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([["s", "1", "2"], ["m/s", "3", "4"]], True),
        ([["s", "1", "2"], ["", "3", "4"]], True),  # one column without a unit
        ([["s", "1", "2"], ["0", "3", "4"]], False),  # a number in the first row
        ([["a", "b", "c"], ["d", "e", "f"]], False),  # columns of text
        ([["s"], ["m"]], False),  # nothing below
        ([["NA", "1", "2"], ["3", "4", "5"]], False),  # a missing value
        ([["12:00", "1", "2"]], False),  # a time
    ],
)
def test_units_are_text_above_numbers(columns, expected):
    assert starts_with_units([gather(*cells) for cells in columns], MissingMarks()) is expected
