"""The runs that a server shows: one file for `spl watch`; a folder and its searches for `spl studio`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from spl.display.results import STOPPED
from spl.errors import RunFileError, SplError
from spl.notation.export import FORMATS
from spl.runs.facts import DIED, RUNNING
from spl.runs.lock import RunLock
from spl.runs.reader import RunState, read_run, read_state
from spl.runs.regression import ENDED_FOR_GOOD, request_stop
from spl.web.folder import RUN_ENDING, StudioFolder
from spl.web.run_view import describe_run
from spl.web.searches import Searches

COMPILING, STARTING, FAILED = "compiling", "starting", "failed"  # in addition to the statuses that a run file records
PROCESS_END_SECONDS = 5.0  # for a process to exit after the end of its run


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run in a list."""

    name: str
    status: str


class RunList(Protocol):
    """Runs by name."""

    def entries(self) -> list[RunEntry]:
        """Return all runs, the newest first."""

    def path(self, name: str) -> Path:
        """Return the run file; raise an error if there is no such run."""

    def view(self, name: str) -> dict[str, Any]:
        """Return what a page shows of a run."""

    def stop(self, name: str) -> None:
        """Ask a run to stop with the best so far."""


class OneRun:
    """A single run file, wherever it is and whoever writes it."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        read_run(self._path)  # so that an unreadable file is an error before a page opens

    def entries(self) -> list[RunEntry]:
        """Return the run."""
        return [RunEntry(self._path.stem, read_state(self._path).status)]

    def path(self, name: str) -> Path:
        """Return the run file."""
        if name != self._path.stem:
            raise RunFileError(f"There is no run '{name}' here.")
        return self._path

    def view(self, name: str) -> dict[str, Any]:
        """Return what a page shows of the run."""
        return describe_run(read_run(self.path(name)))

    def stop(self, name: str) -> None:
        """Ask the run to stop."""
        request_stop(self.path(name))


class FolderRuns:
    """All runs in the folder of a studio, including those without a run file: starting or failed."""

    def __init__(self, folder: StudioFolder, searches: Searches) -> None:
        self._folder = folder
        self._searches = searches
        self._changing = Lock()  # one run is continued, renamed or deleted at a time

    def entries(self) -> list[RunEntry]:
        """Return all runs, the newest first."""
        with_file = self._folder.run_names()
        without_file = [name for name in self._searches.names() if name not in with_file]
        return [RunEntry(name, self._status(name)) for name in (*without_file, *with_file)]

    def path(self, name: str) -> Path:
        """Return the run file."""
        return self._folder.run_file(name)

    def view(self, name: str) -> dict[str, Any]:
        """Return what a page shows of a run: the content of its file, and the error of its process."""
        failure = self._searches.failure(name)
        try:
            run = read_run(self.path(name))
            view = describe_run(run)
            status = self._status_with_process(name, RunState(run.status, run.facts.get("ended")))
            can_continue = run.stopped not in ENDED_FOR_GOOD
        except SplError:
            if not self._searches.is_alive(name) and not failure:
                raise
            view, status, can_continue = _empty_view(name), _status_at_start(), False
        return view | {
            "status": FAILED if failure else status,
            "error": failure,
            "command": self._searches.command(name),
            "can_continue": can_continue,
            "can_repeat": self._searches.request(name) is not None,
        }

    def stop(self, name: str) -> None:
        """Ask a run to stop."""
        if name not in self._searches.names():
            self.path(name)
        self._searches.stop(name)

    # ---- changes ---------------------------------------------------------------------------------

    def resume(self, name: str, seconds: float) -> None:
        """Continue a run that is not running for `seconds` more."""
        path = self.path(name)
        with self._changing:
            with self._not_running(name, "continued"):
                run = read_run(path)
            if run.stopped in ENDED_FOR_GOOD:
                raise RunFileError(f"More time would not help: {STOPPED[run.stopped]}.")
            self._searches.resume(name, seconds=seconds, jobs=run.settings["jobs"], ended_before=run.facts.get("ended"))

    def rename(self, name: str, wanted: str) -> str:
        """Rename a run that is not running, and return its new name."""
        self._check_known(name)
        with self._changing, self._not_running(name, "renamed"):
            new = self._folder.rename_run(name, wanted)
            self._searches.rename(name, new)
        return new

    def delete(self, name: str) -> None:
        """Delete a run that is not running."""
        self._check_known(name)
        with self._changing, self._not_running(name, "deleted"):
            self._folder.delete_run(name)
            self._searches.forget(name)

    def _check_known(self, name: str) -> None:
        if name not in self._searches.names():
            self.path(name)

    @contextmanager
    def _not_running(self, name: str, action: str) -> Iterator[None]:
        """Lock a run against writers inside the block; raise a clear error if it is still running."""
        try:
            if self._status(name) not in (COMPILING, STARTING, RUNNING):
                self._searches.wait(name, PROCESS_END_SECONDS)
            if self._searches.is_alive(name):
                raise RunFileError("its process is alive")
            lock = RunLock(self._folder.run_path(name, RUN_ENDING))
        except RunFileError:
            raise RunFileError(f"'{name}' is still running, so it cannot be {action}. Stop it first.") from None
        with lock:
            yield

    def _status(self, name: str) -> str:
        try:
            return self._status_with_process(name, read_state(self._folder.run_file(name)))
        except SplError:
            return _status_at_start() if self._searches.is_alive(name) else FAILED

    def _status_with_process(self, name: str, state: RunState) -> str:
        """Return the status of a run, considering that its process may not have written to its file yet."""
        if state.status == RUNNING or not self._searches.is_alive(name):
            return state.status
        is_early = state.status == DIED or self._searches.ended_before_restart(name, state.ended)
        return _status_at_start() if is_early else state.status


def _status_at_start() -> str:
    """Return the status of a search that has not found anything yet: the first one after an installation compiles the kernels."""
    from spl.kernels.runtime.building import are_all_stored  # slow to import

    return STARTING if are_all_stored() else COMPILING


def _empty_view(name: str) -> dict[str, Any]:
    """Return what a page shows of a run without a readable file."""
    return {
        "kind": "",
        "status": STARTING,
        "reason": "",
        "error": "",
        "question": "",
        "seconds": 0.0,
        "timeout": None,
        "n_evaluations": 0,
        "laws": [],
        "system": None,
        "rules": "",
        "noise": [],
        "notes": [],
        "formats": FORMATS,
        "file": name + RUN_ENDING,
    }
