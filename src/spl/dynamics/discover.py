"""The whole run for a dynamical system: rows, one search per state, then the system as a whole.

Each search gives a front. Which of its formulas are right is decided together: the equations are integrated and compared with the
measured trajectories. Then all constants are fitted to all of the data.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from spl.data.trajectories import Trajectory
from spl.dynamics.budget import NEVER, Deadline, SystemBudget, count_fits
from spl.dynamics.flow_model import fit_flow
from spl.dynamics.implicit_choice import choose_rates
from spl.dynamics.own_discovery import OwnCourse
from spl.dynamics.own_system import with_own_columns
from spl.dynamics.preparation import Preparation, prepare
from spl.dynamics.proposals import TermSums
from spl.dynamics.quality import find_system_doubts
from spl.dynamics.refine import refine
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import SystemRows
from spl.dynamics.select import CHANGES_SHARE, ChosenSystem
from spl.dynamics.state_searches import StateSearches, SystemStore, SystemWatcher
from spl.dynamics.system_choice import SystemChoice
from spl.dynamics.system_packing import evaluate_slopes
from spl.dynamics.trials import Trial
from spl.dynamics.weak_fit import fit_weak_form
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.kernels.runtime import store as kernel_store
from spl.regression.blas_threads import one_blas_thread
from spl.regression.discover import Discovery, get_ready
from spl.regression.front import Front
from spl.regression.time_limit import MOST_LOADING
from spl.settings import Limits
from spl.units.system_units import SystemUnits, holds

SUMS_SHARE = 0.2  # of the time limit may go into sums of simple terms
FIRST_SHARE = 0.15  # of the time after the preparations may go into the first choice
SHORT_SHARE = 0.3  # of the limits are for the short searches that may confirm it
CONFIRM_SHARE = 0.25  # of the same time may go into the choice after them
MOST_MISFIT = 1.5  # mean squared residual in units of the noise, which is only estimated: a larger one means that something is missing
ALIKE = 0.02  # of the spread of a slope: systems that differ by less are the same
LEAST_SHARE = 0.3  # of the time limit is for searches and system, however long the preparations took
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
    units: SystemUnits | None = None


@one_blas_thread()
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
    if request.own is not None:
        return discover_own_system(request, watch=watch, must_stop=must_stop)
    request = settle_rates(request, must_stop)
    began = _get_ready(request)
    prepared = request.prepared or _prepare(request)
    request = replace(request, grammars=prepared.grammars)
    course = _Course(request, prepared.rows, prepared.sums, began, watch, store, must_stop)
    outcome = course.run()
    choice = outcome.choice
    chosen, is_interrupted = _finish(outcome)
    is_late = course.is_late or choice.budget.may_be_cut_off
    is_cut_off = is_late or any(found.stopped == "timeout" for found in outcome.searches)
    not_followed = (NOT_FOLLOWED,) if chosen.refined is None and not is_interrupted else ()
    misfit = _measure_misfit(chosen, choice.trials.exact_error) if not request.plan.is_discrete else 0.0
    tried = prepared.has_tried_rates
    doubts = (*not_followed, *find_system_doubts(chosen.system, request.data, choice.rows, misfit, tried))
    if chosen.refined is not None and not is_interrupted:
        doubts = (*doubts, *filter(None, [choice.trials.find_different_runs(chosen.refined)]))
    return SystemDiscovery(
        system=chosen.system,
        standard_errors=chosen.standard_errors,
        chosen=chosen.chosen,
        refined=chosen.refined,
        searches=tuple(outcome.searches),
        rows=choice.rows,
        seconds=course.seconds_before + time.monotonic() - began,
        notes=(*_run_notes(request, choice.n_followed, is_cut_off=is_cut_off), *choice.notes, *chosen.notes, *doubts),
        doubts=doubts,
        units=request.units,
        is_interrupted=is_interrupted or must_stop(),
    )


def discover_own_system(
    request: SystemRequest, *, watch: SystemWatcher | None = None, must_stop: Callable[[], bool] = lambda: False
) -> SystemDiscovery:
    """Search for the equations of a system whose numbers may differ between runs; see `own_discovery`."""
    began = _get_ready(request)

    def search_run(request: SystemRequest) -> System:
        return discover_system(request, watch=watch, must_stop=must_stop).system

    outcome = OwnCourse(request, _limits_left(request.limits, began), search_run, must_stop).run()
    chosen = outcome.chosen
    misfit = 0.0 if request.plan.is_discrete else _measure_misfit(chosen, outcome.exact_error)
    data = with_own_columns(request.data, chosen.system)
    doubts = find_system_doubts(chosen.system, data, outcome.rows, misfit)
    notes = _run_notes(request, outcome.n_followed, is_cut_off=outcome.is_cut_off)
    return SystemDiscovery(
        system=chosen.system,
        standard_errors=chosen.standard_errors,
        chosen=chosen.chosen,
        refined=chosen.refined,
        own_errors=chosen.own_errors,
        searches=outcome.searches,
        rows=outcome.rows,
        seconds=time.monotonic() - began,
        notes=(*notes, *outcome.notes, *chosen.notes, *doubts),
        doubts=doubts,
        is_interrupted=outcome.is_interrupted,
    )


# ---- searches and choices ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    """What came of searches and of a choice among their formulas."""

    searches: Sequence[Discovery]
    choice: SystemChoice
    trial: Trial | None  # the chosen system; None if none can be followed along the data, or the run was interrupted
    is_interrupted: bool

    def confirms(self, first: Trial) -> bool:
        """Return whether the choice ended by itself, with the system that was chosen before."""
        trial, has_ended = self.trial, self.choice.budget.may_try(CHANGES_SHARE)
        return trial is not None and has_ended and _are_alike(trial, first, self.choice.rows)


def _finish(outcome: _Outcome) -> tuple[ChosenSystem, bool]:
    """Return the chosen system with precise constants, and whether the run was interrupted; then they may be less precise."""
    try:
        return outcome.choice.finish(outcome.trial), outcome.is_interrupted
    except KeyboardInterrupt:
        return outcome.choice.finish(None), True


class _Course:
    """The course of a run after its preparations.

    Under noise, a search never knows that it is done. So a first choice is made before any search, among sums of simple terms. If it
    describes the data, and a short search does not change it, it has settled. Otherwise the searches go on to their limits.
    """

    def __init__(
        self,
        request: SystemRequest,
        rows: SystemRows,
        sums: Sequence[TermSums],
        began: float,
        watch: SystemWatcher | None,
        store: SystemStore | None,
        must_stop: Callable[[], bool],
    ) -> None:
        self._request, self._rows, self._sums, self._began = request, rows, sums, began
        self._store, self._must_stop = store, must_stop
        self._limits = _limits_left(request.limits, began)
        self._searches = StateSearches(request, self._limits, watch, store, must_stop)
        self.seconds_before = self._searches.seconds_before()
        self.is_late = False  # whether the clock ended the first choice

    def run(self) -> _Outcome:
        """Search and choose, for a short time if that is enough."""
        try:
            first = self._choose_first() if self._can_settle() else None
        except KeyboardInterrupt:
            return self._hurry()
        is_long = self._store is not None and self._store.has_long_searches
        has_short = first is not None and first.error <= MOST_MISFIT and not is_long
        if first is not None and has_short:
            outcome = self._search_and_choose(first, SHORT_SHARE, is_short=True)
            if outcome.is_interrupted:
                return outcome
            if outcome.confirms(first):
                return replace(outcome, searches=[_settle(found) for found in outcome.searches])
        if self._store is not None and not is_long:
            self._store.begin_long_searches()
        return self._search_and_choose(first, self._long_share(was_short=has_short))

    def _can_settle(self) -> bool:
        plan, rows = self._request.plan, self._rows
        is_explicit = not plan.is_discrete and not plan.is_implicit and not rows.weak
        return self._request.config.patience is not None and is_explicit and not rows.is_clean

    def _choose_first(self) -> Trial | None:
        """Choose among sums of simple terms."""
        rows = self._rows
        datasets = [rows.dataset(state) for state in range(len(self._sums))]
        fronts = [
            sums.join(Front(()), data, 0.0, partial(holds, self._request.units, state))
            for state, (sums, data) in enumerate(zip(self._sums, datasets, strict=True))
        ]
        if not all(map(len, fronts)):
            return None
        shortest = tuple(front.choose("mdl", data.n_rows, 0.0) for front, data in zip(fronts, datasets, strict=True))
        budget = SystemBudget(self._deadline_after(FIRST_SHARE), self._count_fits(SHORT_SHARE), self._must_stop)
        chosen = SystemChoice.begin(self._request, rows, self._sums, fronts, shortest, budget).choose()
        self.is_late = budget.may_be_cut_off
        return chosen

    def _search_and_choose(self, first: Trial | None, share: float, *, is_short: bool = False) -> _Outcome:
        """Search for each equation, for a share of the limits, and choose among what is found and the system chosen first."""
        searches = self._search(share)
        choice = self._begin_choice(searches, is_short=is_short)
        if any(found.stopped == "interrupted" for found in searches):
            return _Outcome(searches, choice, None, True)
        try:
            return _Outcome(searches, choice, choice.choose(first), False)
        except KeyboardInterrupt:
            return _Outcome(searches, choice, None, True)

    def _hurry(self) -> _Outcome:
        """Return the first formulas that searches find."""
        searches = self._search(is_hurried=True)
        return _Outcome(searches, self._begin_choice(searches), None, True)

    def _search(self, share: float = 1.0, *, is_hurried: bool = False) -> list[Discovery]:
        searches = self._searches.run(self._rows, self._sums, share, is_hurried=is_hurried)
        if not self._rows.weak:
            return searches
        return [_refit_weak_form(found, self._rows, state) for state, found in enumerate(searches)]

    def _begin_choice(self, searches: Sequence[Discovery], *, is_short: bool = False) -> SystemChoice:
        shortest = tuple(found.front.choose("mdl", found.n_rows, found.floor) for found in searches)
        fronts = [found.front for found in searches]
        deadline = self._deadline_after(CONFIRM_SHARE) if is_short else self._deadline
        budget = SystemBudget(deadline, self._count_fits(SHORT_SHARE if is_short else 1.0), self._must_stop)
        return SystemChoice.begin(self._request, self._rows, self._sums, fronts, shortest, budget)

    def _long_share(self, *, was_short: bool) -> float:
        """Return for how much of their limits the searches go on: what was used for choices shortens them too."""
        if self._limits.timeout is None:
            return 1.0
        used = SHORT_SHARE if was_short else 0.0
        return min(1.0, used + max(self._deadline.seconds_left, 0.0) / self._limits.timeout)

    @property
    def _deadline(self) -> Deadline:
        """When the last choice must end."""
        timeout = self._request.limits.timeout
        return NEVER if timeout is None else Deadline(self._began + timeout - self.seconds_before)

    def _deadline_after(self, share: float) -> Deadline:
        """Return when a choice that begins now must end, if it may take a share of the time after the preparations."""
        return Deadline.after(None if self._limits.timeout is None else share * self._limits.timeout)

    def _count_fits(self, share: float) -> int | None:
        most = self._request.limits.max_evaluations
        return count_fits(None if most is None else int(share * most))


def _settle(found: Discovery) -> Discovery:
    """Return a search that reached the limits of short searches as one that has settled."""
    return replace(found, stopped="settled") if found.stopped in ("timeout", "evaluations") else found


def _are_alike(one: Trial, two: Trial, rows: SystemRows) -> bool:
    """Return whether two systems are the same but for the values of their numbers, or nearly so in values."""
    if all(a.tokens == b.tokens for a, b in zip(one.system.programs, two.system.programs, strict=True)):
        return True
    columns = np.ascontiguousarray(rows.table.T)
    values, others = (evaluate_slopes(trial.system, columns) for trial in (one, two))
    return bool((np.sqrt(np.mean((values - others) ** 2, axis=1)) <= ALIKE * values.std(axis=1)).all())


def settle_rates(request: SystemRequest, must_stop: Callable[[], bool] = lambda: False) -> SystemRequest:
    """Return the request as it is searched: if the data is to decide whether rates are needed, it has decided."""
    if not request.may_drop_rates:
        return request
    get_ready(request.n_jobs)
    compile_integration()
    return choose_rates(request, must_stop)


def _get_ready(request: SystemRequest) -> float:
    """Load everything that is needed; return when the time limit began, at most half of it ago. Compilation does not count."""
    timeout = request.limits.timeout
    began = get_ready(request.n_jobs)
    loaded = time.monotonic()
    compile_integration()
    began += time.monotonic() - loaded
    if request.prepared is not None:
        began -= request.prepared.seconds
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


def _prepare(request: SystemRequest) -> Preparation:
    """Return what the searches begin with; only the first sums if they take a large share of the time."""
    timeout = None if request.limits.max_evaluations is not None else request.limits.timeout
    seconds = None if timeout is None else SUMS_SHARE * timeout
    return prepare(request.data, request.plan, request.grammars, request.seed, seconds, request.units)


def _refit_weak_form(found: Discovery, rows: SystemRows, state: int) -> Discovery:
    """Return the front with constants and losses of the weak form: means of formulas instead of formulas of means."""
    candidates = [fit_weak_form(candidate, rows.weak, state) for candidate in found.front]
    n_independent = sum(form.n_independent for form in rows.weak)
    front = Front.from_candidates(candidates, found.floor, n_independent)
    return replace(found, front=front, n_rows=n_independent)


def _measure_misfit(chosen: ChosenSystem, exact_error: float) -> float:
    """Return how far the equations miss the samples, in units of the noise or of what counts as exact; 0 if unknown."""
    return 0.0 if chosen.refined is None else float(np.sqrt(chosen.refined.chi2 / max(1.0, exact_error)))


def _run_notes(request: SystemRequest, n_used: int, *, is_cut_off: bool) -> tuple[str, ...]:
    """Return what was repaired, left out or cut off."""
    n_samples = request.data.n_samples
    fewer = (FEWER_SAMPLES.format(n_used, n_samples),) if n_used < n_samples else ()
    cut_off = (CUT_OFF,) if is_cut_off and request.limits.max_evaluations is not None else ()
    return (*request.data.notes, *fewer, *cut_off, *kernel_store.troubles)
