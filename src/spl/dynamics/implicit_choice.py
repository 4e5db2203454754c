"""Whether the equations of a system need rates on both sides: decided by the trajectories, before the searches begin.

Simple equations without rates are fitted first: sums of simple terms, or what a short search finds where a grammar has no sums. If
they can be followed along the trajectories as well as the noise allows, no rates are needed. Otherwise the same is done with rates,
which are used only if they explain what equations without them do not. Everything is counted, nothing is timed: the same data,
rules and seed give the same choice on any machine.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, log, sqrt

from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.implicit import find_used_rates, solvable_rows
from spl.dynamics.preparation import Preparation, prepare
from spl.dynamics.proposals import UNRELATED_SHARE, Proposals, find_simple_starts
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import SystemRows
from spl.dynamics.segments import spread_samples
from spl.dynamics.trials import SystemTrials, Trial
from spl.errors import FormulaNotFound
from spl.formulas.grammar_restriction import restrict_grammar
from spl.formulas.rates import is_linear_in_rates
from spl.formulas.system import rate_names
from spl.regression.discover import discover
from spl.regression.front import Front
from spl.regression.request import RegressionRequest
from spl.settings import Limits

# Of 12 systems with 2 and 5 % noise, simple equations left at most 1.06 times the squared error of the true ones, and at most 1.09
# times what the estimated noise leads one to expect.
START_ROOM = 1.1
N_EXCHANGED = 6  # formulas of each state that are tried in place of that of the best start
MOST_LOOK_SAMPLES = 10_000  # that simple equations are followed along
LOOK_EVALUATIONS = 2000  # of the search for the equation of a state whose grammar has no sums
LEAST_SHOWN = 0.1  # times the noise
RATES_CHOSEN = (
    'The equations have rates on both sides (implicit="auto"): along the trajectories, simple equations miss the samples by {} times '
    "the noise without rates, and by {} times with them."
)
RATES_LEFT_OUT = (
    'Rates on both sides were tried and left out (implicit="auto"): along the trajectories, simple equations miss the samples by {} '
    "times the noise without rates, and by {} times with them."
)


def choose_rates(request: SystemRequest, must_stop: Callable[[], bool] = lambda: False) -> SystemRequest:
    """Return the request with its rates, or without them if the data does not need them.

    The answer has the preparations of its searches, and a note if rates were tried. The note is kept with the data, so that a run that
    is continued has it too. Once `must_stop`, rates are left out.
    """
    began = time.monotonic()
    implicit, explicit = replace(request, may_drop_rates=False), drop_rates(request)
    if explicit is None:
        return implicit
    if not any(find_used_rates(implicit.grammars, implicit.data.states, implicit.plan.order)):
        return explicit
    without = _look(explicit, must_stop)
    if without.is_explained or must_stop():
        return replace(explicit, prepared=replace(without.prepared, seconds=time.monotonic() - began))
    look = _look(implicit, must_stop)
    are_needed = look.is_explained and look.nats + look.margin < without.nats and not must_stop()
    chosen, prepared = (implicit, look.prepared) if are_needed else (explicit, without.prepared)
    note = (RATES_CHOSEN if are_needed else RATES_LEFT_OUT).format(without.misfit, look.misfit)
    return replace(
        chosen,
        data=replace(request.data, notes=(*request.data.notes, note)),
        prepared=replace(prepared, seconds=time.monotonic() - began, has_tried_rates=not look.is_explained),
    )


def drop_rates(request: SystemRequest) -> SystemRequest | None:
    """Return the request without rates; None if the grammar of a state has no formula without them."""
    data, plan = request.data, request.plan
    columns = data.columns(plan.order)
    bound = [grammar.bind(columns + rate_names(data.states, plan.order)) for grammar in request.grammars]
    grammars = [each for grammar in bound if (each := restrict_grammar(grammar, columns)) is not None]
    if len(grammars) < len(bound):
        return None
    return replace(request, grammars=grammars, plan=replace(plan, is_implicit=False), may_drop_rates=False)


# ---- a look at simple equations ------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """The simple equations that describe the measurements best."""

    prepared: Preparation
    best: Trial | None  # None if none can be solved for the rates
    exact_error: float  # a mean squared residual up to this counts as exact
    n_observations: int

    @property
    def nats(self) -> float:
        """The length of the description; infinite if there is none."""
        return inf if self.best is None else self.best.length_nats

    def take_better(self, trial: Trial | None) -> "_Look":
        """Return this, or the same with other equations if they describe the measurements better."""
        return self if trial is None or (self.best and trial.length_nats >= self.nats) else replace(self, best=trial)

    @property
    def margin(self) -> float:
        """By how many nats equations of another kind must be worse."""
        return 0.5 * self.n_observations * log(START_ROOM)

    @property
    def is_explained(self) -> bool:
        """Whether the equations miss the samples by no more than their noise, of which first states that are fitted take a part."""
        if self.best is None or not isfinite(self.nats):
            return False
        share_left = 1 - self.best.fitted.initial_states.size / self.n_observations
        return self.best.error <= max(START_ROOM * share_left, self.exact_error)

    @property
    def misfit(self) -> str:
        """How far the equations miss the samples, in units of the noise or of what counts as exact, for people."""
        if self.best is None or not isfinite(self.nats):
            return "infinitely many"
        misfit = sqrt(self.best.error / max(1.0, self.exact_error))
        return f"{misfit:.3g}" if misfit >= LEAST_SHOWN else f"less than {LEAST_SHOWN}"


def _look(request: SystemRequest, must_stop: Callable[[], bool]) -> _Look:
    """Follow simple equations along the trajectories; if those to start with explain too little, exchange one after the other."""
    prepared = prepare(request.data, request.plan, request.grammars, request.seed)
    rows = prepared.rows
    runs, starts = spread_samples(request.data.runs, rows.starts, MOST_LOOK_SAMPLES)
    used, used_rows = replace(request.data, runs=tuple(runs)), replace(rows, starts=tuple(starts))
    trials = SystemTrials(used, used_rows, request.plan, SystemBudget(NEVER, must_stop=must_stop))
    proposals = [_propose(request, prepared, state, must_stop) for state in range(len(prepared.sums))]
    look = _Look(prepared, None, trials.exact_error, trials.n_observations)
    for start in dict.fromkeys(_find_starts(proposals, rows)):
        look = look.take_better(_try(trials, proposals, start, rows))
    before = inf
    while look.nats < before:  # an exchange may help only after another one
        before = look.nats
        for state, row in _find_exchanges(proposals, rows):
            if look.is_explained or look.best is None or must_stop():
                return look
            chosen = look.best.chosen
            look = look.take_better(_try(trials, proposals, (*chosen[:state], row, *chosen[state + 1 :]), rows))
    return look


def _propose(request: SystemRequest, prepared: Preparation, state: int, must_stop: Callable[[], bool]) -> Proposals:
    """Return simple formulas for the equation of a state; those that are not linear in the rates are left out."""
    rows, sums = prepared.rows, prepared.sums[state]
    candidates = sums.candidates or tuple(_search(request, prepared, state, must_stop))
    linear = [each for each in candidates if not rows.rates or is_linear_in_rates(each.program, len(rows.names))]
    data = rows.dataset(state)
    return Proposals(data, Front.from_candidates(linear, n_rows=data.n_rows), sums)


def _search(request: SystemRequest, prepared: Preparation, state: int, must_stop: Callable[[], bool]) -> Front:
    """Return what a short search finds."""
    wanted = RegressionRequest(
        prepared.rows.dataset(state),
        prepared.grammars[state],
        config=replace(request.config, patience=None),
        limits=Limits(timeout=None, max_evaluations=LOOK_EVALUATIONS),
        n_jobs=request.n_jobs,
        seed=request.seed,
        target_error=float(prepared.rows.target_errors[state]),
        keeps_rivals=False,
    )
    return discover(wanted, must_stop=must_stop).front


def _find_starts(proposals: Sequence[Proposals], rows: SystemRows) -> Iterator[tuple[int, ...]]:
    """Yield rows of the fronts to try: simple formulas, and those with the shortest descriptions; nothing if a front is empty."""
    if not all(len(each.front) for each in proposals):
        return
    yield from find_simple_starts(proposals, is_clean=rows.is_clean)
    yield tuple(
        each.front.choose("mdl", each.data.n_rows, float(error))
        for each, error in zip(proposals, rows.target_errors, strict=True)
    )


def _find_exchanges(proposals: Sequence[Proposals], rows: SystemRows) -> Iterator[tuple[int, int]]:
    """Yield states and rows of their fronts, simple formulas first: smoothing makes costlier ones look better than the right one.

    Derivatives of clean data already tell which formula is right.
    """
    for state, each in enumerate(() if rows.is_clean else proposals):
        related = [row for row, formula in enumerate(each.front) if formula.loss <= UNRELATED_SHARE * each.data.spread]
        yield from ((state, row) for row in related[:N_EXCHANGED])


def _try(
    trials: SystemTrials, proposals: Sequence[Proposals], start: tuple[int, ...], rows: SystemRows
) -> Trial | None:
    """Follow the equations of a start, or others that can be solved for the rates; None if there are none."""
    fronts = [each.front for each in proposals]
    template = trials.make_system([front[row].program for front, row in zip(fronts, start, strict=True)])
    try:
        chosen, _ = solvable_rows(start, fronts, template, rows)
    except FormulaNotFound:
        return None
    return trials.try_programs([front[row].program for front, row in zip(fronts, chosen, strict=True)], chosen)
