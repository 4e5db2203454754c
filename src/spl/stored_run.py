"""A run as its file has it: `read_run`, for all who show, report, export or continue runs, at any time, also while one goes on."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.candidate import Candidate
from spl.checkpoint import Array, Checkpoint, SearcherState, from_bytes
from spl.config import SearchConfig
from spl.data import Dataset
from spl.discover import Discovery
from spl.front import Front
from spl.grammar import Grammar
from spl.operators import Operator
from spl.plain import grammar_from_plain, program_from_plain
from spl.printed_numbers import number_positions
from spl.program import Program, Vocabulary
from spl.run_lock import is_locked
from spl.run_store import open_to_read
from spl.system import System
from spl.trajectories import Trajectories, Trajectory

Numbers = NDArray[np.float64]

REGRESSION, DYNAMICS = "regression", "dynamics"  # kinds of runs
RUNNING, FINISHED, INTERRUPTED, DIED = "running", "finished", "interrupted", "died"  # how they stand


@dataclass(frozen=True, slots=True)
class Improvement:
    """A formula that entered the front."""

    seconds: float  # since the run began
    cost: int
    loss: float
    equation: str


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a search was at some time."""

    seconds: float  # since the search began
    n_episodes: int
    n_evaluations: int
    n_rounds: int
    loss: float  # the lowest so far


@dataclass(frozen=True, slots=True, eq=False)
class StoredSearch:
    """The search of one equation: what it found, and how it got there."""

    name: str  # of the target, or of the state
    grammar: Grammar
    front: Front  # simplified and clean once the search is over
    improvements: tuple[Improvement, ...]
    history: tuple[Moment, ...]
    discovery: Discovery | None  # None before the first look; while it goes on, and if it died, `stopped` is empty


@dataclass(frozen=True, slots=True, eq=False)
class StoredSystem:
    """The equations of a system, as they were chosen from the fronts and fitted together."""

    system: System
    standard_errors: tuple[
        Numbers, ...
    ]  # of the numbers of each equation, as `number_positions` has them; NaN: not known
    chosen: tuple[int, ...]  # the row of each front
    noise: Numbers  # [D], standard deviation of the noise of each state
    notes: tuple[str, ...]
    seconds: float
    is_interrupted: bool
    doubts: tuple[str, ...] = ()  # those of the notes that say why the equations may be wrong


@dataclass(frozen=True, slots=True, eq=False)
class StoredRun:
    """A run, with the data it was given. `facts` holds what else is known, such as when it began.

    Examples:
        >>> read_run("missing.spl")
        Traceback (most recent call last):
        ...
        spl.errors.RunFileError: There is no run file 'missing.spl'.
    """

    path: Path
    kind: str  # "regression" or "dynamics"
    status: str  # "running", "finished", "interrupted" or "died"
    stopped: str  # why it ended, as in `Discovery`; "" before
    settings: Mapping[str, Any]  # config, limits, seed, jobs; plan for a system
    versions: Mapping[str, str]  # of what it was run with
    facts: Mapping[str, Any]  # began, source (the path of the table), target, selection, fingerprint, notes
    data: Dataset | Trajectories
    searches: tuple[StoredSearch, ...]  # one, or one for each state
    system: StoredSystem | None  # None before the equations of a system are fitted

    @property
    def config(self) -> SearchConfig:
        """The hyperparameters of the search."""
        return config_from_plain(self.settings["config"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know: what was changed in the data, and reasons to doubt what was found."""
        if self.system is not None:
            return self.system.notes
        found = self.searches[0].discovery if self.kind == REGRESSION else None
        return found.notes if found is not None and found.stopped else self.data.notes

    @property
    def seconds(self) -> float:
        """How long all of it took so far."""
        if self.system is not None:
            return self.system.seconds
        return sum(search.history[-1].seconds for search in self.searches if search.history)


def read_run(path: str | Path, operators: Sequence[Operator] = ()) -> StoredRun:
    """Read a run; `operators` are those of your own that it uses, which are needed to evaluate its formulas, not to show them."""
    path = Path(path)
    with open_to_read(path) as connection:
        facts = read_facts(connection)
        kind, stopped = facts.pop("kind"), facts.pop("stopped")
        status = facts.pop("status")
        searches = tuple(
            read_search(connection, search, operators)
            for (search,) in connection.execute("SELECT search FROM searches ORDER BY search")
        )
        arrays = _read_arrays(connection)
        if kind not in (REGRESSION, DYNAMICS) or status not in (RUNNING, FINISHED, INTERRUPTED) or not searches:
            raise ValueError(f"{kind}, {status}")
        data = _read_dataset(facts, arrays) if kind == REGRESSION else _read_trajectories(facts, arrays)
        system = facts.pop("system", None)
        return StoredRun(
            path=path,
            kind=kind,
            status=DIED if status == RUNNING and not is_locked(path) else status,
            stopped=stopped,
            settings=facts.pop("settings"),
            versions=facts.pop("versions"),
            facts=facts,
            data=data,
            searches=searches,
            system=None if system is None else _read_system(system, data, searches),
        )


# ---- parts of it ---------------------------------------------------------------------------------


def read_facts(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return what is known about a run, by name."""
    return {name: json.loads(value) for name, value in connection.execute("SELECT name, value FROM facts")}


def config_from_plain(plain: Mapping[str, Any]) -> SearchConfig:
    """Return the hyperparameters of a search."""
    return SearchConfig(**{**plain, "closers": tuple(plain["closers"])})


def read_checkpoint(connection: sqlite3.Connection, search: int) -> Checkpoint | None:
    """Return where a search stands; None if it has not come far enough to say."""
    row = connection.execute("SELECT position, arrays FROM checkpoints WHERE search = ?", (search,)).fetchone()
    if row is None:
        return None
    position, arrays = json.loads(row[0]), from_bytes(row[1])
    trees = connection.execute("SELECT tree, arrays FROM trees WHERE search = ? ORDER BY tree", (search,)).fetchall()
    searchers = tuple(_read_searcher(connection, search, tree, from_bytes(packed)) for tree, packed in trees)
    position = {"episodes_at_choice": 0} | position  # runs did not always have it
    return Checkpoint(**position, front=arrays["front"], seen=arrays["seen"], searchers=searchers)


def _read_searcher(connection: sqlite3.Connection, search: int, tree: int, arrays: dict[str, Array]) -> SearcherState:
    query = "SELECT arrays FROM ledgers WHERE search = ? AND tree = ? ORDER BY id"
    parts = [from_bytes(packed) for (packed,) in connection.execute(query, (search, tree))]
    nothing = {"places": np.empty(0, np.uint32), "keys": np.empty(0, np.uint64), "losses": np.empty(0)}
    whole = {name: np.concatenate([none, *(part[name] for part in parts)]) for name, none in nothing.items()}
    order = np.argsort(whole["places"])
    return SearcherState(**arrays, **{name: array[order] for name, array in whole.items()})


def read_search(connection: sqlite3.Connection, search: int, operators: Sequence[Operator]) -> StoredSearch:
    """Return the search of one equation."""
    name, rules, result = connection.execute(
        "SELECT name, rules, result FROM searches WHERE search = ?", (search,)
    ).fetchone()
    grammar = grammar_from_plain(json.loads(rules), operators)
    rows = connection.execute("SELECT program, loss, reward FROM front WHERE search = ? ORDER BY place", (search,))
    front = Front(
        tuple(
            Candidate(program_from_plain(json.loads(program), grammar.vocabulary), float(loss), float(reward))
            for program, loss, reward in rows
        )
    )
    query = "SELECT seconds, cost, loss, equation FROM improvements WHERE search = ? ORDER BY id"
    improvements = tuple(Improvement(*row) for row in connection.execute(query, (search,)))
    query = "SELECT seconds, episodes, evaluations, rounds, loss FROM history WHERE search = ? ORDER BY id"
    history = tuple(Moment(*row) for row in connection.execute(query, (search,)))
    discovery = None if result is None else Discovery(front=front, **_read_result(json.loads(result)))
    return StoredSearch(name, grammar, front, improvements, history, discovery)


def _read_result(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {**plain, "notes": tuple(map(str, plain.get("notes", ())))}  # runs did not always have notes


def _read_arrays(connection: sqlite3.Connection) -> dict[str, Numbers]:
    return {
        name: np.frombuffer(numbers, "<f8").reshape(json.loads(shape)).astype(np.float64)
        for name, shape, numbers in connection.execute("SELECT name, shape, numbers FROM arrays")
    }


def _read_dataset(facts: Mapping[str, Any], arrays: Mapping[str, Numbers]) -> Dataset:
    checked = Dataset.from_arrays(
        arrays["columns"].T, arrays["target"], names=facts["columns"], weights=arrays["weights"]
    )
    notes = tuple(map(str, facts.get("notes", ())))
    return replace(checked, weights=arrays["weights"], notes=notes)  # weights bit for bit


def _read_trajectories(facts: Mapping[str, Any], arrays: Mapping[str, Numbers]) -> Trajectories:
    names = facts["columns"]
    runs: list[Trajectory] = []
    while f"t{len(runs)}" in arrays:
        k = len(runs)
        runs.append(Trajectory(arrays[f"t{k}"], arrays[f"x{k}"], arrays[f"u{k}"], arrays.get(f"x_dot{k}")))
    states, inputs = tuple(names["states"]), tuple(names["inputs"])
    Trajectories.from_arrays(  # checks it; what it would cut out was cut out before
        [run.x for run in runs],
        [run.t for run in runs],
        x_dot=None if runs[0].x_dot is None else [run.x_dot for run in runs],
        u=[run.u for run in runs] if inputs else None,
        names=states,
        input_names=inputs or None,
    )
    return Trajectories(states, inputs, tuple(runs), tuple(facts["notes"]))


def _read_system(
    plain: Mapping[str, Any], data: Dataset | Trajectories, searches: Sequence[StoredSearch]
) -> StoredSystem:
    if not isinstance(data, Trajectories):
        raise ValueError("a table has no system")
    words = [search.grammar.vocabulary for search in searches]
    order, is_discrete = plain["order"], plain["is_discrete"]
    system = System(data.states, data.inputs, _read_programs(plain["programs"], words), order, is_discrete)
    chosen = tuple(int(k) for k in plain["chosen"])
    if len(chosen) != len(searches) or not all(
        0 <= k < len(search.front) for k, search in zip(chosen, searches, strict=True)
    ):
        raise ValueError(f"there are no rows {chosen}")
    return StoredSystem(
        system=system,
        standard_errors=tuple(_read_errors(plain, system)),
        chosen=chosen,
        noise=np.array(plain["noise"], np.float64),
        notes=tuple(map(str, plain["notes"])),
        seconds=float(plain["seconds"]),
        is_interrupted=bool(plain["is_interrupted"]),
        doubts=tuple(map(str, plain.get("doubts", ()))),
    )


def _read_errors(plain: Mapping[str, Any], system: System) -> Iterator[Numbers]:
    """Yield the standard errors of each equation; runs once had those of other numbers than were printed, which are left out."""
    for place, program in enumerate(system.programs):
        n_numbers = len(number_positions(program))
        errors = (
            np.full(n_numbers, np.nan) if "free" in plain else np.array(plain["standard_errors"][place], np.float64)
        )
        if errors.shape != (n_numbers,):
            raise ValueError(f"there are {errors.size} errors for {n_numbers} numbers")
        yield errors


def _read_programs(plain: Sequence[Mapping[str, Any]], words: Sequence[Vocabulary]) -> tuple[Program, ...]:
    return tuple(program_from_plain(one, each) for one, each in zip(plain, words, strict=True))
