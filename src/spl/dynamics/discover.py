"""The whole run for a dynamical system: rows, one search per state, then the system as a whole.

Each search gives a front. Which of its formulas are right is decided together: the equations are integrated and compared with the
measured trajectories. Then all constants are fitted to all of the data.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from spl.data.trajectories import Trajectories, Trajectory
from spl.dynamics.budget import NEVER, Deadline, SystemBudget, count_fits
from spl.dynamics.flow_model import fit_flow
from spl.dynamics.implicit import drop_copied_rates, find_unused_rates
from spl.dynamics.proposals import Proposals, TermSums, fit_sums
from spl.dynamics.quality import find_system_doubts
from spl.dynamics.refine import refine
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import SystemRows, make_rows
from spl.dynamics.segments import spread_samples
from spl.dynamics.select import ChosenSystem, SystemChooser
from spl.dynamics.state_searches import StateSearches, SystemStore, SystemWatcher
from spl.dynamics.trials import SystemTrials
from spl.dynamics.weak_fit import fit_weak_form
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.kernels.runtime import store as kernel_store
from spl.regression.discover import Discovery, get_ready
from spl.regression.front import Front
from spl.regression.time_limit import MOST_LOADING
from spl.settings import Limits

SUMS_SHARE = 0.2  # of the time limit may go into sums of simple terms
LEAST_SHARE = 0.3  # of the time limit is for searches and system, however long the preparations took
NEAR_BEST = (1.6, 1.3, 1.1)  # times the least loss of a front: formulas to start with, where noise allows no small loss
NOT_FOLLOWED = "The equations could not be followed along the data; their numbers are those of the derivatives."
FEWER_SAMPLES = "The equations are followed along {:,} of {:,} samples, in stretches spread evenly over all runs."
CUT_OFF = "The time limit was reached before `max_evaluations`: the same seed may give another answer next time."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SystemDiscovery(ChosenSystem):
    """What a run found: the equations, and where they came from."""

    searches: tuple[Discovery, ...]  # one per state, with its front
    rows: SystemRows
    seconds: float
    is_interrupted: bool
    doubts: tuple[str, ...] = ()  # those of the notes that say why the equations may be wrong


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
    state_searches = StateSearches(request, _limits_left(limits, began), watch, store, must_stop)
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
