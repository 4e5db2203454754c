import sqlite3
import threading
import time
from contextlib import closing

import pytest

from spl.checked_values import Damage
from spl.errors import RunFileError
from spl.runs import sqlite_file as run_store
from spl.runs.sqlite_file import (
    APPLICATION_ID,
    MIGRATIONS,
    VERSION,
    close_written,
    open_to_read,
    open_to_write,
    transaction,
)


def make_file(path, version=VERSION):
    """Make a run file as a version of the program made it that knew this schema."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for step in range(version):
            for statement in MIGRATIONS[step]:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("""INSERT INTO facts VALUES ('kind', '"regression"')""")
    return path


def tables_in(connection):
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_a_new_file_has_the_tables_of_the_present_version(tmp_path):
    close_written(open_to_write(tmp_path / "run.spl"))
    with open_to_read(make_file(tmp_path / "other.spl")) as expected, open_to_read(tmp_path / "run.spl") as found:
        assert tables_in(found) == tables_in(expected)
        assert found.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_file_of_version_1_is_brought_up_to_date_when_it_is_written(tmp_path):
    path = make_file(tmp_path / "run.spl", version=1)
    connection = open_to_write(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert "requests" in tables_in(connection)
    assert connection.execute("SELECT * FROM facts").fetchall() == [("kind", '"regression"')]
    close_written(connection)


def test_a_file_of_version_1_is_read_without_being_changed(tmp_path):
    path = make_file(tmp_path / "run.spl", version=1)
    before = path.read_bytes()
    with open_to_read(path) as connection:
        assert connection.execute("SELECT * FROM requests").fetchall() == []
        assert connection.execute("SELECT * FROM facts").fetchall() == [("kind", '"regression"')]
    assert path.read_bytes() == before


def test_a_migration_that_fails_changes_nothing(tmp_path, monkeypatch):
    path = make_file(tmp_path / "run.spl", version=1)
    monkeypatch.setitem(MIGRATIONS, 1, (*MIGRATIONS[1], "CREATE TABLE facts (a)"))
    with pytest.raises(RunFileError, match="already exists"):
        open_to_write(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        assert "requests" not in tables_in(connection)


def test_a_file_of_a_newer_version_is_refused_by_name(tmp_path):
    path = make_file(tmp_path / "run.spl")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 5}")
    for open_it in (open_to_write, lambda path: open_to_read(path).__enter__()):
        with pytest.raises(RunFileError, match=rf"newer version of spl: its schema is {VERSION + 5}.*pip install"):
            open_it(path)


def test_a_database_of_somebody_else_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "mail.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE letters (text)")
    before = path.read_bytes()
    with pytest.raises(RunFileError, match="not a run of spl"):
        open_to_write(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1,2\n" * 200)
    for open_it in (open_to_write, lambda path: open_to_read(path).__enter__()):
        with pytest.raises(RunFileError, match="not a run of spl"):
            open_it(path)
    assert path.read_text() == "x,y\n1,2\n" * 200


def test_an_empty_file_can_be_written_but_holds_no_run(tmp_path):
    path = tmp_path / "run.spl"
    path.touch()
    with pytest.raises(RunFileError, match="holds no run yet"), open_to_read(path):
        pass
    close_written(open_to_write(path))


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_truncated_file_is_said_to_be_damaged(tmp_path, share):
    path = make_file(tmp_path / "run.spl")
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    for open_it in (open_to_write, lambda path: open_to_read(path).__enter__()):
        with pytest.raises(RunFileError, match="damaged"):
            open_it(path)


def test_tables_of_another_shape_are_said_to_be_damaged(tmp_path):
    path = make_file(tmp_path / "run.spl")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE history")
        connection.execute(
            "CREATE VIEW history AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n"
        )
    with pytest.raises(RunFileError, match="damaged"), open_to_read(path):
        pass


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(RunFileError, match="There is no run file"), open_to_read(tmp_path / "no.spl"):
        pass


def test_what_spl_never_writes_is_said_to_be_damage(tmp_path):
    with pytest.raises(RunFileError, match="damaged: no such thing"), open_to_read(make_file(tmp_path / "run.spl")):
        raise Damage("no such thing")


@pytest.mark.parametrize("bug", [KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, RecursionError])
def test_a_bug_of_ours_is_not_blamed_on_the_file(tmp_path, bug):
    with pytest.raises(bug), open_to_read(make_file(tmp_path / "run.spl")):
        raise bug("a mistake in our code")


def test_a_transaction_is_written_as_a_whole_or_not_at_all(tmp_path):
    connection = open_to_write(tmp_path / "run.spl")
    with pytest.raises(sqlite3.OperationalError), transaction(connection):
        connection.execute("INSERT INTO facts VALUES ('a', '1')").execute("INSERT INTO nowhere VALUES (1)")
    assert connection.execute("SELECT * FROM facts").fetchall() == []
    close_written(connection)


def test_readers_see_the_last_transaction_while_another_is_going_on(tmp_path):
    path = tmp_path / "run.spl"
    connection = open_to_write(path)
    with transaction(connection):
        connection.execute("INSERT INTO facts VALUES ('a', '1')")
    with transaction(connection):
        connection.execute("INSERT INTO facts VALUES ('b', '2')")
        with open_to_read(path) as reader:
            assert reader.execute("SELECT * FROM facts").fetchall() == [("a", "1")]
    close_written(connection)


def test_a_run_is_one_file_even_if_somebody_reads_while_it_is_closed(tmp_path):
    path = tmp_path / "run.spl"
    connection = open_to_write(path)
    with transaction(connection):
        connection.execute("INSERT INTO facts VALUES ('a', '1')")
    is_reading, has_read = threading.Event(), threading.Event()

    def read_slowly():
        with open_to_read(path) as reader:
            reader.execute("SELECT * FROM facts").fetchall()
            is_reading.set()
            time.sleep(0.5)
        has_read.set()

    thread = threading.Thread(target=read_slowly)
    thread.start()
    assert is_reading.wait(10)
    close_written(connection)
    assert has_read.is_set()
    thread.join()
    assert [found.name for found in tmp_path.iterdir()] == ["run.spl"]


def test_a_reader_that_never_ends_does_not_keep_a_run_from_being_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(run_store, "CLOSE_SECONDS", 0.1)
    path = tmp_path / "run.spl"
    connection = open_to_write(path)
    with transaction(connection):
        connection.execute("INSERT INTO facts VALUES ('a', '1')")
    with open_to_read(path) as reader:
        reader.execute("SELECT * FROM facts").fetchall()
        close_written(connection)
    with open_to_read(path) as reader:
        assert reader.execute("SELECT * FROM facts").fetchall() == [("a", "1")]


def test_a_closed_run_is_one_file(tmp_path):
    connection = open_to_write(tmp_path / "run.spl")
    assert len(list(tmp_path.iterdir())) == 3  # the log and its index are beside it
    close_written(connection)
    assert [path.name for path in tmp_path.iterdir()] == ["run.spl"]
    assert max(MIGRATIONS) + 1 == run_store.VERSION
