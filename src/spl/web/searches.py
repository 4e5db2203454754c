"""The searches that a studio started, each in a separate process, so that neither can crash the other.

A run file holds what a search finds. This module knows what the file cannot: whether the process is alive, and its error message if
it failed to start.

Files in the folder may come from anywhere, so a process never runs in it and imports nothing from its working directory: a `click.py`
among the data must not become part of the program.
"""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from spl.errors import SplError
from spl.web.folder import LOG_ENDING, REQUEST_ENDING, RULES_ENDING, RUN_ENDING, StudioFolder
from spl.web.request import SearchRequest, read_request, write_request

STOP_SECONDS = 10.0  # for a search to end after it was asked to stop
INTERRUPT_SECONDS = 5.0  # for a search to end after it was interrupted
SHOWN_LOG = 2_000  # characters of the output of a failed search
_PROMPT = "$ "  # before a command in a log
_ERROR = "Error: "  # how commands begin an error message

AskToStop = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class _Started:
    """A process, and the end recorded in the run that it continues; None for a new run."""

    process: subprocess.Popen[bytes]
    ended_before: str | None


class Searches:
    """Starts and ends searches in a folder; `ask_to_stop` writes a request to stop into a run file."""

    def __init__(self, folder: StudioFolder, ask_to_stop: AskToStop) -> None:
        self._folder = folder
        self._ask_to_stop = ask_to_stop
        self._started: dict[str, _Started] = {}
        self._lock = Lock()

    # ---- starting --------------------------------------------------------------------------------

    def start(self, request: SearchRequest) -> str:
        """Start a search and return its name. The request must have been checked."""
        data = self._folder.data_file(request.data)
        name = self._folder.new_run(data).stem
        request_file, rules_file, run_file = self._files(name)
        request_file.write_text(json.dumps(write_request(request)), encoding="utf-8")
        if request.allowed.rules is not None:
            rules_file.write_text(request.allowed.rules, encoding="utf-8")
        self._launch(name, request.arguments(str(data), str(rules_file), str(run_file)))
        return name

    def resume(self, name: str, *, seconds: float, jobs: int, ended_before: str | None) -> None:
        """Continue a run for `seconds` more. Nobody else may be writing it."""
        run_file = self._folder.run_file(name)
        self._launch(name, ["resume", str(run_file), f"--timeout={seconds:g}", f"--jobs={jobs}"], ended_before)

    def _launch(self, name: str, words: Sequence[str], ended_before: str | None = None) -> None:
        with self._folder.run_path(name, LOG_ENDING).open("ab") as log:
            log.write(f"{_PROMPT}{self._without_folder(shlex.join(['spl', *words]))}\n".encode())
            log.flush()
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "spl", *words],
                cwd=self._folder.path.anchor,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal reaches only the studio, which then ends the searches
                env=_environment(),
            )
        with self._lock:
            self._started.pop(name, None)  # the newest comes last
            self._started[name] = _Started(process, ended_before)

    # ---- state -----------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Return the names of all searches started here, the newest first."""
        with self._lock:
            return list(reversed(self._started))

    def is_alive(self, name: str) -> bool:
        """Return whether the process of a search started here is still running."""
        started = self._started.get(name)
        return started is not None and started.process.poll() is None

    def ended_before_restart(self, name: str, ended: str | None) -> bool:
        """Return whether the end recorded in a run file is from before the run was continued."""
        started = self._started.get(name)
        return started is not None and ended is not None and ended == started.ended_before

    def failure(self, name: str) -> str:
        """Return the error message of a failed search; empty if it did not fail."""
        started = self._started.get(name)
        if started is None or not started.process.poll():
            return ""
        output = f"\n{self._read_log(name)}".rpartition(f"\n{_PROMPT}")[2].partition("\n")[2]
        message = (
            output.rpartition(_ERROR)[2]
            if _ERROR in output
            else f"The search ended with status {started.process.returncode}. {output}"
        )
        return self._without_folder(message).strip()[-SHOWN_LOG:]

    def request(self, name: str) -> SearchRequest | None:
        """Return the request that started a run; None if the run was not started by a studio."""
        try:
            return read_request(json.loads(self._folder.run_path(name, REQUEST_ENDING).read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError):  # missing, or not as `start` wrote it
            return None

    def command(self, name: str) -> str:
        """Return the command that runs a search, as typed in the folder; empty if no studio started it."""
        request = self.request(name)
        if request is not None:
            return shlex.join(["spl", *request.arguments(request.data, name + RULES_ENDING, name + RUN_ENDING)])
        first = self._read_log(name).partition("\n")[0]
        return first.removeprefix(_PROMPT) if first.startswith(_PROMPT) else ""

    def _read_log(self, name: str) -> str:
        try:
            return self._folder.run_path(name, LOG_ENDING).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def _files(self, name: str) -> tuple[Path, Path, Path]:
        request, rules, run = (
            self._folder.run_path(name, ending) for ending in (REQUEST_ENDING, RULES_ENDING, RUN_ENDING)
        )
        return request, rules, run

    def _without_folder(self, text: str) -> str:
        """Return a text with files of the folder shown by name only."""
        return text.replace(str(self._folder.path) + os.sep, "")

    # ---- ending and changing ---------------------------------------------------------------------

    def stop(self, name: str) -> None:
        """Ask a search to stop with the best so far; interrupt it if it has no run file yet."""
        try:
            self._ask_to_stop(self._folder.run_path(name, RUN_ENDING))
        except SplError:
            if not self.is_alive(name):
                raise
            self._started[name].process.send_signal(signal.SIGINT)

    def wait(self, name: str, seconds: float) -> None:
        """Wait until the process of a search has ended, at most `seconds`."""
        started = self._started.get(name)
        if started is not None:
            _wait_for([started.process], seconds)

    def rename(self, name: str, new: str) -> None:
        """Rename a search that has ended."""
        with self._lock:
            self._started = {new if old == name else old: started for old, started in self._started.items()}

    def forget(self, name: str) -> None:
        """Forget a search that has ended."""
        with self._lock:
            self._started.pop(name, None)

    def end_all(self) -> None:
        """End all searches so that their results are polished and saved; kill those that do not respond."""
        alive = {name: started.process for name, started in self._started.items() if self.is_alive(name)}
        for name in alive:
            with suppress(SplError):  # it ended in the meantime
                self.stop(name)
        processes = list(alive.values())
        _wait_for(processes, STOP_SECONDS)
        for process in _still_alive(processes):
            process.send_signal(signal.SIGINT)
        _wait_for(processes, INTERRUPT_SECONDS)
        for process in _still_alive(processes):
            process.kill()
            process.wait()


def _environment() -> dict[str, str]:
    """Return the environment of a search: it and its subprocesses find modules where the studio does, and nowhere else."""
    changes = {"PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "PYTHONSAFEPATH": "1"}
    given = os.environ.get("PYTHONPATH", "")
    if given:  # an empty or relative entry would mean another folder in another working directory
        changes["PYTHONPATH"] = os.pathsep.join(os.path.abspath(entry) for entry in given.split(os.pathsep))
    return os.environ | changes


def _still_alive(processes: list[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    return [process for process in processes if process.poll() is None]


def _wait_for(processes: list[subprocess.Popen[bytes]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _still_alive(processes) and time.monotonic() < deadline:
        time.sleep(0.05)
