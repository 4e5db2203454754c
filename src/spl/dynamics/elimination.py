"""Equations by elimination: at first with all simple terms, then only with those that the samples need.

Under strong noise, smoothed derivatives are so far off that no search on them meets the law. This needs no derivatives: states and
factors of all products of a few variables are estimated together, with equations that hold roughly (`soft_fit`). One fit says, to
second order, how much the error would rise without any set of terms, so terms are dropped one by one without fitting again. Fewer
terms give better states, and these a better judgement of all terms.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.simple_terms import Term, write_sum
from spl.dynamics.soft_fit import SoftSystem, SoftTerms, solve_scaled
from spl.dynamics.term_library import TermLibrary
from spl.dynamics.trials import SystemTrials
from spl.formulas.program import Program, Vocabulary

Numbers = NDArray[np.float64]

MAX_FULL_TERMS = 15  # of an equation: all products of two of four variables
LOOSE, STRICT = 2.0**-4, 2.0**-6  # shares of a usual step by which equations may miss it when terms are judged
LOOSER = 4.0  # times the level: how loose equations are when other terms are tried
SMOOTHING_SHARES = (
    1 / 16,
    1 / 8,
    1 / 4,
)  # of the shortest segments of trials: how far states are smoothed to start with
N_CONTINUED = 2  # of these starts
CLOSE_TO_SAMPLES = 1.2  # mean squared distance of states from samples, in units of the noise
MAX_CHANGES = 12  # of the set of terms, at one level
N_SINGLE = 6  # terms that are dropped or added alone, those that promise most, if nothing else helps


@dataclass(frozen=True, slots=True, eq=False)
class FullEquation:
    """All products of a few variables that may be terms of an equation."""

    vocabulary: Vocabulary
    terms: tuple[Term, ...]

    @classmethod
    def of(cls, library: TermLibrary) -> "FullEquation":
        """Take products of variables up to the highest degree of which there are few enough."""
        by_degree = sorted(library.terms[: library.n_polynomial], key=len)
        degrees = [len(term) for term in by_degree]
        counts = [bisect_right(degrees, degree) for degree in degrees]
        most = max((count for count in counts if count <= MAX_FULL_TERMS), default=0)
        return cls(library.vocabulary, tuple(by_degree[:most]))

    def write(self, factors: Numbers) -> Program:
        """Return the equation with these factors of all terms, without those that are 0."""
        pairs = [pair for pair in zip(self.terms, factors.tolist(), strict=True) if pair[1] != 0]
        return write_sum(self.vocabulary, pairs)


def propose_by_elimination(equations: Sequence[FullEquation], trials: SystemTrials) -> Iterator[list[Program]]:
    """Yield systems with only the terms that the samples need.

    The search for terms starts from states that are smoothed in several ways. Stricter equations judge the best of its results again.
    """
    if all(equation.terms for equation in equations):
        proposed = set()
        for search in _search(equations, trials):
            if search.key not in proposed and search.is_complete and np.isfinite(search.nats):
                proposed.add(search.key)
                yield search.write()


def _search(equations: Sequence[FullEquation], trials: SystemTrials) -> Iterator["_TermSearch"]:
    """Yield sets of terms. Trials start from the states of the best so far if they are as close to the samples as the noise allows."""
    begun = _TermSearch.begin(equations, trials)
    found: list[_TermSearch] = []
    for share in SMOOTHING_SHARES:
        if trials.may_try():
            start = begun.system if share is None else begun.system.smooth_more(share * trials.shortest)
            search = replace(begun, system=start).tighten(LOOSE).improve()
            is_best = search.nats < min(map(_nats, found), default=np.inf)
            if is_best and np.mean(search.system.misses**2) < CLOSE_TO_SAMPLES:
                trials.start_from(search.system.states_of_runs())
            found.append(search)
            yield search
    for search in sorted(found, key=_nats)[:N_CONTINUED]:
        if trials.may_try():
            yield search.tighten(STRICT).improve()


@dataclass(frozen=True, slots=True, eq=False)
class _TermSearch:
    """A set of terms, fitted, and how long a description they give."""

    equations: Sequence[FullEquation]
    trials: SystemTrials
    prices: Numbers  # [C], what each term adds to a description, in nats
    system: SoftSystem

    @classmethod
    def begin(cls, equations: Sequence[FullEquation], trials: SystemTrials) -> "_TermSearch":
        """Take all terms of the equations."""
        terms = tuple(dict.fromkeys(term for equation in equations for term in equation.terms))
        places = np.array([terms.index(term) for equation in equations for term in equation.terms])
        owners = np.repeat(np.arange(len(equations)), [len(equation.terms) for equation in equations])
        table = SoftTerms(equations[0].vocabulary, terms, places, owners)
        prices = [trials.price(equation.write(one)) for equation in equations for one in np.eye(len(equation.terms))]
        return cls(equations, trials, np.array(prices), trials.begin_soft(table))

    @property
    def nats(self) -> float:
        """The length of the description; infinite if the equations change faster than the samples can show."""
        if not self.system.is_resolved:
            return np.inf
        return 0.5 * self.system.squares + float(self.prices[self.system.factors != 0].sum())

    @property
    def key(self) -> bytes:
        """Which terms there are."""
        return _key(self.system.factors)

    @property
    def is_complete(self) -> bool:
        """Whether every equation has a term."""
        owners = self.system.terms.owners
        return bool(np.bincount(owners, self.system.factors != 0).all())

    def tighten(self, level: float) -> "_TermSearch":
        """Fit with ever stricter equations, down to a level."""
        search = self
        while search.system.looseness > level:
            search = search._fit(search.system.looseness / 2)
        return search

    def improve(self) -> "_TermSearch":
        """Change the set of terms as long as that shortens the description."""
        better: _TermSearch | None = self._try(self.system.factors)  # with as much effort as what it is compared with
        best, tried = self, {self.key}
        for _ in range(MAX_CHANGES):
            if better is None or better.nats >= best.nats:
                break
            best = better
            better = best._find_better(tried)
        return best

    def _find_better(self, tried: set[bytes]) -> "_TermSearch | None":
        """Return the first set of terms with a shorter description, of those that were not tried before."""
        nats = self.nats
        for factors in self._changes():
            if _key(factors) not in tried and self.trials.may_try():
                tried.add(_key(factors))
                trial = self._try(factors)
                if trial.nats < nats:
                    return trial
        return None

    def write(self) -> list[Program]:
        """Return the equations."""
        parts = np.split(self.system.factors, np.cumsum([len(equation.terms) for equation in self.equations])[:-1])
        return [equation.write(own) for equation, own in zip(self.equations, parts, strict=True)]

    def _fit(self, looseness: float) -> "_TermSearch":
        return replace(self, system=self.system.fit(looseness, self.system.factors != 0, self.trials.deadline))

    def _try(self, factors: Numbers) -> "_TermSearch":
        """Return the fit with other terms: a little looser first."""
        level = self.system.looseness
        return replace(self, system=replace(self.system, factors=factors))._fit(LOOSER * level).tighten(level)

    def _changes(self) -> Iterator[Numbers]:
        """Yield factors of other sets of terms, the one that elimination proposes first, then with one term more or less."""
        everything = np.ones(self.prices.size, np.bool_)
        reduced = self.system.linearise(everything).reduce()
        if reduced is None:
            return
        information, slope = reduced.equations()
        if not np.isfinite(information).all():
            return
        best = self.system.factors - solve_scaled(information, slope)
        owners = self.system.terms.owners
        yield eliminate(best, information, self.prices, owners)
        kept = self.system.factors != 0
        singles = []
        for place in np.flatnonzero(~kept | _can_go(kept, owners)):
            other = kept.copy()
            other[place] = not other[place]
            factors = _without(best, information, other)[0]
            change = factors - best
            singles.append((float(0.5 * change @ information @ change + self.prices[other].sum()), int(place), factors))
        yield from (factors for _, _, factors in sorted(singles, key=lambda single: single[:2])[:N_SINGLE])


def _nats(search: _TermSearch) -> float:
    return search.nats


def _key(factors: Numbers) -> bytes:
    return bytes(factors != 0)


def eliminate(factors: Numbers, information: Numbers, prices: Numbers, owners: NDArray[np.int64]) -> Numbers:
    """Return the factors of the shortest description, with 0 for the terms that it does without.

    Args:
        factors: with which the error is smallest [C].
        information: half of it is by how much the misfit rises, in nats, for a squared change of the factors [C, C].
        prices: what each term adds to the description, in nats [C].
        owners: the equation that each term belongs to [C]. Every equation keeps at least one.

    Examples:
        >>> found = eliminate(np.array([3.0, 0.1, 2.0]), np.diag([9.0, 9.0, 9.0]), np.full(3, 5.0), np.zeros(3, np.int64))
        >>> found.tolist()
        [3.0, 0.0, 2.0]
    """
    kept = np.ones(factors.size, np.bool_)
    best, best_nats = factors, float(prices.sum())
    while (can_go := _can_go(kept, owners)).any():
        moved, spread = _without(factors, information, kept)
        with np.errstate(over="ignore", invalid="ignore"):
            rise = 0.5 * moved**2 / np.maximum(spread, np.finfo(float).tiny) - prices
        can_go &= np.isfinite(rise)  # a factor that is known to the last digit is never dropped
        if not can_go.any():
            break
        rise = np.where(can_go, rise, np.inf)
        kept[int(np.argmin(rise))] = False
        moved = _without(factors, information, kept)[0]
        change = moved - factors
        nats = float(0.5 * change @ information @ change + prices[kept].sum())
        if nats < best_nats:
            best, best_nats = moved, nats
    return best


def _can_go(kept: NDArray[np.bool_], owners: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which terms may be dropped: those that are not the last of their equation."""
    return np.asarray(kept & (np.bincount(owners, kept)[owners] > 1))


def _without(factors: Numbers, information: Numbers, kept: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Return the best factors if only some terms are kept, and their variances, infinite if unknown; 0 for the others."""
    is_known = np.diag(information) > np.finfo(float).tiny
    size = np.where(is_known, np.sqrt(np.maximum(np.diag(information), 0.0)), 1.0)
    scaled = information / np.outer(size, size)
    inverse = np.linalg.pinv(scaled[np.ix_(kept, kept)], hermitian=True)
    moved, spread = np.zeros(factors.size), np.zeros(factors.size)
    moved[kept] = factors[kept] + inverse @ (scaled[np.ix_(kept, ~kept)] @ (factors * size)[~kept]) / size[kept]
    spread[kept] = np.where(is_known[kept], np.diag(inverse) / size[kept] ** 2, np.inf)
    return moved, spread
