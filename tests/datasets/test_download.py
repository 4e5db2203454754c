"""Files of measured data: found, downloaded and checked."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from tests.datasets.conftest import TEXT

from spl.datasets.download import RemoteFile, data_cache, find_file
from spl.errors import DataError
from spl.kernels.runtime.store import kernel_folder

DIGEST = hashlib.sha256(TEXT).hexdigest()


def remote(server: Path, digest: str = DIGEST) -> RemoteFile:
    return RemoteFile("things/table.csv", (server / "table.csv").as_uri(), digest)


def test_a_file_is_downloaded_once(cache, server):
    assert find_file(remote(server)).read_bytes() == TEXT
    shutil.rmtree(server)
    assert find_file(remote(server)) == cache / "things/table.csv"
    assert os.listdir(cache / "things") == ["table.csv"]


def test_a_file_in_the_folder_of_data_comes_first(cache, server, tmp_path, monkeypatch):
    (tmp_path / "own/things").mkdir(parents=True)
    (tmp_path / "own/things/table.csv").write_bytes(TEXT)
    monkeypatch.setenv("SPL_DATA", str(tmp_path / "own"))
    assert find_file(remote(server)) == tmp_path / "own/things/table.csv"
    assert not cache.exists()


def test_a_folder_of_data_without_the_file_leaves_it_to_the_cache(cache, server, tmp_path, monkeypatch):
    monkeypatch.setenv("SPL_DATA", str(tmp_path / "nowhere"))
    assert find_file(remote(server)) == cache / "things/table.csv"


def test_another_file_in_the_folder_of_data_is_refused(cache, server, tmp_path, monkeypatch):
    (tmp_path / "things").mkdir()
    (tmp_path / "things/table.csv").write_bytes(b"other")
    monkeypatch.setenv("SPL_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"table\.csv is not the published file: its SHA-256 is .* or unset SPL_DATA"):
        find_file(remote(server))


def test_a_spoiled_file_in_the_cache_is_downloaded_again(cache, server):
    find_file(remote(server)).write_bytes(TEXT[:3])
    assert find_file(remote(server)).read_bytes() == TEXT


def test_a_download_that_is_another_file_is_not_kept(cache, server):
    with pytest.raises(DataError, match=r"has changed: its SHA-256 is .* Nothing was saved"):
        find_file(remote(server, digest="0" * 64))
    assert not cache.exists()


def test_a_file_that_is_nowhere_is_answered_with_what_to_do(cache, server):
    (server / "table.csv").unlink()
    with pytest.raises(
        DataError, match=r"cannot be downloaded: .* Download file:.* save it as things/table\.csv in a folder"
    ):
        find_file(remote(server))


def test_the_cache_of_data_is_beside_that_of_the_kernels(tmp_path, monkeypatch):
    assert data_cache() == kernel_folder().parent / "data"
    monkeypatch.setattr("spl.kernels.runtime.store.cache_folder", lambda: tmp_path / "symbolic-physics-learner-abc")
    assert data_cache() == tmp_path / "symbolic-physics-learner-abc/data"
