"""Run files of strangers: each is read or refused in words."""

import shutil
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.guard import cases, guarded

from spl.data.dataset import Dataset
from spl.errors import SplError
from spl.formulas.grammar import Grammar
from spl.regression.request import RegressionRequest
from spl.runs.reader import read_run
from spl.runs.regression import discover_in_file, resume
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.slow

TINY = SearchConfig(
    max_rules=6,
    n_episodes=20,
    n_transplants=1,
    max_schedules=1,
    n_simulations=2,
    n_completions=16,
    n_trees=1,
    max_rows=16,
)
VALUES = [
    None, 0, -1, 1, 2**62, 1.5, float("inf"), "", "x", "\0", "[]", "{}", "null", "true", "-1", "1e999", "NaN", "[1, 2]", '{"a": 1}', "[" * 100_000, "9" * 5_000, "x" * 100_000,
    b"", b"\0" * 8, b"\x80\x04\x95", b"x" * 1000, '["__import__(\'os\')"]', "__import__('os').system('true')",
]  # fmt: skip


@pytest.fixture(scope="module")
def good_file(tmp_path_factory):
    """A small run in a file, all of it in one piece."""
    path = tmp_path_factory.mktemp("run") / "good.spl"
    table = np.random.default_rng(0).normal(size=(20, 2))
    data = Dataset.from_arrays(table, table[:, 0] * 2 + np.sin(table[:, 1]))
    grammar = Grammar.from_text("f -> f + f | f * f | C * f | x0 | x1")
    discover_in_file(path, RegressionRequest(data, grammar, config=TINY, limits=Limits(timeout=5, max_evaluations=50)))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    return path


def use_run(path):
    """Read a run, and look at all that it has."""
    try:
        run = read_run(path)
    except SplError as error:
        assert len(str(error)) < 1_000
        return
    assert run.searches


@cases(150)
@given(st.data())
def test_a_damaged_run_file_is_read_or_refused_in_words(good_file, data):
    raw = bytearray(good_file.read_bytes())
    how = data.draw(st.sampled_from(["cut", "flip", "flip", "fill", "noise"]))
    at = data.draw(st.one_of(st.integers(0, 200), st.integers(0, len(raw) - 1)))
    if how == "cut":
        raw = raw[:at]
    elif how == "flip":
        raw[at] ^= 1 << data.draw(st.integers(0, 7))
    elif how == "fill":
        raw[at : at + 100] = bytes([data.draw(st.integers(0, 255))]) * len(raw[at : at + 100])
    else:
        raw = bytearray(data.draw(st.binary(max_size=200)))
    with guarded("run files"), tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.spl")
        path.write_bytes(raw)
        use_run(path)


def columns_of(path):
    """Return the columns of all tables."""
    with sqlite3.connect(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = [(table, row[1]) for table in tables for row in connection.execute(f"PRAGMA table_info({table})")]
    connection.close()
    return found


@cases(150)
@given(st.data())
def test_values_of_a_wrong_kind_inside_are_read_or_refused_in_words(good_file, data):
    table, column = data.draw(st.sampled_from(columns_of(good_file)))
    value = data.draw(st.sampled_from(VALUES))
    where = data.draw(st.sampled_from(["", " WHERE rowid = 1", " WHERE rowid % 3 = 0"]))
    with guarded("run files"), tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.spl")
        shutil.copy(good_file, path)
        connection = sqlite3.connect(path)
        try:
            connection.execute(f"UPDATE {table} SET {column} = ?{where}", (value,))
            connection.commit()
        except sqlite3.Error:  # the schema refuses it already
            return
        finally:
            connection.close()
        use_run(path)


@cases(10)
@given(st.data())
def test_a_run_with_values_of_a_wrong_kind_goes_on_or_is_refused_in_words(good_file, data):
    table, column = data.draw(st.sampled_from(columns_of(good_file)))
    value = data.draw(st.sampled_from(VALUES))
    with guarded("run files"), tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.spl")
        shutil.copy(good_file, path)
        connection = sqlite3.connect(path)
        try:
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid % 2 = 0", (value,))
            connection.commit()
        except sqlite3.Error:
            return
        finally:
            connection.close()
        try:
            resume(read_run(path), limits=Limits(timeout=2, max_evaluations=100))
        except SplError as error:
            assert len(str(error)) < 1_000


def test_a_database_of_somebody_else_is_refused_in_words(tmp_path):
    path = tmp_path / "other.spl"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE facts (name, value)")
    connection.commit()
    connection.close()
    with pytest.raises(SplError, match=r"other\.spl"):
        read_run(path)
