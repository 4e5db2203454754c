"""The whole run for a system whose numbers may differ between runs: structure, what is shared, and one fit along all trajectories.

The structure is the same for all runs. It comes from sums of terms fitted run by run, and from searches in single runs. Then the
constants that all runs can share are shared, by description length, and everything is fitted together.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories
from spl.dynamics.budget import Deadline, SystemBudget, count_fits
from spl.dynamics.final_fit import FinalFit
from spl.dynamics.own_search import OwnSearch
from spl.dynamics.own_system import with_own_columns, write_own_system
from spl.dynamics.own_trials import OwnTrial, OwnTrials
from spl.dynamics.refine import Refined
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import SystemRows
from spl.dynamics.run_rows import RunRows
from spl.dynamics.select import ChosenSystem
from spl.dynamics.sharing import RunFits, Sharing
from spl.dynamics.trials import SystemTrials, Trial
from spl.errors import FormulaNotFound
from spl.formulas.edits import drop_one_term
from spl.formulas.program import Program
from spl.formulas.system import System
from spl.regression.candidate import Candidate
from spl.regression.discover import Discovery
from spl.regression.fit import POLISH_EFFORT, fit
from spl.regression.front import Front
from spl.settings import Limits

Numbers = NDArray[np.float64]
SearchOfRun = Callable[[SystemRequest], System]  # returns the equations that are found in a single run

MAX_STRUCTURE_RUNS = 12  # runs among which the structure is found; the others have the same
OWN_SUMS_SHARE = 0.35  # of the budget may go into sums of terms
RUN_SEARCH_SHARE = 0.12  # of the limits is for the search in a single run
CONFIRMED_SHARE = 0.05  # the same, if sums of terms already describe the data
N_SEARCHED = 2  # runs in which equations are searched
DESCRIBED = 1.5  # mean squared residual in units of the noise: a system with less describes the data
NEAR_NATS = 20.0  # ways of sharing whose estimated descriptions are longer by less are fitted
MAX_FITTED = 6  # of these
JOINT_FIT_SHARE = 0.15  # of the time that is left may go into the fit with one way of sharing
MOVES_SHARE = 0.8  # of the budget may go into finding the structure
SETTLED = "settled"
ALL_SHARED = "The runs share all numbers: none differs between them by more than the noise explains."
FEWER_OWN = "Of the {} own numbers that were asked for, the runs need only {}."


@dataclass(frozen=True, slots=True, eq=False)
class OwnOutcome:
    """A system with own numbers, with what is known about it."""

    chosen: ChosenSystem
    searches: tuple[Discovery, ...]
    rows: SystemRows
    n_followed: int  # samples that the equations are followed along
    exact_error: float  # mean squared residual, in units of the noise, that counts as exact
    notes: tuple[str, ...]
    is_interrupted: bool
    is_cut_off: bool


class OwnCourse:
    """The course of a run after its preparations."""

    def __init__(
        self, request: SystemRequest, limits: Limits, search_run: SearchOfRun, must_stop: Callable[[], bool]
    ) -> None:
        assert request.own is not None, "own numbers were asked for"
        self._request, self._limits, self._search_run, self._must_stop = request, limits, search_run, must_stop
        self._began = time.monotonic()
        self._rows = RunRows.make(_take_few(request.data), request.plan)
        deadline = Deadline.after(limits.timeout)
        self._budget = SystemBudget(deadline, count_fits(limits.max_evaluations), must_stop)
        self._names = request.own
        self._is_interrupted = False

    def run(self) -> OwnOutcome:
        """Find the structure, then what is shared, then all numbers."""
        grammars = [grammar.bind(self._rows.names) for grammar in self._request.grammars]
        trials = OwnTrials(self._rows, self._request.plan, self._budget, self._names.most)
        best = self._find_structure(OwnSearch(trials, grammars), trials)
        if best is None:
            raise FormulaNotFound(
                "No system was found that follows all runs with numbers of their own. Allow more time, or leave out `own`."
            )
        return self._finish(*self._join(best, trials))

    # ---- structure -------------------------------------------------------------------------------

    def _find_structure(self, search: OwnSearch, trials: OwnTrials) -> OwnTrial | None:
        best: OwnTrial | None = None
        try:
            best = search.begin()
            best = search.improve(best, OWN_SUMS_SHARE) if best is not None else None
            for request in self._runs_to_search(best, trials.exact_error):
                found = self._search_run(request)
                before = best
                best = search.start_from(found.programs, best)
                if best is not None and best is not before:
                    best = search.improve(best, MOVES_SHARE)
            return search.improve(best, MOVES_SHARE) if best is not None else None
        except KeyboardInterrupt:
            self._is_interrupted = True
            return best

    def _runs_to_search(self, best: OwnTrial | None, exact_error: float) -> Iterator[SystemRequest]:
        """Yield requests for single runs, those in which the states move most first."""
        is_described = best is not None and best.error <= max(DESCRIBED, exact_error)
        share = CONFIRMED_SHARE if is_described else RUN_SEARCH_SHARE
        most, timeout = self._limits.max_evaluations, self._limits.timeout
        limits = Limits(
            timeout=None if timeout is None else share * timeout,
            max_evaluations=None if most is None else max(1, int(share * most)),
        )
        movement = [float(np.mean(rows.targets.std(axis=0) / _spread(self._rows))) for rows in self._rows.of_runs]
        order = np.argsort(movement)[::-1].tolist()
        for place in order[: 1 if is_described else N_SEARCHED]:
            if self._must_stop():
                return
            data = self._rows.data.take([place])
            yield replace(self._request, data=replace(data, notes=()), limits=limits, own=None, prepared=None)

    # ---- what is shared --------------------------------------------------------------------------

    def _join(self, best: OwnTrial, few: OwnTrials) -> tuple[System, OwnTrials]:
        """Return the system with what is shared, and the trials of all runs."""
        assert best.runs is not None, "the system was followed"
        joined, sharing = self._fit_ways(best, few)
        system = joined.system
        every = few if len(self._request.data.run_labels) == few.rows.n_runs else self._all_trials()
        if every is not few:
            system = self._write_for_all(best, system, sharing, every)
        return system, every

    def _fit_ways(self, best: OwnTrial, trials: OwnTrials) -> tuple[Refined, Sharing]:
        """Return the best system fitted with what is shared: as it was estimated, or as a few fits say if there is time for them."""
        assert best.runs is not None, "the system was followed"
        plain = trials.plain_system(best.equations)
        found: list[tuple[float, Refined, Sharing]] = []
        for sharing in _near_ways(best.runs, best.sharing, self._names.most):
            _, values, factors = best.runs.fit(sharing)
            system = write_own_system(plain, trials.rows.data.run_labels, sharing, values, factors, self._names.names)
            self._budget.begin_fit()
            deadline = Deadline.after(JOINT_FIT_SHARE * self._budget.seconds_left())
            fitted = trials.fit(system, deadline)
            if found and deadline.is_over:
                break
            nats = trials.describe(fitted, plain.programs) + best.runs.price(sharing)
            found.append((nats, fitted, sharing))
            if deadline.is_over:
                break
        else:
            found.sort(key=lambda each: each[0])
        return found[0][1], found[0][2]

    def _all_trials(self) -> OwnTrials:
        rows = RunRows.make(self._request.data, self._request.plan)
        return OwnTrials(rows, self._request.plan, self._budget, self._names.most)

    def _write_for_all(self, best: OwnTrial, system: System, sharing: Sharing, every: OwnTrials) -> System:
        """Return the system with own numbers of all runs: of those that took no part so far, from their derivatives."""
        if not system.own:
            return system
        known = {label: place for place, label in enumerate(system.run_labels)}
        plain = every.plain_system(best.equations)
        guesses = [
            np.concatenate(
                [
                    fit(program, every.rows.datasets[state][run], effort=POLISH_EFFORT).program.constants
                    for state, program in enumerate(plain.programs)
                ]
            )
            for run in range(every.rows.n_runs)
        ]
        own = []
        for number, place in zip(system.own, sharing.own, strict=True):
            sign = np.sign(np.median(number.values)) * np.sign(np.median([guess[place] for guess in guesses]))
            values = [
                number.values[known[label]] if label in known else float(sign * guess[place])
                for label, guess in zip(every.rows.data.run_labels, guesses, strict=True)
            ]
            own.append(replace(number, labels=every.rows.data.run_labels, values=tuple(values)))
        return replace(system, own=tuple(own))

    # ---- the end ---------------------------------------------------------------------------------

    def _finish(self, system: System, trials: OwnTrials) -> OwnOutcome:
        """Fit everything as precisely as the data allows, with simple numbers where it does not distinguish them."""
        fitted = trials.fit(system, Deadline.after(max(self._budget.seconds_left(), 1.0)))
        pieces = with_own_columns(replace(self._request.data, runs=trials.rows.pieces), system)
        rows = replace(trials.rows.with_own_columns(system), starts=trials.rows.starts)
        system_trials = SystemTrials(pieces, rows, self._request.plan, self._budget)
        datasets = [rows.dataset(state) for state in range(len(pieces.states))]
        final = FinalFit(system_trials, self._budget, datasets, self._request.grammars)
        refined = final.fit(Trial(fitted, (0,) * len(pieces.states), 0.0))
        errors = tuple(final.standard_errors(refined))
        n_constants = refined.system.n_constants
        own_errors = refined.standard_errors[n_constants:].reshape(len(system.own), trials.rows.n_runs).tolist()
        rows = trials.rows.with_own_columns(refined.system)
        searches = [
            self._make_front(program, rows.dataset(state)) for state, program in enumerate(refined.system.programs)
        ]
        rows_chosen = tuple(
            max((row for row, each in enumerate(found.front) if each.cost <= program.cost), default=0)
            for found, program in zip(searches, refined.system.programs, strict=True)
        )
        chosen = ChosenSystem(
            refined.system, errors, rows_chosen, refined, refined.notes, tuple(tuple(each) for each in own_errors)
        )
        return OwnOutcome(
            chosen=chosen,
            searches=tuple(searches),
            rows=rows,
            n_followed=pieces.n_samples,
            exact_error=trials.exact_error,
            notes=self._notes(len(system.own)),
            is_interrupted=self._is_interrupted or self._must_stop(),
            is_cut_off=self._budget.may_be_cut_off,
        )

    def _make_front(self, program: Program, data: Dataset) -> Discovery:
        """Return the equation of a state, and what is left of it without each of its terms, with the own numbers as they are."""
        found: list[Candidate] = []
        rest: Program | None = program
        while rest is not None:
            found.append(fit(rest, data, effort=POLISH_EFFORT))
            shorter = [fit(each, data, effort=POLISH_EFFORT) for each in drop_one_term(rest)]
            rest = min(shorter, key=lambda each: each.loss).program if shorter else None
        front = Front.from_candidates(found, 0.0, data.n_rows)
        if not len(front):
            front = Front(tuple(found[:1]))
        seconds = time.monotonic() - self._began
        return Discovery(front, data.n_rows, 0.0, seconds, 0, len(found), SETTLED)

    def _notes(self, n_own: int) -> tuple[str, ...]:
        if n_own == 0:
            return (ALL_SHARED,)
        asked = len(self._names.names)
        return (FEWER_OWN.format(asked, n_own),) if n_own < asked else ()


def _take_few(data: Trajectories) -> Trajectories:
    """Return as many runs as the structure is found among, evenly spread."""
    n_runs = len(data.run_labels)
    if n_runs <= MAX_STRUCTURE_RUNS:
        return data
    return data.take(np.linspace(0, n_runs - 1, MAX_STRUCTURE_RUNS).round().astype(int).tolist())


def _spread(rows: RunRows) -> Numbers:
    spread = np.concatenate([each.targets for each in rows.of_runs]).std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def _near_ways(runs: RunFits, best: Sharing, most_own: int | None) -> list[Sharing]:
    """Return the best way of sharing, and others whose descriptions are about as short as far as that can be estimated."""
    others = [each.in_order() for each in (*best.simpler(), *best.richer())]
    lengths = {each: runs.fit(each)[0] + runs.price(each) for each in dict.fromkeys([best, *others])}
    near = [
        each
        for each in sorted(lengths, key=lambda each: lengths[each])
        if lengths[each] <= lengths[best] + NEAR_NATS and (most_own is None or len(each.own) <= most_own)
    ]
    return list(dict.fromkeys([best, *near]))[:MAX_FITTED]
