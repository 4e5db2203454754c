"""What the trees found, judged on many rows: the front, since when it has an exact law, and since when its choice is the same."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.regression.candidate import Candidate
from spl.regression.fit import fit, fit_constant
from spl.regression.front import Front
from spl.regression.polish import Derives, prune
from spl.settings import MANY, SearchConfig

PRUNE_EPISODES = 200  # of each tree, before what is chosen is pruned: until then it changes too often
SETTLE_EPISODES = 1500  # of each tree, the fewest for which a choice stays the same before a search ends of itself
ACCURATE = 1e-4  # an error of less than this share of the spread is rarely noise: an exact law may be near
ABOUT = 2.0  # a loss on the sample may be so many times that on the check rows
CONTINUE = 2  # after an exact law, search on until the episodes are so many times as many: there may be a simpler one
MORE_EPISODES = (100, 200)  # of each tree, the fewest and the most that this may be: simpler ones come soon


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of the programs that the trees found so far."""

    front: Front = field(default_factory=lambda: Front(()))
    seen: dict[tuple[int, ...], Candidate] = field(default_factory=dict)  # as found, of each fitted to the check rows
    episodes_at_exact: int | None = None  # when the first exact law was found
    episodes_at_choice: int = 0  # since when the chosen formula has been the same, with an error as of noise
    pruned: Candidate | None = None  # the chosen one, if nothing can be left out of it


@dataclass(frozen=True, slots=True)
class Judge:
    """The rows on which candidates are judged, and what else there is to know for it."""

    check: Dataset
    n_rows: int  # of all the data
    floor: float  # an error up to this is rounding error
    derives: Derives
    must_stop: Callable[[], bool]  # pruning, so that there is time for the last fits
    is_late: Callable[[], bool] = lambda: False  # so that nothing more is fitted, unless there is no formula yet

    def judge(self, found: Iterable[Candidate], before: Judged, n_episodes: int, n_trees: int) -> Judged:
        """Fit what was found since the last time to the check rows, and update the front."""
        candidates = list(before.front) or [*self._best_constant()]
        seen: dict[tuple[int, ...], Candidate] = {}
        for candidate in _hopeful(found, before.front):
            if (len(before.front) or seen) and self.is_late():
                break
            tokens = candidate.program.tokens
            known = seen.get(tokens) or before.seen.get(tokens)
            if known is not None and candidate.loss >= known.loss:
                seen[tokens] = known
            else:
                seen[tokens] = candidate
                candidates.append(fit(candidate.program, self.check, reward=candidate.reward))
        judged = replace(before, front=self._make_front(candidates), seen=seen)
        if n_episodes >= PRUNE_EPISODES * n_trees:
            judged = self._prune_chosen(judged)
        if judged.episodes_at_exact is None and len(judged.front) and judged.front[-1].loss <= self.floor:
            judged = replace(judged, episodes_at_exact=n_episodes)
        if not self._is_the_same(self._choose(before.front), self._choose(judged.front)):
            judged = replace(judged, episodes_at_choice=n_episodes)
        return judged

    def _best_constant(self) -> Iterator[Candidate]:
        """Yield the best constant, which no search looks for, if the grammar has it."""
        constant = fit_constant(self.check, Vocabulary(self.check.names))
        if self.derives(constant.program):
            yield constant

    def _is_the_same(self, before: Candidate | None, now: Candidate | None) -> bool:
        """Tell whether the choice is the formula that was chosen before, with an error that noise may have."""
        if before is None or now is None or now.loss <= ACCURATE * self.check.spread:
            return False
        return now.program.tokens == before.program.tokens

    def _prune_chosen(self, judged: Judged) -> Judged:
        """Put the chosen formula into the front as short as it can be: others that come along later may drive out the long one."""
        chosen = self._choose(judged.front)
        if chosen is None or chosen == judged.pruned or chosen.loss <= self.floor:  # an exact law is pruned at the end
            return judged
        pruned = prune(chosen, self.check, self.floor, derives=self.derives, must_stop=self.must_stop)
        return replace(judged, front=self._make_front([*judged.front, pruned]), pruned=pruned)

    def _make_front(self, candidates: Iterable[Candidate]) -> Front:
        return Front.from_candidates(candidates, self.floor, self.n_rows)

    def _choose(self, front: Front) -> Candidate | None:
        return front[front.choose("mdl", self.n_rows, self.floor)] if len(front) else None


def _hopeful(found: Iterable[Candidate], front: Front) -> Iterator[Candidate]:
    """Yield those of the candidates that could stand in the front beside each other; losses on the sample are only about right."""
    lowest = math.inf
    rivals = [*front]
    for candidate in sorted(found, key=lambda c: (c.cost, c.loss)):
        while rivals and rivals[0].cost <= candidate.cost:
            lowest = min(lowest, rivals.pop(0).loss)
        if candidate.loss < ABOUT * lowest:
            yield candidate
        lowest = min(lowest, candidate.loss)


def count_episodes_left(judged: Judged, n_episodes: int, n_trees: int) -> int:
    """Return for how many episodes to search on after an exact law, as long as a simpler one may be expected.

    Examples:
        >>> [count_episodes_left(Judged(episodes_at_exact=50), n_episodes, n_trees=1) for n_episodes in (50, 149, 150)]
        [100, 1, 0]
    """
    at_exact = judged.episodes_at_exact
    if at_exact is None:
        return MANY
    fewest, most = (n_trees * n_more for n_more in MORE_EPISODES)
    return at_exact + min(max((CONTINUE - 1) * at_exact, fewest), most) - n_episodes


def has_settled(episodes_at_choice: int, n_episodes: int, config: SearchConfig) -> bool:
    """Tell whether the chosen formula has been the same for so long that a better one is not to be expected.

    Examples:
        >>> [has_settled(at_choice, 5_000, SearchConfig(patience=8)) for at_choice in (100, 1_000, 4_000)]
        [True, False, False]
    """
    if config.patience is None:
        return False
    fewest = episodes_at_choice + SETTLE_EPISODES * config.n_trees
    return n_episodes >= max(config.patience * episodes_at_choice, fewest)
