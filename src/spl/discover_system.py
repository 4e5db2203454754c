"""The whole run for a dynamical system: rows, one search for each state, then the system as a whole.

Each search gives a front. Which of its formulas are right is decided together: equations are integrated and compared with the
measured trajectories, on stretches that their constants were not fitted to. Then all constants are fitted to all of the data.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log

import numpy as np
from numpy.typing import NDArray

from spl.ablate import drop_one_term
from spl.clean import simple_numbers_near
from spl.config import Limits, SearchConfig
from spl.discover import Discovery, Progress, discover
from spl.fit import POLISH_EFFORT, evaluate, fit
from spl.free import fix_constants, free_numbers
from spl.front import TOKEN_NATS, Front
from spl.grammar import Grammar
from spl.program import Program
from spl.refine import Refined, judge, refine
from spl.segments import choose_length
from spl.simplify import simplify
from spl.system import System
from spl.system_rows import Plan, SystemRows, make_rows
from spl.trajectories import Trajectories, Trajectory
from spl.weak_fit import fit_weakly

Numbers = NDArray[np.float64]

SEARCH_SHARE = 0.6  # of the time limit is for the searches; the rest for the system as a whole
N_BLOCKS = 8  # stretches of a run, of which every fourth is held out
HELD_OUT = 4
MIN_BLOCK = 24  # samples of a stretch
NEAR = 1.5  # times the lowest loss of a front is near enough to begin with
FOLLOWED = 1.3  # times the error on segments half as long is allowed on longer ones
MAX_LENGTH = 512  # samples of a segment
HOPELESS = 3.0  # times the lowest loss of a front is too far from the derivatives to be tried
NEIGHBOURS = 2  # formulas of a front on either side of the one at hand that are tried in its place
FIRST_FIT = 0.7  # of the time that is left is for the fit before numbers are made simple
MOVE_SHARE = 0.75  # of the time after the searches may go into trying other formulas


@dataclass(frozen=True, slots=True)
class SystemProgress:
    """What a watcher sees: which state is searched, and how that goes."""

    state: str
    progress: Progress


@dataclass(frozen=True, slots=True, eq=False)
class SystemDiscovery:
    """What a run found."""

    system: System  # numbers are simple where the data does not tell them from such
    free: System  # the same before that: every number is a constant
    standard_errors: Numbers  # [C], of the constants of `free`; NaN if they were not fitted to the trajectories
    searches: tuple[Discovery, ...]  # one a state, with its front
    chosen: tuple[int, ...]  # the formula of each front that the equation came from
    rows: SystemRows
    refined: Refined | None  # None if the equations could not be followed along the data
    seconds: float
    notes: tuple[str, ...]  # for people
    is_interrupted: bool


SystemWatcher = Callable[[SystemProgress], None]


def discover_system(
    data: Trajectories,
    grammars: Sequence[Grammar],
    *,
    plan: Plan | None = None,
    config: SearchConfig | None = None,
    timeout: float | None = 60.0,
    n_jobs: int = 1,
    seed: int = 0,
    watch: SystemWatcher | None = None,
) -> SystemDiscovery:
    """Search the equations of a system, one grammar a state, and refine them together."""
    plan = plan or Plan()
    began = time.monotonic()
    rows = make_rows(data, plan)
    limits = Limits(timeout=None if timeout is None else SEARCH_SHARE * timeout / len(grammars))
    searches: list[Discovery] = []
    for state, grammar in enumerate(grammars):
        see = None if watch is None else partial(_pass_on, watch, data.states[state])
        found = discover(
            rows.dataset(state), grammar, config=config, limits=limits, n_jobs=n_jobs, seed=seed, watch=see
        )
        searches.append(found)
    if rows.weak:
        searches = [_judge_weakly(found, rows, state) for state, found in enumerate(searches)]
    deadline = None if timeout is None else began + timeout
    whole = _Whole(data, rows, plan, [found.front for found in searches], deadline)
    chosen = tuple(_begin_with(found.front) for found in searches)
    is_interrupted = any(found.stopped == "interrupted" for found in searches)
    result = whole.improve(chosen) if not is_interrupted else whole.give_up(chosen)
    notes = (*data.notes, *(result.refined.notes if result.refined else ()), *result.notes)
    return SystemDiscovery(
        system=result.system,
        free=result.free,
        standard_errors=result.standard_errors,
        searches=tuple(searches),
        chosen=result.chosen,
        rows=rows,
        refined=result.refined,
        seconds=time.monotonic() - began,
        notes=notes,
        is_interrupted=is_interrupted,
    )


def _pass_on(watch: SystemWatcher, state: str, progress: Progress) -> None:
    watch(SystemProgress(state, progress))


def _begin_with(front: Front) -> int:
    """Return the simplest formula that comes near the best fit: costlier ones may only describe what smoothing did to the data."""
    return next(k for k, candidate in enumerate(front) if candidate.loss <= NEAR * front[-1].loss)


def _judge_weakly(found: Discovery, rows: SystemRows, state: int) -> Discovery:
    """Return the front with constants and losses of the weak form: means of formulas instead of formulas of means."""
    candidates = [fit_weakly(candidate, rows.weak, state, evaluate) for candidate in found.front]
    n_independent = sum(form.n_independent for form in rows.weak)
    return replace(found, front=Front.from_candidates(candidates, found.floor), n_rows=n_independent)


# ---- the system as a whole -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Result:
    system: System
    free: System
    standard_errors: Numbers
    chosen: tuple[int, ...]
    refined: Refined | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """A system under trial: its programs, the formulas of the fronts they came from, and what it is worth; less is better."""

    system: System
    chosen: tuple[int, ...]
    error: float  # mean squared residual on data held out, in units of the noise
    worth: float


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """Stretches of the runs: those that constants are fitted to, and those that are held out."""

    runs: list[Trajectory]
    starts: list[Numbers]
    held_runs: list[Trajectory]
    held_starts: list[Numbers]


class _Whole:
    """Chooses among the formulas of the fronts by following the equations along the measured trajectories."""

    def __init__(
        self, data: Trajectories, rows: SystemRows, plan: Plan, fronts: Sequence[Front], deadline: float | None
    ) -> None:
        self._data, self._rows, self._plan, self._fronts, self._deadline = data, rows, plan, fronts, deadline
        self._began = time.monotonic()
        self._split = _split_runs(data.runs, rows.starts)
        self._shortest = self._length = 2 * choose_length(data.runs, rows.starts, rows.noise)
        self._longest = min(MAX_LENGTH, max(run.n_samples for run in self._split.runs) // 2)
        self._data_of = [rows.dataset(state) for state in range(len(fronts))]
        self._tried: dict[tuple[tuple[int, ...], ...], _Choice] = {}

    def give_up(self, chosen: tuple[int, ...]) -> _Result:
        """Return the formulas as the searches left them."""
        system = self._system([front[k].program for front, k in zip(self._fronts, chosen, strict=True)])
        return _Result(system, system, np.full(system.n_constants, np.nan), chosen, None, ())

    def improve(self, chosen: tuple[int, ...]) -> _Result:
        """Try other formulas while that helps on data held out, then fit the constants to all of the data."""
        best = self._try_programs([self._prepare(state, k) for state, k in enumerate(chosen)], chosen)
        if not np.isfinite(best.worth):
            note = "The equations could not be followed along the data; their constants are those of the derivatives."
            return replace(self.give_up(chosen), notes=(note,))
        best = self._lengthen(best)
        state, n_unchanged = 0, 0
        while n_unchanged < len(chosen) and self._seconds_left(MOVE_SHARE) > 0:
            better = next((move for move in self._moves(best, state) if move.worth < best.worth), None)
            if better is not None:
                best, n_unchanged = self._lengthen(better), 0
            else:
                state, n_unchanged = (state + 1) % len(chosen), n_unchanged + 1
        return self._finish(best)

    def _moves(self, best: _Choice, state: int) -> Iterator[_Choice]:
        """Yield systems with one equation changed: a neighbour in the front of its state, or a term less."""
        for program, k in self._alternatives(best, state):
            if self._seconds_left(MOVE_SHARE) <= 0:
                return
            programs, chosen = list(best.system.programs), list(best.chosen)
            programs[state], chosen[state] = program, k
            yield self._try_programs(programs, tuple(chosen))

    def _alternatives(self, best: _Choice, state: int) -> Iterator[tuple[Program, int]]:
        """Yield other formulas for a state that come near the derivatives, with the formula of its front they are from."""
        front, at = self._fronts[state], best.chosen[state]
        limit = HOPELESS * front[-1].loss
        for k in range(min(at + NEIGHBOURS, len(front) - 1), max(0, at - NEIGHBOURS) - 1, -1):
            if k != at and front[k].loss <= limit:
                yield self._prepare(state, k), k
        for shorter in drop_one_term(best.system.programs[state]):
            refitted = fit(shorter, self._data_of[state], effort=POLISH_EFFORT)
            if refitted.loss <= limit:
                yield refitted.program, at

    def _prepare(self, state: int, k: int) -> Program:
        """Return a formula of a front in its simplest spelling, with all of its numbers free."""

        def agree(program: Program, simpler: Program) -> bool:
            values, others = (evaluate(p, self._data_of[state].columns) for p in (program, simpler))
            return bool(np.allclose(values, others, rtol=1e-6, atol=1e-9 * self._data_of[state].spread))

        return free_numbers(simplify(self._fronts[state][k].program, agree))

    def _lengthen(self, best: _Choice) -> _Choice:
        """Go over to segments twice as long while the system can be followed along them: they tell more."""
        while 2 * self._length <= self._longest and self._seconds_left(MOVE_SHARE) > 0:
            longer = self._fit(best.system.programs, best.chosen, 2 * self._length)
            if not longer.error <= FOLLOWED * best.error:
                break
            self._length *= 2
            self._tried.clear()
            best = longer
        return best

    def _try_programs(self, programs: Sequence[Program], chosen: tuple[int, ...]) -> _Choice:
        """Return what a system is worth, tried once."""
        key = tuple(program.tokens for program in programs)
        if key not in self._tried:
            self._tried[key] = self._fit(programs, chosen, self._length)
        return self._tried[key]

    def _fit(self, programs: Sequence[Program], chosen: tuple[int, ...], length: int) -> _Choice:
        """Fit the constants of a system to a part of the data, first along short segments, and judge it on the rest."""
        system, split, noise = self._system(programs), self._split, self._rows.noise
        for each in (self._shortest, length) if length > self._shortest else (length,):
            seconds = max(self._seconds_left(1.0) / 4, 0.0)
            fitted = refine(system, split.runs, split.starts, noise, length=each, max_seconds=seconds)
            system = fitted.system
        if not fitted.is_used.any():
            return _Choice(system, chosen, np.inf, np.inf)
        error = judge(system, split.held_runs, noise, split.held_starts, length=length)
        return _Choice(system, chosen, error, self._describe(system, error))

    def _describe(self, system: System, error: float) -> float:
        """Return the length of a description in nats: equations, their numbers, and what is left of the measurements."""
        n_observations = self._data.n_samples * len(self._data.states)
        structure = TOKEN_NATS * sum(program.cost for program in system.programs)
        numbers = 0.5 * system.n_constants * log(n_observations)
        return 0.5 * n_observations * log(max(error, 1e-300)) + structure + numbers

    def _finish(self, best: _Choice) -> _Result:
        """Fit the constants to all of the data, and make those simple numbers that the data does not tell from one."""
        refined = self._fit_to_all(best.system, FIRST_FIT * self._seconds_left(1.0))
        system = _clean_system(refined)
        if 0 < system.n_constants < refined.system.n_constants:
            system = self._fit_to_all(system, self._seconds_left(1.0)).system
        return _Result(system, refined.system, refined.standard_errors, best.chosen, refined, ())

    def _fit_to_all(self, system: System, seconds: float) -> Refined:
        return refine(system, self._data.runs, self._rows.starts, self._rows.noise, max_seconds=max(seconds, 0.0))

    def _system(self, programs: Sequence[Program]) -> System:
        return System(self._data.states, self._data.inputs, tuple(programs), self._plan.order, self._plan.is_discrete)

    def _seconds_left(self, share: float) -> float:
        """Return the seconds until a share of the time after the searches is used up."""
        if self._deadline is None:
            return np.inf
        return self._began + share * (self._deadline - self._began) - time.monotonic()


def _clean_system(refined: Refined) -> System:
    """Return the system with simple numbers in place of constants that are within a standard error of one, and known well enough."""
    programs = []
    errors = iter(refined.standard_errors)
    for program in refined.system.programs:
        numbers: list[float | None] = []
        for value in program.constants:
            error = next(errors)
            near = (n for n, spacing in simple_numbers_near(value) if abs(n - value) <= error and error < spacing / 2)
            numbers.append(next(near, None))
        programs.append(fix_constants(program, numbers))
    return replace(refined.system, programs=tuple(programs))


def _split_runs(runs: Sequence[Trajectory], starts: Sequence[Numbers]) -> _Split:
    """Cut runs into stretches and hold every fourth out; of few samples all are used for both."""
    pieces = [
        (_cut(run, first, end), states[first:end])
        for run, states in zip(runs, starts, strict=True)
        for first, end in _stretches(run.n_samples)
    ]
    kept = [piece for k, piece in enumerate(pieces) if k % HELD_OUT != HELD_OUT - 1]
    held = pieces[HELD_OUT - 1 :: HELD_OUT] or kept
    return _Split([run for run, _ in kept], [s for _, s in kept], [run for run, _ in held], [s for _, s in held])


def _stretches(n_samples: int) -> Iterator[tuple[int, int]]:
    n_blocks = max(1, min(N_BLOCKS, n_samples // MIN_BLOCK))
    edges = np.linspace(0, n_samples, n_blocks + 1).astype(int)
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def _cut(run: Trajectory, first: int, end: int) -> Trajectory:
    x_dot = None if run.x_dot is None else run.x_dot[first:end]
    return Trajectory(run.t[first:end], run.x[first:end], run.u[first:end], x_dot)
