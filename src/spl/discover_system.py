"""The whole run for a dynamical system: rows, one search for each state, then the system as a whole.

Each search gives a front. Which of its formulas are right is decided together: equations are integrated and compared with the
measured trajectories, on stretches that their constants were not fitted to. Then all constants are fitted to all of the data.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import log

import numpy as np
from numpy.typing import NDArray

from spl.ablate import drop_one_term
from spl.clean import simple_numbers_near
from spl.config import Limits, SearchConfig
from spl.discover import Discovery, Progress, compile_kernels, discover
from spl.expression import parse_expression
from spl.fit import POLISH_EFFORT, evaluate, fit
from spl.free import fix_constants, free_numbers
from spl.front import TOKEN_NATS, Front
from spl.grammar import Grammar
from spl.program import Program, Vocabulary
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
NEAR = 0.2  # of the spread of a derivative may be left unexplained by the formula to begin with
FOLLOWED = 1.3  # times the error on segments half as long is allowed on longer ones
MAX_LENGTH = 512  # samples of a segment
HOPELESS = 0.5  # of its spread left unexplained is too far from the derivative to be tried
MAX_COST = 45  # of a formula that is tried
PATIENCE = 4  # formulas costlier than the one at hand that do not help, before the rest of a front is left
FIRST_FIT = 0.7  # of the time that is left is for the fit before numbers are made simple
MOST_USED = 0.8  # of the segments must be followed for a fit to count
SECOND_FIT = 1.0  # seconds that a fit may take when the time is up
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
    compile_kernels()
    _compile_integration()
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
    chosen = tuple(_begin_with(found, rows.dataset(state).spread) for state, found in enumerate(searches))
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


@cache
def _compile_integration() -> None:
    """Compile the kernel that integrates systems, or load it from the cache, by fitting a small one."""
    t = np.linspace(0.0, 1.0, 16)
    run = Trajectory(t, np.exp(-t)[:, np.newaxis], np.empty((t.size, 0)), None)
    decay = parse_expression("C * x", Vocabulary(("x",))).with_constants(np.array([-1.0]))
    refine(System(("x",), (), (decay,)), [run], [run.x], [0.1], is_quick=True)


def _pass_on(watch: SystemWatcher, state: str, progress: Progress) -> None:
    watch(SystemProgress(state, progress))


def _begin_with(found: Discovery, spread: float) -> int:
    """Return the simplest formula that gives most of the derivative: costlier ones may only describe what smoothing did to it."""
    return next((k for k, candidate in enumerate(found.front) if candidate.loss <= NEAR * spread), len(found.front) - 1)


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
        before = None
        while best is not before and self._seconds_left(MOVE_SHARE) > 0:
            before = best = self._lengthen(best)
            for state in range(len(chosen)):
                best = self._scan_front(best, state)
                best = self._drop_terms(best, state)
        return self._finish(best)

    def _scan_front(self, best: _Choice, state: int) -> _Choice:
        """Try the formulas of a front in place of the equation of its state, from simple to costly, until several did not help."""
        front = self._fronts[state]
        n_in_vain = 0
        for k, candidate in enumerate(front):
            if candidate.loss > HOPELESS * self._data_of[state].spread or candidate.cost > MAX_COST:
                continue
            if n_in_vain == PATIENCE or self._seconds_left(MOVE_SHARE) <= 0:
                break
            trial = self._try(best, state, self._prepare(state, k), k)
            n_in_vain = 0 if trial.worth < best.worth else n_in_vain + (k > best.chosen[state])
            best = min(best, trial, key=lambda choice: choice.worth)
        return best

    def _drop_terms(self, best: _Choice, state: int) -> _Choice:
        """Leave out terms of an equation while it is worth more without them."""
        is_better = True
        while is_better:
            is_better = False
            for shorter in drop_one_term(best.system.programs[state]):
                refitted = fit(shorter, self._data_of[state], effort=POLISH_EFFORT)
                if refitted.loss > HOPELESS * self._data_of[state].spread or self._seconds_left(MOVE_SHARE) <= 0:
                    continue
                trial = self._try(best, state, refitted.program, best.chosen[state])
                if trial.worth < best.worth:
                    best, is_better = trial, True
                    break
        return best

    def _try(self, best: _Choice, state: int, program: Program, k: int) -> _Choice:
        """Return the system with another equation for one state, which came from formula k of its front."""
        programs, chosen = list(best.system.programs), list(best.chosen)
        programs[state], chosen[state] = program, k
        return self._try_programs(programs, tuple(chosen))

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
        refined = self._fit_to_all(best, best.system, FIRST_FIT * self._seconds_left(1.0))
        system = _clean_system(refined)
        if 0 < system.n_constants < refined.system.n_constants:
            system = self._fit_to_all(best, system, self._seconds_left(1.0)).system
        return _Result(system, refined.system, refined.standard_errors, best.chosen, refined, ())

    def _fit_to_all(self, best: _Choice, system: System, seconds: float) -> Refined:
        """Fit to segments as long as the system can be followed; where that fails, to segments of the length of the trials."""
        runs, starts, noise = self._data.runs, self._rows.starts, self._rows.noise
        refined = refine(system, runs, starts, noise, max_seconds=max(seconds, 0.0))
        if refined.is_used.mean() >= MOST_USED and refined.chi2 <= FOLLOWED * best.error:
            return refined
        return refine(system, runs, starts, noise, length=self._length, max_seconds=max(seconds, SECOND_FIT))

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
