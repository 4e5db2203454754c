"""The file of a run, an SQLite database: opening it to read or to write, its schema and migrations from older ones.

Other modules know what is in the tables. If a file is not a sound run, the error says so in one sentence; a file of another program is
never changed.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from spl.checked_values import Damage
from spl.errors import SHOWN_PATH, RunFileError, shorten

APPLICATION_ID = 0x53504C52  # "SPLR", in the header of the file
BUSY_SECONDS = 5.0  # to wait for another process that is writing
CLOSE_SECONDS = 10.0  # to wait for readers before a run is closed with its log still in a separate file
_CLOSE_PAUSE_SECONDS = 0.02  # between two attempts to close

_TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",  # JSON
    "CREATE TABLE arrays (name TEXT PRIMARY KEY, shape TEXT NOT NULL, numbers BLOB NOT NULL)",  # of float64
    "CREATE TABLE searches (search INTEGER PRIMARY KEY, name TEXT NOT NULL, grammar TEXT NOT NULL, rules TEXT NOT NULL, "
    "result TEXT)",  # one for each equation; rules and result as JSON
    "CREATE TABLE front (search INTEGER, place INTEGER, cost INTEGER, loss REAL, reward REAL, equation TEXT, program TEXT, "
    "PRIMARY KEY (search, place))",  # at present
    "CREATE TABLE improvements (id INTEGER PRIMARY KEY, search INTEGER, seconds REAL, cost INTEGER, loss REAL, equation TEXT)",
    "CREATE TABLE history (id INTEGER PRIMARY KEY, search INTEGER, seconds REAL, episodes INTEGER, evaluations INTEGER, "
    "rounds INTEGER, loss REAL)",
    "CREATE TABLE checkpoints (search INTEGER PRIMARY KEY, position TEXT NOT NULL, arrays BLOB NOT NULL)",
    "CREATE TABLE trees (search INTEGER, tree INTEGER, arrays BLOB NOT NULL, PRIMARY KEY (search, tree))",
    "CREATE TABLE ledgers (id INTEGER PRIMARY KEY, search INTEGER, tree INTEGER, arrays BLOB NOT NULL)",
)
# Statements that lead from each version of the schema to the next
MIGRATIONS: dict[int, tuple[str, ...]] = {
    0: _TABLES,
    1: ("CREATE TABLE requests (name TEXT PRIMARY KEY, time TEXT NOT NULL)",),  # of other processes: "stop"
    # The price of the numbers of each formula of the front; NULL if it is not known
    2: ("CREATE TABLE number_nats (search INTEGER, place INTEGER, nats REAL, PRIMARY KEY (search, place))",),
    # Formulas that the data may be unable to tell from the best, when the search has ended
    3: (
        "CREATE TABLE rivals (search INTEGER, place INTEGER, loss REAL, reward REAL, nats REAL, equation TEXT, program TEXT, "
        "PRIMARY KEY (search, place))",
    ),
    # Of a formula of the front: the numbers that each group has for itself, as JSON
    4: ("CREATE TABLE own_numbers (search INTEGER, place INTEGER, numbers TEXT, PRIMARY KEY (search, place))",),
}
VERSION = len(MIGRATIONS)
SHOWN_CAUSE = 200  # characters of what is wrong inside a file


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open a run, or create the file of a new one; older tables are brought up to date. The caller must have the lock."""
    with explained(path, "written"):
        connection = connect(path, "rwc")
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            check_file(path, connection)
            connection.execute("PRAGMA journal_mode = WAL")
            migrate(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def close_written(connection: sqlite3.Connection) -> None:
    """Close a run that was written, with the log merged into its file, so that it can be copied and read in any folder.

    SQLite refuses that while somebody reads the file, and a reader cannot do it later, so it is tried for a while.
    """
    deadline = time.monotonic() + CLOSE_SECONDS
    with closing(connection):
        while not _join_log(connection) and time.monotonic() < deadline:
            time.sleep(_CLOSE_PAUSE_SECONDS)


def _join_log(connection: sqlite3.Connection) -> bool:
    """Return whether the log is in the file, or never will be."""
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        return "locked" not in str(error)  # if the disk is full, a warning has said so
    except sqlite3.Error:
        return True
    return True


@contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a run as it is now, whether or not it is running, without changing it."""
    if not path.is_file():
        raise RunFileError(f"There is no run file '{path}'.")
    with explained(path, "read"), closing(connect(path, "ro")) as connection:
        version = check_file(path, connection)
        if version == 0:
            raise RunFileError(f"'{path}' holds no run yet. Was it stopped before it began? Start it again.")
        if version == VERSION:
            connection.execute("BEGIN")
            yield connection
            return
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            connection.backup(copy)
            migrate(copy)
            yield copy


def check_file(path: Path, connection: sqlite3.Connection) -> int:
    """Return the version of the schema, 0 if the file is empty; raise an error unless it is a sound run file."""
    [application], [version] = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
    )
    tables = set(connection.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
    if not application and not tables:
        return 0
    if application != APPLICATION_ID:
        raise RunFileError(f"'{path}' is a database, but not a run of spl. Choose another file.")
    if version > VERSION:
        raise RunFileError(
            f"'{path}' was written by a newer version of spl: its schema is {version}, and this one knows up to {VERSION}. "
            "Upgrade with: pip install --upgrade symbolic-physics-learner"
        )
    [verdict] = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok" or tables != _expected_tables(version):
        raise RunFileError(
            f"'{path}' is damaged{'' if verdict == 'ok' else f': {verdict}'}. Begin a new run in another file."
        )
    return int(version)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the tables up to date, all at once or not at all."""
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version == VERSION:
        return
    with transaction(connection):
        for step in range(version, VERSION):
            for statement in MIGRATIONS[step]:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write everything that happens inside, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """Return a connection to the file: "ro" reads it, "rw" also writes it, "rwc" makes it if there is none."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,  # transactions are explicit
        check_same_thread=False,  # writers make sure that only one thread writes at a time
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def _expected_tables(version: int) -> set[tuple[str, str, str]]:
    statements = [statement for step in range(version) for statement in MIGRATIONS[step]]
    return {("table", statement.split()[2], statement) for statement in statements}


@contextmanager
def explained(path: Path, action: str) -> Iterator[None]:
    """Turn damage and errors of SQLite and the operating system into errors of one sentence. Any other error is a bug and passes."""
    shown = shorten(str(path), SHOWN_PATH)
    try:
        yield
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error):
            raise RunFileError(f"'{shown}' is not a run of spl. Choose another file.") from None
        if "malformed" in str(error):
            raise RunFileError(f"'{shown}' is damaged: {error}. Begin a new run in another file.") from None
        raise RunFileError(f"The run file '{shown}' cannot be {action}: {error}.") from None
    except OSError as error:
        raise RunFileError(f"The run file '{shown}' cannot be {action}: {error.strerror}.") from None
    except (Damage, UnicodeDecodeError) as error:  # the latter where SQLite quotes text of the file that is not UTF-8
        raise RunFileError(
            f"'{shown}' is damaged: {shorten(str(error), SHOWN_CAUSE)}. Begin a new run in another file."
        ) from None
