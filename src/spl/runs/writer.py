"""Writing a run to its file, in transactions: every improvement of the fronts, the history, and the state to resume from.

What was written survives a crash. If the file can no longer be written, the search continues and warns.
"""

import hashlib
import json
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spl.checked_values import checked_as_stored, load_json
from spl.data.dataset import Dataset, RowPlaces
from spl.data.groupings import Grouping
from spl.data.trajectories import Trajectories
from spl.errors import RunFileError, RunFileWarning
from spl.formulas.grammar import Grammar
from spl.formulas.json_codec import encode_grammar
from spl.regression.checkpoint import Checkpoint
from spl.regression.discover import Discovery
from spl.runs.checkpoint_reader import read_checkpoint
from spl.runs.facts import DYNAMICS, FINISHED, INTERRUPTED, REGRESSION, RUNNING, read_facts
from spl.runs.groups import codes_of_groupings, describe_groupings
from spl.runs.lock import RunLock
from spl.runs.reader import HELD_OUT, read_search
from spl.runs.recorder import SearchKeeper, write_front, write_result
from spl.runs.sqlite_file import close_written, explained, open_to_write, transaction
from spl.settings import Limits, SearchConfig

REQUEST_SECONDS = 0.5  # between two checks whether another process wants the run to stop
_PACKAGES = ("symbolic-physics-learner", "numpy", "numba", "scipy")
_UNSAID: Mapping[str, Any] = {
    "noise": "normal",
    "knowledge": [],
    "bounds": {},
    "form": "",
    "guesses": [],
    "units": {},
    "target_unit": "",
    "known": {},
    "constants": "",
    "time_unit": "",
}  # settings of runs that do not say
_LIMITS_OF_CONFIG = ("max_schedules", "patience")  # settings that may change when a run is continued


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RunPlan:
    """What a run is: everything that must stay the same when it continues, and facts for people."""

    data: Dataset | Trajectories
    searches: Sequence[tuple[str, Grammar]]  # the name of the target or of each state, with its grammar
    config: SearchConfig
    seed: int
    is_any_seed: bool = False  # a run that continues may have another seed
    more: Mapping[str, Any]  # other settings, such as how derivatives are estimated; values that JSON can hold
    facts: Mapping[str, Any]  # for people: where the data came from, which formula was preferred
    held_out: Dataset | None = None  # rows of a table that the search never sees
    groupings: tuple[Grouping, ...] = ()  # of the rows of a table

    @property
    def kind(self) -> str:
        """What kind of run it is."""
        return REGRESSION if isinstance(self.data, Dataset) else DYNAMICS

    @property
    def fingerprint(self) -> str:
        """A digest of the data, with its groups and the rows that are held out."""
        of_data = fingerprint(self.data) + _fingerprint_groupings(self.groupings)
        return of_data if self.held_out is None else f"{of_data}-{fingerprint(self.held_out)}"


class RunFile:
    """A run that is being written; it is locked until `close`, or the end of a `with`."""

    def __init__(self, path: str | Path, plan: RunPlan, limits: Limits, n_jobs: int) -> None:
        self.path = Path(path)
        self._plan = plan
        self._mutex = threading.Lock()
        self._is_failing = False
        self._looked = 0.0
        self._is_asked_to_stop = False
        with explained(self.path, "written"), ExitStack() as opened:
            opened.enter_context(RunLock(_check_place(self.path)))
            self._connection = open_to_write(self.path)
            opened.callback(close_written, self._connection)
            self.before = read_facts(self._connection)  # what is known about the run; nothing if it is new
            self.limits_before = Limits(**self.before["settings"]["limits"]) if self.before else limits
            self.settings = self._begin(self.before, limits, n_jobs)
            self._opened = opened.pop_all()

    # ---- what is in the file -------------------------------------------------------------------

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self.settings["seed"])

    def discovery(self, search: int) -> Discovery | None:
        """Return what a search found so far; `stopped` is empty if it is not over. None if it never started."""
        with explained(self.path, "read"), checked_as_stored():
            return read_search(self._connection, search, self._plan.searches[search][1].vocabulary.own).discovery

    def checkpoint(self, search: int) -> Checkpoint | None:
        """Return the checkpoint of a search; None if there is none yet."""
        with explained(self.path, "read"), checked_as_stored():
            return read_checkpoint(self._connection, search)

    def must_stop(self) -> bool:
        """Return whether another process wants the run to stop; checks now and then, from any thread."""
        now = time.monotonic()
        if now - self._looked >= REQUEST_SECONDS and not self._is_asked_to_stop:
            with self._mutex:
                self._looked = now
                try:
                    row = self._connection.execute("SELECT 1 FROM requests WHERE name = 'stop'").fetchone()
                except sqlite3.Error:
                    row = None
                self._is_asked_to_stop = row is not None
        return self._is_asked_to_stop

    # ---- what happens ----------------------------------------------------------------------------

    def keeper(self, search: int) -> SearchKeeper:
        """Return the keeper that records a search."""
        return SearchKeeper(self.write, search)

    def finish_search(self, search: int, found: Discovery) -> None:
        """Record what a search found in the end."""

        def write_all(connection: sqlite3.Connection) -> None:
            write_front(connection, search, found.front)
            write_result(connection, search, found)

        self.write(write_all)

    @property
    def has_long_searches(self) -> bool:
        """Whether the searches of a system are in their second part."""
        return bool(self.before.get("has_long_searches", False))

    def begin_long_searches(self) -> None:
        """Record that the searches of a system go on to their limits; none of them is over."""

        def write_all(connection: sqlite3.Connection) -> None:
            write_facts(connection, {"has_long_searches": True})
            for search in range(len(self._plan.searches)):
                found = self.discovery(search)
                if found is not None and found.stopped == "evaluations":
                    write_result(connection, search, replace(found, stopped=""))

        self.write(write_all)

    def finish(self, stopped: str, **facts: Any) -> None:
        """Record why the run ended, and further facts."""
        status = INTERRUPTED if stopped in ("interrupted", "error") else FINISHED
        self.write(
            lambda connection: write_facts(connection, facts | {"status": status, "stopped": stopped, "ended": _now()})
        )

    def write(self, action: Callable[[sqlite3.Connection], None]) -> bool:
        """Write in one transaction, and return whether it succeeded; if not, warn once."""
        try:
            with self._mutex, transaction(self._connection):
                action(self._connection)
        except sqlite3.Error as error:
            if not self._is_failing:
                self._is_failing = True
                warnings.warn(
                    f"The run file '{self.path}' cannot be written: {error}. The search continues; what it finds is returned, but "
                    "may not be in the file.",
                    RunFileWarning,
                    stacklevel=2,
                )
            return False
        self._is_failing = False
        return True

    def close(self) -> None:
        """Close the file and release its lock."""
        with self._mutex:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.finish("interrupted" if isinstance(error, KeyboardInterrupt) else "error")
        self.close()

    # ---- the beginning ---------------------------------------------------------------------------

    def _begin(self, before: Mapping[str, Any], limits: Limits, n_jobs: int) -> dict[str, Any]:
        """Write what the run is, or check that the file holds the same run. Return its settings."""
        connection, plan = self._connection, self._plan
        settings = _settings(plan)
        if before:
            self._check_same(before, settings)
            settings["seed"] = before["settings"]["seed"]
        settings |= {"limits": {"timeout": limits.timeout, "max_evaluations": limits.max_evaluations}, "jobs": n_jobs}
        versions = {name: version(name) for name in _PACKAGES} | {"python": python_version()}
        with transaction(connection):
            connection.execute("DELETE FROM requests")
            if not before:
                write_facts(connection, {"kind": plan.kind, "began": _now(), "fingerprint": plan.fingerprint})
                _write_data(connection, plan.data)
                write_facts(connection, describe_groupings(plan.groupings))
                _write_arrays(connection, codes_of_groupings(plan.groupings))
                if plan.held_out is not None:
                    _write_held_out(connection, plan.held_out)
                _write_searches(connection, plan.searches)
            write_facts(connection, dict(plan.facts) | {"status": RUNNING, "stopped": ""})
            write_facts(connection, {"settings": settings, "versions": versions})
        return settings

    def _check_same(self, before: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        remedy = "Use another run file, or pass what it was started with."
        if before["kind"] != self._plan.kind:
            raise RunFileError(f"'{self.path}' holds a run of another kind: {before['kind']}. {remedy}")
        was, now = _flatten(before["settings"]), _flatten(_as_json(settings))
        for name in now:
            if was.get(name) != now[name] and not (name == "seed" and self._plan.is_any_seed):
                raise RunFileError(
                    f"The run in '{self.path}' was started with other settings: `{name}` was {was.get(name)!r}; got "
                    f"{now[name]!r}. {remedy}"
                )
        if before["fingerprint"] != self._plan.fingerprint:
            what = "The data" if self._plan.held_out is None else "The data or its validation rows"
            raise RunFileError(f"{what} changed since the run in '{self.path}' began. {remedy}")
        for search, (name, grammar) in enumerate(self._plan.searches):
            query = "SELECT name, rules FROM searches WHERE search = ?"
            row = self._connection.execute(query, (search,)).fetchone()
            if row is None or row[0] != name or load_json(row[1]) != _as_json(encode_grammar(grammar)):
                raise RunFileError(
                    f"The run in '{self.path}' was started with another grammar or other operators. {remedy}"
                )


# ---- tables --------------------------------------------------------------------------------------


def write_facts(connection: sqlite3.Connection, facts: Mapping[str, Any]) -> None:
    """Write facts; those of the same names are replaced."""
    rows = [(name, json.dumps(value)) for name, value in facts.items()]
    connection.executemany("REPLACE INTO facts VALUES (?, ?)", rows)


def _write_data(connection: sqlite3.Connection, data: Dataset | Trajectories) -> None:
    if isinstance(data, Dataset):
        facts = {"columns": data.names, "notes": data.notes, "mean_weight": data.mean_weight}
        write_facts(connection, facts | ({} if data.places is None else {"row_word": data.places.word}))
    else:
        write_facts(connection, {"columns": {"states": data.states, "inputs": data.inputs}, "notes": data.notes})
        places = [run.experiment for run in data.runs]
        write_facts(connection, {"run_labels": list(data.run_labels), "run_places": places})
    arrays = _arrays(data)
    if isinstance(data, Dataset) and data.places is not None and not _is_counted_from_0(data.places):
        arrays["places"] = data.places.numbers
    _write_arrays(connection, arrays)


def _write_held_out(connection: sqlite3.Connection, rows: Dataset) -> None:
    write_facts(connection, {"held_out_mean_weight": rows.mean_weight})
    _write_arrays(connection, {f"{HELD_OUT}{name}": array for name, array in _arrays(rows).items()})


def _write_arrays(connection: sqlite3.Connection, arrays: Mapping[str, NDArray[Any]]) -> None:
    rows = [(name, json.dumps(array.shape), array.astype("<f8").tobytes()) for name, array in arrays.items()]
    connection.executemany("INSERT INTO arrays VALUES (?, ?, ?)", rows)


def _is_counted_from_0(places: RowPlaces) -> bool:
    return np.array_equal(places.numbers, np.arange(places.numbers.size))


def _write_searches(connection: sqlite3.Connection, searches: Sequence[tuple[str, Grammar]]) -> None:
    rows = [
        (search, name, str(grammar), json.dumps(encode_grammar(grammar)))
        for search, (name, grammar) in enumerate(searches)
    ]
    connection.executemany("INSERT INTO searches VALUES (?, ?, ?, ?, NULL)", rows)


def _arrays(data: Dataset | Trajectories) -> dict[str, NDArray[Any]]:
    """Return the numbers of the data, by name: those that decide whether it is the same data."""
    arrays: dict[str, NDArray[Any]]
    if isinstance(data, Dataset):
        arrays = {"columns": data.columns, "target": data.target, "weights": data.weights}
        bars = {"sigma": data.sigma, "sigma_columns": data.sigma_columns}
        return arrays | {name: array for name, array in bars.items() if array is not None}
    arrays = {}
    for k, run in enumerate(data.runs):
        arrays |= {f"t{k}": run.t, f"x{k}": run.x, f"u{k}": run.u}
        if run.x_dot is not None:
            arrays[f"x_dot{k}"] = run.x_dot
    return arrays


# ---- what must be the same -----------------------------------------------------------------------


def fingerprint(data: Dataset | Trajectories) -> str:
    """Return a digest of names and numbers; other data has another digest.

    Examples:
        >>> table = Dataset.from_arrays([[1.0], [2.0]], [3.0, 5.0])
        >>> fingerprint(table) == fingerprint(Dataset.from_arrays([[1.0], [2.0]], [3.0, 5.1]))
        False
    """
    names = data.names if isinstance(data, Dataset) else [data.states, data.inputs]
    digest = hashlib.sha256(json.dumps(names).encode())
    for name, array in _arrays(data).items():
        digest.update(f"{name} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array, "<f8").tobytes())
    return digest.hexdigest()


def _fingerprint_groupings(groupings: Sequence[Grouping]) -> str:
    """Return a digest of groupings; nothing if there are none."""
    if not groupings:
        return ""
    digest = hashlib.sha256(json.dumps(describe_groupings(groupings)).encode())
    for codes in codes_of_groupings(groupings).values():
        digest.update(codes.tobytes())
    return f"-{digest.hexdigest()}"


def _settings(plan: RunPlan) -> dict[str, Any]:
    return {"config": plan.config.to_dict(), "seed": plan.seed, **plan.more}


def _as_json(value: Any) -> Any:
    """Return a value as JSON returns it."""
    return json.loads(json.dumps(value))


def _flatten(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that must not change, in one dictionary."""
    config = {name: value for name, value in settings["config"].items() if name not in _LIMITS_OF_CONFIG}
    others = {name: settings[name] for name in settings if name not in ("config", "limits", "jobs")}
    return {**_UNSAID, **config, **others}


def _check_place(path: Path) -> Path:
    if "\0" in str(path):
        raise RunFileError("The name of the run file has a zero byte in it. Choose another name.")
    if path.is_dir():
        raise RunFileError(f"The run file '{path}' is a folder. Give the name of a file.")
    if not path.absolute().parent.is_dir():
        raise RunFileError(
            f"The run file '{path}' cannot be written: there is no folder '{path.parent}'. Make it first."
        )
    return path


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
