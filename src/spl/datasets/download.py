"""Files of measured data: found in the folder `SPL_DATA` or in the cache, else downloaded; always checked.

`measured` lists the files.
"""

import hashlib
import http.client
import os
import tempfile
import urllib.request
from pathlib import Path
from typing import NamedTuple

from spl.errors import DataError

DATA_VARIABLE = "SPL_DATA"
_DOWNLOAD_SECONDS = 60.0  # to wait for a server that does not respond


class RemoteFile(NamedTuple):
    """A file: its path in a folder of data, its address, and its SHA-256."""

    path: str
    address: str
    digest: str


def find_file(file: RemoteFile) -> Path:
    """Return the path of the file, downloaded if necessary."""
    given = find_given(file)
    if given is not None:
        return given
    cached = data_cache() / file.path
    if not cached.is_file() or _digest_of(cached.read_bytes()) != file.digest:
        _write_whole(cached, _download(file))
    return cached


def find_given(file: RemoteFile) -> Path | None:
    """Return the path of the file in the folder `SPL_DATA`; None without the file or the folder."""
    folder = os.environ.get(DATA_VARIABLE)
    path = Path(folder) / file.path if folder else None
    if path is None or not path.is_file():
        return None
    digest = _digest_of(path.read_bytes())
    if digest != file.digest:
        raise DataError(
            f"{path} is not the published file: its SHA-256 is {digest}, not {file.digest}. Replace it with {file.address}, "
            f"or unset {DATA_VARIABLE}."
        )
    return path


def data_cache() -> Path:
    """Return the folder of downloaded data, next to that of compiled kernels."""
    from spl.kernels.runtime.store import cache_folder  # numba is slow to import

    return cache_folder() / "data"


def _download(file: RemoteFile) -> bytes:
    try:
        with urllib.request.urlopen(file.address, timeout=_DOWNLOAD_SECONDS) as answer:
            raw: bytes = answer.read()
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise DataError(
            f"{file.path} is not on this machine and cannot be downloaded: {getattr(error, 'reason', error)}. Download "
            f"{file.address} yourself, save it as {file.path} in a folder of your choice, and set {DATA_VARIABLE} to that "
            "folder."
        ) from None
    digest = _digest_of(raw)
    if digest != file.digest:
        raise DataError(
            f"{file.address} has changed: its SHA-256 is {digest}, not {file.digest}. Nothing was saved. If you have the "
            f"original file, save it as {file.path} in a folder and set {DATA_VARIABLE} to that folder."
        )
    return raw


def _digest_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _write_whole(path: Path, raw: bytes) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as part:
        part.write(raw)
    os.replace(part.name, path)
