"""The searches of a system, one per state, one after the other; with a store, each continues where it was left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from spl.dynamics.aliasing import SampleSequence
from spl.dynamics.implicit import keep_linear
from spl.dynamics.proposals import TermSums
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import SystemRows
from spl.regression.checkpoint import Checkpoint
from spl.regression.discover import Discovery, Keeper, Progress, Watcher, discover
from spl.regression.request import RegressionRequest
from spl.settings import Limits

SEARCH_SHARE = 0.6  # of the time that is left then is for the searches; the rest for the system as a whole
EXACT_SUMS_SHARE = 0.25  # of the limits of a search, if a short sum is already as accurate as the derivatives
MOSTLY_USED = 0.75  # a finished search that used this share of its time is not continued
LAST_STATE_SECONDS = 0.5  # for each equation that is left when a search was interrupted


@dataclass(frozen=True, slots=True)
class SystemProgress:
    """What a watcher sees: which state is being searched, and the progress of that search."""

    state: str
    progress: Progress


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


@dataclass(frozen=True, slots=True)
class StateSearches:
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


def _shorten(limits: Limits) -> Limits:
    """Return the limits of a search that is unlikely to find anything better than the sums."""
    seconds, most = limits.timeout, limits.max_evaluations
    return Limits(
        timeout=None if seconds is None else EXACT_SUMS_SHARE * seconds,
        max_evaluations=None if most is None else max(1, int(EXACT_SUMS_SHARE * most)),
    )
