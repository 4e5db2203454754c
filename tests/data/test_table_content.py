"""From rows of cells to the content of a file."""

import numpy as np
import pytest

from spl.data.cells import MissingMarks
from spl.data.table_content import (
    MAX_FILE_COLUMNS,
    Row,
    RowSource,
    check_width,
    is_filled,
    read_content,
)
from spl.errors import DataError


def read(*rows, header=("a", "b"), comments=()):
    """Read rows that begin at line 2; `comments` are lines."""

    def yield_rows(lines):
        yield from (Row(number, cells) for number, cells in enumerate(rows, start=2))
        lines += comments

    return read_content(RowSource("'t.csv'", list(header), yield_rows), ["First."], MissingMarks())


def test_rows_become_columns_with_their_lines():
    content = read(["1", "x"], ["2", "y"])
    np.testing.assert_array_equal(content.columns[0].numbers, [1.0, 2.0])
    assert content.columns[1].texts.tolist() == ["x", "y"]
    assert content.lines.tolist() == [2, 3]
    assert list(content.notes) == ["First."]


def test_many_rows_are_read_in_order():
    content = read(*([str(k), "0"] for k in range(10_000)))
    np.testing.assert_array_equal(content.columns[0].numbers, np.arange(10_000))


def test_a_row_of_units_is_left_out_with_a_note():
    content = read(["s", "m"], ["1", "2"], ["3", "4"])
    assert content.lines.tolist() == [3, 4]
    assert content.notes[-1] == "Line 2 is read as units, not as data: s, m."


def test_text_among_the_numbers_below_units_is_named_with_its_line():
    content = read(["s", "m"], ["1", "2"], ["bad", "4"], ["5", "6"], ["7", "8"])
    assert content.columns[0].problem.startswith("Column 'a' has text in 1 of 4 cells (line 4: 'bad').")


def test_short_rows_miss_their_last_cells():
    content = read(["1"], ["2", "3"])
    np.testing.assert_array_equal(content.columns[1].numbers, [np.nan, 3.0])


def test_empty_cells_beyond_the_header_are_ignored_and_others_are_an_error():
    assert read(["1", "2", "", None]).lines.tolist() == [2]
    with pytest.raises(DataError, match=r"'t\.csv' has 3 values in line 3, but 2 column name\(s\)"):
        read(["1", "2"], ["1", "2", "3"])


def test_comments_are_counted_in_a_note():
    assert read(["1", "2"], comments=[5, 7]).notes[-1] == "2 comments among the rows left out (the first: line 5)."


def test_a_file_without_rows_is_refused():
    with pytest.raises(DataError, match=r"'t\.csv' has column names, but no rows"):
        read()


def test_too_many_columns_are_refused():
    check_width(["a"] * MAX_FILE_COLUMNS, "'t.csv'")
    with pytest.raises(DataError, match=f"at most {MAX_FILE_COLUMNS} are allowed"):
        check_width(["a"] * (MAX_FILE_COLUMNS + 1), "'t.csv'")


@pytest.mark.parametrize(("cell", "expected"), [("x", True), (" ", False), (None, False), (0, True)])
def test_a_filled_cell_has_content(cell, expected):
    assert is_filled(cell) is expected
