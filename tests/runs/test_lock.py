import os
import signal
import subprocess
import sys
import time

import pytest

from spl.errors import RunFileError
from spl.runs.lock import SUFFIX, RunLock, is_locked

pytestmark = pytest.mark.process

HOLD = """
import sys, time
from pathlib import Path
from spl.runs.lock import RunLock
lock = RunLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "run.spl"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_lock_is_seen_by_others_and_leaves_no_file_behind(tmp_path):
    path = tmp_path / "run.spl"
    assert not is_locked(path)
    with RunLock(path):
        assert is_locked(path)
    assert not is_locked(path)
    assert list(tmp_path.iterdir()) == []


def test_a_lock_that_another_process_has_is_refused_with_its_owner(tmp_path, holder):
    with pytest.raises(RunFileError, match=rf"in use by another process \({holder.pid}\)"):
        RunLock(tmp_path / "run.spl")


def test_a_lock_dies_with_its_process(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert not is_locked(tmp_path / "run.spl")
    RunLock(tmp_path / "run.spl").close()


def test_a_lock_waits_for_those_who_only_look(tmp_path, monkeypatch):
    path = tmp_path / "run.spl"
    glance = os.open(path.with_name(path.name + SUFFIX), os.O_RDWR | os.O_CREAT)
    import fcntl

    fcntl.flock(glance, fcntl.LOCK_EX)
    monkeypatch.setattr(time, "sleep", lambda seconds: fcntl.flock(glance, fcntl.LOCK_UN))
    with RunLock(path):
        assert is_locked(path)
    os.close(glance)


def test_a_lock_on_a_file_that_was_deleted_meanwhile_does_not_count(tmp_path, monkeypatch):
    path = tmp_path / "run.spl"
    side = path.with_name(path.name + SUFFIX)
    real, calls = os.open, []

    def open_late(name, *arguments):
        file = real(name, *arguments)
        if not calls:  # its owner deletes it between our opening and our locking
            side.unlink()
        calls.append(name)
        return file

    monkeypatch.setattr(os, "open", open_late)
    with RunLock(path):
        assert len(calls) == 2
        assert is_locked(path)
