"""The folder of a studio: data files as they were dropped, and what each search writes beside them.

    planets.csv        data
    planets-1.spl      the run file of the first search in it
    planets-1.rules    the rules that were written down for it, if any
    planets-1.request  what the page asked for, to fill its form again
    planets-1.log      what the search said

Names come from a browser, so they are never trusted: a name is one plain file name in this folder, or it does not exist.
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
# of the files of a run; data ends neither with these nor with what begins like them, as files that SQLite makes beside a run
OWN_ENDINGS = (RUN_ENDING, RULES_ENDING, REQUEST_ENDING, LOG_ENDING)
_SIDE_FILES = ("-wal", "-journal", "-shm")  # of a run file whose process was killed
MAX_NAME, MAX_ENDING = 100, 20  # letters of a file name
_STRANGE = re.compile(r"[^\w .()+-]")  # signs that a file name is better off without
_INCOMING = ".incoming-"


@dataclass(frozen=True, slots=True)
class StudioFolder:
    """A folder of data and runs that can be written to.

    Examples:
        >>> StudioFolder.safe_name("../../etc/Falling balls?.csv")
        'Falling balls_.csv'
    """

    path: Path

    @classmethod
    def open(cls, path: str | Path) -> "StudioFolder":
        """Return the folder, made if there is none; only its owner can look into a new one."""
        folder = Path(path).absolute()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingError(
                f"The folder '{path}' cannot be made: {error.strerror}. Name another: --folder"
            ) from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise SettingError(f"The folder '{path}' cannot be written to. Name another: --folder")
        return cls(folder)

    @staticmethod
    def safe_name(name: str) -> str:
        """Return a plain file name that resembles the given one: no folders, no hidden file, no option of a command."""
        plain = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
        stem, ending = _split_ending(_STRANGE.sub("_", plain).strip(". ").lstrip("-. "))
        ending = ending[:MAX_ENDING]
        return (stem[: MAX_NAME - len(ending)].rstrip(". ") or "data") + ending

    # ---- data ------------------------------------------------------------------------------------

    def data_file(self, name: str) -> Path:
        """Return a data file by its name, or say that there is none."""
        if _split_ending(name)[1].startswith(OWN_ENDINGS) or not self._holds(name):
            raise DataError(f"There is no data file '{name}' in the folder of the studio. Drop it again.")
        return self.path / name

    @contextmanager
    def incoming(self, name: str) -> Iterator[Path]:
        """Give a path for a file on its way in; what is not kept until the end is deleted."""
        waiting = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=self.path))
        try:
            yield waiting / self.safe_name(name)
        finally:
            shutil.rmtree(waiting, ignore_errors=True)

    def keep(self, incoming: Path) -> Path:
        """Move a file that came in to its place: under its own name, numbered if another file has it already."""
        stem, ending = _split_ending(incoming.name)
        names = (f"{stem} ({number}){ending}" for number in count(2))
        for name in chain([incoming.name], names):
            place = self.path / name
            if not place.exists():
                return incoming.rename(place)
            if _are_equal(place, incoming):
                return place
        raise AssertionError("numbers never end")

    # ---- runs ------------------------------------------------------------------------------------

    def run_names(self) -> list[str]:
        """Return the names of all runs, the newest first."""
        found = [(path.stat().st_mtime, path.stem) for path in self.path.glob(f"*{RUN_ENDING}") if path.is_file()]
        return [name for _, name in sorted(found, reverse=True)]

    def run_file(self, name: str) -> Path:
        """Return a run file by the name of its run, or say that there is none."""
        if not self._holds(name + RUN_ENDING):
            raise DataError(f"There is no run '{name}' in the folder of the studio.")
        return self.path / (name + RUN_ENDING)

    def delete_run(self, name: str) -> None:
        """Delete all files of a run; whoever calls has made sure that nobody writes it."""
        for path in self._files_of_run(name):
            path.unlink(missing_ok=True)

    def rename_run(self, name: str, wanted: str) -> str:
        """Give a run another name and return it, made a plain file name; whoever calls has made sure that nobody writes the run."""
        new = self.name_for_run(wanted)
        if new == name:
            return name
        if any(path.exists() for path in self._files_of_run(new)):
            raise SettingError(f"There is a run '{new}' already. Choose another name.")
        for old_path, new_path in zip(self._files_of_run(name), self._files_of_run(new), strict=True):
            if old_path.exists():
                old_path.rename(new_path)
        return new

    @classmethod
    def name_for_run(cls, wanted: str) -> str:
        """Return the name of a run that resembles what somebody typed; a clear error if there is nothing in it.

        Examples:
            >>> StudioFolder.name_for_run("../Kepler, eight planets.spl")
            'Kepler_ eight planets'
        """
        typed = wanted.strip().removesuffix(RUN_ENDING)
        if not re.search(r"\w", re.split(r"[/\\]", typed)[-1]):
            raise SettingError(f"{shorten(wanted)!r} is no name for a run. Give it one with letters or digits.")
        return cls.safe_name(f"{cls.safe_name(typed)}{RUN_ENDING}").removesuffix(RUN_ENDING)

    def part(self, name: str, ending: str) -> Path:
        """Return the path of one of the files of a run, whether or not it is there; the name must be plain."""
        if f"{name}{RUN_ENDING}" != self.safe_name(f"{name}{RUN_ENDING}"):
            raise DataError(f"There is no run '{shorten(name)}' in the folder of the studio.")
        return self.path / f"{name}{ending}"

    def _files_of_run(self, name: str) -> list[Path]:
        """Return the paths of all files that a run may have: the log of SQLite before the run file that it belongs to."""
        endings = [*(RUN_ENDING + side for side in _SIDE_FILES), *OWN_ENDINGS]
        return [self.part(name, ending) for ending in endings]

    def new_run(self, data: Path) -> Path:
        """Return the path of a run file that is not there yet, named after its data; its log is made, so nobody else gets it."""
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
    """Return what stands before the ending, and the ending with its dot: `.csv`, `.csv.gz` or nothing."""
    zipped = name[-3:] if name.lower().endswith(".gz") else ""
    path = Path(name.removesuffix(zipped))
    return path.stem, path.suffix + zipped


def _are_equal(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()
