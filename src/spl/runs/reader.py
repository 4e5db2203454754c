"""Reading a run from its file, to show, report, export or continue it; works at any time, also while it is running."""

import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.checked_values import (
    Damage,
    StoredFields,
    as_bytes,
    as_fields,
    as_finite,
    as_list,
    as_number,
    as_text,
    as_texts,
    as_truth,
    as_whole,
    checked_as_stored,
    load_json,
)
from spl.data.dataset import Dataset, RowPlaces
from spl.data.groupings import Grouping
from spl.data.trajectories import Trajectories, Trajectory
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.json_codec import decode_grammar, decode_program
from spl.formulas.operators import Operator
from spl.formulas.own_numbers import BY_RUN, OwnNumber
from spl.formulas.printed_numbers import number_positions
from spl.formulas.program import Program, Vocabulary
from spl.formulas.system import System
from spl.groups.formula import GroupedCandidate
from spl.knowledge.knowledge import Knowledge
from spl.regression.candidate import Candidate
from spl.regression.discover import Discovery
from spl.regression.front import Front
from spl.regression.held_out import HeldOutVerdict
from spl.regression.noise_choice import NoiseChoice
from spl.runs.facts import DIED, REGRESSION, RUNNING, config_from_plain, read_facts
from spl.runs.groups import StoredNumbers, read_groupings, read_own_numbers
from spl.runs.knowledge import decode_knowledge
from spl.runs.lock import is_locked
from spl.runs.sqlite_file import open_to_read
from spl.runs.units import decode_system_units, decode_units
from spl.settings import SearchConfig
from spl.units.system_units import SystemUnits
from spl.units.table_units import TableUnits

Numbers = NDArray[np.float64]

HELD_OUT = "held_out_"  # begins the names of the arrays of held-out rows


@dataclass(frozen=True, slots=True)
class Improvement:
    """A formula that entered the front."""

    seconds: float  # since the run began
    cost: int
    loss: float
    equation: str


@dataclass(frozen=True, slots=True)
class Moment:
    """How far a search was at some moment."""

    seconds: float  # since the search began
    n_episodes: int
    n_evaluations: int
    n_rounds: int
    loss: float  # the lowest so far; infinity before there is a formula


@dataclass(frozen=True, slots=True, eq=False)
class StoredSearch:
    """The search of one equation: what it found, and how it got there."""

    name: str  # of the target, or of the state
    grammar: Grammar
    front: Front  # polished once the search is over
    improvements: tuple[Improvement, ...]
    history: tuple[Moment, ...]
    discovery: Discovery | None  # None before the first batch; if it is running or died, `stopped` is empty


@dataclass(frozen=True, slots=True, eq=False)
class StoredSystem:
    """The equations of a system, chosen from the fronts and fitted together."""

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
    own_errors: tuple[tuple[float, ...], ...] = ()  # standard errors of each own number, one per run


@dataclass(frozen=True, slots=True, eq=False)
class StoredRun:
    """A run with its data. `facts` holds what else is known, such as when it started.

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
    versions: Mapping[str, str]  # of the packages it ran with
    facts: Mapping[str, Any]  # began, source (the path of the table), target, selection, fingerprint, notes
    data: Dataset | Trajectories
    searches: tuple[StoredSearch, ...]  # one, or one per state
    system: StoredSystem | None  # None before the equations of a system are fitted
    held_out: Dataset | None = None  # rows of a table that the search never sees
    groupings: tuple[Grouping, ...] = ()  # of the rows of a table
    knowledge: Knowledge | None = None  # of the shape of the law of a table
    units: TableUnits | None = None  # of the columns of a table, and named constants, which are the last of its columns
    system_units: SystemUnits | None = None  # of a system; named constants are its last inputs

    @property
    def measured_names(self) -> tuple[str, ...]:
        """The names of the columns without those of named constants."""
        return self.data.names if self.units is None else self.units.measured_names

    def fill_known(self, program: Program) -> Program:
        """Return a formula with the values of named constants, for code that does not know their names."""
        units = self.units if self.system_units is None else self.system_units.tables[0]  # all have the same constants
        return program if units is None else units.fill_known(program)

    @property
    def config(self) -> SearchConfig:
        """The settings of the search."""
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
        """How long the run took so far."""
        if self.system is not None:
            return self.system.seconds
        return sum(search.history[-1].seconds for search in self.searches if search.history)


@dataclass(frozen=True, slots=True)
class RunState:
    """Whether a run is running, and when it ended."""

    status: str  # as in `StoredRun`
    ended: str | None  # when it last ended, if it did


def read_run(path: str | Path, operators: Sequence[Operator] = ()) -> StoredRun:
    """Return a run. Pass its user-defined operators as `operators`: they are needed to evaluate its formulas, not to show them."""
    path = Path(path)
    run = _read_once(path, operators)
    # If the run ends normally after its file is read and before its lock is checked, it seems to have died: read it again
    return _read_once(path, operators) if run.status == DIED else run


def read_state(path: Path) -> RunState:
    """Return the state of a run without reading all of it."""
    state = _read_state_once(path)
    return _read_state_once(path) if state.status == DIED else state


def read_begun(path: Path) -> Mapping[str, Any]:
    """Return what is known about the run in a file; nothing if there is no run to continue.

    What is wrong with a file is said by those who write to it.
    """
    with suppress(RunFileError), open_to_read(path) as connection:
        return read_facts(connection)
    return {}


def _read_once(path: Path, operators: Sequence[Operator]) -> StoredRun:
    with open_to_read(path) as connection, checked_as_stored():
        facts = _read_begun(connection)
        kind, status, stopped = facts.pop("kind"), facts.pop("status"), facts.pop("stopped")
        searches = tuple(
            read_search(connection, search, operators, _own_names(facts.get("system")))
            for (search,) in connection.execute("SELECT search FROM searches ORDER BY search")
        )
        if not searches:
            raise Damage("it has no search")
        arrays = _read_arrays(connection)
        data = _read_dataset(facts, arrays) if kind == REGRESSION else _read_trajectories(facts, arrays)
        if isinstance(data, Dataset):
            _check_outliers(searches, data)
        system = facts.pop("system", None)
        settings = as_fields(facts.pop("settings"))
        return StoredRun(
            path=path,
            kind=kind,
            status=_status_now(path, status),
            stopped=stopped,
            settings=settings,
            versions=facts.pop("versions"),
            facts=facts,
            data=data,
            searches=searches,
            system=None if system is None else _read_system(system, data, searches),
            held_out=_read_held_out(facts, arrays) if isinstance(data, Dataset) else None,
            groupings=read_groupings(facts, arrays, data.n_rows) if isinstance(data, Dataset) else (),
            knowledge=decode_knowledge(settings, data.names, searches[0].name) if isinstance(data, Dataset) else None,
            units=decode_units(settings, data.names, searches[0].name) if isinstance(data, Dataset) else None,
            system_units=decode_system_units(settings, data) if isinstance(data, Trajectories) else None,
        )


def _read_state_once(path: Path) -> RunState:
    with open_to_read(path) as connection:
        facts = _read_begun(connection)
        return RunState(_status_now(path, facts["status"]), facts.get("ended"))


def _read_begun(connection: sqlite3.Connection) -> StoredFields:
    facts = read_facts(connection)
    if not facts:
        raise Damage("nothing is known about its run")
    return facts


def _status_now(path: Path, status: str) -> str:
    """Return the status in the file, unless the process that wrote it is gone."""
    return DIED if status == RUNNING and not is_locked(path) else status


# ---- its parts ---------------------------------------------------------------------------------


def _own_names(system: object) -> tuple[str, ...]:
    """Return the names of the own numbers of a system, which its formulas have as variables."""
    own = [] if system is None else as_list(as_fields(system).get("own", []))
    return tuple(as_text(as_fields(number)["name"]) for number in own)


def _with_variables(words: Vocabulary, names: Sequence[str]) -> Vocabulary:
    return replace(words, variables=(*words.variables, *names))


def read_search(
    connection: sqlite3.Connection, search: int, operators: Sequence[Operator], own: Sequence[str] = ()
) -> StoredSearch:
    """Return the search of one equation; `own` are the names of own numbers, if its formulas have any."""
    query = "SELECT name, rules, result FROM searches WHERE search = ?"
    row = connection.execute(query, (search,)).fetchone()
    if row is None:
        raise Damage(f"there is no search {search}")
    name, rules, result = row
    grammar = decode_grammar(load_json(rules), operators)
    front = _read_front(connection, search, _with_variables(grammar.vocabulary, own))
    query = "SELECT seconds, cost, loss, equation FROM improvements WHERE search = ? ORDER BY id"
    improvements = tuple(
        Improvement(as_finite(seconds), as_whole(cost), as_finite(loss), as_text(equation))
        for seconds, cost, loss, equation in connection.execute(query, (search,))
    )
    query = "SELECT seconds, episodes, evaluations, rounds, loss FROM history WHERE search = ? ORDER BY id"
    history = tuple(_read_moment(*row) for row in connection.execute(query, (search,)))
    rivals = _read_rivals(connection, search, grammar.vocabulary)
    discovery = None if result is None else replace(_read_result(load_json(result), front), rivals=rivals)
    return StoredSearch(as_text(name), grammar, front, improvements, history, discovery)


def _read_front(connection: sqlite3.Connection, search: int, words: Vocabulary) -> Front:
    query = (
        "SELECT program, loss, reward, nats FROM front LEFT JOIN number_nats USING (search, place) "
        "WHERE search = ? ORDER BY place"
    )
    own = read_own_numbers(connection, search)
    return Front(tuple(_read_candidates(connection, query, search, words, own)))


def _read_rivals(connection: sqlite3.Connection, search: int, words: Vocabulary) -> tuple[Candidate, ...]:
    query = "SELECT program, loss, reward, nats FROM rivals WHERE search = ? ORDER BY place"
    return tuple(_read_candidates(connection, query, search, words))


def _read_candidates(
    connection: sqlite3.Connection,
    query: str,
    search: int,
    words: Vocabulary,
    own: Mapping[int, StoredNumbers] = MappingProxyType({}),
) -> Iterator[Candidate]:
    """Yield candidates; `own` has the own numbers of some of them."""
    for place, (program, loss, reward, nats) in enumerate(connection.execute(query, (search,))):
        stored = own.get(place)
        of_program = words if stored is None else replace(words, variables=stored.variables)
        found = (
            decode_program(load_json(program), of_program),
            as_finite(loss),
            as_number(reward),
            None if nats is None else as_finite(nats),
        )
        yield Candidate(*found) if stored is None else GroupedCandidate(*found, stored.own)


def _read_moment(seconds: object, episodes: object, evaluations: object, rounds: object, loss: object) -> Moment:
    lowest = math.inf if loss is None else as_number(loss)
    return Moment(as_finite(seconds), as_whole(episodes), as_whole(evaluations), as_whole(rounds), lowest)


def _read_result(plain: object, front: Front) -> Discovery:
    numbers = as_fields(plain)
    return Discovery(
        front=front,
        n_rows=as_whole(numbers["n_rows"]),
        floor=as_finite(numbers["floor"]),
        seconds=as_finite(numbers["seconds"]),
        n_episodes=as_whole(numbers["n_episodes"]),
        n_evaluations=as_whole(numbers["n_evaluations"]),
        stopped=as_text(numbers["stopped"]),
        notes=as_texts(numbers.get("notes", [])),  # older runs do not have them
        noise=_read_noise(as_fields(numbers.get("noise", {"name": "normal"}))),
        outliers=tuple(as_whole(row) for row in as_list(numbers.get("outliers", []))),
        screened=as_text(numbers.get("screened", "")),
        held_out=_read_verdict(numbers.get("held_out"), front),
    )


def _read_verdict(plain: object, front: Front) -> HeldOutVerdict | None:
    """Return what held-out rows say about a front; None if there are none, as in older runs."""
    if plain is None:
        return None
    numbers = as_fields(plain)
    losses = tuple(as_number(loss) for loss in as_list(numbers["losses"]))
    if len(losses) != len(front):
        raise Damage(f"there are {len(losses)} losses of held-out rows for {len(front)} formulas")
    return HeldOutVerdict(
        n_rows=as_whole(numbers["n_rows"]),
        losses=losses,
        constant_loss=as_number(numbers["constant_loss"]),
        preferred=as_whole(numbers["preferred"], len(front)),
        tested_loss=as_number(numbers["tested_loss"]),
        chance=as_finite(numbers["chance"]),
    )


def _check_outliers(searches: Sequence[StoredSearch], data: Dataset) -> None:
    for search in searches:
        if search.discovery is not None and any(row >= data.n_rows for row in search.discovery.outliers):
            raise Damage("an outlier is not among its rows")


def _read_noise(plain: StoredFields) -> NoiseChoice:
    numbers, others = (as_fields(plain.get(name, {})) for name in ("numbers", "others"))
    return NoiseChoice(
        as_text(plain["name"]),
        {as_text(name): as_number(value) for name, value in numbers.items()},
        {as_text(name): as_number(value) for name, value in others.items()},
        as_text(plain.get("reason", "")),
    )


def _read_arrays(connection: sqlite3.Connection) -> StoredFields:
    rows = connection.execute("SELECT name, shape, numbers FROM arrays").fetchall()
    return StoredFields({as_text(name): _read_array(shape, as_bytes(numbers)) for name, shape, numbers in rows})


def _read_array(shape: object, packed: bytes) -> Numbers:
    sizes = [as_whole(size) for size in as_list(load_json(shape))]
    if not 1 <= len(sizes) <= 2 or 8 * math.prod(sizes) != len(packed):
        raise Damage(f"{len(packed)} bytes are no numbers of the shape {sizes}")
    return np.frombuffer(packed, "<f8").reshape(sizes).astype(np.float64)


def _read_dataset(facts: StoredFields, arrays: StoredFields) -> Dataset:
    sigma, sigma_columns = arrays.get("sigma"), arrays.get("sigma_columns")
    checked = Dataset.from_arrays(
        arrays["columns"].T,
        arrays["target"],
        names=as_texts(facts["columns"]),
        weights=arrays["weights"] if sigma is None else None,
        sigma=sigma,
        sigma_columns=None if sigma_columns is None else sigma_columns.T,
        places=_read_places(facts, arrays),
    )
    return replace(
        checked,
        weights=arrays["weights"],  # bit for bit
        mean_weight=as_finite(facts.get("mean_weight", 1.0)),
        notes=as_texts(facts.get("notes", [])),
    )


def _read_held_out(facts: StoredFields, arrays: StoredFields) -> Dataset | None:
    """Return the rows that are held out; None if there are none."""
    own = StoredFields(
        {name.removeprefix(HELD_OUT): array for name, array in arrays.items() if name.startswith(HELD_OUT)}
    )
    if not own:
        return None
    about = {"columns": facts["columns"], "mean_weight": facts.get(f"{HELD_OUT}mean_weight", 1.0)}
    return _read_dataset(StoredFields(about), own)


def _read_places(facts: StoredFields, arrays: StoredFields) -> RowPlaces:
    """Return where the rows were; older runs say nothing about it, so their rows are counted from 0."""
    numbers, n_rows = arrays.get("places"), arrays["target"].size
    if numbers is None:
        return RowPlaces(np.arange(n_rows), as_text(facts.get("row_word", "row")))
    if numbers.shape != (n_rows,) or not np.array_equal(numbers, np.floor(numbers)):
        raise Damage("the places of its rows are not one whole number per row")
    return RowPlaces(numbers.astype(np.int64), as_text(facts.get("row_word", "row")))


def _read_trajectories(facts: StoredFields, arrays: StoredFields) -> Trajectories:
    names = as_fields(facts["columns"])
    states, inputs = as_texts(names["states"]), as_texts(names["inputs"])
    runs: list[Trajectory] = []
    places = as_list(facts.get("run_places", []))  # older runs do not say of which trajectory they are pieces
    while f"t{len(runs)}" in arrays:
        k = len(runs)
        place = as_whole(places[k]) if k < len(places) else k
        run = Trajectory(arrays[f"t{k}"], arrays[f"x{k}"], arrays[f"u{k}"], arrays.get(f"x_dot{k}"), place)
        _check_shapes(run, len(states), len(inputs))
        runs.append(run)
    if not runs:
        raise Damage("it has no trajectory")
    Trajectories.from_arrays(  # only to check it; what it leaves out was left out before
        [run.x for run in runs],
        [run.t for run in runs],
        x_dot=None if runs[0].x_dot is None else [run.x_dot for run in runs],
        u=[run.u for run in runs] if inputs else None,
        names=states,
        input_names=inputs or None,
    )
    labels = as_texts(facts.get("run_labels", []))
    if labels and len(labels) <= max(run.experiment for run in runs):
        raise Damage("a trajectory has no label")
    return Trajectories(states, inputs, tuple(runs), as_texts(facts["notes"]), labels)


def _check_shapes(run: Trajectory, n_states: int, n_inputs: int) -> None:
    if run.t.ndim != 1 or run.x.shape != (run.t.size, n_states) or run.u.shape != (run.t.size, n_inputs):
        raise Damage("the columns of a trajectory differ in length")
    if run.x_dot is not None and run.x_dot.shape != run.x.shape:
        raise Damage("the derivatives of a trajectory are not those of its states")


def _read_system(found: object, data: Dataset | Trajectories, searches: Sequence[StoredSearch]) -> StoredSystem:
    if not isinstance(data, Trajectories):
        raise Damage("a table has no system")
    plain = as_fields(found)
    own = tuple(_read_own(as_fields(number), data) for number in as_list(plain.get("own", [])))
    names = tuple(number.name for number, _ in own)
    words = [_with_variables(search.grammar.vocabulary, names) for search in searches]
    order, is_discrete = as_whole(plain["order"]), as_truth(plain["is_discrete"])
    is_implicit = as_truth(plain.get("is_implicit", False))  # older runs do not say
    programs = _read_programs(plain["programs"], words)
    numbers = tuple(number for number, _ in own)
    inputs = (*data.inputs, *names)
    system = System(data.states, inputs, programs, order, is_discrete, is_implicit, numbers)
    chosen = _one_each(plain["chosen"], len(searches))
    return StoredSystem(
        system=system,
        standard_errors=tuple(_read_errors(plain, system)),
        chosen=tuple(as_whole(k, len(search.front)) for k, search in zip(chosen, searches, strict=True)),
        noise=_numbers(plain["noise"], len(data.states)),
        notes=as_texts(plain["notes"]),
        seconds=as_finite(plain["seconds"]),
        is_interrupted=as_truth(plain["is_interrupted"]),
        doubts=as_texts(plain["doubts"]) if "doubts" in plain else (),
        own_errors=tuple(errors for _, errors in own),
    )


def _read_own(plain: StoredFields, data: Trajectories) -> tuple[OwnNumber, tuple[float, ...]]:
    """Return an own number of the runs, and its standard errors."""
    labels = data.run_labels
    values, errors = (_numbers(plain[name], len(labels)) for name in ("values", "errors"))
    return OwnNumber(as_text(plain["name"]), BY_RUN, labels, tuple(values.tolist())), tuple(errors.tolist())


def _read_errors(plain: StoredFields, system: System) -> Iterator[Numbers]:
    """Yield the standard errors of each equation; NaN for older runs, which stored them for other numbers than those printed."""
    is_old = "free" in plain
    errors = [None] * len(system.programs) if is_old else _one_each(plain["standard_errors"], len(system.programs))
    for program, of_state in zip(system.programs, errors, strict=True):
        n_numbers = len(number_positions(program))
        yield np.full(n_numbers, np.nan) if is_old else _numbers(of_state, n_numbers)


def _read_programs(plain: object, words: Sequence[Vocabulary]) -> tuple[Program, ...]:
    return tuple(decode_program(one, each) for one, each in zip(_one_each(plain, len(words)), words, strict=True))


def _one_each(values: object, n_values: int) -> list[Any]:
    found = as_list(values)
    if len(found) != n_values:
        raise Damage(f"there are {len(found)} values in place of {n_values}")
    return found


def _numbers(values: object, n_values: int) -> Numbers:
    return np.array([as_number(value) for value in _one_each(values, n_values)], np.float64)
