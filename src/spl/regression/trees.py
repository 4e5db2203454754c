"""The trees of a search: made from one recipe and grown in parallel, in threads of this process or by joblib's backend.

In another process, a searcher of the same recipe continues from the state of a tree and returns the new one. The recipe is sent once,
the states with every call. Calls are short, so that limits and Ctrl-C work there too.
"""

import functools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.kernels.tree.complete import Completion
from spl.regression.bank_build import make_completion, own_scratch
from spl.regression.candidate import Candidate
from spl.regression.checkpoint import SearcherState
from spl.regression.memory_budget import MemoryPlan
from spl.regression.parallel import Parcel, Workers, ignore_ctrl_c, pack, run_all
from spl.regression.searcher import Searcher
from spl.settings import SearchConfig

CALL_SECONDS = 0.4  # how long a tree grows in another process per call: Ctrl-C should answer within a second
MAX_RECIPES = 2  # kept by a worker process, about 100 MB each


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """What all trees of a search have in common; it never changes."""

    grammar: Grammar
    sample: Dataset
    config: SearchConfig
    memory: MemoryPlan

    def make_completion(self) -> Completion:
        """Grow the bank, which all searchers of a process share."""
        is_used = self.config.n_completions > 0
        return make_completion(
            self.grammar,
            self.sample,
            n_entries=self.memory.n_entries,
            is_used=is_used,
            has_factors=self.memory.has_factors,
        )

    def make_searcher(self, seed: int, completion: Completion) -> Searcher:
        """Return a searcher with its own scratch."""
        return Searcher(self.grammar, self.sample, self.config, seed, own_scratch(completion), self.memory)


class Forest:
    """All trees of a search.

    Args:
        recipe: what they have in common.
        seeds: one per tree.
        n_jobs: how many grow at the same time.
        like: another forest on the same rows and grammar, with other weights: its bank is used instead of a new one.
    """

    def __init__(self, recipe: Recipe, seeds: Sequence[int], n_jobs: int, like: "Forest | None" = None) -> None:
        self._n_jobs = n_jobs
        self._workers = Workers(n_jobs)
        self._parcel = None if self._workers.share_memory else self._workers.share(pack(recipe))
        if like is None:
            self._completion = recipe.make_completion()
        else:
            self._completion = like._completion._replace(weights=recipe.sample.weights)
        self.searchers = [recipe.make_searcher(seed, self._completion) for seed in seeds]

    def take_up(self, found: Sequence[Candidate]) -> None:
        """Let all trees know formulas of their grammar, fitted to their rows, as if they had found them."""
        for searcher in self.searchers:
            searcher.take_up(found)

    def grow(self, end: int, max_evaluations: int, must_stop: Callable[[], bool]) -> None:
        """Grow each tree to `end` episodes, unless its evaluations are used up or must_stop() says so."""
        if self._parcel is None:
            grow = [
                functools.partial(searcher.grow, end - searcher.n_grown, max_evaluations, must_stop)
                for searcher in self.searchers
            ]
            run_all(grow, self._n_jobs)
            return
        while waiting := [searcher for searcher in self.searchers if not searcher.is_done and searcher.n_grown < end]:
            called: list[Searcher] = []
            calls = self._calls(waiting, called, end, max_evaluations, must_stop)
            for searcher, state in zip(called, self._workers.run(_grow_elsewhere, calls), strict=True):
                searcher.adopt(state)
            if len(called) < len(waiting):
                return

    def _calls(
        self,
        waiting: Sequence[Searcher],
        called: list[Searcher],
        end: int,
        max_evaluations: int,
        must_stop: Callable[[], bool],
    ) -> Iterator[tuple[object, ...]]:
        """Yield the arguments of each call as soon as there is a worker for it; none once must_stop() says so."""
        for searcher in waiting:
            if searcher.n_episodes and must_stop():
                return
            called.append(searcher)
            yield self._parcel, searcher.state(), end - searcher.n_grown, max_evaluations


# ---- in the worker process -----------------------------------------------------------------------


@dataclass(slots=True)
class _Kit:
    """What a worker process keeps of a search: the bank, and idle searchers."""

    recipe: Recipe
    completion: Completion
    idle: list[Searcher] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self) -> Searcher:
        with self.lock:
            if self.idle:
                return self.idle.pop()
        return self.recipe.make_searcher(0, self.completion)

    def put_back(self, searcher: Searcher) -> None:
        with self.lock:
            self.idle.append(searcher)


@functools.lru_cache(maxsize=MAX_RECIPES)
def _open_kit(parcel: Parcel) -> _Kit:
    recipe: Recipe = parcel.unpack()
    return _Kit(recipe, recipe.make_completion())


def _grow_elsewhere(parcel: Parcel, state: SearcherState, n_episodes: int, max_evaluations: int) -> SearcherState:
    """Continue from a state for a short time, and return the new one."""
    ignore_ctrl_c()
    kit = _open_kit(parcel)
    searcher = kit.take()
    searcher.adopt(state)
    stop_at = time.monotonic() + CALL_SECONDS
    searcher.grow(n_episodes, max_evaluations, lambda: time.monotonic() >= stop_at)
    grown = searcher.state()
    kit.put_back(searcher)
    return grown


def share_evaluations(most: int | None, n_trees: int) -> int:
    """Return how many evaluations each tree may make: equal shares, so that results do not depend on timing."""
    return int(np.iinfo(np.int64).max) if most is None else -(-most // n_trees)
