"""Screening: which columns of a wide table does a target depend on?

Step by step, the column is taken whose best term explains most of what the columns taken so far leave; if no single term explains
enough, the two columns with the best product of terms. What is left is the error of a smooth model of the columns taken, so weak
columns show once strong ones are accounted for. Screening ends when nothing explains more than chance: than the best of as many
unrelated columns would, which is measured on targets with permuted rows.

The target is looked at in three ways: as it is, as ranks, and as ranks of its distance from the middle. Each of them is plain for some
family of laws: for sums, for functions of sums and products, and for products of columns around 0, of which no part shows alone.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.regression.column_terms import Numbers, clip_far_values, make_terms, score_normally, standardize
from spl.regression.smooth_model import find_unexplained

MAX_NARROW = 10  # columns of a table that needs no screening
MIN_PROMISING, MAX_PROMISING = (
    4,
    10,
)  # columns to begin with: with more, a bank of the same size has only shorter formulas
SCREENED_ROWS = 500  # the smooth models take a time that grows with the third power of the rows
MAX_FACTORS = 1800  # whose products are looked at
N_WAVE_FACTORS = 3  # of each column, if there are not too many columns
LEAST_VARIANCE = 0.05  # of a product that is looked at; its factors have 1
SAME_ORDER = 1 - 1e-5  # correlation of two columns that order the rows alike
N_PERMUTATIONS, N_PAIR_PERMUTATIONS = 12, 3  # with permuted targets, for single terms and for products
EXCEEDED = 0.01  # how often unrelated columns exceed the level of chance
MEAN_GUMBEL = 0.5772  # of the standard distribution of maxima


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """What screening says of the columns of a table."""

    scores: (
        Numbers  # [D], the most that a term with the column explained, relative to chance: above 1, it is not by chance
    )
    chance: float  # the share of the target that the best term of a single column explains by chance
    promising: tuple[int, ...]  # columns to begin with, the most important first
    duplicates: tuple[
        tuple[int, int], ...
    ] = ()  # each column left out because it is equal to another one, and that one
    constants: tuple[int, ...] = ()  # columns left out because they never vary


def screen_columns(
    data: Dataset, values: Numbers | None = None, weights: Numbers | None = None, *, most: int = MAX_PROMISING
) -> Screening:
    """Return which columns explain the target beyond chance, and which to begin a search with.

    The order of the columns does not matter. Rows may be in any order, as long as the values are not tied.

    Args:
        data: the table.
        values: what to explain [N]; by default, the target.
        weights: of the rows [N]; by default, those of the data.
        most: promising columns at most.

    Examples:
        >>> table = np.random.default_rng(0).normal(size=(200, 30))
        >>> screen_columns(Dataset.from_arrays(table, table[:, 7] * table[:, 21] + table[:, 3])).promising[:3]
        (3, 7, 21)
    """
    values = data.target if values is None else values
    with _one_thread():
        table = _Table(data, values, data.weights if weights is None else weights)
        taken = table.take_columns(values, (), most)
    taken = list(dict.fromkeys([*taken, *table.find_twins(taken)]))[:most]
    others = [place for place in np.argsort(-table.scores, kind="stable").tolist() if place not in taken]
    taken += others[: max(min(MIN_PROMISING, most) - len(taken), 0)]
    scores = np.zeros(len(data.names))
    scores[table.columns] = table.scores
    return Screening(scores, table.chance, table.columns_at(taken), table.duplicates, table.constants)


def ask_residual(
    data: Dataset, residual: Numbers, weights: Numbers, kept: Sequence[int], *, most: int = MAX_PROMISING
) -> tuple[int, ...]:
    """Return the columns that explain what a formula leaves, beyond what the columns it was searched with explain.

    Args:
        data: the table.
        residual: the errors of the formula [N]; rows that are not finite do not count.
        weights: of the rows [N].
        kept: the columns that the search had.
        most: columns to return at most.

    Examples:
        >>> table = np.random.default_rng(0).normal(size=(200, 30))
        >>> data = Dataset.from_arrays(table, table[:, 7] * table[:, 21] + table[:, 3])
        >>> ask_residual(data, data.target - table[:, 3], data.weights, [3, 7])
        (21,)
    """
    weights = np.where(np.isfinite(residual), weights, 0.0)
    if not np.any(weights > 0):
        return ()
    with _one_thread():
        table = _Table(data, residual, weights)
        begin = table.places_of(kept)
        return table.columns_at(table.take_columns(residual, begin, len(begin) + most)[len(begin) :])


def _one_thread() -> AbstractContextManager[object]:
    """Return a context in which numpy uses one thread: more are slower for tables of this size, most of all if processors are busy."""
    from threadpoolctl import threadpool_limits  # slow to import

    limits: AbstractContextManager[object] = threadpool_limits(1, "blas")
    return limits


class _Table:
    """The rows and columns that are looked at, in an order that depends only on their values."""

    def __init__(self, data: Dataset, values: Numbers, weights: Numbers) -> None:
        self._rows = _choose_rows(data, values, weights)
        self._weights = weights[self._rows]
        self._shares = self._weights / self._weights.sum()
        self.columns, self.duplicates, self.constants = _choose_columns(data, np.flatnonzero(weights > 0), self._rows)
        self._terms = make_terms(data.columns[np.ix_(self.columns, self._rows)], self._weights)
        self.scores = np.zeros(len(self.columns))
        self._pairs: _Pairs | None = None
        random = np.random.default_rng(0)
        normal = score_normally(np.arange(self._rows.size, dtype=float))
        self._permuted = standardize(
            np.array([random.permutation(normal) for _ in range(N_PERMUTATIONS)]), self._weights
        )
        self.chance = self._level_of_chance([float(shares.max(initial=0)) for shares in self._explain(self._permuted)])

    def columns_at(self, places: Sequence[int]) -> tuple[int, ...]:
        """Return the columns of the data in these places."""
        return tuple(int(self.columns[place]) for place in places)

    def places_of(self, columns: Sequence[int]) -> list[int]:
        """Return the places of columns of the data, or of those they are equal to; constants have none."""
        place_of = {int(column): place for place, column in enumerate(self.columns)}
        place_of |= {copy: place_of[column] for copy, column in self.duplicates}
        return list(dict.fromkeys(place_of[column] for column in columns if column in place_of))

    def take_columns(self, values: Numbers, begin: Sequence[int], most: int) -> list[int]:
        """Return the places of up to `most` columns that explain the values beyond chance, after those to begin with."""
        taken = list(begin)
        targets = standardize(np.array([*_look_at(values[self._rows])]), self._weights)
        while self.columns.size and len(taken) < most:
            left = find_unexplained(self._terms, taken, targets, self._weights)
            left = standardize(np.array([clip_far_values(each) for each in left]), self._weights)
            new = self._take_single(left, taken) or self._take_pair(left, taken)
            if not new:
                break
            taken += new
        return taken[:most]

    def find_twins(self, taken: Sequence[int]) -> list[int]:
        """Return the places of columns that order the rows like one that is taken, or in reverse."""
        waves = self._terms[:, 1]
        alike = np.abs((waves * self._shares.astype(np.float32)) @ waves[list(taken)].T)
        return np.flatnonzero(np.any(alike > SAME_ORDER, axis=1)).tolist()

    def _take_single(self, left: Numbers, taken: Sequence[int]) -> list[int]:
        """Return the column whose best term explains most, if that is more than chance."""
        scores = np.max(self._explain(left), axis=0) / self.chance
        scores[list(taken)] = 0.0
        self.scores = np.maximum(self.scores, scores)
        best = int(np.argmax(scores))
        return [best] if scores[best] > 1 else []

    def _take_pair(self, left: Numbers, taken: Sequence[int]) -> list[int]:
        """Return the columns, without those taken, of the product that explains most, if that is more than chance."""
        if self._pairs is None:
            self._pairs = self._make_pairs()
        pairs = self._pairs
        scores = np.max([pairs.explain(each) for each in left], axis=0) / pairs.chance
        known = np.isin(pairs.places, taken)
        scores[np.ix_(known, known)] = 0.0
        best_of_each = np.where(known, 0.0, scores.max(axis=1))
        self.scores[pairs.places] = np.maximum(self.scores[pairs.places], best_of_each)
        best = np.unravel_index(np.argmax(scores), scores.shape)
        if scores[best] <= 1:
            return []
        return [place for place in pairs.places[list(best)].tolist() if place not in taken]

    def _explain(self, targets: Numbers) -> NDArray[np.float32]:
        """Return what the best term of each column explains of each target [M, D]."""
        weighted = (targets * self._shares).astype(np.float32)
        return np.asarray(np.max((self._terms @ weighted.T) ** 2, axis=1).T)

    def _make_pairs(self) -> "_Pairs":
        """Return the products of terms, of the columns with the highest scores if there are too many."""
        places = np.sort(np.argsort(-self.scores, kind="stable")[:MAX_FACTORS])
        pairs = _Pairs(self._terms, self._shares, places)
        pairs.chance = self._level_of_chance(
            [float(pairs.explain(target).max()) for target in self._permuted[:N_PAIR_PERMUTATIONS]]
        )
        return pairs

    def _level_of_chance(self, maxima: Sequence[float]) -> float:
        """Return the share that unrelated columns seldom exceed, given the highest share for each of some permuted targets.

        A share times the number of rows is the square of a normal number, so maxima have Gumbel's distribution, of scale 2.
        """
        far = -np.log(-np.log(1 - EXCEEDED)) - MEAN_GUMBEL
        return float(np.mean(maxima) + 2 * far / self._rows.size)


class _Pairs:
    """All products of the slowest waves of two columns."""

    def __init__(self, terms: NDArray[np.float32], shares: Numbers, places: NDArray[np.intp]) -> None:
        self.places = places
        self.chance = 1.0
        self._n_waves = int(np.clip(MAX_FACTORS // len(places), 1, N_WAVE_FACTORS))
        self._shares = shares.astype(np.float32)
        self._factors = np.ascontiguousarray(terms[places, 1 : 1 + self._n_waves].reshape(-1, shares.size))
        squares = self._factors**2
        variance = (squares * self._shares) @ squares.T - ((self._factors * self._shares) @ self._factors.T) ** 2
        self._inverse = np.where(variance > LEAST_VARIANCE, 1 / np.maximum(variance, LEAST_VARIANCE), 0).astype(
            np.float32
        )
        column = np.arange(len(self._factors)) // self._n_waves
        self._inverse[column[:, np.newaxis] == column] = 0  # the product of two terms of a column is a term of it

    def explain(self, target: Numbers) -> NDArray[np.float32]:
        """Return what the best product of two columns explains of a target, for each pair of columns.

        The covariance of a target t with all products a_i*a_j is one matrix product: sum of w*t*a_i*a_j over the rows.
        """
        explained = (self._factors * (self._shares * target.astype(np.float32))) @ self._factors.T
        explained **= 2
        explained *= self._inverse
        shape = (len(self.places), self._n_waves, len(self.places), self._n_waves)
        return np.asarray(explained.reshape(shape).max(axis=(1, 3)))


def _look_at(values: Numbers) -> Iterator[Numbers]:
    """Yield the values as they are, without far ones, as ranks, and as ranks of their distances from the middle."""
    yield clip_far_values(values)
    yield score_normally(values)
    yield score_normally(np.abs(values - np.median(values)))


def _choose_rows(data: Dataset, values: Numbers, weights: Numbers) -> NDArray[np.intp]:
    """Return rows that count, sorted by value; if there are many, evenly spread over the values."""
    rows = np.flatnonzero(weights > 0)
    columns = data.columns[:, rows]
    rows = rows[np.lexsort((columns.sum(axis=0), columns.min(axis=0), columns.max(axis=0), values[rows]))]
    if rows.size > SCREENED_ROWS:
        rows = rows[np.linspace(0, rows.size - 1, SCREENED_ROWS).round().astype(int)]
    return rows


def _choose_columns(
    data: Dataset, rows: NDArray[np.intp], shown: NDArray[np.intp]
) -> tuple[NDArray[np.intp], tuple[tuple[int, int], ...], tuple[int, ...]]:
    """Return the columns that vary and differ, sorted by their values in the rows shown; duplicates; and constants.

    Of equal columns, the first by name is kept.
    """
    columns = data.columns[:, rows] + 0.0  # so that -0 is 0
    constants = np.flatnonzero(np.all(columns == columns[:, :1], axis=1))
    kept: list[int] = []
    duplicates: list[tuple[int, int]] = []
    alike: dict[bytes, list[int]] = {}
    others = np.setdiff1d(np.arange(len(columns)), constants).tolist()
    for column in sorted(others, key=lambda k: ((data.columns[k, shown] + 0.0).tobytes(), data.names[k])):
        known = alike.setdefault((data.columns[column, shown] + 0.0).tobytes(), [])
        twin = next((k for k in known if np.array_equal(columns[k], columns[column])), None)
        if twin is None:
            known.append(column)
            kept.append(column)
        else:
            duplicates.append((column, twin))
    return np.array(kept, np.intp), tuple(sorted(duplicates)), tuple(constants.tolist())
