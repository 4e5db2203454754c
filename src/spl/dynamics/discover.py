"""The whole run for a dynamical system: rows, one search per state, then the system as a whole.

Each search gives a front. Which of its formulas are right is decided together: the equations are integrated and compared with the
measured trajectories. Then all constants are fitted to all of the data.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np

from spl.data.trajectories import Trajectories, Trajectory
from spl.dynamics.aliasing import SampleSequence
from spl.dynamics.budget import NEVER, Deadline, SystemBudget, count_fits
from spl.dynamics.flow_model import fit_flow
from spl.dynamics.implicit import drop_copied_rates, find_unused_rates, keep_linear
from spl.dynamics.proposals import Proposals, TermSums, fit_sums
from spl.dynamics.quality import find_system_doubts
from spl.dynamics.refine import refine
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import SystemRows, make_rows
from spl.dynamics.segments import spread_samples
from spl.dynamics.select import ChosenSystem, SystemChooser
from spl.dynamics.trials import SystemTrials
from spl.dynamics.weak_fit import fit_weak_form
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.kernels.runtime import store as kernel_store
from spl.regression.checkpoint import Checkpoint
from spl.regression.discover import Discovery, Keeper, Progress, Watcher, discover, get_ready
from spl.regression.front import Front
from spl.regression.request import RegressionRequest
from spl.regression.time_limit import MOST_LOADING
from spl.settings import Limits

SEARCH_SHARE = 0.6  # of the time that is left then is for the searches; the rest for the system as a whole
SUMS_SHARE = 0.2  # of the time limit may go into sums of simple terms
EXACT_SUMS_SHARE = 0.25  # of the limits of a search, if a short sum is already as accurate as the derivatives
LEAST_SHARE = 0.3  # of the time limit is for searches and system, however long the preparations took
NEAR_BEST = (1.6, 1.3, 1.1)  # times the least loss of a front: formulas to start with, where noise allows no small loss
NOT_FOLLOWED = "The equations could not be followed along the data; their numbers are those of the derivatives."
FEWER_SAMPLES = "The equations are followed along {:,} of {:,} samples, in stretches spread evenly over all runs."
CUT_OFF = "The time limit was reached before `max_evaluations`: the same seed may give another answer next time."
MOSTLY_USED = 0.75  # a finished search that used this share of its time is not continued
LAST_STATE_SECONDS = 0.5  # for each equation that is left when a search was interrupted


@dataclass(frozen=True, slots=True)
class SystemProgress:
    """What a watcher sees: which state is being searched, and the progress of that search."""

    state: str
    progress: Progress


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SystemDiscovery(ChosenSystem):
    """What a run found: the equations, and where they came from."""

    searches: tuple[Discovery, ...]  # one per state, with its front
    rows: SystemRows
    seconds: float
    is_interrupted: bool
    doubts: tuple[str, ...] = ()  # those of the notes that say why the equations may be wrong


SystemWatcher = Callable[[SystemProgress], None]


class SystemStore(Protocol):
    """Keeps the searches of a system, one per state, and how far they had come when the run was continued."""

    limits_before: Limits  # of the run that is continued

    def discovery(self, search: int) -> Discovery | None:
        """Return what a search has found so far; `stopped` is empty if it is not over."""

    def checkpoint(self, search: int) -> Checkpoint | None:
        """Return where a search can continue."""

    def keeper(self, search: int) -> Keeper:
        """Return what keeps the progress of a search."""

    def finish_search(self, search: int, found: Discovery) -> None:
        """Keep what a search found in the end."""


def discover_system(
    request: SystemRequest,
    *,
    watch: SystemWatcher | None = None,
    store: SystemStore | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> SystemDiscovery:
    """Search for the equations of a system, one search per state, and refine them together.

    With a store, searches continue where they were left; their part of the limits counts from their first start. With
    `max_evaluations`, the same seed gives the same answer to the last digit for any number of jobs, unless the time limit cuts
    something off, and then a note says so.
    """
    data, plan, limits = request.data, request.plan, request.limits
    began = _get_ready(request.n_jobs, limits.timeout)
    rows = make_rows(data, plan)
    if plan.is_implicit:
        request = replace(request, grammars=drop_copied_rates(request.grammars, rows))
        rows = replace(rows, unused_rates=find_unused_rates(request.grammars, rows))
    sums = _fit_all_sums(rows, request)
    state_searches = _StateSearches(request, _limits_left(limits, began), watch, store, must_stop)
    seconds_before = state_searches.seconds_before()
    searches = state_searches.run(rows, sums)
    if rows.weak:
        searches = [_refit_weak_form(found, rows, state) for state, found in enumerate(searches)]
    shortest = tuple(found.front.choose("mdl", found.n_rows, found.floor) for found in searches)
    if plan.is_discrete:  # nothing is smoothed: the noise of a map is what its formulas leave unexplained
        rows = replace(rows, noise=np.array([found.front[k].loss for found, k in zip(searches, shortest, strict=True)]))
    proposals = [Proposals(rows.dataset(state), found.front, sums[state]) for state, found in enumerate(searches)]
    deadline = NEVER if limits.timeout is None else Deadline(began + limits.timeout - seconds_before)
    budget = SystemBudget(deadline, count_fits(limits.max_evaluations), must_stop)
    used, used_rows = _limit_samples(data, rows)
    trials = SystemTrials(used, used_rows, plan, budget)
    chooser = SystemChooser(used_rows, trials, request.grammars, proposals, budget)
    starts = [shortest] if plan.is_discrete else _simple_starts(proposals, rows)
    shortest, repeated = chooser.make_solvable(shortest)
    if plan.is_implicit:  # with rates, the equations are all nearly right or none can be followed
        starts = [chooser.make_solvable(start)[0] for start in (*starts, shortest)]
    costlier = tuple(each.keep_simple(*rows_of) for each, *rows_of in zip(proposals, starts[-1], shortest, strict=True))
    costlier = chooser.make_solvable(costlier)[0]
    chosen, is_interrupted = _choose(chooser, searches, starts, costlier, shortest)
    is_cut_off = budget.may_be_cut_off or any(found.stopped == "timeout" for found in searches)
    not_followed = (NOT_FOLLOWED,) if chosen.refined is None and not is_interrupted else ()
    misfit = _measure_misfit(chosen, trials.exact_error) if not plan.is_discrete else 0.0
    doubts = (*not_followed, *find_system_doubts(chosen.system, data, rows, misfit))
    return SystemDiscovery(
        system=chosen.system,
        standard_errors=chosen.standard_errors,
        chosen=chosen.chosen,
        refined=chosen.refined,
        searches=tuple(searches),
        rows=rows,
        seconds=seconds_before + time.monotonic() - began,
        notes=(*_run_notes(request, used, is_cut_off=is_cut_off), *repeated, *chosen.notes, *doubts),
        doubts=doubts,
        is_interrupted=is_interrupted or must_stop(),
    )


@dataclass(frozen=True, slots=True)
class _StateSearches:
    """How the states are searched, one after the other."""

    request: SystemRequest
    limits: Limits  # of all searches and of the choice after them
    watch: SystemWatcher | None
    store: SystemStore | None
    must_stop: Callable[[], bool]

    def seconds_before(self) -> float:
        """Return how long the searches that are continued took before; a part of the time limit is always left."""
        n_states = len(self.request.grammars)
        checkpoints = [self.store.checkpoint(state) for state in range(n_states)] if self.store is not None else []
        most = self.limits_per_state().timeout or np.inf
        return float(sum(min(checkpoint.seconds, most) for checkpoint in checkpoints if checkpoint is not None))

    def limits_per_state(self) -> Limits:
        """Return the limits of each search."""
        n_states = len(self.request.grammars)
        seconds, most = self.limits.timeout, self.limits.max_evaluations
        return Limits(
            timeout=None if seconds is None else SEARCH_SHARE * seconds / n_states,
            max_evaluations=None if most is None else max(1, most // n_states),
        )

    def run(self, rows: SystemRows, sums: Sequence[TermSums]) -> list[Discovery]:
        """Search for the equation of each state; once a search is interrupted, the others get only as long as an answer takes."""
        searches: list[Discovery] = []
        for state in range(len(self.request.grammars)):
            limits = self.limits_per_state()
            if any(found.stopped == "interrupted" for found in searches):
                limits = replace(limits, timeout=LAST_STATE_SECONDS)
            searches.append(self._search(rows, state, sums[state], limits))
        return searches

    def _search(self, rows: SystemRows, state: int, sums: TermSums, limits: Limits) -> Discovery:
        """Search for the equation of one state, or continue that; a search with nothing left to do gives what it found before."""
        store, data = self.store, rows.dataset(state)
        if sums.are_exact(float(rows.target_errors[state])):
            limits = _shorten(limits)
        done, checkpoint = (None, None) if store is None else (store.discovery(state), store.checkpoint(state))
        if done is not None and self._is_over(done, limits):
            return done
        if limits.timeout is not None and checkpoint is not None:
            limits = replace(limits, timeout=max(limits.timeout - checkpoint.seconds, LAST_STATE_SECONDS))
        found = discover(
            self._request_state(rows, state, limits),
            watch=self._watch_state(self.request.data.states[state]),
            keep=None if store is None else store.keeper(state),
            checkpoint=checkpoint,
            must_stop=self.must_stop,
        )
        found = replace(found, front=sums.join(found.front, data, found.floor))
        if rows.rates:
            found = replace(found, front=keep_linear(found.front, self.request.data.states[state], rows))
        samples = SampleSequence.of(self.request.data, rows, is_discrete=self.request.plan.is_discrete)
        found = replace(found, front=samples.leave_out_too_fast(found.front))
        if store is not None:
            store.finish_search(state, found)
        return found

    def _request_state(self, rows: SystemRows, state: int, limits: Limits) -> RegressionRequest:
        return RegressionRequest(
            rows.dataset(state),
            self.request.grammars[state],
            config=replace(self.request.config, patience=None),  # whole fronts are tried along the data, not one choice
            limits=limits,
            n_jobs=self.request.n_jobs,
            seed=self.request.seed,
            target_error=float(rows.target_errors[state]),
        )

    def _watch_state(self, state: str) -> Watcher | None:
        watch = self.watch
        return None if watch is None else lambda progress: watch(SystemProgress(state, progress))

    def _is_over(self, done: Discovery, limits: Limits) -> bool:
        """Return whether a finished search would stop soon if it continued within these limits."""
        if done.stopped == "timeout":
            return limits.timeout is not None and done.seconds >= MOSTLY_USED * limits.timeout
        if done.stopped == "evaluations":  # of one tree: all of them together may have used less than the limit
            before = None if self.store is None else self.store.limits_before.max_evaluations
            most = self.limits.max_evaluations
            return before is not None and most is not None and most <= before
        return done.stopped in ("exact", "exhausted", "schedules")


def _get_ready(n_jobs: int, timeout: float | None) -> float:
    """Load everything that is needed; return when the time limit began, at most half of it ago. Compilation does not count."""
    began = get_ready(n_jobs)
    loaded = time.monotonic()
    compile_integration()
    began += time.monotonic() - loaded
    return began if timeout is None else max(began, time.monotonic() - MOST_LOADING * timeout)


@cache
def compile_integration() -> None:
    """Compile the kernels that integrate systems, or load them from the cache, by fitting a small system."""
    t = np.linspace(0.0, 1.0, 16)
    run = Trajectory(t, np.exp(-t)[:, np.newaxis], np.empty((t.size, 0)), None)
    decay = parse_expression("C * x", Vocabulary(("x",))).with_constants(np.array([-1.0]))
    refine(System(("x",), (), (decay,)), [run], [run.x], [0.1])
    fit_flow([run])


def _limits_left(limits: Limits, began: float) -> Limits:
    """Return the limits of what follows the preparations."""
    if limits.timeout is None:
        return limits
    return replace(limits, timeout=max(began + limits.timeout - time.monotonic(), LEAST_SHARE * limits.timeout))


def _fit_all_sums(rows: SystemRows, request: SystemRequest) -> list[TermSums]:
    """Return the sums for each state; only the first ones if they take a large share of the time."""
    timeout = None if request.limits.max_evaluations is not None else request.limits.timeout
    seconds = None if timeout is None else SUMS_SHARE * timeout / len(request.grammars)
    return [
        fit_sums(rows.dataset(state), grammar.bind(rows.variables), seconds, request.seed)
        for state, grammar in enumerate(request.grammars)
    ]


def _shorten(limits: Limits) -> Limits:
    """Return the limits of a search that is unlikely to find anything better than the sums."""
    seconds, most = limits.timeout, limits.max_evaluations
    return Limits(
        timeout=None if seconds is None else EXACT_SUMS_SHARE * seconds,
        max_evaluations=None if most is None else max(1, int(EXACT_SUMS_SHARE * most)),
    )


def _refit_weak_form(found: Discovery, rows: SystemRows, state: int) -> Discovery:
    """Return the front with constants and losses of the weak form: means of formulas instead of formulas of means."""
    candidates = [fit_weak_form(candidate, rows.weak, state) for candidate in found.front]
    n_independent = sum(form.n_independent for form in rows.weak)
    front = Front.from_candidates(candidates, found.floor, n_independent)
    return replace(found, front=front, n_rows=n_independent)


def _limit_samples(data: Trajectories, rows: SystemRows) -> tuple[Trajectories, SystemRows]:
    """Return as many samples as are followed."""
    runs, starts = spread_samples(data.runs, rows.starts)
    used = replace(data, runs=tuple(runs))
    return (data, rows) if used.n_samples == data.n_samples else (used, replace(rows, starts=tuple(starts)))


def _simple_starts(proposals: Sequence[Proposals], rows: SystemRows) -> list[tuple[int, ...]]:
    """Return rows of the fronts to start with, simple formulas: costlier ones may only describe errors of the derivatives."""
    return [tuple(each.simplest_row(near, is_clean=rows.is_clean) for each in proposals) for near in NEAR_BEST]


def _choose(
    chooser: SystemChooser,
    searches: Sequence[Discovery],
    starts: Sequence[tuple[int, ...]],
    costlier: tuple[int, ...],
    shortest: tuple[int, ...],
) -> tuple[ChosenSystem, bool]:
    """Return the chosen system, and whether the run was interrupted; without a choice, take the shortest descriptions."""
    if any(found.stopped == "interrupted" for found in searches):
        return chooser.take(shortest), True
    try:
        return chooser.choose(starts, costlier) or chooser.take(shortest), False
    except KeyboardInterrupt:
        return chooser.take(shortest), True


def _measure_misfit(chosen: ChosenSystem, exact_error: float) -> float:
    """Return how far the equations miss the samples, in units of the noise or of what counts as exact; 0 if unknown."""
    return 0.0 if chosen.refined is None else float(np.sqrt(chosen.refined.chi2 / max(1.0, exact_error)))


def _run_notes(request: SystemRequest, used: Trajectories, *, is_cut_off: bool) -> tuple[str, ...]:
    """Return what was repaired, left out or cut off."""
    n_used, n_samples = used.n_samples, request.data.n_samples
    fewer = (FEWER_SAMPLES.format(n_used, n_samples),) if n_used < n_samples else ()
    cut_off = (CUT_OFF,) if is_cut_off and request.limits.max_evaluations is not None else ()
    return (*request.data.notes, *fewer, *cut_off, *kernel_store.troubles)
