import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.run_examples import NO_LIMIT, make_config, make_data, make_plan, search_in_file, summary

from spl.data.dataset import Dataset
from spl.errors import RunFileError, RunFileWarning
from spl.runs.reader import read_run
from spl.runs.writer import RunFile, fingerprint
from spl.settings import Limits

pytestmark = pytest.mark.search

LONG = make_config(4)  # enough for a file that a full disk cannot hold


@contextmanager
def full_disk(n_bytes):
    """Let no file grow beyond so many bytes, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def on_a_full_disk(tmp_path_factory):
    """What a search finds on a disk that fills up, the file it leaves, and what it finds with room."""
    folder = tmp_path_factory.mktemp("runs")
    expected = search_in_file(folder / "other.spl", config=LONG)
    with full_disk(300_000), pytest.warns(RunFileWarning, match="cannot be written.*The search continues"):
        found = search_in_file(folder / "run.spl", config=LONG)
    return found, folder / "run.spl", expected


def test_when_the_disk_is_full_the_search_goes_on_and_says_so(on_a_full_disk):
    found, path, expected = on_a_full_disk
    assert summary(found) == summary(expected)
    run = read_run(path)
    assert run.status in ("died", "finished", "interrupted")
    assert len(run.searches[0].front)


def test_a_run_that_the_disk_was_full_for_is_continued_when_there_is_room_again(on_a_full_disk, tmp_path):
    _, left, expected = on_a_full_disk
    path = Path(shutil.copy(left, tmp_path))
    assert summary(search_in_file(path, config=LONG)) == summary(expected)
    assert read_run(path).status == "finished"


def test_a_run_that_cannot_even_begin_on_a_full_disk_is_refused(tmp_path):
    with full_disk(4096), pytest.raises(RunFileError, match="cannot be written"):
        RunFile(tmp_path / "run.spl", make_plan(), NO_LIMIT, 1)
    search_in_file(tmp_path / "run.spl")  # with room, it begins as if nothing had been


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    folder = tmp_path
    if os.geteuid() == 0:
        folder = "/sys/kernel"  # not even the superuser makes files there
    else:
        folder.chmod(0o555)
    with pytest.raises(RunFileError, match=r"cannot be written: .*(denied|permitted|Read-only)"):
        RunFile(f"{folder}/run.spl", make_plan(), NO_LIMIT, 1)


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(RunFileError, match=r"there is no folder .*missing'. Make it first"):
        RunFile(tmp_path / "missing" / "run.spl", make_plan(), NO_LIMIT, 1)
    (tmp_path / "file").touch()
    with pytest.raises(RunFileError, match="there is no folder"):
        RunFile(tmp_path / "file" / "run.spl", make_plan(), NO_LIMIT, 1)


def test_a_folder_is_no_run_file(tmp_path):
    with pytest.raises(RunFileError, match="is a folder"):
        RunFile(tmp_path, make_plan(), NO_LIMIT, 1)


def test_a_run_that_another_process_writes_is_refused(tmp_path):
    with RunFile(tmp_path / "run.spl", make_plan(), NO_LIMIT, 1):
        code = "import sys; from tests.run_examples import *; from spl.runs.writer import RunFile\n"
        code += "RunFile(sys.argv[1], make_plan(), NO_LIMIT, 1)"
        other = subprocess.run(
            [sys.executable, "-c", code, tmp_path / "run.spl"], capture_output=True, text=True, check=False
        )
    assert f"in use by another process ({os.getpid()})" in other.stderr.splitlines()[-1]


def test_an_error_leaves_the_run_interrupted(tmp_path):
    with pytest.raises(ZeroDivisionError), RunFile(tmp_path / "run.spl", make_plan(), NO_LIMIT, 1):
        1 / 0  # noqa: B018
    assert (read_run(tmp_path / "run.spl").status, read_run(tmp_path / "run.spl").stopped) == ("interrupted", "error")


def test_limits_and_jobs_may_change(tmp_path):
    RunFile(tmp_path / "run.spl", make_plan(), Limits(timeout=5), 1).close()
    with RunFile(tmp_path / "run.spl", make_plan(), Limits(timeout=9), 2) as run:
        assert run.limits_before.timeout == 5
    assert read_run(tmp_path / "run.spl").settings["limits"]["timeout"] == 9


@pytest.mark.parametrize("change", ["name", "value", "weight", "order"])
def test_any_change_of_the_data_shows(change):
    rows, target, weights, names = np.arange(6.0).reshape(3, 2), np.arange(3.0), np.ones(3), ["a", "b"]
    before = fingerprint(Dataset.from_arrays(rows, target, names=names, weights=weights))
    if change == "name":
        names = ["a", "c"]
    elif change == "value":
        rows[2, 1] = np.nextafter(rows[2, 1], 9)
    elif change == "weight":
        weights = np.array([1.0, 1.0, 2.0])
    else:
        rows, target = rows[::-1], target[::-1]
    assert fingerprint(Dataset.from_arrays(rows, target, names=names, weights=weights)) != before
    assert fingerprint(make_data()) == fingerprint(make_data())
