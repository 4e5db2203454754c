"""Screening: which columns of a wide table does a target depend on?

Step by step, columns are taken that explain more than chance of what the columns taken so far leave: one column by its best term; if
there is none, one by its best product with a column taken; else two by the best product of their terms; else one that tells how large
the rest is. What is left is the error of a smooth model of the columns taken, so weak columns show once strong ones are accounted for.
Chance is what the best of as many unrelated columns explains, which is measured on targets with permuted rows.

The target is looked at in three ways: as it is, as ranks, and as ranks of its distance from the middle. Each is plain for some family
of laws: for sums, for functions of sums and products, and for products of columns around 0, of which no part shows alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.errors import list_names
from spl.regression.blas_threads import one_blas_thread
from spl.regression.column_terms import Numbers, clip_far_values, make_terms, score_normally, standardize
from spl.regression.column_view import ColumnView
from spl.regression.smooth_model import find_unexplained

MAX_NARROW = 10  # columns of a table that needs no screening
MIN_PROMISING, MAX_PROMISING = 4, 10  # columns to begin with: with more, a bank has only shorter formulas
NEAR_CHANCE = 0.85  # score above which a column is promising if there is room
SCREENED_ROWS = 500  # the smooth models take a time that grows with the third power of the rows
MAX_FACTORS = 2000  # of which all products are looked at
N_PAIR_TERMS = 3  # of each column, that are such factors, if there are not too many columns
LEAST_VARIANCE = 0.05  # of a product that is looked at; its factors have 1
SAME_ORDER = 1 - 1e-5  # correlation of two columns that order the rows alike
N_PERMUTATIONS, N_PRODUCT_PERMUTATIONS = 12, 3  # with permuted targets, for single terms and for products
EXCEEDED = 0.002  # how often unrelated columns exceed the level of chance, at each of some dozen looks
MEAN_GUMBEL = 0.5772  # of the standard distribution of maxima


@dataclass(frozen=True, slots=True, eq=False)
class Screening:
    """What screening says of the columns of a table."""

    scores: (
        Numbers  # [D], the most that a term with the column explained, relative to chance: above 1, hardly by chance
    )
    chance: float  # the share of the target that the best term of a single column explains by chance
    promising: tuple[int, ...]  # columns to begin with, the most important first
    duplicates: tuple[tuple[int, int], ...] = ()  # columns that are left out, each with the equal column that is kept
    constants: tuple[int, ...] = ()  # columns that are left out because they never vary


def screen_columns(
    data: Dataset, values: Numbers | None = None, weights: Numbers | None = None, *, most: int = MAX_PROMISING
) -> Screening:
    """Return which columns explain the target beyond chance, and which to begin a search with.

    Neither the order of the columns nor that of the rows matters, as long as no two rows have the same value.

    Args:
        data: the table.
        values: what to explain [N]; by default, the target.
        weights: of the rows [N]; by default, those of the data.
        most: promising columns at most.

    Examples:
        >>> table = np.random.default_rng(0).normal(size=(200, 30))
        >>> found = screen_columns(Dataset.from_arrays(table, table[:, 7] * table[:, 21] + table[:, 3]))
        >>> sorted(found.promising[:3]), [bool(score > 1) for score in found.scores[6:9]]
        ([3, 7, 21], [False, True, False])
    """
    values = data.target if values is None else values
    with one_blas_thread():
        table = _Table(data, values, data.weights if weights is None else weights)
        taken = table.take_columns(values, (), most)
    taken = list(dict.fromkeys([*taken, *table.find_twins(taken)]))[:most]
    for place in np.argsort(-table.last_scores, kind="stable").tolist():
        is_near = len(taken) < MIN_PROMISING or table.last_scores[place] > NEAR_CHANCE
        if is_near and place not in taken and len(taken) < most:
            taken.append(place)
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
    with one_blas_thread():
        table = _Table(data, residual, weights)
        begin = table.places_of(kept)
        return table.columns_at(table.take_columns(residual, begin, len(begin) + most)[len(begin) :])


class _Table:
    """The rows and columns that are looked at, in an order that depends only on their values."""

    def __init__(self, data: Dataset, values: Numbers, weights: Numbers) -> None:
        self._rows = _choose_rows(data, values, weights)
        self._weights = weights[self._rows]
        self._shares = self._weights / self._weights.sum()
        self.columns, self.duplicates, self.constants = _choose_columns(data, weights > 0, self._rows)
        self._terms = make_terms(data.columns[np.ix_(self.columns, self._rows)], self._weights)
        self.scores = np.zeros(len(self.columns))  # the highest so far
        self.last_scores = self.scores  # in the last step
        self._pairs: _Products | None = None
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
            self.last_scores = np.zeros(len(self.columns))
            left = self._find_left(targets, taken)
            new = self._take_single(left, taken) or self._take_partner(left, taken) or self._take_pair(left, taken)
            if not new:
                sizes = standardize(np.array([score_normally(np.abs(left[0]))]), self._weights)
                new = self._take_single(self._find_left(sizes, taken), taken)
            self.scores = np.maximum(self.scores, self.last_scores)
            if not new:
                break
            taken += new
        return taken[:most]

    def find_twins(self, taken: Sequence[int]) -> list[int]:
        """Return the places of columns that order the rows like one that is taken, or in reverse."""
        waves = self._terms[:, 1]
        alike = np.abs((waves * self._shares.astype(np.float32)) @ waves[list(taken)].T)
        return np.flatnonzero(np.any(alike > SAME_ORDER, axis=1)).tolist()

    def _find_left(self, targets: Numbers, taken: Sequence[int]) -> Numbers:
        """Return what the columns taken leave of each target, without far values."""
        left = find_unexplained(self._terms, taken, targets, self._weights)
        return standardize(np.array([clip_far_values(each) for each in left]), self._weights)

    def _take_single(self, left: Numbers, taken: Sequence[int]) -> list[int]:
        """Return the column whose best term explains most, if that is more than chance."""
        scores = np.max(self._explain(left), axis=0) / self.chance
        scores[list(taken)] = 0.0
        self.last_scores = np.maximum(self.last_scores, scores)
        best = int(np.argmax(scores))
        return [best] if scores[best] > 1 else []

    def _take_partner(self, left: Numbers, taken: Sequence[int]) -> list[int]:
        """Return the column with the best product with a column taken, if that explains more than chance."""
        if not taken:
            return []
        everything = np.arange(len(self._terms))
        return self._take_product(
            self._make_products(np.array(taken), everything, self._terms.shape[1] - 1), left, taken
        )

    def _take_pair(self, left: Numbers, taken: Sequence[int]) -> list[int]:
        """Return the columns of the best of all products, without those taken, if it explains more than chance."""
        if self._pairs is None:
            places = np.sort(np.argsort(-np.maximum(self.scores, self.last_scores), kind="stable")[:MAX_FACTORS])
            n_terms = int(np.clip(MAX_FACTORS // len(places), 1, N_PAIR_TERMS))
            self._pairs = self._make_products(places, places, n_terms)
        return self._take_product(self._pairs, left, taken)

    def _take_product(self, products: "_Products", left: Numbers, taken: Sequence[int]) -> list[int]:
        """Return the columns of the best product, without those taken, if it explains more than chance."""
        scores = np.max([products.explain(each) for each in left], axis=0) / products.chance
        scores[np.ix_(np.isin(products.first, taken), np.isin(products.second, taken))] = 0.0
        is_new = ~np.isin(products.second, taken)
        new = products.second[is_new]
        self.last_scores[new] = np.maximum(self.last_scores[new], scores[:, is_new].max(axis=0, initial=0.0))
        best = np.unravel_index(np.argmax(scores), scores.shape)
        if scores[best] <= 1:
            return []
        return [place for place in (int(products.first[best[0]]), int(products.second[best[1]])) if place not in taken]

    def _explain(self, targets: Numbers) -> NDArray[np.float32]:
        """Return what the best term of each column explains of each target [M, D]."""
        weighted = (targets * self._shares).astype(np.float32)
        return np.asarray(np.max((self._terms @ weighted.T) ** 2, axis=1).T)

    def _make_products(self, first: NDArray[np.intp], second: NDArray[np.intp], n_terms: int) -> "_Products":
        """Return the products of the first few terms of these columns, and what they explain by chance."""
        products = _Products(self._terms[:, 1 : n_terms + 1], self._shares, first, second)
        maxima = [float(products.explain(target).max()) for target in self._permuted[:N_PRODUCT_PERMUTATIONS]]
        products.chance = self._level_of_chance(maxima)
        return products

    def _level_of_chance(self, maxima: Sequence[float]) -> float:
        """Return the share that unrelated columns seldom exceed, given the highest share for each of some permuted targets.

        A share times the number of rows is the square of a normal number, so maxima have Gumbel's distribution, of scale 2. If
        weights differ, there are effectively fewer rows.
        """
        far = -np.log(-np.log(1 - EXCEEDED)) - MEAN_GUMBEL
        return float(np.mean(maxima) + 2 * far * np.sum(self._shares**2))


class _Products:
    """All products of a term of one column and a term of another."""

    def __init__(
        self, terms: NDArray[np.float32], shares: Numbers, first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> None:
        self.first, self.second = first, second  # places of the columns
        self.chance = 1.0  # the share of a target that the best product explains by chance
        self._shape = (len(first), terms.shape[1], len(second), terms.shape[1])
        self._shares = shares.astype(np.float32)
        self._left, self._right = (
            np.ascontiguousarray(terms[places].reshape(-1, shares.size)) for places in (first, second)
        )
        variance = self._multiply(self._left**2, self._right**2) - self._multiply(self._left, self._right) ** 2
        self._inverse = np.where(variance > LEAST_VARIANCE, 1 / np.maximum(variance, LEAST_VARIANCE), np.float32(0))
        same = np.repeat(first, terms.shape[1])[:, np.newaxis] == np.repeat(second, terms.shape[1])
        self._inverse[same] = 0  # the product of two terms of a column is a term of it

    def explain(self, target: Numbers) -> NDArray[np.float32]:
        """Return what the best product of two columns explains of a target, for each pair of columns.

        The covariance of a target t with all products a_i*b_j is one matrix product: the sum of w*t*a_i*b_j over the rows.
        """
        explained = self._multiply(self._left * target.astype(np.float32), self._right)
        explained **= 2
        explained *= self._inverse
        return np.asarray(explained.reshape(self._shape).max(axis=(1, 3)))

    def _multiply(self, left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray((left * self._shares) @ right.T)


def _look_at(values: Numbers) -> Iterator[Numbers]:
    """Yield the values as they are, without far ones, as ranks, and as ranks of their distances from the middle."""
    yield clip_far_values(values)
    yield score_normally(values)
    yield score_normally(np.abs(values - np.median(values)))


def _choose_rows(data: Dataset, values: Numbers, weights: Numbers) -> NDArray[np.intp]:
    """Return rows that count, sorted by value; if there are many, evenly spread over the values."""
    ties = (data.columns.sum(axis=0), data.columns.min(axis=0), data.columns.max(axis=0))  # for any order of columns
    order = np.lexsort((*ties, values))
    rows = order[weights[order] > 0]
    if rows.size > SCREENED_ROWS:
        rows = rows[np.linspace(0, rows.size - 1, SCREENED_ROWS).round().astype(int)]
    return rows


class _ColumnChoice(NamedTuple):
    """The columns that vary and differ, sorted by their values; and the others."""

    kept: NDArray[np.intp]
    duplicates: tuple[tuple[int, int], ...]  # each with the column that is kept instead, the first by name
    constants: tuple[int, ...]


def _choose_columns(data: Dataset, counts: NDArray[np.bool_], rows: NDArray[np.intp]) -> _ColumnChoice:
    """Compare columns in all rows that count. They are sorted by their values in the rows that are looked at."""
    shown = {column: (values[rows] + 0.0).tobytes() for column, values in enumerate(data.columns)}  # -0 becomes 0
    kept: dict[bytes, list[int]] = {}
    duplicates, constants = [], []
    for column in sorted(shown, key=lambda k: (shown[k], data.names[k])):
        values = data.columns[column, counts]
        if np.all(values == values[0]):
            constants.append(column)
            continue
        alike = kept.setdefault(shown[column], [])
        original = next((k for k in alike if np.array_equal(data.columns[k, counts], values)), None)
        if original is None:
            alike.append(column)
        else:
            duplicates.append((column, original))
    places = np.array([column for alike in kept.values() for column in alike], np.intp)
    return _ColumnChoice(places, tuple(sorted(duplicates)), tuple(sorted(constants)))


def describe_screening(screening: Screening, view: ColumnView, data: Dataset) -> str:
    """Return in words which columns of a wide table were searched, and which were left out as constant or equal to another.

    Examples:
        >>> table = np.random.default_rng(0).normal(size=(100, 12))
        >>> data = Dataset.from_arrays(table, table[:, 3])
        >>> describe_screening(screen_columns(data), ColumnView((3, 1), 12), data)
        'Searched with 2 of 12 columns: x3, x1; the others explain no more than chance.'
    """
    names = data.names
    parts = [
        f"Searched with {len(view.columns)} of {len(names)} columns: {list_names([names[k] for k in view.columns])}"
    ]
    parts.append("the others explain no more than chance")
    if screening.duplicates:
        pairs = [f"{names[one]} (as {names[other]})" for one, other in screening.duplicates]
        parts.append(f"left out, because they repeat another: {list_names(pairs)}")
    if screening.constants:
        parts.append(f"left out, because they never vary: {list_names([names[k] for k in screening.constants])}")
    return "" if view.is_whole else "; ".join(parts) + "."
