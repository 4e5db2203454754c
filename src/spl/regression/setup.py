"""The setup of a search: the rows it sees, in which scales, and its trees, clock and limits."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spl.data.dataset import Dataset
from spl.regression.bank_build import count_entries
from spl.regression.checkpoint import Checkpoint
from spl.regression.interruption import Interruption
from spl.regression.memory_budget import MemoryPlan, plan_memory
from spl.regression.request import RegressionRequest
from spl.regression.scales import Scales, choose_scales
from spl.regression.searcher import Searcher
from spl.regression.tidy_front import FrontTidier
from spl.regression.time_limit import TimeLimit
from spl.regression.trees import Forest, Recipe

CHECK_ROWS = 10_000  # rows on which candidates are assessed during the search


@dataclass(frozen=True, slots=True, eq=False)
class SearchSetup:
    """What a search works with. The trees grow, but no field is ever replaced."""

    request: RegressionRequest
    data: Dataset  # all rows, equal ones merged
    check: Dataset  # the rows on which candidates are assessed
    scales: Scales  # in which the trees see the data
    floor: float  # an error up to this is rounding error
    forest: Forest
    memory: MemoryPlan
    time: TimeLimit
    interruption: Interruption
    tidier: FrontTidier
    seconds_before: float  # of the runs that this one continues

    @property
    def trees(self) -> list[Searcher]:
        """One searcher per tree."""
        return self.forest.searchers

    @property
    def seconds(self) -> float:
        """How long the search took so far, with the runs before."""
        return self.seconds_before + self.time.seconds

    @property
    def n_episodes(self) -> int:
        """How many episodes all trees ran."""
        return sum(tree.n_episodes for tree in self.trees)

    @property
    def n_evaluations(self) -> int:
        """How many distinct programs the trees fitted or evaluated."""
        return sum(tree.n_evaluations for tree in self.trees)

    @property
    def is_exhausted(self) -> bool:
        """Whether every program in the trees of this round was tried."""
        return all(tree.is_exhausted for tree in self.trees)

    def is_out_of_time(self) -> bool:
        """Return whether the search must stop: it was interrupted, or the rest of the time is for the final polish."""
        return self.interruption.check() or self.time.is_time_to_finish()

    def is_late(self) -> bool:
        """Return whether the time limit is over."""
        return self.time.seconds_left <= 0


def set_up(
    request: RegressionRequest, began: float, must_stop: Callable[[], bool], checkpoint: Checkpoint | None
) -> SearchSetup:
    """Return the setup of a search: the same rows for all trees, and for each tree its own random numbers."""
    data, grammar, config, limits = request.data, request.grammar, request.config, request.limits
    time_limit = TimeLimit(limits.timeout, data.n_rows, began)
    if data.n_rows <= CHECK_ROWS:
        data = data.merge()
    sequence = np.random.SeedSequence(request.seed)
    random = np.random.default_rng(sequence)
    scales = choose_scales(data, grammar) if config.relative_loss else Scales.plain(data)
    sample = scales.measure(data.sample(config.max_rows, random))
    check = data if data.n_rows <= CHECK_ROWS else data.sample(CHECK_ROWS, random)
    seeds = [int(seed) for seed in sequence.generate_state(config.n_trees, np.uint64)]
    memory = plan_memory(
        config,
        n_entries=count_entries(limits.timeout) if checkpoint is None else checkpoint.n_entries,
        n_symbols=len(grammar.symbols),
        n_rows=sample.n_rows,
        most_rules_of_symbol=max(Counter(rule.symbol for rule in grammar.rules).values()) + config.max_modules,
    )
    floor = max(data.floor, request.target_error)
    return SearchSetup(
        request=request,
        data=data,
        check=check,
        scales=scales,
        floor=floor,
        forest=Forest(Recipe(grammar, sample, config, memory), seeds, request.n_jobs),
        memory=memory,
        time=time_limit,
        interruption=Interruption(must_stop),
        tidier=FrontTidier(check, floor, data.n_rows),
        seconds_before=0.0 if checkpoint is None else checkpoint.seconds,
    )
