"""`spl watch` and `spl studio` as people start them: processes that print their address."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SPL = [sys.executable, "-m", "spl"]
SECONDS = 60.0  # for anything that is waited for, on a busy machine


@contextmanager
def serving(*words: str | Path, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command that serves a page; yield its process and the address, and end it with Ctrl-C."""
    command = [*SPL, *map(str, words), "--no-browser"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=heed_ctrl_c,
    )
    try:
        yield process, read_address(process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)


def heed_ctrl_c() -> None:
    """Take Ctrl-C as usual, even if the tests run in the background of a shell, where it is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def read_address(process: subprocess.Popen[str]) -> str:
    said = ""
    for line in process.stdout:
        said += line
        found = re.search(r"http://\S+", line)
        if found:
            return found[0]
    raise AssertionError(f"no address was printed:\n{said}")


def wait_until(is_so, what: str) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
