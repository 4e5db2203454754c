"""Assessing what the trees found on many rows: the front, when it first had an exact law, and how old its choice is."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.regression.candidate import Candidate
from spl.regression.fit import fit_constant
from spl.regression.front import Front
from spl.regression.known_fit import KnownFit
from spl.regression.prune import Derives, prune, respect_all
from spl.settings import MANY, SearchConfig

PRUNE_EPISODES = 200  # of each tree, before the choice is pruned: until then it changes too often
SETTLE_EPISODES = 1500  # of each tree: a choice stays the same for at least this long before a search stops on its own
NOISY_SHARE = 1e-4  # a smaller error relative to the spread of the target is rarely noise: an exact law may be near
SAMPLE_TOLERANCE = 2.0  # the loss on the sample may be this many times the loss on the check rows
MAX_FITS_WITHIN = 24  # of formulas that break what is known, after each batch, and again when the choice is pruned
EXACT_FACTOR = 2  # after an exact law, search until there are this many times the episodes: there may be a simpler one
MORE_EPISODES = (100, 200)  # of each tree, the fewest and the most to add then: simpler laws are found soon


@dataclass(frozen=True, slots=True)
class Assessment:
    """What came of the programs that the trees found so far."""

    front: Front = field(default_factory=lambda: Front(()))
    seen: dict[tuple[int, ...], Candidate] = field(
        default_factory=dict
    )  # as found, by tokens: fitted to the check rows
    episodes_at_exact: int | None = None  # when the first exact law was found
    episodes_at_choice: int = 0  # when the present choice was found, if its error may be noise
    pruned: Candidate | None = None  # the choice, if nothing can be left out of it
    excluded: frozenset[tuple[int, ...]] = frozenset()  # those of the seen ones that break what is known of the law


@dataclass(frozen=True, slots=True)
class Assessor:
    """Assesses candidates on check rows. When it is late, nothing more is fitted, unless there is no formula yet."""

    check: Dataset
    n_rows: int  # of all the data
    floor: float  # an error up to this is rounding error
    derives: Derives
    must_stop: Callable[[], bool]  # ends pruning, so that there is time for the last fits
    is_late: Callable[[], bool] = lambda: False
    respects: Derives = respect_all  # whether numbers may be left out of a formula
    known: KnownFit = field(default_factory=KnownFit)  # fits formulas within what is known of the law

    def assess(self, found: Iterable[Candidate], before: Assessment, n_episodes: int, n_trees: int) -> Assessment:
        """Fit what is new to the check rows, and update the front."""
        candidates = list(before.front) or [*self._best_constant()]
        seen: dict[tuple[int, ...], Candidate] = {}
        rivals = (
            before.front if self.check.noise is None else Front(())
        )  # losses on the sample mean something else there
        excluded: set[tuple[int, ...]] = set()
        self.known.allow(MAX_FITS_WITHIN)
        for candidate in _promising(found, rivals, lambda each: each.program.tokens not in excluded):
            if (len(before.front) or seen) and self.is_late():
                break
            tokens = candidate.program.tokens
            known = seen.get(tokens) or before.seen.get(tokens)
            if known is not None and candidate.loss >= known.loss:
                seen[tokens] = known
                if tokens in before.excluded:
                    excluded.add(tokens)
                continue
            seen[tokens] = candidate
            worth = min((each.loss for each in candidates if each.cost <= candidate.cost), default=math.inf)
            fitted = self.known.fit(candidate.program, self.check, reward=candidate.reward, worth=worth)
            candidates.append(fitted)
            if fitted.loss == math.inf and self.known.judge is not None:
                excluded.add(tokens)
        now = replace(before, front=self._make_front(candidates), seen=seen, excluded=frozenset(excluded))
        if n_episodes >= PRUNE_EPISODES * n_trees:
            now = self._prune_choice(now)
        if now.episodes_at_exact is None and len(now.front) and now.front[-1].loss <= self.floor:
            now = replace(now, episodes_at_exact=n_episodes)
        if not self._is_same_choice(self._choose(before.front), self._choose(now.front)):
            now = replace(now, episodes_at_choice=n_episodes)
        return now

    def _best_constant(self) -> Iterator[Candidate]:
        """Yield the best constant, which no search looks for, if the grammar has it."""
        constant = fit_constant(self.check, Vocabulary(self.check.names))
        if self.derives(constant.program):
            yield constant if self.known.judge is None else self.known.fit(constant.program, self.check)

    def _is_same_choice(self, before: Candidate | None, now: Candidate | None) -> bool:
        """Return whether the same formula is chosen as before, and its error may be noise."""
        least = max(NOISY_SHARE * self.check.spread, self.floor)
        if before is None or now is None or now.loss <= least:
            return False
        return now.program.tokens == before.program.tokens

    def _prune_choice(self, assessment: Assessment) -> Assessment:
        """Add the chosen formula to the front as short as it can be: a later one might drive out the long form."""
        self.known.allow(MAX_FITS_WITHIN)
        choice = self._choose(assessment.front)
        if choice is None or choice == assessment.pruned or choice.loss <= self.floor:
            return assessment  # an exact law is pruned at the end
        pruned = prune(
            choice,
            self.check,
            self.floor,
            derives=self.derives,
            must_stop=self.must_stop,
            respects=self.respects,
            known=self.known,
        )
        return replace(assessment, front=self._make_front([*assessment.front, pruned]), pruned=pruned)

    def _make_front(self, candidates: Iterable[Candidate]) -> Front:
        return Front.from_candidates(candidates, self.floor, self.n_rows)

    def _choose(self, front: Front) -> Candidate | None:
        return front[front.choose("mdl", self.n_rows, self.floor)] if len(front) else None


def _promising(
    found: Iterable[Candidate], front: Front, is_possible: Callable[[Candidate], bool]
) -> Iterator[Candidate]:
    """Yield the candidates that might enter the front; their losses on the sample are only approximate.

    Once a candidate was tried, `is_possible` says whether the front may have it: if not, it leaves room for others.
    """
    lowest = math.inf
    rivals = [*front]
    for candidate in sorted(found, key=lambda c: (c.cost, c.loss)):
        while rivals and rivals[0].cost <= candidate.cost:
            lowest = min(lowest, rivals.pop(0).loss)
        if candidate.loss < SAMPLE_TOLERANCE * lowest:
            yield candidate
        if is_possible(candidate):
            lowest = min(lowest, candidate.loss)


def count_episodes_left(assessment: Assessment, n_episodes: int, n_trees: int) -> int:
    """Return how many more episodes to run after an exact law, in case a simpler one turns up.

    Examples:
        >>> [count_episodes_left(Assessment(episodes_at_exact=50), n_episodes, n_trees=1) for n_episodes in (50, 149, 150)]
        [100, 1, 0]
    """
    at_exact = assessment.episodes_at_exact
    if at_exact is None:
        return MANY
    fewest, most = (n_trees * n_more for n_more in MORE_EPISODES)
    return at_exact + min(max((EXACT_FACTOR - 1) * at_exact, fewest), most) - n_episodes


def has_settled(episodes_at_choice: int, n_episodes: int, config: SearchConfig) -> bool:
    """Return whether the choice has stayed the same for so long that a better formula is unlikely.

    Examples:
        >>> [has_settled(at_choice, 5_000, SearchConfig(patience=8)) for at_choice in (100, 1_000, 4_000)]
        [True, False, False]
    """
    if config.patience is None:
        return False
    fewest = episodes_at_choice + SETTLE_EPISODES * config.n_trees
    return n_episodes >= max(config.patience * episodes_at_choice, fewest)
