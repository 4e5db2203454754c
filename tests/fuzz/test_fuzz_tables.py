"""Data files of strangers: each becomes a table, a dataset and trajectories, or is refused in words."""

import contextlib
import datetime as dt
import gzip
import io
import tempfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.guard import cases, guarded
from tests.fuzz.texts import anything, name

from spl.data.column_choice import prepare_dataset
from spl.data.table_files import read_table
from spl.data.trajectory_files import prepare_trajectories
from spl.errors import DataError

pytestmark = pytest.mark.slow

CELLS = [
    "1", "-2.5", "1e999", "-1e-999", "nan", "NaN", "NA", "", " ", "null", "None", "inf", "-inf", "1,5", "1.234,5", "1 000", "0x1F", "1_000", "2024-02-30",
    "2024-01-01T00:00:00Z", "12:30", "True", "false", "#N/A", "=1+1", "@SUM(1)", '"a""b"', '"a\nb"', '"', "'", "\\", "x;y", "x,y", "x\ty", "9" * 400,
    "1" + "0" * 309, "1e5e5", "٣", "½", "1j", "--1", "+1", "1.", ".", "-", "\0", "\ufeff1", "💥", "\u2028", "#", "$5", "5 %", "1d", "1f", "(5)",
    "1,234", "1.234", "1,234.5", "1'234", "1 234,5", "\u22125", "01/02/2024", "31/12/2024", "31.12.2024 12:00", "12:30:00.5", "11:59 PM", "0000-01-01", "2024-01-01T00:00:00+25:99", "n/a", "?", "none",
    "1.7e308", "-1.7e308", "5e-324", "1e150", "# comment", "#DIV/0!", "[s]", "m/s",
]  # fmt: skip
cell = st.one_of(st.sampled_from(CELLS), st.floats().map(repr), st.integers().map(str), anything)
number = st.floats(width=32).map(repr)


@st.composite
def csv_text(draw: st.DrawFn) -> str:
    """Return a table with a header, more or less."""
    separator = draw(st.sampled_from([",", ";", "\t", " ", "|", ", "]))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\n"]))
    n_columns = draw(st.integers(1, 5))
    header = draw(
        st.lists(
            st.one_of(name, st.sampled_from(["x", "y", "t", '"a, b"', '"a\nb"'])),
            min_size=n_columns,
            max_size=n_columns,
        )
    )
    value = draw(st.sampled_from([number, cell]))
    width = st.just(n_columns) if draw(st.booleans()) else st.integers(0, 7)
    above = draw(st.lists(st.sampled_from(["# comment", "# x y", "#", "  # a,b"]), max_size=2))
    units = draw(st.lists(st.sampled_from(["s", "[m]", "-", "", "1"]), min_size=n_columns, max_size=n_columns))
    rows = draw(st.lists(width.flatmap(lambda n: st.lists(value, min_size=n, max_size=n)), max_size=8))
    return end.join(
        [*above, *(separator.join(row) for row in [header, *([units] if draw(st.booleans()) else []), *rows])]
    ) + draw(st.sampled_from(["", end, "\0", "\x1a"]))


@st.composite
def file_bytes(draw: st.DrawFn) -> bytes:
    """Return the bytes of a file: a table in some encoding, perhaps zipped, perhaps damaged; or anything."""
    if draw(st.integers(0, 5)) == 0:
        return draw(st.binary(max_size=300))
    text = draw(st.one_of(csv_text(), csv_text(), anything))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1", "utf-32"]))
    raw = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b"])) + text.encode(
        encoding, "replace"
    )
    if draw(st.integers(0, 5)) == 0:
        raw = gzip.compress(raw)
    return damage(draw, raw)


def damage(draw: st.DrawFn, raw: bytes) -> bytes:
    """Cut some bytes off, or change one."""
    how = draw(st.sampled_from(["whole", "whole", "cut", "flip"]))
    if how == "whole" or not raw:
        return raw
    at = draw(st.integers(0, len(raw) - 1))
    return raw[:at] if how == "cut" else raw[:at] + bytes([raw[at] ^ 1 << draw(st.integers(0, 7))]) + raw[at + 1 :]


def use_file(raw: bytes, ending: str, missing: tuple[str, ...] = ()) -> None:
    """Read a file in all ways."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"data{ending}")
        path.write_bytes(raw)
        try:
            table = read_table(str(path), missing)
        except DataError as error:
            assert len(str(error)) < 5_000
            return
        for column in table.names[:4]:
            with contextlib.suppress(DataError):
                assert np.all(np.isfinite(prepare_dataset(table, target=column).data.columns))
            assert all(table.place(row) for row in range(len(table.lines)))
            with contextlib.suppress(DataError):
                prepare_trajectories(table, time=column, group=table.names[-1] if len(table.names) > 2 else None)


@cases(400)
@given(
    file_bytes(),
    st.sampled_from([".csv", ".txt", ".tsv", ".dat", ".csv.gz", "", ".parquet", ".xlsx"]),
    st.lists(cell, max_size=2).map(tuple),
)
def test_any_bytes_are_a_table_or_an_error_in_words(raw, ending, missing):
    with guarded("tables"):
        use_file(raw, ending, missing)


@st.composite
def excel_bytes(draw: st.DrawFn) -> bytes:
    """Return a workbook with cells of all kinds, perhaps damaged."""
    objects = [
        None, True, 1, 2.5, -1e300, 1.7e308, dt.datetime(2024, 1, 1), dt.date(1900, 1, 1), dt.time(12), dt.timedelta(1), "=1/0", "#N/A", "=A1",
        "bad", "-", "# comment", "", "1,5", "2024-01-01", "x" * 1000,
    ]  # fmt: skip
    book = openpyxl.Workbook()
    rows = draw(st.lists(st.lists(st.sampled_from(objects), max_size=4), max_size=8))
    for row in ([["x", "y", "t"]] if draw(st.booleans()) else []) + rows:
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return damage(draw, stream.getvalue())


@cases(60)
@given(excel_bytes())
def test_a_damaged_workbook_is_an_error_in_words(raw):
    with guarded("tables"):
        use_file(raw, ".xlsx")


@st.composite
def parquet_bytes(draw: st.DrawFn) -> bytes:
    values = draw(
        st.sampled_from(
            [
                [1.0, None, 3.0],
                [1, 2, 3],
                ["a", "b", None],
                [True, False, None],
                [b"a", b"", b"c"],
                [[1], [2], []],
                [{"a": 1}] * 3,
            ]
        )
    )
    frame = pd.DataFrame(
        {
            "x": pd.Series(values),
            "y": [1.0, 2.0, np.inf],
            draw(name.filter(str.isprintable)): pd.date_range("2024", periods=3),
        }
    )
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return damage(draw, stream.getvalue())


@cases(60)
@given(parquet_bytes())
def test_a_damaged_parquet_file_is_an_error_in_words(raw):
    with guarded("tables"):
        use_file(raw, ".parquet")


LARGE = {
    "a line of 10 MB without an end": b"x" * 10_000_000,
    "a cell of 10 MB": b"x,y\n1,2\n" + b"9" * 10_000_000 + b",3\n",
    "a quotation mark that never closes": b'x,y\n1,"2\n' + b"1,2\n" * 1_000_000,
    "a million columns": b",".join(b"c%d" % k for k in range(1_000_000))
    + b"\n"
    + b",".join([b"1"] * 1_000_000)
    + b"\n",
    "a million names alike": b",".join([b"c"] * 1_000_000) + b"\n" + b",".join([b"1"] * 1_000_000) + b"\n",
    "a million separators": b"," * 1_000_000 + b"\n" + b"," * 1_000_000,
    "ten million empty lines": b"\n" * 10_000_000,
    "zeros": bytes(10_000_000),
    "noise": np.random.default_rng(0).bytes(10_000_000),
    "noise without zeros": np.random.default_rng(0).integers(1, 256, 5_000_000).astype(np.uint8).tobytes(),
    "a gigabyte in a megabyte": gzip.compress(bytes(1 << 20), 9) * 1_000,
}


@pytest.mark.parametrize("what", LARGE)
def test_large_files_neither_hang_nor_fill_the_memory(what):
    with guarded("tables"):
        use_file(LARGE[what], ".csv")


@pytest.mark.parametrize(
    "path",
    ["", ".", "/", "\0", "x" * 5_000, "/dev/null", "/proc/self/mem", "~", "a/b/c", "-.csv", "con.csv", "\ud800.csv"],
)
def test_paths_that_are_no_files_are_errors_in_words(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with guarded("tables"), pytest.raises(DataError):
        read_table(path)
