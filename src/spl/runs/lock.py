"""The lock of a run: only one process writes it at a time. The operating system frees the lock when the process ends, however it ends.

The lock is on a file next to the run file. The run file itself has the locks of SQLite, and is read during the run.
"""

import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from spl.errors import RunFileError

SUFFIX = "-lock"
_TRIES, _PAUSE_SECONDS = 20, 0.05  # `is_locked` in another process has the lock for a moment


class RunLock:
    """The right to write a run, from construction to `close`, the end of a `with`, or the end of the process."""

    def __init__(self, path: Path) -> None:
        self._path = _lock_path(path)
        for left in reversed(range(_TRIES)):
            self._file = _open_and_lock(self._path)
            if self._file is not None:
                break
            if not left:
                raise RunFileError(
                    f"The run file '{path}' is in use by another process{_owner(self._path)}. Wait until it ends, or stop it; "
                    "`spl show` works meanwhile."
                )
            time.sleep(_PAUSE_SECONDS)

    def close(self) -> None:
        """Release the lock."""
        if self._file is None:
            return
        self._path.unlink(missing_ok=True) if os.name == "posix" else None
        os.close(self._file)
        self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def is_locked(path: Path) -> bool:
    """Return whether a process is writing the run."""
    lock = _lock_path(path)
    try:
        file = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _try_lock(file)
    finally:
        os.close(file)


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


def _open_and_lock(path: Path) -> int | None:
    """Return the open file of the lock, now ours; None if another process has it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    if _try_lock(file) and _is_still_there(path, file):
        os.truncate(file, 0)
        os.write(file, str(os.getpid()).encode())
        return file
    os.close(file)
    return None


def _is_still_there(path: Path, file: int) -> bool:
    """Return whether the open file is still the one at the path: its last owner may have deleted it before we locked it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except OSError:
        return False


def _owner(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
    return f" ({text})" if text.isdecimal() else ""


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 30  # the locked byte: other processes can still read the owner at the start

    def _try_lock(file: int) -> bool:
        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(file, 0, os.SEEK_SET)
        return True
else:
    import fcntl

    def _try_lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
