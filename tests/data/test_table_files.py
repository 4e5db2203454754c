"""Data files: what is read, what is left out, and the notes."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest

from spl.data.table_files import read_table
from spl.errors import DataError

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
        ("t.xls", b"PK", "ends in '.xls', which is not supported. Save it as one of: .csv"),
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
