"""The whole run for a dynamical system: rows, one search for each state, then the system as a whole.

Each search gives a front. Which of its formulas are right is decided together: equations are integrated and compared with the
measured trajectories, on stretches that their constants were not fitted to. Then all constants are fitted to all of the data.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import takewhile
from typing import Protocol

import numpy as np

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories, Trajectory
from spl.dynamics.budget import SystemBudget, count_fits
from spl.dynamics.quality import find_system_doubts
from spl.dynamics.refine import refine
from spl.dynamics.rows import Plan, SystemRows, make_rows
from spl.dynamics.segments import spread_samples
from spl.dynamics.select import ChosenSystem, Proposals, SystemChooser, can_be_fitted
from spl.dynamics.term_library import Library
from spl.dynamics.weak_fit import fit_weakly
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.regression.checkpoint import Checkpoint
from spl.regression.discover import Discovery, Keeper, Progress, Watcher, discover, get_ready
from spl.regression.fit import POLISH_EFFORT, evaluate, fit
from spl.regression.front import Front
from spl.regression.request import RegressionRequest
from spl.regression.tidy_front import tidy_candidate
from spl.regression.time_limit import MOST_LOADING
from spl.settings import TIMEOUT, Limits, SearchConfig

SEARCH_SHARE = 0.6  # of the time that is left then is for the searches; the rest for the system as a whole
SUMS_SHARE = 0.2  # of the time limit may go into sums of simple terms
LEAST_SHARE = 0.3  # of the time limit is for searches and system, however long it took to get there
NEAR = 0.2  # of the spread of a derivative may be left unexplained by the formula to begin with
NEAR_BEST = (1.6, 1.3, 1.1)  # times the least that any formula leaves, where noise lets none come so near
CLEAN = 1e-4  # the same where the data has no noise
NOT_FOLLOWED = "The equations could not be followed along the data; their numbers are those of the derivatives."
FEWER_SAMPLES = "The equations are followed along {:,} of {:,} samples, in stretches spread evenly over all runs."
CUT_OFF = "The time limit was reached before `max_evaluations`: the same seed may give another answer next time."
MOST_OF_IT = 0.75  # of its time used up is enough for a search that was begun before
LAST_SECONDS = 0.5  # for each equation that is left when a search was interrupted


@dataclass(frozen=True, slots=True)
class SystemProgress:
    """What a watcher sees: which state is searched, and how that goes."""

    state: str
    progress: Progress


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SystemDiscovery(ChosenSystem):
    """What a run found: the equations, and where they came from."""

    searches: tuple[Discovery, ...]  # one a state, with its front
    rows: SystemRows
    seconds: float
    is_interrupted: bool
    doubts: tuple[str, ...] = ()  # those of the notes that say why the equations may be wrong


SystemWatcher = Callable[[SystemProgress], None]


class SystemStore(Protocol):
    """Keeps the searches of a system, one a state, and knows how far they were when it was last begun."""

    limits_before: Limits  # of the run that is continued

    def discovery(self, search: int) -> Discovery | None:
        """Return what a search found so far; `stopped` is empty if it is not over."""

    def checkpoint(self, search: int) -> Checkpoint | None:
        """Return where a search stands."""

    def keeper(self, search: int) -> Keeper:
        """Return what keeps the progress of a search."""

    def finish_search(self, search: int, found: Discovery) -> None:
        """Keep what a search found in the end."""


def discover_system(
    data: Trajectories,
    grammars: Sequence[Grammar],
    *,
    plan: Plan | None = None,
    config: SearchConfig | None = None,
    timeout: float | None = TIMEOUT,
    max_evaluations: int | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    watch: SystemWatcher | None = None,
    store: SystemStore | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> SystemDiscovery:
    """Search the equations of a system, one grammar a state, and refine them together.

    With a store, searches go on from where they were left; their part of the limits counts from their first beginning. With
    `max_evaluations`, which the searches share, fits along the trajectories are counted too: the same seed gives the same answer
    to the last digit for any number of jobs, unless the time limit cuts something off, and then a note says so.
    """
    plan = plan or Plan()
    began = _get_ready(n_jobs, timeout)
    rows = make_rows(data, plan)
    sums = _propose_all(rows, grammars, None if max_evaluations is not None else timeout)
    left = None if timeout is None else max(began + timeout - time.monotonic(), LEAST_SHARE * timeout)
    limits = Limits(timeout=left, max_evaluations=max_evaluations)
    how = _Searching(config, limits, n_jobs, seed, watch, store, must_stop)
    before = how.seconds_before(len(grammars))
    searches = _search_all(data.states, rows, grammars, sums, how)
    if rows.weak:
        searches = [_judge_weakly(found, rows, state) for state, found in enumerate(searches)]
    shortest = tuple(found.front.choose("mdl", found.n_rows, found.floor) for found in searches)
    if plan.is_discrete:  # no smoothing tells the noise of a map: what the formulas leave over does
        rows = replace(rows, noise=np.array([found.front[k].loss for found, k in zip(searches, shortest, strict=True)]))
    deadline = None if timeout is None else began + timeout - before
    proposals = [replace(each, front=found.front) for each, found in zip(sums, searches, strict=True)]
    used, used_rows, fewer = _limit_samples(data, rows)
    budget = SystemBudget(deadline, count_fits(max_evaluations), must_stop)
    chooser = SystemChooser(used, used_rows, plan, grammars, proposals, budget)
    is_interrupted = any(found.stopped == "interrupted" for found in searches)
    result = None
    try:
        if not is_interrupted:
            starts = [shortest] if plan.is_discrete else _simple_starts(searches, rows)
            result = chooser.choose(starts)
    except KeyboardInterrupt:
        is_interrupted = True
    result = result or chooser.take(shortest)
    is_cut_off = budget.may_be_cut_off or any(found.stopped == "timeout" for found in searches)
    cut_off = (CUT_OFF,) if is_cut_off and max_evaluations is not None else ()
    not_followed = (NOT_FOLLOWED,) if result.refined is None and not is_interrupted else ()
    doubts = (*not_followed, *find_system_doubts(result.system, data, rows))
    return SystemDiscovery(
        system=result.system,
        standard_errors=result.standard_errors,
        chosen=result.chosen,
        refined=result.refined,
        searches=tuple(searches),
        rows=rows,
        seconds=before + time.monotonic() - began,
        notes=(*data.notes, *fewer, *cut_off, *result.notes, *doubts),
        doubts=doubts,
        is_interrupted=is_interrupted or must_stop(),
    )


@dataclass(frozen=True, slots=True)
class _Searching:
    """How each state is searched."""

    config: SearchConfig | None
    limits: Limits  # of all of it
    n_jobs: int
    seed: int
    watch: SystemWatcher | None
    store: SystemStore | None
    must_stop: Callable[[], bool]

    def seconds_before(self, n_states: int) -> float:
        """Return how long the searches took that are gone on with; a part of the time limit is always left."""
        checkpoints = [self.store.checkpoint(state) for state in range(n_states)] if self.store is not None else []
        most = self.limits_for_one(n_states).timeout or np.inf
        return float(sum(min(checkpoint.seconds, most) for checkpoint in checkpoints if checkpoint is not None))

    def limits_for_one(self, n_states: int) -> Limits:
        """Return the limits of each search."""
        seconds, most = self.limits.timeout, self.limits.max_evaluations
        return Limits(
            timeout=None if seconds is None else SEARCH_SHARE * seconds / n_states,
            max_evaluations=None if most is None else max(1, most // n_states),
        )

    def is_over(self, done: Discovery, limits: Limits) -> bool:
        """Return whether a finished search would stop soon if it continued within these limits."""
        if done.stopped == "timeout":
            return limits.timeout is not None and done.seconds >= MOST_OF_IT * limits.timeout
        if done.stopped == "evaluations":  # by one tree: all of them together may have fewer than they may
            before = None if self.store is None else self.store.limits_before.max_evaluations
            most = self.limits.max_evaluations
            return before is not None and most is not None and most <= before
        return done.stopped in ("exact", "exhausted", "schedules")


def _get_ready(n_jobs: int, timeout: float | None) -> float:
    """Load all that is needed; return since when the time counts, of which half is left at least. Compilation does not count."""
    began = get_ready(n_jobs)
    loaded = time.monotonic()
    _compile_integration()
    began += time.monotonic() - loaded
    return began if timeout is None else max(began, time.monotonic() - MOST_LOADING * timeout)


def _propose_all(rows: SystemRows, grammars: Sequence[Grammar], timeout: float | None) -> list[Proposals]:
    """Return the sums for each state; if they take a large share of the time, only the first of them."""
    seconds = None if timeout is None else SUMS_SHARE * timeout / len(grammars)
    return [propose_sums(rows, state, grammar, seconds) for state, grammar in enumerate(grammars)]


def propose_sums(rows: SystemRows, state: int, grammar: Grammar, seconds: float | None = None) -> Proposals:
    """Return the sums of simple terms that come near the derivative of a state, as many as there is time for."""
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    data = rows.dataset(state)
    library = Library.build(grammar.bind(rows.names), data, evaluate)
    proposed = takewhile(lambda _: time.monotonic() <= deadline, library.propose(data.target))
    programs = {p.tokens: p for p in proposed if can_be_fitted(p)}
    candidates = tuple(fit(program, data, effort=POLISH_EFFORT) for program in programs.values())
    return Proposals(Front.from_candidates(candidates), candidates, library)


def _join(found: Discovery, sums: Proposals, data: Dataset) -> Discovery:
    """Return the search with the sums in its front."""
    tidied = [tidy_candidate(candidate, data) for candidate in sums.front]
    return replace(found, front=Front.from_candidates([*found.front, *tidied], found.floor))


def _search_all(
    states: Sequence[str],
    rows: SystemRows,
    grammars: Sequence[Grammar],
    sums: Sequence[Proposals],
    how: _Searching,
) -> list[Discovery]:
    """Search the equation of each state in turn; once one is interrupted, the others get only as long as an answer takes."""
    searches: list[Discovery] = []
    for state, grammar in enumerate(grammars):
        watch = None if how.watch is None else partial(_pass_on, how.watch, states[state])
        is_over = any(found.stopped == "interrupted" for found in searches)
        limits = how.limits_for_one(len(grammars))
        limits = replace(limits, timeout=LAST_SECONDS) if is_over else limits
        searches.append(_search(rows, state, grammar, sums[state], limits, watch, how))
    return searches


def _search(
    rows: SystemRows,
    state: int,
    grammar: Grammar,
    sums: Proposals,
    limits: Limits,
    watch: Watcher | None,
    how: _Searching,
) -> Discovery:
    """Search the equation of one state, or go on with that; what was found before is returned if there is nothing left to do."""
    store = how.store
    config = how.config or SearchConfig()
    data = rows.dataset(state)
    request = RegressionRequest(
        data,
        grammar,
        config=replace(config, patience=None),  # whole fronts are tried along the data, not one choice
        limits=limits,
        n_jobs=how.n_jobs,
        seed=how.seed,
        target_error=float(rows.target_errors[state]),
    )
    if store is None:
        return _join(discover(request, watch=watch, must_stop=how.must_stop), sums, data)
    done, checkpoint = store.discovery(state), store.checkpoint(state)
    if done is not None and how.is_over(done, limits):
        return done
    if limits.timeout is not None and checkpoint is not None:
        limits = replace(limits, timeout=max(limits.timeout - checkpoint.seconds, LAST_SECONDS))
        request = replace(request, limits=limits)
    keep = store.keeper(state)
    found = discover(request, watch=watch, keep=keep, checkpoint=checkpoint, must_stop=how.must_stop)
    found = _join(found, sums, data)
    store.finish_search(state, found)
    return found


def _limit_samples(data: Trajectories, rows: SystemRows) -> tuple[Trajectories, SystemRows, tuple[str, ...]]:
    """Return as much of the runs as is followed, and a note if that is not all."""
    runs, starts = spread_samples(data.runs, rows.starts)
    used = replace(data, runs=tuple(runs))
    if used.n_samples == data.n_samples:
        return data, rows, ()
    return used, replace(rows, starts=tuple(starts)), (FEWER_SAMPLES.format(used.n_samples, data.n_samples),)


@cache
def _compile_integration() -> None:
    """Compile the kernel that integrates systems, or load it from the cache, by fitting a small one."""
    t = np.linspace(0.0, 1.0, 16)
    run = Trajectory(t, np.exp(-t)[:, np.newaxis], np.empty((t.size, 0)), None)
    decay = parse_expression("C * x", Vocabulary(("x",))).with_constants(np.array([-1.0]))
    refine(System(("x",), (), (decay,)), [run], [run.x], [0.1])


def _pass_on(watch: SystemWatcher, state: str, progress: Progress) -> None:
    watch(SystemProgress(state, progress))


def _simple_starts(searches: Sequence[Discovery], rows: SystemRows) -> list[tuple[int, ...]]:
    """Return choices of formulas to begin with, one of each front: costlier ones may only describe errors of the derivatives."""
    spreads = [rows.dataset(state).spread for state in range(len(searches))]
    is_clean = rows.method == "finite_difference"
    return [
        tuple(_simplest(found.front, spread, near, is_clean) for found, spread in zip(searches, spreads, strict=True))
        for near in NEAR_BEST
    ]


def _simplest(front: Front, spread: float, near: float, is_clean: bool) -> int:
    """Return the simplest formula that leaves at most a share of the derivative; where none does, that is near the best."""
    limit = max(NEAR * spread, near * front[-1].loss)
    if is_clean and front[-1].loss <= CLEAN * spread:
        limit = CLEAN * spread
    return next(k for k, candidate in enumerate(front) if candidate.loss <= limit)


def _judge_weakly(found: Discovery, rows: SystemRows, state: int) -> Discovery:
    """Return the front with constants and losses of the weak form: means of formulas instead of formulas of means."""
    candidates = [fit_weakly(candidate, rows.weak, state, evaluate) for candidate in found.front]
    n_independent = sum(form.n_independent for form in rows.weak)
    return replace(found, front=Front.from_candidates(candidates, found.floor), n_rows=n_independent)
