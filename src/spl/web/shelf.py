"""The runs that a server shows: one file for `spl watch`, a folder and the searches that write into it for `spl studio`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from spl.errors import RunFileError, SplError
from spl.runs import request_stop
from spl.stored_facts import DIED
from spl.stored_run import read_run, read_status
from spl.web.folder import RUN_ENDING, StudioFolder
from spl.web.run_view import describe_run
from spl.web.searches import Searches

STARTING, FAILED = "starting", "failed"  # beside the states of a run that its file knows


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
        return [Entry(self._path.stem, read_status(self._path))]

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
            view = describe_run(read_run(self.path(name)))
        except SplError:
            if not self._searches.is_alive(name) and not failure:
                raise
            view = _empty_view(name)
        status = FAILED if failure else view["status"]
        if status == DIED and self._searches.is_alive(name):
            status = STARTING  # it has not taken its lock yet
        return view | {"status": status, "error": failure, "command": self._searches.command(name)}

    def stop(self, name: str) -> None:
        """Ask a run to end."""
        if name not in self._searches.names():
            self.path(name)
        self._searches.stop(name)

    def _status(self, name: str) -> str:
        try:
            return read_status(self._folder.run_file(name))
        except SplError:
            return STARTING if self._searches.is_alive(name) else FAILED


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
        "file": name + RUN_ENDING,
    }
