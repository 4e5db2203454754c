"""Which constants of a system all runs share, which each run has for itself, and which are multiples of an own number.

The runs were fitted one by one. Near these fits, the squared error of each run is a quadratic form of its constants. So what sharing
costs is a small problem of linear algebra, and many ways of sharing can be compared: the shortest description is chosen.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.regression.description_length import EQUATION_TOKEN_NATS, typical_number_nats

Numbers = NDArray[np.float64]

SHARED = -1  # in place of the constant whose own number a constant is a multiple of
OWN_NATS = 2.0  # to say that a number differs between runs: with two runs, its second value alone would cost little
MULTIPLE_NATS = (
    2.0 + 2 * EQUATION_TOKEN_NATS
)  # to say which own number a constant is a multiple of, and to write the product
MAX_SWEEPS = 12  # of finding shared constants and factors in turn
SETTLED_NATS = 1e-3  # a sweep that changes less is the last
SINGULAR = 1e-12  # relative: directions about which the data says nothing


@dataclass(frozen=True, slots=True)
class Sharing:
    """For each constant of a system: `SHARED`, its own place if it is an own number, or the place of one it is a multiple of.

    Examples:
        >>> Sharing((SHARED, 1, 1)).own, Sharing((SHARED, 1, 1)).multiples
        ((1,), (2,))
    """

    leaders: tuple[int, ...]

    @property
    def own(self) -> tuple[int, ...]:
        """The constants that are own numbers."""
        return tuple(k for k, leader in enumerate(self.leaders) if leader == k)

    @property
    def shared(self) -> tuple[int, ...]:
        """The constants that all runs share."""
        return tuple(k for k, leader in enumerate(self.leaders) if leader == SHARED)

    @property
    def multiples(self) -> tuple[int, ...]:
        """The constants that are multiples of own numbers."""
        return tuple(k for k, leader in enumerate(self.leaders) if leader not in (k, SHARED))

    def with_leader(self, place: int, leader: int) -> "Sharing":
        """Return the same with another role of one constant."""
        return Sharing((*self.leaders[:place], leader, *self.leaders[place + 1 :]))

    def in_order(self) -> "Sharing":
        """Return the same with the first of constants that are multiples of each other as the own number."""
        firsts = {leader: self.leaders.index(leader) for leader in self.own}
        return Sharing(tuple(firsts.get(leader, SHARED) for leader in self.leaders))

    def simpler(self) -> Iterator["Sharing"]:
        """Yield what it becomes with one own number less."""
        for place in self.own:
            if place in [self.leaders[k] for k in self.multiples]:
                continue
            yield self.with_leader(place, SHARED)
            yield from (self.with_leader(place, leader) for leader in self.own if leader < place)
            for leader in self.own:
                if leader > place:  # the first of several is the own number
                    yield Sharing(tuple(place if each == leader else each for each in self.leaders))

    def richer(self) -> Iterator["Sharing"]:
        """Yield what it becomes with one own number more, or with one constant more that follows an own number."""
        for place in self.shared:
            yield self.with_leader(place, place)
            yield from (self.with_leader(place, leader) for leader in self.own)
        for place in self.multiples:
            yield self.with_leader(place, place)
            yield self.with_leader(place, SHARED)


@dataclass(frozen=True, slots=True, eq=False)
class RunFits:
    """The constants that fit each run best, and how well each run determines them."""

    values: Numbers  # [G, C]
    information: (
        Numbers  # [G, C, C]: half of it is the quadratic form, in nats, by which a run fits worse with other constants
    )
    n_observations: Numbers  # [G]

    def price(self, sharing: Sharing) -> float:
        """Return the nats of all numbers."""
        n_single = len(sharing.shared) + len(sharing.multiples)
        own = sum(typical_number_nats(1, int(count)) for count in self.n_observations) + OWN_NATS
        single = typical_number_nats(n_single, int(self.n_observations.sum()))
        return len(sharing.own) * own + single + len(sharing.multiples) * MULTIPLE_NATS

    def fit(self, sharing: Sharing) -> tuple[float, Numbers, Numbers]:
        """Return the nats by which the runs fit worse, the constants of all runs [G, C], and factors of multiples [C], 1 for others.

        Examples:
            >>> runs = RunFits(np.array([[1.0], [3.0]]), np.array([[[1.0]], [[1.0]]]), np.array([10, 10]))
            >>> nats, values, _ = runs.fit(Sharing((SHARED,)))
            >>> nats, values.tolist()
            (1.0, [[2.0], [2.0]])
        """
        factors = self._first_factors(sharing)
        nats, values = self._fit_own(sharing, factors)
        for _ in range(MAX_SWEEPS if sharing.multiples else 0):
            factors = self._fit_factors(sharing, values)
            before = nats
            nats, values = self._fit_own(sharing, factors)
            if before - nats < SETTLED_NATS:
                break
        return nats, values, factors

    def _first_factors(self, sharing: Sharing) -> Numbers:
        factors = np.ones(len(sharing.leaders))
        for place in sharing.multiples:
            one, two = self.values[:, sharing.leaders[place]], self.values[:, place]
            weights = self.information[:, place, place]
            factors[place] = (weights * one * two).sum() / ((weights * one * one).sum() or 1.0)
        return factors

    def _fit_own(self, sharing: Sharing, factors: Numbers) -> tuple[float, Numbers]:
        """Return the least nats and the constants with given factors: the own numbers are eliminated run by run."""
        shared, own = list(sharing.shared), list(sharing.own)
        across = np.zeros((len(sharing.leaders), len(own)))  # how constants depend on own numbers
        for place, leader in enumerate(sharing.leaders):
            if leader != SHARED:
                across[place, own.index(leader)] = factors[place]
        pulled = self.information @ across  # [G, C, K]
        inner = np.linalg.pinv(np.swapaxes(across, 0, 1) @ pulled, rcond=SINGULAR, hermitian=True)
        left = self.information - pulled @ inner @ np.swapaxes(pulled, 1, 2)  # after the own numbers have adapted
        goal = np.einsum("gcd,gd->c", left, self.values)[shared]
        together = left.sum(axis=0)[np.ix_(shared, shared)]
        best = _solve(together, goal)
        off = self.values.copy()
        off[:, shared] -= best
        own_values = np.einsum("gkl,gcl,gc->gk", inner, pulled, off) if own else np.zeros((len(off), 0))
        values = own_values @ across.T
        values[:, shared] = best
        return self._misfit(values), values

    def _fit_factors(self, sharing: Sharing, values: Numbers) -> Numbers:
        """Return the factors of multiples that fit best with the own numbers as they are; shared constants are fitted along."""
        places = [*sharing.shared, *sharing.multiples]
        sizes = np.ones((len(values), len(places)))
        for k, place in enumerate(places):
            if sharing.leaders[place] != SHARED:
                sizes[:, k] = values[:, sharing.leaders[place]]
        fixed = np.zeros_like(values)
        fixed[:, list(sharing.own)] = values[:, list(sharing.own)]
        inner = self.information[:, places][:, :, places] * sizes[:, :, np.newaxis] * sizes[:, np.newaxis, :]
        goal = np.einsum("gk,gkc,gc->k", sizes, self.information[:, places], self.values - fixed)
        found = _solve(inner.sum(axis=0), goal)
        factors = np.ones(len(sharing.leaders))
        factors[list(sharing.multiples)] = found[len(sharing.shared) :]
        return factors

    def _misfit(self, values: Numbers) -> float:
        off = self.values - values
        return 0.5 * float(np.einsum("gc,gcd,gd->", off, self.information, off))


def _solve(matrix: Numbers, right: Numbers) -> Numbers:
    """Return the solution of symmetric equations, which may be singular or empty."""
    if not right.size:
        return right
    size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    inverse = np.linalg.pinv(matrix / np.outer(size, size), rcond=SINGULAR, hermitian=True)
    return np.asarray(inverse @ (right / size) / size)


def choose_sharing(runs: RunFits, most_own: int | None = None) -> tuple[Sharing, float]:
    """Return the way of sharing with the shortest description, and its nats: misfit and numbers.

    Two searches go one step at a time: from nothing shared, and from all shared.

    Args:
        runs: the fits of the runs, one by one.
        most_own: how many own numbers there may be; None for no limit.

    Examples:
        >>> values = np.array([[1.0, 2.0], [2.0, 4.1], [3.0, 5.9]])  # the second is about twice the first
        >>> runs = RunFits(values, 100.0 * np.tile(np.eye(2), (3, 1, 1)), np.array([50, 50, 50]))
        >>> choose_sharing(runs)[0].leaders
        (0, 0)
    """
    n_constants = runs.values.shape[1]
    lengths: dict[Sharing, float] = {}

    def length(sharing: Sharing) -> float:
        if sharing not in lengths:
            lengths[sharing] = runs.fit(sharing)[0] + runs.price(sharing)
        return lengths[sharing]

    def descend(sharing: Sharing, *, may_grow: bool) -> Sharing:
        while most_own is not None and len(sharing.own) > most_own:
            fewer = [*sharing.simpler()] or [sharing.with_leader(place, SHARED) for place in sharing.multiples]
            sharing = min(fewer, key=length)
        while True:
            others = [*sharing.simpler(), *(sharing.richer() if may_grow else ())]
            others = [each for each in others if most_own is None or len(each.own) <= most_own]
            best = min(others, key=length, default=sharing)
            if length(best) >= length(sharing):
                return sharing
            sharing = best

    from_own = descend(Sharing(tuple(range(n_constants))), may_grow=False)
    from_shared = descend(Sharing((SHARED,) * n_constants), may_grow=True)
    best = min((descend(from_own, may_grow=True), from_shared), key=length)
    return best.in_order(), length(best)
