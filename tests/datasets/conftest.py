"""A cache and a server for downloads."""

from pathlib import Path

import pytest

from spl.datasets import download

TEXT = b"1,2\n3,4\n"  # the file on the server


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache, and no folder of data."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(download, "data_cache", lambda: folder)
    monkeypatch.delenv("SPL_DATA", raising=False)
    return folder


@pytest.fixture
def server(tmp_path) -> Path:
    """A folder that plays the server."""
    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "table.csv").write_bytes(TEXT)
    return folder
