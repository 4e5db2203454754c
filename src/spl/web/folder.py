"""The folder of a studio: uploaded data files, and the files of each search.

    planets.csv        data
    planets-1.spl      run file of the first search in it
    planets-1.rules    its rules, if the user wrote any
    planets-1.request  the request of the page, to fill its form again
    planets-1.log      output of the search

Names come from a browser and are never trusted: a name is a plain file name in this folder, or it does not exist.
"""

import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from spl.errors import DataError, SettingError, shorten

RUN_ENDING = ".spl"
RULES_ENDING = ".rules"
REQUEST_ENDING = ".request"
LOG_ENDING = ".log"
# Data files must not have these endings or any that begin with them, like those of the files that SQLite adds to a run file
OWN_ENDINGS = (RUN_ENDING, RULES_ENDING, REQUEST_ENDING, LOG_ENDING)
_SQLITE_ENDINGS = ("-wal", "-journal", "-shm")  # left behind if a process was killed
MAX_NAME, MAX_ENDING = 100, 20  # characters of a file name
_UNSAFE = re.compile(r"[^\w .()+-]")  # characters to avoid in a file name
_INCOMING = ".incoming-"


@dataclass(frozen=True, slots=True)
class StudioFolder:
    """A writable folder of data and runs.

    Examples:
        >>> StudioFolder.safe_name("../../etc/Falling balls?.csv")
        'Falling balls_.csv'
    """

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> "StudioFolder":
        """Return the folder; create it, readable only by its owner, if it does not exist."""
        folder = Path(path).absolute()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(
                f"The folder '{path}' cannot be created: {error.strerror}. Choose another with --folder."
            ) from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise SettingError(f"The folder '{path}' cannot be written to. Choose another with --folder.")
        return cls(folder)

    @staticmethod
    def safe_name(name: str) -> str:
        """Return a plain file name that resembles the given one: no folder, not hidden, not an option of a command."""
        plain = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
        stem, ending = _split_ending(_UNSAFE.sub("_", plain).strip(". ").lstrip("-. "))
        ending = ending[:MAX_ENDING]
        return (stem[: MAX_NAME - len(ending)].rstrip(". ") or "data") + ending

    # ---- data ------------------------------------------------------------------------------------

    def data_file(self, name: str) -> Path:
        """Return a data file by its name; raise a clear error if there is none."""
        if _split_ending(name)[1].startswith(OWN_ENDINGS) or not self._holds(name):
            raise DataError(f"There is no data file '{name}' in the folder of the studio. Drop it again.")
        return self.path / name

    @contextmanager
    def incoming(self, name: str) -> Iterator[Path]:
        """Yield a path for an uploaded file; it is deleted at the end unless `keep` moved it."""
        waiting = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=self.path))
        try:
            yield waiting / self.safe_name(name)
        finally:
            shutil.rmtree(waiting, ignore_errors=True)

    def keep(self, incoming: Path) -> Path:
        """Move an uploaded file into the folder under its name, numbered if another file already has it."""
        stem, ending = _split_ending(incoming.name)
        names = (f"{stem} ({number}){ending}" for number in count(2))
        for name in chain([incoming.name], names):
            path = self.path / name
            if not path.exists():
                return incoming.rename(path)
            if _are_equal(path, incoming):
                return path
        raise AssertionError("unreachable: there is always another number")

    # ---- runs ------------------------------------------------------------------------------------

    def run_names(self) -> list[str]:
        """Return the names of all runs, the newest first."""
        found = [(path.stat().st_mtime, path.stem) for path in self.path.glob(f"*{RUN_ENDING}") if path.is_file()]
        return [name for _, name in sorted(found, reverse=True)]

    def run_file(self, name: str) -> Path:
        """Return a run file by the name of its run; raise a clear error if there is none."""
        if not self._holds(name + RUN_ENDING):
            raise DataError(f"There is no run '{name}' in the folder of the studio.")
        return self.path / (name + RUN_ENDING)

    def delete_run(self, name: str) -> None:
        """Delete all files of a run. The caller makes sure that nobody writes it."""
        for path in self._files_of_run(name):
            path.unlink(missing_ok=True)

    def rename_run(self, name: str, wanted: str) -> str:
        """Rename a run and return its new name, a plain file name. The caller makes sure that nobody writes the run."""
        new = self.name_for_run(wanted)
        if new == name:
            return name
        if any(path.exists() for path in self._files_of_run(new)):
            raise SettingError(f"There is already a run '{new}'. Choose another name.")
        for old_path, new_path in zip(self._files_of_run(name), self._files_of_run(new), strict=True):
            if old_path.exists():
                old_path.rename(new_path)
        return new

    @classmethod
    def name_for_run(cls, wanted: str) -> str:
        """Return a name for a run that resembles what the user typed; raise a clear error if nothing is left of it.

        Examples:
            >>> StudioFolder.name_for_run("../Kepler, eight planets.spl")
            'Kepler_ eight planets'
        """
        typed = wanted.strip().removesuffix(RUN_ENDING)
        if not re.search(r"\w", re.split(r"[/\\]", typed)[-1]):
            raise SettingError(f"{shorten(wanted)!r} is not a name for a run. Use letters or digits.")
        return cls.safe_name(f"{cls.safe_name(typed)}{RUN_ENDING}").removesuffix(RUN_ENDING)

    def run_path(self, name: str, ending: str) -> Path:
        """Return the path of a file of a run, whether or not it exists; the name must be plain."""
        if f"{name}{RUN_ENDING}" != self.safe_name(f"{name}{RUN_ENDING}"):
            raise DataError(f"There is no run '{shorten(name)}' in the folder of the studio.")
        return self.path / f"{name}{ending}"

    def _files_of_run(self, name: str) -> list[Path]:
        """Return the paths of all files that a run may have; the files of SQLite come before the run file they belong to."""
        endings = [*(RUN_ENDING + ending for ending in _SQLITE_ENDINGS), *OWN_ENDINGS]
        return [self.run_path(name, ending) for ending in endings]

    def new_run(self, data: Path) -> Path:
        """Return the path of a new run file, named after its data; creating its log reserves the name."""
        stem = _split_ending(data.name)[0]
        number = 1
        while True:
            run = self.path / f"{stem}-{number}{RUN_ENDING}"
            try:
                run.with_suffix(LOG_ENDING).open("x").close()
            except FileExistsError:
                number += 1
                continue
            if not run.exists():
                return run

    def _holds(self, name: str) -> bool:
        path = self.path / name
        return name == self.safe_name(name) and not path.is_symlink() and path.is_file()


def _split_ending(name: str) -> tuple[str, str]:
    """Return the stem and the ending of a file name; the ending is `.csv`, `.csv.gz` or empty."""
    zipped = name[-3:] if name.lower().endswith(".gz") else ""
    path = Path(name.removesuffix(zipped))
    return path.stem, path.suffix + zipped


def _are_equal(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()
