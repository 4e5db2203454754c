"""The runs that a server shows: one file for `spl watch`, a folder and the searches that write into it for `spl studio`."""

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

STARTING, FAILED = "starting", "failed"  # beside the states of a run that its file knows
END_SECONDS = 5.0  # that a process gets to be gone once its run is over


@dataclass(frozen=True, slots=True)
class Entry:
    """A run in a list."""

    name: str
    status: str


class Shelf(Protocol):
    """Runs by their names."""

    def entries(self) -> list[Entry]:
        """Return all runs, the newest first."""

    def path(self, name: str) -> Path:
        """Return the run file; raise an error if there is no such run."""

    def view(self, name: str) -> dict[str, Any]:
        """Return what a page shows of a run."""

    def stop(self, name: str) -> None:
        """Ask a run to end with the best so far."""


class OneRun:
    """A single run file, wherever it is and whoever writes it."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        read_run(self._path)  # whatever is wrong with it is told before a page opens

    def entries(self) -> list[Entry]:
        """Return the run."""
        return [Entry(self._path.stem, read_state(self._path).status)]

    def path(self, name: str) -> Path:
        """Return the run file."""
        if name != self._path.stem:
            raise RunFileError(f"There is no run '{name}' here.")
        return self._path

    def view(self, name: str) -> dict[str, Any]:
        """Return what a page shows of it."""
        return describe_run(read_run(self.path(name)))

    def stop(self, name: str) -> None:
        """Ask it to end."""
        request_stop(self.path(name))


class FolderRuns:
    """All runs in the folder of a studio, those included that have not written a file yet, or never will."""

    def __init__(self, folder: StudioFolder, searches: Searches) -> None:
        self._folder = folder
        self._searches = searches
        self._changing = Lock()  # one run is continued, renamed or deleted at a time

    def entries(self) -> list[Entry]:
        """Return all runs, the newest first."""
        there = self._folder.run_names()
        waiting = [name for name in self._searches.names() if name not in there]
        return [Entry(name, self._status(name)) for name in (*waiting, *there)]

    def path(self, name: str) -> Path:
        """Return the run file."""
        return self._folder.run_file(name)

    def view(self, name: str) -> dict[str, Any]:
        """Return what a page shows of a run: what its file says, and what its process said."""
        failure = self._searches.failure(name)
        try:
            run = read_run(self.path(name))
            view = describe_run(run)
            status = self._status_with_process(name, RunState(run.status, run.facts.get("ended")))
            can_continue = run.stopped not in ENDED_FOR_GOOD
        except SplError:
            if not self._searches.is_alive(name) and not failure:
                raise
            view, status, can_continue = _empty_view(name), STARTING, False
        return view | {
            "status": FAILED if failure else status,
            "error": failure,
            "command": self._searches.command(name),
            "can_continue": can_continue,
            "can_repeat": self._searches.request(name) is not None,
        }

    def stop(self, name: str) -> None:
        """Ask a run to end."""
        if name not in self._searches.names():
            self.path(name)
        self._searches.stop(name)

    # ---- changes ---------------------------------------------------------------------------------

    def resume(self, name: str, seconds: float) -> None:
        """Continue a run that rests for so many seconds more."""
        path = self.path(name)
        with self._changing:
            with self._at_rest(name, "continued"):
                run = read_run(path)
            if run.stopped in ENDED_FOR_GOOD:
                raise RunFileError(f"More time would change nothing: {STOPPED[run.stopped]}.")
            self._searches.resume(name, seconds=seconds, jobs=run.settings["jobs"], ended_before=run.facts.get("ended"))

    def rename(self, name: str, wanted: str) -> str:
        """Give a run that rests another name, and return that."""
        self._check_known(name)
        with self._changing, self._at_rest(name, "renamed"):
            new = self._folder.rename_run(name, wanted)
            self._searches.rename(name, new)
        return new

    def delete(self, name: str) -> None:
        """Delete a run that rests."""
        self._check_known(name)
        with self._changing, self._at_rest(name, "deleted"):
            self._folder.delete_run(name)
            self._searches.forget(name)

    def _check_known(self, name: str) -> None:
        if name not in self._searches.names():
            self.path(name)

    @contextmanager
    def _at_rest(self, name: str, action: str) -> Iterator[None]:
        """Keep others from writing a run inside; a clear error if somebody does already."""
        try:
            if self._status(name) not in (STARTING, RUNNING):
                self._searches.wait(name, END_SECONDS)
            if self._searches.is_alive(name):
                raise RunFileError("its process lives")
            lock = RunLock(self._folder.part(name, RUN_ENDING))
        except RunFileError:
            raise RunFileError(f"'{name}' is still running, so it cannot be {action}. Stop it first.") from None
        with lock:
            yield

    def _status(self, name: str) -> str:
        try:
            return self._status_with_process(name, read_state(self._folder.run_file(name)))
        except SplError:
            return STARTING if self._searches.is_alive(name) else FAILED

    def _status_with_process(self, name: str, state: RunState) -> str:
        """Return how a run stands, seen that its process may not have come to write its file yet."""
        if state.status == RUNNING or not self._searches.is_alive(name):
            return state.status
        is_early = state.status == DIED or self._searches.has_not_ended_since(name, state.ended)
        return STARTING if is_early else state.status


def _empty_view(name: str) -> dict[str, Any]:
    """Return what is shown of a run that has no file to read."""
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
        "notes": [],
        "formats": FORMATS,
        "file": name + RUN_ENDING,
    }
