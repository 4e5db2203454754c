"""Sums of simple terms whose factors differ between trajectories: the same terms for all, chosen by least squares run by run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.column_subsets import MAX_SUBSET, SAME_DIRECTION

Numbers = NDArray[np.float64]

ROWS_PER_TERM = 4  # of the shortest run, for each term that elimination starts with
MAX_ELIMINATED_BY_RUN = 60  # terms that elimination starts with
N_FIRST = 3  # pairs of terms that pursuit starts with
SMALLEST_SHARE = 1e-12  # of the squares of a target: errors below this do not count


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """The values of terms and a target on the rows of several runs, scaled so that runs count alike."""

    values: Sequence[Numbers]  # [N, T] of each run
    targets: Sequence[Numbers]  # [N] of each run

    @classmethod
    def split(cls, values: Numbers, target: Numbers, codes: NDArray[np.intp]) -> "RunTable":
        """Take values [N, T], a target [N] and the run of each row."""
        sizes = np.linalg.norm(values, axis=0)
        runs = range(int(codes.max()) + 1)
        return cls([values[codes == run] / sizes for run in runs], [target[codes == run] for run in runs])

    def squared_errors(self, chosen: Sequence[int]) -> Numbers:
        """Return what the best sum of the chosen terms leaves of the target of each run, as a mean square [G]."""
        errors = []
        for values, target in zip(self.values, self.targets, strict=True):
            factors = np.linalg.lstsq(values[:, list(chosen)], target, rcond=None)[0]
            errors.append(np.mean((target - values[:, list(chosen)] @ factors) ** 2))
        return np.array(errors)

    def propose(self, n_polynomial: int) -> Iterator[tuple[int, ...]]:
        """Yield sets of up to `MAX_SUBSET` terms that explain much of the target in all runs.

        Examples:
            >>> rng = np.random.default_rng(0)
            >>> values = rng.standard_normal((60, 5))
            >>> codes = np.repeat([0, 1, 2], 20)
            >>> table = RunTable.split(values, np.array([1.0, -2.0, 3.0])[codes] * values[:, 3] - values[:, 1], codes)
            >>> (1, 3) in [tuple(sorted(chosen)) for chosen in table.propose(5)]
            True
        """
        yield from self._eliminate(range(min(n_polynomial, self._most_terms())))
        for first in self._best_pairs():
            yield from self._pursue(first)

    def _most_terms(self) -> int:
        return max(2, min(MAX_ELIMINATED_BY_RUN, min(map(len, self.targets)) // ROWS_PER_TERM))

    def _eliminate(self, start: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Drop, one by one, the term that explains least in all runs together."""
        kept = list(start)
        left = np.maximum(self.squared_errors(kept), SMALLEST_SHARE * self._squares()) if kept else np.ones(1)
        parts = [np.linalg.qr(values[:, kept]) for values in self.values] if kept else []
        goals = [q.T @ target for (q, _), target in zip(parts, self.targets, strict=True)]
        places = list(range(len(kept)))
        while places:
            if len(places) <= MAX_SUBSET:
                yield tuple(kept[k] for k in places)
            gains = np.zeros(len(places))
            for (_, r), goal, scale in zip(parts, goals, left, strict=True):
                inverse = np.linalg.pinv(r[:, places])
                spread = np.maximum(np.linalg.norm(inverse, axis=1), np.finfo(float).tiny)
                gains += (inverse @ goal / spread) ** 2 / scale
            places.pop(int(np.argmin(gains)))

    def _squares(self) -> Numbers:
        return np.array([max(float(np.mean(target**2)), np.finfo(float).tiny) for target in self.targets])

    def _pursue(self, start: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Add, one by one, the term that explains most of what is left in all runs together."""
        taken = list(start)
        while len(taken) <= MAX_SUBSET:
            yield tuple(taken)
            gains = np.zeros(self.values[0].shape[1])
            for values, target in zip(self.values, self.targets, strict=True):
                if len(target) <= len(taken):
                    continue
                basis = np.linalg.qr(values[:, taken])[0]
                left = target - basis @ (basis.T @ target)
                rest = values - basis @ (basis.T @ values)
                share = np.linalg.norm(rest, axis=0) / np.maximum(np.linalg.norm(values, axis=0), np.finfo(float).tiny)
                length = np.where(share > np.sqrt(SAME_DIRECTION), np.linalg.norm(rest, axis=0), np.inf)
                gains += (left @ rest / length) ** 2 / max(float(left @ left), np.finfo(float).tiny)
            gains[taken] = 0.0
            if not gains.max() > 0:
                return
            taken.append(int(np.argmax(gains)))

    def _best_pairs(self) -> Iterator[tuple[int, ...]]:
        """Yield the terms, one or two, that explain most in all runs together."""
        n_terms = self.values[0].shape[1]
        if n_terms < 2:
            return
        single, pair = np.zeros(n_terms), np.zeros((n_terms, n_terms))
        for values, target, square in zip(self.values, self.targets, self._squares(), strict=True):
            size = np.maximum(np.linalg.norm(values, axis=0), np.finfo(float).tiny)
            gram, goal = (values / size).T @ (values / size), (values / size).T @ target
            own = 1 - gram**2
            later = np.where(own > SAME_DIRECTION, (goal - gram * goal[:, np.newaxis]) ** 2, 0.0)
            scale = square * len(target)
            single += goal**2 / scale
            pair += (goal[:, np.newaxis] ** 2 + later / np.maximum(own, SAME_DIRECTION)) / scale
        yield (int(np.argmax(single)),)
        flat = np.triu(pair, 1).ravel()
        for place in np.argsort(-flat)[:N_FIRST]:
            yield int(place) // n_terms, int(place) % n_terms
