"""One process writes a run at a time: a lock of the operating system on a file beside it, gone when the process is, however it ends.

The run file itself is not locked: SQLite has locks of its own on it, and readers come and go while a run goes on.
"""

import os
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from spl.errors import RunFileError

SUFFIX = "-lock"
_TRIES, _PAUSE_SECONDS = 20, 0.05  # somebody who looks whether the run goes on has the lock for a moment


class RunLock:
    """The right to write a run. Taken when made; given back by `close`, at the end of a `with`, or when the process ends."""

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
        """Let others write the run."""
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
    """Tell whether a process is writing the run."""
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
    """Return the open file of a lock that is ours now; None if another process has it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    if _try_lock(file) and _is_still_there(path, file):
        os.truncate(file, 0)
        os.write(file, str(os.getpid()).encode())
        return file
    os.close(file)
    return None


def _is_still_there(path: Path, file: int) -> bool:
    """Tell whether the file is the one under the path: its last owner may have deleted it before we had the lock."""
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

    _FAR = 1 << 30  # where the lock is: other processes may still read the owner

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
