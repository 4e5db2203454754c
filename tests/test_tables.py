"""Data files: what is read, what is left out, and what is said about the rest."""

import datetime as dt
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest

from spl.errors import DataError
from spl.tables import read_table

FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.5, 0.25, 1e-3], "y": [-1.0, 0.0, 4.0]})


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def assert_holds_the_frame(table):
    assert table.names == ("a", "b", "y")
    for name in FRAME:
        np.testing.assert_array_equal(table.numbers[name], FRAME[name])


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_file_may_use_any_of_three_separators(tmp_path, separator):
    assert_holds_the_frame(read_table(write(tmp_path, "t.csv", FRAME.to_csv(index=False, sep=separator))))


@pytest.mark.parametrize("ending", [".tsv", ".tab", ".tsv.gz"])
def test_tab_files_are_read_by_their_ending(tmp_path, ending):
    text = FRAME.to_csv(index=False, sep="\t").encode()
    assert_holds_the_frame(read_table(write(tmp_path, "t" + ending, gzip.compress(text) if "gz" in ending else text)))


def test_a_gzipped_csv_file_is_read(tmp_path):
    assert_holds_the_frame(read_table(write(tmp_path, "t.csv.gz", gzip.compress(FRAME.to_csv(index=False).encode()))))


def test_a_text_file_may_have_blanks_between_columns(tmp_path):
    assert_holds_the_frame(read_table(write(tmp_path, "t.txt", FRAME.to_csv(index=False, sep=" "))))


def test_a_parquet_file_is_read(tmp_path):
    pytest.importorskip("pyarrow")
    FRAME.assign(label="p").to_parquet(tmp_path / "t.parquet")
    table = read_table(str(tmp_path / "t.parquet"))
    assert table.names == ("a", "b", "y", "label")
    np.testing.assert_array_equal(table.numbers["b"], FRAME["b"])
    assert "label" not in table.numbers


def test_standard_input_is_read_as_csv(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FRAME.to_csv(index=False).encode())))
    assert_holds_the_frame(read_table("-"))


def test_plain_tables_are_read_without_pandas_to_the_same_values(tmp_path, monkeypatch, rng):
    values = rng.standard_normal((50, 3)) * 10.0 ** rng.integers(-8, 8, (50, 3))
    path = write(tmp_path, "t.csv", pd.DataFrame(values, columns=["a", "b", "c"]).to_csv(index=False))
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = read_table(path)
    np.testing.assert_array_equal(np.column_stack([table.numbers[name] for name in "abc"]), values)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_letters_beyond_ascii_survive_however_they_are_written(tmp_path, encoding):
    assert read_table(write(tmp_path, "t.csv", "Größe,y\n1,2\n".encode(encoding))).names == ("Größe", "y")


def test_names_may_hold_separators_blanks_and_quotation_marks(tmp_path):
    table = read_table(write(tmp_path, "t.csv", '"speed, in m/s", flow rate ,"a ""b"""\n1,2,3\n'))
    assert table.names == ("speed, in m/s", "flow rate", 'a "b"')


def test_a_comma_may_stand_for_the_decimal_point_between_semicolons(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a;y\n1,5;2\n0,25;3\n"))
    np.testing.assert_array_equal(table.numbers["a"], [1.5, 0.25])


def test_windows_line_ends_and_blank_lines_do_no_harm(tmp_path):
    assert_holds_the_frame(
        read_table(write(tmp_path, "t.csv", "\r\n" + FRAME.to_csv(index=False).replace("\n", "\r\n")))
    )


def test_columns_without_a_name_are_left_out_with_a_note(tmp_path):
    table = read_table(write(tmp_path, "t.csv", FRAME.to_csv()))
    assert_holds_the_frame(table)
    assert table.notes == ("1 column without a name left out.",)


def test_true_and_false_are_numbers(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,y\nTrue,1\nFalse,2\n"))
    np.testing.assert_array_equal(table.numbers["a"], [1.0, 0.0])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b" \n\n", "is empty"),
        ("t.csv", b"a,b,y\n", "has column names, but no rows"),
        ("t.csv", b"PK\x03\x04\x00\x00\x00", "is not text"),
        ("t.csv", b"a,a,y\n1,2,3\n", "has two columns named 'a'"),
        ("t.csv", b"a,y\n1,2\n1,2,3\n", "3 values in line 3, but 2 column name(s)"),
        ("t.csv", b"a,y\n1,2,3\n1,2,3\n", "3 values in line 2, but 2 column name(s)"),
        ("t.csv.gz", b"\x1f\x8b\x08\x00broken", "cannot be unzipped"),
        ("t.xls", b"PK", "ends in '.xls', which cannot be read. Save it as one of: .csv"),
        ("t.xlsx", b"PK", "cannot be read as an Excel workbook"),
        ("t.parquet", b"PAR1 nonsense", "cannot be read as Parquet"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_from_others(tmp_path, name, content, message):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=r"'.*'") as caught:
        read_table(write(tmp_path, name, content))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named_with_the_nearest(tmp_path):
    write(tmp_path, "planets.csv", "a\n1\n")
    with pytest.raises(DataError, match=r"There is no file '.*planet\.csv'\. Did you mean 'planets\.csv'\?"):
        read_table(str(tmp_path / "planet.csv"))


def test_a_directory_is_no_table(tmp_path):
    with pytest.raises(DataError, match="is a directory"):
        read_table(str(tmp_path))


def test_parquet_without_pyarrow_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(pd, "read_parquet", lambda _: (_ for _ in ()).throw(ImportError("no engine")))
    with pytest.raises(DataError, match=r'pip install "symbolic-physics-learner\[parquet\]"'):
        read_table(write(tmp_path, "t.parquet", b"PAR1"))


# ---- comments, units, lines of the file


def test_comment_lines_are_left_out_and_those_among_the_rows_are_noted(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "# made by hand\na,y\n# first\n1,2\n  # second\n3,4\n"))
    np.testing.assert_array_equal(table.numbers["a"], [1, 3])
    assert table.notes == ("2 comments among the rows left out (the first: line 3).",)
    assert table.lines.tolist() == [4, 6]


def test_names_may_stand_in_the_comment_above_the_numbers(tmp_path):
    np.savetxt(tmp_path / "t.txt", [[1.0, 2.0], [3.0, 4.0]], header="made by numpy\na y")
    table = read_table(str(tmp_path / "t.txt"))
    np.testing.assert_array_equal(table.numbers["y"], [2, 4])
    assert table.notes == ("Column names are read from the comment in line 2.",)


def test_a_missing_value_of_a_spreadsheet_is_no_comment(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,y\n1,2\n#N/A,3\n#DIV/0!,4\n5,6\n"))
    assert table.numbers["y"].tolist() == [2, 3, 4, 6]


@pytest.mark.parametrize("units", ["s,m,", "[s],[m],", "s,-,name"])
def test_a_row_of_units_is_left_out_with_a_note(tmp_path, units):
    table = read_table(write(tmp_path, "t.csv", f"t,x,label\n{units}\n0,1,p\n1,2,q\n2,bad,r\n3,4,s\n"))
    np.testing.assert_array_equal(table.numbers["t"], [0, 1, 2, 3])
    assert table.notes[0].startswith(f"Line 2 is read as units, not as data: {units.split(',')[0]}")
    assert table.texts["label"].tolist() == ["p", "q", "r", "s"]
    assert "(line 5: 'bad')" in table.problems["x"]


@pytest.mark.parametrize("row", ["bad,1", "1,bad", "-,-", ",", "2024-01-01,1"])
def test_a_row_with_a_number_or_without_text_is_no_row_of_units(tmp_path, row):
    table = read_table(write(tmp_path, "t.csv", f"t,x\n{row}\n0,1\n1,2\n2,3\n"))
    assert not any("units" in note for note in table.notes)
    assert table.lines.tolist() == [2, 3, 4, 5]


def test_lines_are_counted_as_an_editor_counts_them(tmp_path):
    text = '# comment\n"na\nme",a,y\ns,m,m\n\n"p\nq",1,2\n# comment\nr,bad,3\n"s",4,5\nt,6,7\n'
    table = read_table(write(tmp_path, "t.csv", text))
    assert table.lines.tolist() == [6, 9, 10, 11]
    assert "(line 9: 'bad')" in table.problems["a"]


def test_lines_of_plain_numbers_count_blank_ones(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "\na,y\n1,2\n\n3,4\n"))
    assert table.lines.tolist() == [3, 5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('a,y\n1,2\n3,"4\n', "has a quotation mark in line 3 that is never closed"),
        ('a,y\n1,2\n"3"4,5\n', "has text behind a closing quotation mark in line 3"),
        ("# only\n# comments\n", "holds comments only"),
        ("a,y\n# 1,2\n", "has column names, but no rows"),
    ],
)
def test_a_text_that_cannot_be_taken_apart_names_its_line(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_table(write(tmp_path, "t.csv", text))


def test_european_numbers_between_semicolons_are_read(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a;y\n1.234,5;2\n0,25;1.000\n"))
    np.testing.assert_array_equal(table.numbers["a"], [1234.5, 0.25])
    assert table.notes == ("Numbers with separators are read as they are written: line 2: '1.234,5' is 1234.5.",)


def test_quoted_thousands_are_read(tmp_path):
    table = read_table(write(tmp_path, "t.csv", 'a,y\n"1,234.5",2\n7,3\n'))
    np.testing.assert_array_equal(table.numbers["a"], [1234.5, 7])


# ---- Excel


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
    assert_holds_the_frame(read_table(write_workbook(tmp_path, rows)))


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
