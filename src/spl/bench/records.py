"""Results as a file of JSON lines, one per trial, with everything needed to understand and repeat it.

Each line is synced to disk, so that a killed process loses at most the line being written. A file has one writer.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

from spl.bench.trials import Outcome, Trial
from spl.errors import DataError

try:
    import fcntl
except ImportError:  # Windows has no such locks; there, users must avoid two writers
    fcntl = None  # type: ignore[assignment]

_TRIAL = tuple(field.name for field in fields(Trial))
_OUTCOME = tuple(field.name for field in fields(Outcome))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A trial, its outcome, and its origin."""

    trial: Trial
    outcome: Outcome
    commit: str
    versions: dict[str, str]
    machine: dict[str, Any]
    settings: dict[str, Any]  # of the tool

    def to_json(self) -> str:
        """Return the record as one line, without the line break."""
        origin = {name: getattr(self, name) for name in ("commit", "versions", "machine", "settings")}
        return json.dumps(asdict(self.trial) | asdict(self.outcome) | origin, allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> "Record":
        """Return the record of a line; raise ValueError, KeyError or TypeError if it is not one."""
        values = json.loads(line)
        return cls(
            trial=Trial(**{name: values[name] for name in _TRIAL}),
            outcome=Outcome(**{name: values[name] for name in _OUTCOME if name in values}),  # older ones lack details
            **{name: values[name] for name in ("commit", "versions", "machine", "settings")},
        )


def read(path: Path) -> list[Record]:
    """Return the records of a file in the order they were written, without a truncated last line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"The results '{path}' cannot be read: {error.strerror or error}.") from None
    return _parse(content, path)


def latest(records: Iterable[Record]) -> list[Record]:
    """Return the last record of each trial."""
    return list({record.trial.key: record for record in records}.values())


class ResultsFile:
    """A file of results that only this process writes to."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.path = path
        self._file = file
        self.records = _parse(file.read(), path)
        self._repair()

    def append(self, record: Record) -> None:
        """Append a record to the file, and sync it to disk."""
        try:
            self._file.write(f"{record.to_json()}\n".encode())
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _cannot_write(self.path, error) from None
        self.records.append(record)

    def _repair(self) -> None:
        """Make the file end with a complete line: drop a truncated one, or add a missing line break."""
        self._file.seek(0)
        content = self._file.read()
        if not content or content.endswith(b"\n"):
            return
        start = content.rfind(b"\n") + 1
        if _is_record(content[start:]):
            self._file.write(b"\n")
        else:
            self._file.truncate(start)


@contextmanager
def open_results(path: Path, *, is_fresh: bool = False) -> Iterator[ResultsFile]:
    """Open a file of results for writing; create it if necessary. `is_fresh` renames an old one and starts over.

    Raises an error if another process writes to the file.
    """
    if is_fresh and path.exists():
        with _open_alone(path):
            path.rename(free_name(path))
    with _open_alone(path) as file:
        yield ResultsFile(path, file)


def _open_alone(path: Path) -> BinaryIO:
    """Open a file to read and append, and lock it against other processes until it is closed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        if fcntl is not None:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise DataError(
            f"Another process is writing to '{path}'. Wait for it, or name another file with --results."
        ) from None
    file.seek(0)
    return file


def _cannot_write(path: Path, error: OSError) -> DataError:
    return DataError(f"The results '{path}' cannot be written: {error.strerror or error}.")


def free_name(path: Path) -> Path:
    """Return the first unused name such as `results.jsonl.1`."""
    number = 1
    while path.with_name(f"{path.name}.{number}").exists():
        number += 1
    return path.with_name(f"{path.name}.{number}")


def _parse(content: bytes, path: Path) -> list[Record]:
    lines = content.split(b"\n")
    if lines[-1] and not _is_record(lines[-1]):
        lines[-1] = b""
    return [_parse_line(line, number, path) for number, line in enumerate(lines, start=1) if line.strip()]


def _parse_line(line: bytes, number: int, path: Path) -> Record:
    try:
        return Record.from_json(line.decode())
    except (ValueError, KeyError, TypeError):
        raise DataError(
            f"Line {number} of '{path}' is not a result. Delete the line, or start over with --fresh, "
            "which sets the old file aside."
        ) from None


def _is_record(line: bytes) -> bool:
    try:
        Record.from_json(line.decode())
    except (ValueError, KeyError, TypeError):
        return False
    return True
