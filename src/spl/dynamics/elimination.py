"""Equations by elimination along the trajectories: at first with all simple terms, then only with those that the samples need.

Under strong noise, smoothed derivatives are so far off that no search on them meets the law. This needs no derivatives: a system with
all products of a few variables is fitted along short segments, which tells errors of the constants from errors of the states. One fit
says, to second order, how much the error would rise without any set of terms, so terms are dropped one by one without fitting again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.column_subsets import solve_least_squares
from spl.dynamics.segments import MIN_LENGTH
from spl.dynamics.simple_terms import write_sum
from spl.dynamics.term_library import TermLibrary
from spl.dynamics.trials import SystemTrials
from spl.formulas.program import Program

Numbers = NDArray[np.float64]

MAX_FULL_TERMS = 15  # of an equation: all products of two of four variables
LENGTH_SHARES = (1, 2, 4)  # the shortest segments of trials are divided by these: short ones forgive a poor first guess


@dataclass(frozen=True, slots=True, eq=False)
class FullEquation:
    """All products of a few variables that may be terms of an equation, with the derivative for a first guess."""

    library: TermLibrary
    places: tuple[int, ...]  # of the terms in the library
    target: Numbers  # [N]

    @classmethod
    def of(cls, library: TermLibrary, target: Numbers) -> "FullEquation":
        """Take products of variables up to the highest degree of which there are few enough."""
        degrees = [len(term) for term in library.terms[: library.n_polynomial]]
        counts = [sum(each <= degree for each in degrees) for degree in sorted({*degrees})]
        most = max((count for count in counts if count <= MAX_FULL_TERMS), default=0)
        by_degree = sorted(range(len(degrees)), key=lambda place: degrees[place])
        return cls(library, tuple(by_degree[:most]), target)

    def guess(self) -> Program:
        """Return the equation with all terms, their factors fitted to the derivative."""
        factors = solve_least_squares(self.library.values, self.target, self.places)
        return self.write(factors, np.ones(factors.size, np.bool_))

    def write(self, factors: Numbers, kept: NDArray[np.bool_]) -> Program:
        """Return the equation with these factors of all terms, of which some are kept."""
        terms = [self.library.terms[place] for place in self.places]
        pairs = zip(terms, factors.tolist(), strict=True)
        return write_sum(self.library.vocabulary, [pair for pair, is_kept in zip(pairs, kept, strict=True) if is_kept])


def propose_by_elimination(equations: Sequence[FullEquation], trials: SystemTrials) -> Iterator[list[Program]]:
    """Yield systems with only the terms that the samples need, each from segments of another length."""
    if not all(equation.places for equation in equations):
        return
    guesses = [equation.guess() for equation in equations]
    ends = np.cumsum([len(equation.places) for equation in equations])
    prices = np.array([trials.price(term) for equation in equations for term in _write_single(equation)])
    owners = np.repeat(np.arange(len(equations)), np.diff(ends, prepend=0))
    for share in LENGTH_SHARES:
        if trials.shortest < share * MIN_LENGTH or not trials.may_try():
            return
        fitted = trials.fit(guesses, length=trials.shortest // share)
        information = trials.information(fitted) / max(fitted.error, trials.exact_error)
        if np.isfinite(information).all():
            factors = eliminate(fitted.system.constants, information, prices, owners)
            parts = np.split(factors, ends[:-1])
            yield [equation.write(own, own != 0) for equation, own in zip(equations, parts, strict=True)]


def _write_single(equation: FullEquation) -> list[Program]:
    """Return each term of an equation as a program."""
    is_kept = np.eye(len(equation.places), dtype=np.bool_)
    return [equation.write(np.ones(len(is_kept)), kept) for kept in is_kept]


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
