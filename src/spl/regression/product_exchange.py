"""Sums of a few products of two factors that are close to a target, found by exchanging terms instead of taking them greedily.

Laws of mechanics are sums of correlated products, such as a*v*cos(q - p) + b*w**2*sin(q - p) + c*sin(q). Greedy pursuit takes a wrong
term first and keeps it. Here all products are scored at once, because their inner products with a vector r are one matrix product,
A' diag(r) A. Starting with terms drawn from the best few, each term is taken out in turn and the best of all products put in, until
nothing improves. The sets are only proposals: whether one is the law is for the caller to judge.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.errors import DataError
from spl.kernels.bank.factor_table import GRAM_RIDGE, LEAST_GAIN, N_DRAWN, SAME_PRODUCT

Numbers = NDArray[np.float64]

MAX_EXCHANGE_ROWS = 400  # spread rows are enough to rank products; the caller fits on all of them
N_EXCHANGE_STARTS = 12  # for each size; about one in three finds the best set of four or five terms
N_RUNNERS_UP = 3  # next best products in each place of a set that cannot be improved, kept as alternatives
SIGNATURE_DIGITS = 9  # products with equal projections on two random vectors, rounded to this many digits, are the same
NOTHING_LEFT = 1e-12  # of the target's square: the rest is rounding


@dataclass(frozen=True, slots=True)
class Product:
    """A product of two factors of a table, in a sum or, times the target, below the bar of a quotient.

    Examples:
        >>> Product(1, 2)
        Product(first=1, second=2, is_below=False)
    """

    first: int  # at most `second`
    second: int
    is_below: bool = False


@dataclass(frozen=True, slots=True)
class ProductSum:
    """A few products whose best sum leaves a share of the target unexplained."""

    products: tuple[Product, ...]
    left: float  # the share of the target's square, 0 to 1


class ProductTable:
    """Distinct products of two factors, and their inner products with each other, computed when they are needed."""

    def __init__(
        self,
        factors: Numbers,
        target: Numbers,
        rng: np.random.Generator,
        *,
        weights: Numbers | None = None,
        costs: Sequence[int] | None = None,
        is_allowed: NDArray[np.bool_] | None = None,
        has_quotients: bool = False,
    ) -> None:
        """Score the products of two factors, on at most `MAX_EXCHANGE_ROWS` rows.

        A quotient y = p / (1 + r) is linear in the numbers of p and r: y = p - y*r. So products below the bar are multiplied with the
        target. Their part along the target is taken out: it is the number 1, and would explain the target by itself.

        Args:
            factors: values of each factor [N, F]; give the number 1 as a factor, so that single factors count as products.
            target: values [N] that sums of products should have.
            rng: draws the vectors that tell equal products apart.
            weights: weight of the squared error of each row [N]; 1 if none are given.
            costs: cost of each factor [F]: of products with the same values, the cheapest is used.
            is_allowed: which pairs of factors may be used [F, F]; all if not given.
            has_quotients: whether products may also be below the bar.
        """
        _check(factors, target, weights)
        rows = _spread(len(target))
        scale = np.ones(rows.size) if weights is None else np.sqrt(weights[rows])
        goal = _to_unit_size((target[rows] * scale)[:, np.newaxis])[:, 0]
        size = np.linalg.norm(goal)
        self._goal = goal / size if size > 0 else goal
        self._factors = _to_unit_size(factors[rows])
        self._multipliers = np.stack([scale, self._goal][: 1 + has_quotients])  # [B, N]
        self._along = self._pair(self._factors, self._goal * self._multipliers)  # part of each product along the target
        self._along[0] = 0.0  # it is kept in sums
        self._norms = self._measure_norms()
        self._places = np.arange(self._norms.size)
        self._places = self._find_distinct(rng, costs, is_allowed)
        self.correlations = self._project(self._goal)  # of each product with the target, both of norm 1
        self._known: dict[int, Numbers] = {}

    def __len__(self) -> int:
        return self._places.size

    def product(self, number: int) -> Product:
        """Return a product by its number."""
        block, first, second = np.unravel_index(self._places[number], self._norms.shape)
        return Product(int(first), int(second), bool(block))

    def inner_products(self, number: int) -> Numbers:
        """Return the inner products of one product with all, each of norm 1."""
        if number not in self._known:
            block, first, second = np.unravel_index(self._places[number], self._norms.shape)
            values = self._factors[:, first] * self._factors[:, second] * self._multipliers[block]
            values = values - self._along[block, first, second] * self._goal
            self._known[number] = self._project(values / self._norms[block, first, second])
        return self._known[number]

    def _project(self, vector: Numbers) -> Numbers:
        """Return the inner products of a vector with all products in use."""
        whole = self._pair(self._factors, vector * self._multipliers) - (vector @ self._goal) * self._along
        return (whole / self._norms).ravel()[self._places]

    def _measure_norms(self) -> Numbers:
        """Return the norm of each product [B, F, F]; infinite where it cannot be used."""
        with np.errstate(under="ignore"):
            squares = self._pair(self._factors**2, self._multipliers**2)
            rest = squares - self._along**2
        is_usable = (squares > np.finfo(float).tiny) & (rest > SAME_PRODUCT * squares)
        return np.sqrt(np.where(is_usable, rest, np.inf))

    @staticmethod
    def _pair(columns: Numbers, weights: Numbers) -> Numbers:
        """Return A' diag(w) A for each row w: [B, F, F]."""
        return np.stack([columns.T @ (weight[:, np.newaxis] * columns) for weight in weights])

    def _find_distinct(
        self, rng: np.random.Generator, costs: Sequence[int] | None, is_allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.intp]:
        """Return the places of products that are usable, allowed and the cheapest of those with the same values."""
        n_factors = self._norms.shape[1]
        usable = np.isfinite(self._norms) & np.triu(np.ones((n_factors, n_factors), dtype=bool))
        if is_allowed is not None:
            usable &= is_allowed
        price = np.zeros(n_factors) if costs is None else np.asarray(costs, dtype=float)
        total = np.broadcast_to(price[:, np.newaxis] + price, self._norms.shape).ravel()
        places = np.flatnonzero(usable)
        order = places[np.argsort(total[places], kind="stable")]
        one, two = (self._project(vector)[order] for vector in rng.normal(size=(2, self._goal.size)))
        signatures = np.round(
            np.column_stack([one, two]) * np.where(one < 0, -1.0, 1.0)[:, np.newaxis], SIGNATURE_DIGITS
        )
        return np.asarray(np.sort(order[np.unique(signatures, axis=0, return_index=True)[1]]))


def exchange_products(
    table: ProductTable,
    n_terms: int,
    rng: np.random.Generator,
    *,
    n_starts: int = N_EXCHANGE_STARTS,
    n_kept: int = 5,
    must_stop: Callable[[], bool] = lambda: False,
) -> Iterator[list[ProductSum]]:
    """Yield the best sums of 1, 2, ... `n_terms` products that were met, several of each size, the best first.

    Then each size is tried again, starting from the best sum of the next size without one of its products, and its sums are
    yielded again if there is a better one. Once a sum leaves nothing but rounding, no longer ones are searched.

    Args:
        table: the products.
        n_terms: products in the largest sums.
        rng: draws the starts.
        n_starts: starts for each size; the first is the best sum of the size before, with one more product.
        n_kept: sums of each size.
        must_stop: asked before each start; the size at which it becomes true is the last.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> x, y = rng.normal(size=(2, 50))
        >>> table = ProductTable(np.column_stack([np.ones(50), x, y]), 2 * x * y + y, rng)
        >>> best = [sums[0] for sums in exchange_products(table, 2, rng)]
        >>> best[1].products
        (Product(first=0, second=2, is_below=False), Product(first=1, second=2, is_below=False))
    """
    searches: list[_Exchange] = []
    for size in range(1, min(n_terms, len(table)) + 1):
        search = _Exchange(table, size, rng)
        search.run_from(searches[-1].best(1)[0].numbers if searches else ())
        for _ in range(n_starts - 1):
            if not must_stop():
                search.run_from(())
        if not search.best(1):
            break
        searches.append(search)
        yield [each.sum_of(table) for each in search.best(n_kept)]
        if search.best(1)[0].left < NOTHING_LEFT or must_stop():
            break
    for longer, search in pairwise(reversed(searches)):
        if must_stop():
            return
        before = search.best(1)[0].numbers
        search.run_from(longer.best(1)[0].numbers)
        if search.best(1)[0].numbers != before:
            yield [each.sum_of(table) for each in search.best(n_kept)]


class _Met(NamedTuple):
    """A set of products that was met, and what it leaves of the target."""

    left: float
    numbers: tuple[int, ...]

    def sum_of(self, table: ProductTable) -> ProductSum:
        """Return the set as products."""
        return ProductSum(tuple(map(table.product, self.numbers)), max(self.left, 0.0))


class _Exchange:
    """Sets of one size, improved by exchanging one product at a time."""

    def __init__(self, table: ProductTable, size: int, rng: np.random.Generator) -> None:
        self._table, self._size, self._rng = table, size, rng
        self._met: dict[tuple[int, ...], float] = {}  # what each set leaves

    def run_from(self, start: Sequence[int]) -> None:
        """Bring a start to the size, then exchange until nothing improves; without a start, draw one."""
        chosen = list(start)
        while len(chosen) > self._size:
            shorter = [chosen[:place] + chosen[place + 1 :] for place in range(len(chosen))]
            chosen = min(shorter, key=lambda numbers: self._gains(numbers)[1])
        while len(chosen) < self._size:
            best = _find_largest(self._gains(chosen)[0], 1 if start else N_DRAWN)
            if not best.size:
                return
            chosen.append(int(self._rng.choice(best)))
        self._exchange(chosen)

    def best(self, n_kept: int) -> list[_Met]:
        """Return the best sets that were met, the best first."""
        return sorted(_Met(left, numbers) for numbers, left in self._met.items())[:n_kept]

    def _exchange(self, chosen: list[int]) -> None:
        least, n_idle, place = np.inf, 0, 0
        while n_idle < self._size:
            others = chosen[:place] + chosen[place + 1 :]
            gains, left = self._gains(others)
            number = int(np.argmax(gains))
            if left - gains[number] < least - LEAST_GAIN:
                chosen, least, n_idle = [*others[:place], number, *others[place:]], left - gains[number], 0
            n_idle += 1
            self._keep(others, gains, left)
            place = (place + 1) % self._size

    def _keep(self, others: Sequence[int], gains: Numbers, left: float) -> None:
        for number in _find_largest(gains, 1 + N_RUNNERS_UP):
            self._met[tuple(sorted([*others, int(number)]))] = float(left - gains[number])

    def _gains(self, chosen: Sequence[int]) -> tuple[Numbers, float]:
        """Return what each product explains of what the chosen ones leave, and how much that is; both as shares of the target."""
        goal = self._table.correlations
        if not chosen:
            return goal**2, 1.0
        rows = np.stack([self._table.inner_products(number) for number in chosen])
        lower = np.linalg.cholesky(rows[:, list(chosen)] + GRAM_RIDGE * np.eye(len(chosen)))
        inverse = np.linalg.inv(lower)  # then one matrix product, twice as fast as solving for all products
        along = inverse @ rows  # components of each product along orthonormal directions of the chosen ones
        explained = inverse @ goal[list(chosen)]
        own = 1 - np.einsum("kp,kp->p", along, along)
        left = goal - explained @ along
        gains = np.where(own > SAME_PRODUCT, left**2 / np.maximum(own, SAME_PRODUCT), -1.0)
        return gains, float(1 - explained @ explained)


def _find_largest(values: Numbers, n_largest: int) -> NDArray[np.intp]:
    """Return the places of the largest values that are above 0, the largest first."""
    places = np.argpartition(-values, min(n_largest, values.size - 1))[:n_largest]
    places = places[np.argsort(-values[places], kind="stable")]
    return np.asarray(places[values[places] > 0])


def _check(factors: Numbers, target: Numbers, weights: Numbers | None) -> None:
    if factors.ndim != 2 or factors.size == 0:
        raise DataError(f"Products need at least one factor and one row [N, F]; got an array of shape {factors.shape}.")
    for name, values in (("target", target), ("weights", weights)):
        if values is not None and values.shape != (len(factors),):
            raise DataError(
                f"The {name} must have one number for each of the {len(factors)} rows of the factors; got shape {values.shape}."
            )
    if not np.all(np.isfinite(target)):
        raise DataError("The target has values that are not finite. Leave these rows out.")


def _spread(n_rows: int) -> NDArray[np.intp]:
    """Return the places of rows spread evenly."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, MAX_EXCHANGE_ROWS)).round().astype(np.intp))


def _to_unit_size(columns: Numbers) -> Numbers:
    """Return columns with largest value 1; columns that are not finite or 0 become 0, so that their products have no norm."""
    size = np.max(np.abs(columns), axis=0, initial=0.0)
    is_usable = np.isfinite(size) & (size > 0)
    return np.where(is_usable, columns, 0.0) / np.where(is_usable, size, 1.0)
