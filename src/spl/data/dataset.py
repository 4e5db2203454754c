"""The dataset: columns, target and weights, checked once and for all."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.errors import DataError, shorten
from spl.noise.models import MeasuredRows, NoiseModel

MAX_COLUMNS = 10_000
LARGEST_VALUE, SMALLEST_VALUE = 1e150, 1e-150  # of columns and target: sums of their squares stay finite
ROUNDING_SHARE = 1e-13  # errors below this share of the target's spread are rounding errors
_TARGET_BARS = "The error bars of the target"


class RowPlaces(NamedTuple):
    """Where rows were in what the user gave.

    Examples:
        >>> RowPlaces(np.array([2, 4]), "line").name(1)
        'line 4'
    """

    numbers: NDArray[np.int64]  # [N], of rows, counted from 0, or of lines of a file, as its reader counts them
    word: str = "row"

    def name(self, row: int) -> str:
        """Return the place of a row, for messages."""
        return f"{self.word} {self.numbers[row]}"

    def take(self, rows: NDArray[np.intp]) -> "RowPlaces":
        """Return the places of these rows."""
        return RowPlaces(self.numbers[rows], self.word)


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of finite numbers with a target.

    Examples:
        >>> data = Dataset.from_arrays([[1.0], [2.0]], [3.0, 5.0])
        >>> data.names, data.n_rows
        (('x0',), 2)
    """

    names: tuple[str, ...]
    columns: NDArray[np.float64]  # [D, N]
    target: NDArray[np.float64]  # [N]
    weights: NDArray[np.float64]  # [N], mean 1
    notes: tuple[str, ...] = ()  # for people: what was changed or left out
    sigma: NDArray[np.float64] | None = None  # [N], error bars of the target, if they are known
    sigma_columns: NDArray[np.float64] | None = None  # [D, N], error bars of the columns, if they are known
    mean_weight: float = 1.0  # of the weights as they were given
    places: RowPlaces | None = None  # where the rows were; None if they were merged
    noise: NoiseModel | None = None  # by which formulas are fitted and chosen; None is least squares

    def __repr__(self) -> str:
        return f"<Dataset of {self.n_rows} rows: {shorten(', '.join(self.names), 60)}>"

    @classmethod
    def from_arrays(
        cls,
        table: ArrayLike,
        target: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        sigma: ArrayLike | None = None,
        sigma_columns: ArrayLike | None = None,
        places: RowPlaces | None = None,
    ) -> "Dataset":
        """Check and copy a table of N rows and D columns.

        `sigma` holds the error bars of the target, `sigma_columns` those of the columns: a row of D numbers for all rows, or a table.
        With error bars, rows count by their inverse squares, so that `weights` would contradict them. `places` are for messages; by
        default, rows are counted from 0.
        """
        rows = _as_numbers(table, "The table")
        if rows.ndim != 2:
            raise DataError(f"The table must have rows and columns; it has {rows.ndim} dimension(s).")
        goal = _as_numbers(target, "The target")
        if goal.ndim != 1:
            raise DataError(f"The target must be one column; its shape is {goal.shape}.")
        n_rows, n_columns = rows.shape
        if goal.size != n_rows:
            raise DataError(f"The table has {n_rows} rows, but the target has {goal.size}. They must match.")
        if n_rows == 0:
            raise DataError("The table has 0 rows. Give at least one.")
        if not 1 <= n_columns <= MAX_COLUMNS:
            raise DataError(f"The table has {n_columns} columns. It must have 1 to {MAX_COLUMNS}.")
        _check_finite(rows, "The table")
        _check_finite(goal, "The target")
        known = _check_names(names, n_columns)
        for name, column in zip(known, rows.T, strict=True):
            check_size(column, f"Column '{name}'")
        check_size(goal, "The target")
        places = RowPlaces(np.arange(n_rows)) if places is None else places
        if sigma is not None and weights is not None:
            raise DataError("Give error bars or weights, not both: error bars already say how much each row counts.")
        bars = None if sigma is None else _check_sigma(sigma, n_rows, places)
        with np.errstate(over="ignore"):
            given = weights if bars is None else (bars.min() / bars) ** 2
        return cls(
            names=known,
            columns=np.ascontiguousarray(rows.T).copy(),
            target=goal.copy(),
            weights=_check_weights(given, n_rows),
            sigma=bars,
            sigma_columns=None if sigma_columns is None else _check_sigma_columns(sigma_columns, rows, known, places),
            mean_weight=1.0 if weights is None else float(np.mean(np.asarray(weights, np.float64))),
            places=places,
        )

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return self.target.size

    @property
    def spread(self) -> float:
        """Weighted standard deviation of the target; its size if it is constant; 1 if it is 0."""
        size = self._size
        unit = 2.0 ** (math.frexp(size)[1] - 1)  # in this unit, squares of the target stay finite whatever its size
        target = self.target / unit
        mean = float(np.average(target, weights=self.weights))
        deviation = unit * float(np.sqrt(np.sum(self.weights * (target - mean) ** 2) / self.n_rows))
        return deviation if deviation > 1e-14 * size else size

    @property
    def square(self) -> float:
        """Weighted sum of squared deviations of the target from its mean."""
        mean = float(np.average(self.target, weights=self.weights))
        with np.errstate(over="ignore"):
            return float(np.sum(self.weights * (self.target - mean) ** 2))

    @property
    def floor(self) -> float:
        """Largest error that rounding explains: of the formula, or of a target far from 0."""
        return max(ROUNDING_SHARE * self.spread, np.finfo(float).eps * self._size)

    @property
    def _size(self) -> float:
        """Largest absolute value of the target; 1 if all are 0."""
        return float(np.max(np.abs(self.target))) or 1.0

    def take(self, rows: NDArray[np.intp]) -> "Dataset":
        """Return the dataset of these rows, in this order."""
        weights = self.weights[rows]
        return replace(
            self,
            columns=np.ascontiguousarray(self.columns[:, rows]),
            target=self.target[rows],
            weights=weights / weights.mean(),
            notes=(),
            sigma=None if self.sigma is None else self.sigma[rows],
            sigma_columns=None if self.sigma_columns is None else np.ascontiguousarray(self.sigma_columns[:, rows]),
            mean_weight=self.mean_weight * float(weights.mean()),
            places=None if self.places is None else self.places.take(rows),
        )

    def sort(self) -> "Dataset":
        """Return the rows that count, in an order that depends only on their values."""
        usable = np.flatnonzero(self.weights > 0)
        keys = [self.weights, *self.columns[::-1], self.target]
        return self.take(usable[np.lexsort([key[usable] for key in keys])])

    def measured_rows(self, input_variance: NDArray[np.float64] | None = None) -> MeasuredRows:
        """Return what a noise model needs to know of the rows; all must count."""
        return MeasuredRows(self.target, self.weights, self.floor, self.mean_weight, self.sigma, input_variance)

    def merge(self) -> "Dataset":
        """Return the data with equal rows merged and rows of weight 0 left out, in an order that depends only on the values.

        Neither the order of the rows nor repeating a row instead of doubling its weight changes a search.
        """
        table = np.vstack([self.target, self.columns])[:, self.weights > 0]
        rows, inverse = np.unique(table, axis=1, return_inverse=True)
        weights = np.bincount(inverse.ravel(), weights=self.weights[self.weights > 0])
        return Dataset(self.names, np.ascontiguousarray(rows[1:]), rows[0].copy(), weights / weights.mean())

    def sample(self, n_rows: int, random: np.random.Generator) -> "Dataset":
        """Return at most `n_rows` rows in random order, including the extremes of every column where there is room.

        Rows of weight 0 are left out. The extremes keep formulas within their domain on the rows that were not drawn.
        """
        usable = np.flatnonzero(self.weights > 0)
        if usable.size <= n_rows:
            return self.take(random.permutation(usable))
        values = np.vstack([self.target, self.columns])[:, usable]
        extremes = np.unique(np.concatenate([values.argmin(axis=1), values.argmax(axis=1)]))
        kept = random.permutation(extremes)[: n_rows // 4]
        others = np.setdiff1d(np.arange(usable.size), kept)
        drawn = random.choice(others, n_rows - kept.size, replace=False)
        return self.take(usable[random.permutation(np.concatenate([kept, drawn]))])


def _as_numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise DataError(f"{what} must be real, not complex numbers.")
        with np.errstate(over="ignore"):  # long doubles may overflow to infinity
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{what} must be numbers: {error}. Leave out or encode what is not a number.") from None


def _check_finite(values: NDArray[np.float64], what: str, places: RowPlaces | None = None) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        place = ", ".join(f"{axis} {index}" for axis, index in zip(("row", "column"), bad[0], strict=False))
        if places is not None:
            place = places.name(bad[0][0])
        raise DataError(
            f"{what} must be finite; {len(bad):,} of {values.size:,} values are NaN or infinite, the first in {place}. Remove or fill "
            "them first."
        )


def check_size(values: NDArray[np.float64], what: str) -> None:
    """Raise a clear error if numbers are so large or small that their squares overflow or vanish; NaN is ignored.

    Examples:
        >>> check_size(np.array([1.0, 1.7e308]), "The target")
        Traceback (most recent call last):
        ...
        spl.errors.DataError: The target reaches 1.7e+308, beyond 1e+150. Give it in a larger unit: divide it by 1e+308.
    """
    size = float(np.nanmax(np.abs(values), initial=0.0))
    if size > LARGEST_VALUE:
        raise DataError(
            f"{what} reaches {size:.3g}, beyond {LARGEST_VALUE:g}. Give it in a larger unit: divide it by {_decade(size)}."
        )
    if 0 < size < SMALLEST_VALUE:
        raise DataError(
            f"{what} never exceeds {size:.3g}, below {SMALLEST_VALUE:g}. Give it in a smaller unit: divide it by {_decade(size)}."
        )


def _decade(size: float) -> str:
    return f"1e{max(math.floor(math.log10(size)), -308):+03d}"  # smaller powers of ten are subnormal


def _check_names(names: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"x{i}" for i in range(n_columns))
    found = tuple(str(name) for name in names)
    if len(found) != n_columns:
        raise DataError(f"There are {len(found)} column names for {n_columns} columns.")
    check_unique(found)
    return found


def check_unique(names: Iterable[object]) -> None:
    """Raise a clear error if a column name appears twice."""
    seen = set()
    for name in names:
        if name in seen:
            raise DataError(f"Column name {name!r} appears twice. Rename one of them.")
        seen.add(name)


def _check_weights(weights: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    if weights is None:
        return np.ones(n_rows)
    given = _as_numbers(weights, "The weights")
    if given.shape != (n_rows,):
        raise DataError(f"There must be one weight per row ({n_rows}); the weights have shape {given.shape}.")
    _check_finite(given, "The weights")
    if np.any(given < 0):
        row = int(np.argmax(given < 0))
        raise DataError(f"The weights must be 0 or more; that of row {row} is {given[row]:g}.")
    if not np.any(given > 0):
        raise DataError("All weights are zero. Give at least one row a weight of more than 0.")
    shares = given / 2.0 ** (math.frexp(given.max())[1] - 1)  # their sum stays finite however large the weights are
    scaled: NDArray[np.float64] = shares / shares.mean()
    return scaled


def _check_sigma(sigma: ArrayLike, n_rows: int, places: RowPlaces) -> NDArray[np.float64]:
    """Return the error bars of the target."""
    given = _as_numbers(sigma, _TARGET_BARS)
    if given.ndim == 0:
        given = np.full(n_rows, float(given))
    if given.shape != (n_rows,):
        raise DataError(f"There must be one error bar per row ({n_rows}); `sigma` has shape {given.shape}.")
    _check_finite(given, _TARGET_BARS, places)
    _check_bars(given, _TARGET_BARS, places, strictly=True)
    check_size(given, _TARGET_BARS)
    return given.copy()


def _check_sigma_columns(
    sigma: ArrayLike, rows: NDArray[np.float64], names: tuple[str, ...], places: RowPlaces
) -> NDArray[np.float64] | None:
    """Return the error bars of the columns [D, N]; None if all are 0."""
    given = _as_numbers(sigma, "The error bars of the columns")
    if given.ndim < 2 and given.size in (1, rows.shape[1]):
        given = np.broadcast_to(given, rows.shape)
    if given.shape != rows.shape:
        raise DataError(
            f"`sigma_X` must be one number per column ({rows.shape[1]}) or a table like X {rows.shape}; its shape is {given.shape}."
        )
    _check_finite(given, "The error bars of the columns", places)
    for name, bars in zip(names, given.T, strict=True):
        _check_bars(bars, f"The error bars of column '{name}'", places, strictly=False)
    return np.ascontiguousarray(given.T).copy() if given.any() else None


def _check_bars(bars: NDArray[np.float64], what: str, places: RowPlaces, *, strictly: bool) -> None:
    """Raise a clear error unless error bars are positive; 0 is allowed unless `strictly`."""
    bad = np.flatnonzero(bars <= 0 if strictly else bars < 0)
    if bad.size:
        least = "more than 0" if strictly else "0 or more"
        raise DataError(
            f"{what} must be {least}; {places.name(bad[0])} has {bars[bad[0]]:g}. Error bars are standard deviations."
        )
