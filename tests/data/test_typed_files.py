"""Excel and Parquet files are read like text files."""

import datetime as dt
import sys

import numpy as np
import pandas as pd
import pytest

from spl.data.table_files import read_table
from spl.errors import DataError

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 1e-3], "y": [-1.0, 0.0, 4.0]})


def write_workbook(folder, rows, *others):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in others:
        book.create_sheet(title)
    book.save(folder / "t.xlsx")
    return str(folder / "t.xlsx")


def test_an_excel_file_is_read(tmp_path):
    rows = [FRAME.columns.tolist(), *FRAME.to_numpy().tolist()]
    table = read_table(write_workbook(tmp_path, rows))
    assert table.names == ("a", "b", "y")
    np.testing.assert_array_equal(np.column_stack(list(table.numbers.values())), FRAME)


def test_the_cells_of_a_sheet_are_read_as_those_of_text(tmp_path):
    day = dt.datetime(2024, 1, 1)
    rows = [
        ["when", "a", "y", "name"],
        ["d", "m", None, None],
        [day, 1, True, "p"],
        [],
        ["# comment"],
        [day + dt.timedelta(hours=1), "-", False, "q"],
        [day + dt.timedelta(hours=2), 3, True, None],
    ]
    table = read_table(write_workbook(tmp_path, rows, "second"))
    np.testing.assert_array_equal(table.numbers["when"], [0, 3600, 7200])
    np.testing.assert_array_equal(table.numbers["a"], [1, np.nan, 3])
    np.testing.assert_array_equal(table.numbers["y"], [1, 0, 1])
    assert table.texts["name"].tolist() == ["p", "q", None]
    assert table.place(1) == "row 6"
    assert table.notes == (
        "Only the first of 2 sheets is read: 'Sheet'.",
        "1 comment among the rows left out (row 5).",
        "Row 2 is read as units, not as data: d, m.",
    )
    assert table.column_notes["a"] == ("Column 'a': 1 cell is read as missing (row 6: '-').",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "The first sheet of .* is empty"),
        ([["a", "y"]], "has column names, but no rows"),
        ([["Title"], ["a", "y"], [1, 2]], r"has 2 values in row 2, but 1 column name"),
    ],
)
def test_a_sheet_that_is_no_table_is_told_from_others(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        read_table(write_workbook(tmp_path, rows))


def test_excel_without_openpyxl_names_what_to_install(tmp_path, monkeypatch):
    path = write_workbook(tmp_path, [["a"], [1]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError, match=r'pip install "symbolic-physics-learner\[excel\]"'):
        read_table(path)


def test_texts_in_a_parquet_file_are_read_as_those_in_text(tmp_path):
    pytest.importorskip("pyarrow")
    FRAME.assign(when=pd.date_range("2024-01-01", periods=3), c=["1", "bad", "3"]).to_parquet(tmp_path / "t.parquet")
    table = read_table(str(tmp_path / "t.parquet"))
    np.testing.assert_array_equal(table.numbers["when"], [0, 86400, 2 * 86400])
    assert "(row 2: 'bad')" in table.problems["c"]
