"""Subsets of the columns of a table that explain most of a target, by least squares.

Elimination starts with many columns, pursuit with few; the best sets of up to three columns are found among all of them.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

MAX_SUBSET = 10  # columns
N_BEST = 4  # sets of each size, one to three columns
SAME_DIRECTION = 1e-9  # columns whose directions differ by less are the same


def solve_least_squares(values: Numbers, target: Numbers, chosen: Sequence[int]) -> Numbers:
    """Return the factors of the chosen columns."""
    return np.asarray(np.linalg.lstsq(values[:, list(chosen)], target, rcond=None)[0])


def measure_misfit(columns: Numbers, target: Numbers) -> float:
    """Return the norm of what least squares leaves of a target."""
    basis = np.linalg.qr(columns)[0]
    return float(np.linalg.norm(target - basis @ (basis.T @ target)))


def eliminate_columns(values: Numbers, target: Numbers, start: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Drop, one by one, the column that explains least; yield the columns that are left once they are at most `MAX_SUBSET`."""
    kept = list(start)
    if not kept:
        return
    size = np.linalg.norm(values[:, kept], axis=0)
    q, r = np.linalg.qr(values[:, kept] / size)
    goal, places = q.T @ target, list(range(len(kept)))
    while places:
        if len(places) <= MAX_SUBSET:
            yield tuple(kept[k] for k in places)
        inverse = np.linalg.pinv(r[:, places])
        spread = np.linalg.norm(inverse, axis=1)  # of each factor, for noise of deviation 1
        places.pop(int(np.argmin(np.abs(inverse @ goal) / np.maximum(spread, np.finfo(float).tiny))))


def pursue_columns(values: Numbers, target: Numbers, start: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Add, one by one, the column that explains most of what is left; yield the columns after each step, starting with a few."""
    directions = values / np.linalg.norm(values, axis=0)
    taken = list(start)
    while taken and len(taken) <= MAX_SUBSET:
        yield tuple(taken)
        basis = np.linalg.qr(directions[:, taken])[0]
        left = target - basis @ (basis.T @ target)
        rest = directions - basis @ (basis.T @ directions)
        length = np.linalg.norm(rest, axis=0)
        gains = np.where(
            length > np.sqrt(SAME_DIRECTION), np.abs(left @ rest) / np.maximum(length, SAME_DIRECTION), -1.0
        )
        if np.max(gains) <= 0:
            return
        taken.append(int(np.argmax(gains)))


def find_best_few(values: Numbers, target: Numbers) -> Iterator[tuple[int, ...]]:
    """Yield the best sets of one, two and three columns, several of each size, out of all sets."""
    directions = values / np.linalg.norm(values, axis=0)
    gram, goal = directions.T @ directions, directions.T @ target
    singles, pairs, triples = _Best(), _Best(), _Best()
    for first in range(goal.size):
        later = slice(first + 1, None)
        inner = gram[later, later] - np.outer(gram[first, later], gram[first, later])  # what `first` does not explain
        left = goal[later] - gram[first, later] * goal[first]
        own = np.diag(inner)
        explained = goal[first] ** 2
        singles.offer(np.array(explained), (first,))
        pairs.offer(explained + _divide(left**2, own), (first,))
        both = left[:, np.newaxis] ** 2 * own + own[:, np.newaxis] * left**2 - 2 * inner * np.outer(left, left)
        triples.offer(explained + np.triu(_divide(both, np.outer(own, own) - inner**2), 1), (first,))
    for best in (singles, pairs, triples):
        yield from best.sets


def _divide(gain: Numbers, own: Numbers) -> Numbers:
    """Return what columns explain; 0 where they nearly depend on the columns already taken."""
    return np.where(own > SAME_DIRECTION, gain / np.maximum(own, SAME_DIRECTION), 0.0)


class _Best:
    """The few sets of columns that explain most."""

    def __init__(self) -> None:
        self._kept: list[tuple[float, tuple[int, ...]]] = []

    @property
    def sets(self) -> list[tuple[int, ...]]:
        return [members for _, members in self._kept]

    def offer(self, explained: Numbers, first: tuple[int]) -> None:
        """Consider sets of `first` and the later columns that each entry of the array belongs to."""
        least = self._kept[-1][0] if len(self._kept) == N_BEST else 0.0
        if explained.size == 0 or explained.max() <= least:
            return
        flat = explained.ravel()
        for place in np.argpartition(flat, -min(N_BEST, flat.size))[-N_BEST:]:
            others = (first[0] + 1 + int(k) for k in np.unravel_index(place, explained.shape))
            self._kept.append((float(flat[place]), (*first, *others)))
        self._kept = sorted(self._kept, reverse=True)[:N_BEST]
