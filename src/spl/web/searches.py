"""The searches that a studio started: each a process of its own, so that neither can take the other down.

What a search finds is in its run file. Here is only what the file cannot tell: whether the process lives, and what it said when it
could not even begin.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock

from spl.errors import SplError
from spl.web.folder import LOG_ENDING, RULES_ENDING, RUN_ENDING, StudioFolder
from spl.web.request import SearchRequest

STOP_SECONDS = 10.0  # in which a search ends by itself once it was asked to
INTERRUPT_SECONDS = 5.0  # and once it was interrupted
LOG_LENGTH = 2_000  # that is shown of what a search said when it failed
_PROMPT = "$ "  # before the command in a log
_ERROR = "Error: "  # how commands begin to tell a mistake of the user

AskToStop = Callable[[Path], None]


class Searches:
    """Starts searches in a folder and ends them; `ask_to_stop` writes the wish to end into a run file."""

    def __init__(self, folder: StudioFolder, ask_to_stop: AskToStop) -> None:
        self._folder = folder
        self._ask_to_stop = ask_to_stop
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = Lock()

    def start(self, request: SearchRequest) -> str:
        """Start a search and return its name. The request must have been checked."""
        run = self._folder.new_run(self._folder.data_file(request.data))
        if request.allowed.rules is not None:
            run.with_suffix(RULES_ENDING).write_text(request.allowed.rules, encoding="utf-8")
        words = request.arguments(run.with_suffix(RULES_ENDING).name, run.name)
        log = run.with_suffix(LOG_ENDING)
        with log.open("wb") as output:
            output.write(f"{_PROMPT}{shlex.join(['spl', *words])}\n".encode())
            output.flush()
            process = subprocess.Popen(
                [sys.executable, "-m", "spl", *words],
                cwd=self._folder.path,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the studio's terminal is for the studio, which then ends searches in order
                env=os.environ | {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
            )
        with self._lock:
            self._processes[run.stem] = process
        return run.stem

    def names(self) -> list[str]:
        """Return the names of all searches that were started here, the newest first."""
        return list(reversed(self._processes))

    def is_alive(self, name: str) -> bool:
        """Tell whether the process of a search that was started here still runs."""
        process = self._processes.get(name)
        return process is not None and process.poll() is None

    def failure(self, name: str) -> str:
        """Return what a search said that ended with an error; nothing if it did not."""
        process = self._processes.get(name)
        if process is None or not process.poll():
            return ""
        said = self._read_log(name).partition("\n")[2]
        told = (
            said.rpartition(_ERROR)[2]
            if _ERROR in said
            else f"The search ended with status {process.returncode}. {said}"
        )
        return told.strip()[-LOG_LENGTH:]

    def command(self, name: str) -> str:
        """Return the command that runs a search, as one would type it in the folder; nothing if it was not started here."""
        first = self._read_log(name).partition("\n")[0]
        return first.removeprefix(_PROMPT) if first.startswith(_PROMPT) else ""

    def _read_log(self, name: str) -> str:
        try:
            log = self._folder.path / StudioFolder.safe_name(name + LOG_ENDING)
            return log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def stop(self, name: str) -> None:
        """Ask a search to end with the best so far; one that has not begun to write its run file is interrupted."""
        try:
            self._ask_to_stop(self._folder.path / (name + RUN_ENDING))
        except SplError:
            if not self.is_alive(name):
                raise
            self._processes[name].send_signal(signal.SIGINT)

    def end_all(self) -> None:
        """End all searches in order: what they found is finished and kept. Those that do not listen are ended all the same."""
        alive = {name: process for name, process in self._processes.items() if process.poll() is None}
        for name in alive:
            with suppress(SplError):  # it came to its end meanwhile
                self.stop(name)
        processes = list(alive.values())
        _wait_for(processes, STOP_SECONDS)
        for process in _still_alive(processes):
            process.send_signal(signal.SIGINT)
        _wait_for(processes, INTERRUPT_SECONDS)
        for process in _still_alive(processes):
            process.kill()
            process.wait()


def _still_alive(processes: list[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    return [process for process in processes if process.poll() is None]


def _wait_for(processes: list[subprocess.Popen[bytes]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _still_alive(processes) and time.monotonic() < deadline:
        time.sleep(0.05)
