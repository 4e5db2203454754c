"""The searches of a system, one per state, one after the other; with a store, each continues where it was left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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
from spl.units.system_units import holds

SEARCH_SHARE = 0.6  # of the time that is left then is for the searches; the rest for the system as a whole
EXACT_SUMS_SHARE = 0.25  # of the limits of a search, if a short sum is already as accurate as the derivatives
SHORTEST_SEARCH = 1e-3  # seconds, if the time is used up before a search begins
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

    @property
    def has_long_searches(self) -> bool:
        """Whether the run that is continued was in its long searches, because the choice had not settled after short ones."""

    def discovery(self, search: int) -> Discovery | None:
        """Return what a search has found so far; `stopped` is empty if it is not over."""

    def checkpoint(self, search: int) -> Checkpoint | None:
        """Return where a search can continue."""

    def keeper(self, search: int) -> Keeper:
        """Return what keeps the progress of a search."""

    def finish_search(self, search: int, found: Discovery) -> None:
        """Keep what a search found in the end."""

    def begin_long_searches(self) -> None:
        """Keep that all searches go on to their limits; none of them is over."""


@dataclass(slots=True)
class _LastCheckpoint:
    """Keeps where a search was when it stopped, and lets another keeper see everything."""

    keep: Keeper | None
    checkpoint: Checkpoint | None = None

    def __call__(self, progress: Progress, checkpoint: Callable[[], Checkpoint], *, is_last: bool) -> None:
        if self.keep is not None:
            self.keep(progress, checkpoint, is_last=is_last)
        if is_last:
            self.checkpoint = checkpoint()


@dataclass(frozen=True, slots=True)
class StateSearches:
    """How the states are searched, one after the other. They may be run for a share of their limits first, and continued."""

    request: SystemRequest
    limits: Limits  # of all searches and of the choice after them
    watch: SystemWatcher | None
    store: SystemStore | None
    must_stop: Callable[[], bool]
    _left: dict[int, tuple[Discovery, Checkpoint | None]] = field(default_factory=dict)  # by state, as they were left

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

    def run(
        self, rows: SystemRows, sums: Sequence[TermSums], share: float = 1.0, *, is_hurried: bool = False
    ) -> list[Discovery]:
        """Search for the equation of each state, up to a share of the limits, or continue these searches.

        If it is hurried, or once a search is interrupted, the others get only as long as an answer takes.
        """
        searches: list[Discovery] = []
        for state in range(len(self.request.grammars)):
            limits = _multiply(self.limits_per_state(), share)
            if is_hurried or any(found.stopped == "interrupted" for found in searches):
                limits = replace(limits, timeout=LAST_STATE_SECONDS)
            searches.append(self._search(rows, state, sums[state], limits))
        return searches

    def _search(self, rows: SystemRows, state: int, sums: TermSums, limits: Limits) -> Discovery:
        """Search for the equation of one state, or continue that; a search with nothing left to do gives what it found before."""
        store, data = self.store, rows.dataset(state)
        if sums.are_exact(float(rows.target_errors[state])):
            limits = _multiply(limits, EXACT_SUMS_SHARE)
        done, checkpoint = self._before(state)
        if done is not None and self._is_over(done, limits, was_here=state in self._left):
            return done
        last = _LastCheckpoint(None if store is None else store.keeper(state))
        if limits.timeout is not None and checkpoint is not None:
            limits = replace(limits, timeout=max(limits.timeout - checkpoint.seconds, LAST_STATE_SECONDS))
        found = discover(
            self._request_state(rows, state, limits),
            watch=self._watch_state(self.request.data.states[state]),
            keep=last,
            checkpoint=checkpoint,
            must_stop=self.must_stop,
        )
        respects = partial(holds, self.request.units, state)
        found = replace(found, front=sums.join(found.front, data, found.floor, respects))
        if rows.rates:
            found = replace(found, front=keep_linear(found.front, self.request.data.states[state], rows))
        samples = SampleSequence.of(self.request.data, rows, is_discrete=self.request.plan.is_discrete)
        found = replace(found, front=samples.leave_out_too_fast(found.front))
        if store is not None:
            store.finish_search(state, found)
        self._left[state] = found, last.checkpoint
        return found

    def _before(self, state: int) -> tuple[Discovery | None, Checkpoint | None]:
        """Return what a search found before, here or in the run that is continued, and where it can go on."""
        if state in self._left:
            return self._left[state]
        return (None, None) if self.store is None else (self.store.discovery(state), self.store.checkpoint(state))

    def _request_state(self, rows: SystemRows, state: int, limits: Limits) -> RegressionRequest:
        return RegressionRequest(
            rows.dataset(state),
            self.request.grammars[state],
            config=replace(self.request.config, patience=None),  # whole fronts are tried along the data, not one choice
            limits=limits,
            n_jobs=self.request.n_jobs,
            seed=self.request.seed,
            target_error=float(rows.target_errors[state]),
            keeps_rivals=False,  # those of a system are found along the data
            units=None if self.request.units is None else self.request.units.tables[state],
        )

    def _watch_state(self, state: str) -> Watcher | None:
        watch = self.watch
        return None if watch is None else lambda progress: watch(SystemProgress(state, progress))

    def _is_over(self, done: Discovery, limits: Limits, *, was_here: bool) -> bool:
        """Return whether a finished search, of this run or of the one that is continued, would stop soon within these limits."""
        if done.stopped == "timeout":
            return limits.timeout is not None and done.seconds >= MOSTLY_USED * limits.timeout
        if done.stopped == "evaluations":  # of one tree: all of them together may have used less than the limit
            before = None if self.store is None or was_here else self.store.limits_before.max_evaluations
            most = self.limits.max_evaluations
            return before is not None and most is not None and most <= before
        return done.stopped in ("exact", "exhausted", "schedules", "settled")


def _multiply(limits: Limits, share: float) -> Limits:
    """Return a share of the limits."""
    seconds, most = limits.timeout, limits.max_evaluations
    return Limits(
        timeout=None if seconds is None else max(SHORTEST_SEARCH, share * seconds),
        max_evaluations=None if most is None else max(1, int(share * most)),
    )
