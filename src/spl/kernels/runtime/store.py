"""The store of compiled kernels on disk: one file per kernel and signature, in the user's cache.

Every file is written in one step and checked when it is read, and no file lists other files. So any number of processes and versions
can share the store, and any file can be missing or damaged: its kernel is compiled again. The store is bounded; what was not used
for longest goes first.
"""

import atexit
import contextlib
import functools
import os
import pickle
import shutil
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

MAX_BYTES = 200_000_000  # of all files: the kernels of one version take about 4 MB
TOUCH_SECONDS = 86_400.0  # how exactly the time of the last use is known
MAX_CLAIM_SECONDS = 20.0  # after which others compile a kernel although one process says that it does

_CHECKSUM_BYTES = 4

troubles: list[str] = []  # why kernels were not kept or could not be read, in words, once each
_written_to: set[Path] = set()


@functools.cache
def cache_folder() -> Path:
    """Return the folder of the project in `SPL_CACHE`, else in the user's cache, whether it exists or not."""
    chosen = os.environ.get("SPL_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) / "symbolic-physics-learner"


@functools.cache
def kernel_folder() -> Path:
    """Return the folder of compiled kernels."""
    return cache_folder() / "kernels"


@functools.cache
def _substitute_folder() -> Path:
    """Return a new folder, where nobody else can have put code, for when the usual one cannot be written to.

    It is deleted when the process ends.
    """
    folder = tempfile.mkdtemp(prefix="symbolic-physics-learner-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def contains(name: str) -> bool:
    """Return whether there is a file of this name, be it damaged or not."""
    return any(path.exists() for path in _places(name))


def read(name: str) -> Any:
    """Return the value that `write` wrote, or None if it is missing or damaged."""
    for path in _places(name):
        try:
            content = memoryview(path.read_bytes())
        except OSError:
            continue
        checksum, pickled = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        if len(pickled) and _checksum(pickled) == checksum:
            _mark_as_used(path)
            return pickle.loads(pickled)
        _note(f"A compiled kernel in '{path.parent}' was damaged; it is compiled again.")
    return None


def write(name: str, value: Any) -> None:
    """Write a file in one step. If the usual folder cannot be written to, note that and write to a temporary one."""
    pickled, folder = dumps(value), kernel_folder()
    if folder in _written_to and not folder.exists():
        _note(
            f"The compiled kernels in '{folder}' were deleted meanwhile; they are compiled again when they are needed."
        )
    try:
        _write_bytes(folder / name, pickled)
        _written_to.add(folder)
    except OSError as error:
        _note(
            f"Compiled kernels could not be kept in '{folder}' ({error.strerror}), so the next search compiles them again. "
            "Name a folder that can be written to in the environment variable SPL_CACHE."
        )
        with contextlib.suppress(OSError):
            _write_bytes(_substitute_folder() / name, pickled)


def _places(name: str) -> Iterator[Path]:
    yield kernel_folder() / name
    if _substitute_folder.cache_info().currsize:
        yield _substitute_folder() / name


def _write_bytes(path: Path, pickled: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{uuid.uuid4().hex}.tmp")
    try:
        unfinished.write_bytes(_checksum(pickled) + pickled)
        unfinished.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def _checksum(content: bytes | memoryview) -> bytes:
    return zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "little")


def _note(trouble: str) -> None:
    if trouble not in troubles:
        troubles.append(trouble)


# ---- who compiles what ---------------------------------------------------------------------------


def claim(name: str) -> bool:
    """Return whether this process should compile a kernel: not if another one does at present."""
    path = kernel_folder() / f"{name}.claim"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return True
    try:
        path.open("x").close()
    except FileExistsError:
        return abs(_age(path)) > MAX_CLAIM_SECONDS  # whoever claimed it died or is slow, or the clock was set back
    except OSError:
        return True
    return True


def release(name: str) -> None:
    """Give a claim back."""
    with contextlib.suppress(OSError):
        (kernel_folder() / f"{name}.claim").unlink()


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0  # gone: the kernel is ready, or will be claimed again


# ---- the bound -----------------------------------------------------------------------------------


def _mark_as_used(path: Path) -> None:
    with contextlib.suppress(OSError):
        if _age(path) > TOUCH_SECONDS:
            os.utime(path)


def prune(max_bytes: int = MAX_BYTES) -> None:
    """Delete what was not used for longest until the rest fits, and what interrupted processes left behind."""
    files = []
    for path in cache_folder().glob("kernels*/*"):  # older versions had one folder each
        with contextlib.suppress(OSError):
            status = path.stat()
            if path.suffix != ".nbc" and time.time() - status.st_mtime > MAX_CLAIM_SECONDS:
                path.unlink()
            else:
                files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= max_bytes:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            total -= size
    for folder in cache_folder().glob("kernels-*"):
        with contextlib.suppress(OSError):
            folder.rmdir()  # if it is empty
