"""Dimensionless groups: a table whose columns and target are pure numbers, by Buckingham's theorem.

Some columns, the repeating ones, are taken as units of measurement. Every other column, and the target, is divided by the product of
powers of these that has its dimension. A law that respects units, written in these groups, is the same law with each repeating column
replaced by 1. So it is never longer, it has fewer columns, and no formula of groups can break the units.

A repeating column with values of both signs measures by its absolute values, and its sign stays as a column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.errors import UnitError, list_names
from spl.units.dimension import Dimension, bases_of, exact_fraction
from spl.units.table_units import TableUnits

MOST_CHOICES = 5_000  # of repeating columns that are compared
MANY_ZEROS = 0.1  # a column with a larger share of zeros is repeating only if there is no other choice
MOST_COMPARED_ROWS = 256  # for the weights of the rows
HARMLESS_HALVINGS = 2  # of the effective number of rows
WHOLE = 1e-9  # how close an exponent must be to an integer to be one
ONES = "1"  # the only column if there is no group

Numbers = NDArray[np.float64]
Powers = tuple[Fraction, ...]  # of the repeating columns


@dataclass(frozen=True, slots=True)
class Group:
    """A column divided by powers of the repeating columns."""

    column: int
    powers: Powers


@dataclass(frozen=True, slots=True)
class Groups:
    """How a table becomes one of pure numbers.

    Args:
        units: of the columns and the target.
        repeating: the columns that serve as units.
        signs: the sign that all values of each of them have, 0 if both occur.
        target: the powers of them by which the target is divided.
        groups: the columns of the new table; none if they are all constant.
    """

    units: TableUnits
    repeating: tuple[int, ...]
    signs: tuple[int, ...]
    target: Powers
    groups: tuple[Group, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the new table: each has the name of the column that it was made of."""
        return tuple(self.units.names[group.column] for group in self.groups) or (ONES,)

    def measure(self, data: Dataset) -> Dataset:
        """Return the table of groups, without rows in which one has no value.

        Squares of errors count as they do in the table itself: a row's weight is multiplied by the square of what its target is
        divided by.
        """
        columns, target, weights = self._divide(data)
        if not columns.size:
            columns = np.ones((1, data.n_rows))
        usable = np.flatnonzero(np.isfinite(columns).all(axis=0) & np.isfinite(target) & np.isfinite(weights))
        total = float(np.sum(weights[usable]))
        if not total > 0.0:
            names = list_names([self.units.names[k] for k in self.repeating])
            raise UnitError(
                f"In every row, one of the columns {names} is 0, so that nothing can be measured by them. Leave out rows with zeros, "
                "or give another column."
            )
        weights = weights[usable] * (usable.size / total)
        return Dataset(self.names, np.ascontiguousarray(columns[:, usable]), target[usable], weights)

    def loss_factor(self, data: Dataset) -> float:
        """Return the error of the target itself for an error of 1 in the table of groups."""
        _, _, weights = self._divide(data)
        usable = np.isfinite(weights)
        return float(np.sqrt(np.mean(weights[usable]) / np.mean(data.weights)) * self._size(data))

    def _size(self, data: Dataset) -> float:
        measures = self._measures(data)
        largest = np.max(measures[np.isfinite(measures)], initial=0.0)
        return float(largest / self.units.target.factor) or 1.0

    def _measures(self, data: Dataset) -> Numbers:
        """Return what the target is divided by, in SI units."""
        return _power(self._scales(data), self.target)

    def _scales(self, data: Dataset) -> Numbers:
        factors = np.array([self.units.columns[column].factor for column in self.repeating])
        return np.asarray(np.abs(data.columns[list(self.repeating)]) * factors[:, np.newaxis])

    def _divide(self, data: Dataset) -> tuple[Numbers, Numbers, Numbers]:
        """Return the groups, the target and the weights of all rows."""
        with np.errstate(all="ignore"):
            scales = self._scales(data)
            columns = [
                data.columns[group.column] * self.units.columns[group.column].factor / _power(scales, group.powers)
                for group in self.groups
            ]
            by = _power(scales, self.target)
            target = data.target * self.units.target.factor / by
            relative = by / (self._size(data) * self.units.target.factor)
            weights = np.where(by > 0.0, data.weights * relative**2, np.nan)
        return np.array(columns).reshape(len(columns), data.n_rows), target, weights


def choose_groups(units: TableUnits, columns: Numbers) -> Groups:
    """Return the groups of a table; raise `UnitError` if no formula of the columns can have the unit of the target.

    Repeating columns are chosen such that few of them have zeros or both signs, that no few rows get nearly all of the weight, and
    that exponents are whole and small.

    Args:
        units: of the columns and the target.
        columns: the values [D, N].

    Examples:
        >>> from spl.units.table_units import read_table_units
        >>> units = read_table_units({"m": "kg", "v": "m/s", "c": "m/s"}, "J", names=["m", "v", "c"])
        >>> groups = choose_groups(units, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
        >>> groups.repeating, groups.target, groups.names
        ((0, 1), (Fraction(1, 1), Fraction(2, 1)), ('c',))
    """
    if not can_reach_target(units):
        raise UnitError(explain_impossible(units))
    dimensions = [*units.dimensions, units.target.dimension]
    matrix = _exponents_of(dimensions)
    rank = _rank(matrix)
    rows = _independent_rows(matrix[:, :-1], rank)
    repeating = _choose_repeating(matrix[rows], rank, columns)
    exponents = (
        np.linalg.solve(matrix[np.ix_(rows, repeating)], matrix[rows]) if rank else np.zeros((0, len(dimensions)))
    )
    powers = [tuple(_exact(value) for value in each) for each in exponents.T]
    signs = tuple(_common_sign(columns[k]) for k in repeating)
    others = [k for k in range(len(units.names)) if k not in repeating or signs[repeating.index(k)] == 0]
    groups = [Group(k, powers[k]) for k in others]
    made = Groups(units, tuple(repeating), signs, powers[-1], tuple(groups))
    values = made._divide(Dataset(units.names, columns, np.ones(columns.shape[1]), np.ones(columns.shape[1])))[0]
    varying = tuple(group for group, each in zip(groups, values, strict=True) if _varies(each))
    return Groups(units, tuple(repeating), signs, powers[-1], varying)


def can_reach_target(units: TableUnits) -> bool:
    """Return whether some product of powers of the columns has the unit of the target."""
    matrix = _exponents_of([*units.dimensions, units.target.dimension])
    return _rank(matrix) == _rank(matrix[:, :-1])


def _exponents_of(dimensions: Sequence[Dimension]) -> Numbers:
    """Return the exponents of the base dimensions that occur [B, D]."""
    bases = bases_of(dimensions)
    return np.array([[float(each.power_of(base)) for each in dimensions] for base in bases]).reshape(
        len(bases), len(dimensions)
    )


def _rank(matrix: Numbers) -> int:
    return int(np.linalg.matrix_rank(matrix)) if matrix.size else 0


def _choose_repeating(matrix: Numbers, rank: int, columns: Numbers) -> list[int]:
    """Return the best of all choices of repeating columns whose dimensions are independent."""
    if not rank:
        return []
    n_columns = matrix.shape[1] - 1
    zeros = np.array([np.mean(column == 0) for column in columns])
    flaws = np.array(
        [[zero > MANY_ZEROS, zero > 0, _common_sign(column) == 0] for zero, column in zip(zeros, columns, strict=True)],
        float,
    )
    first = sorted(range(n_columns), key=lambda k: (*flaws[k], k))  # if there are too many choices, these come first
    choices = np.sort(np.array([*islice(combinations(first, rank), MOST_CHOICES)]), axis=1)
    squares = matrix[:, choices].transpose(1, 0, 2)
    choices = choices[np.abs(np.linalg.det(squares)) > WHOLE]
    squares = matrix[:, choices].transpose(1, 0, 2)
    exponents = np.linalg.solve(squares, np.broadcast_to(matrix, (len(choices), *matrix.shape)))
    lost = _lost_rows(columns, choices, np.asarray(exponents[:, :, -1], float))
    broken = np.sum(np.abs(exponents - np.rint(exponents)) > WHOLE, axis=(1, 2))
    sizes = np.sum(np.abs(exponents), axis=(1, 2))
    merits = [
        (*flaws[choice].sum(axis=0), lost[k], broken[k], round(float(sizes[k]), 6), *choice)
        for k, choice in enumerate(choices)
    ]
    return [int(column) for column in choices[merits.index(min(merits))]]


def _lost_rows(columns: Numbers, choices: NDArray[np.intp], powers: Numbers) -> NDArray[np.int64]:
    """Return how often the effective number of rows halves, beyond a few times, if the target is divided by these powers.

    Squares of errors keep their weights, so rows in which the target is divided by little hardly count. Where their number counts, it
    is that of equally weighted rows which would be as good: the square of the sum of the weights by the sum of their squares.
    """
    rows = np.linspace(0, columns.shape[1] - 1, min(columns.shape[1], MOST_COMPARED_ROWS)).astype(int)
    with np.errstate(divide="ignore"):
        sizes = np.log(np.abs(columns[:, rows]))
    sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    weights = 2.0 * np.einsum("cr,crn->cn", powers, sizes[choices])
    weights = np.exp(weights - weights.max(axis=1, keepdims=True, initial=-np.inf))
    shares = weights.sum(axis=1) ** 2 / np.sum(weights**2, axis=1) / len(rows)
    return np.asarray(np.maximum(np.floor(-np.log2(shares)) - HARMLESS_HALVINGS, 0), np.int64)


def _independent_rows(matrix: Numbers, rank: int) -> list[int]:
    """Return as many rows as the rank that are independent."""
    rows: list[int] = []
    for row in range(len(matrix)):
        if len(rows) < rank and np.linalg.matrix_rank(matrix[[*rows, row]]) > len(rows):
            rows.append(row)
    return rows


def _power(scales: Numbers, powers: Sequence[Fraction]) -> Numbers:
    """Return the product of powers of the rows."""
    product = np.ones(scales.shape[1])
    for scale, power in zip(scales, powers, strict=True):
        if power:
            product = product * scale ** float(power)
    return product


def _common_sign(values: Numbers) -> int:
    """Return the sign that all values have, those equal to 0 apart; 0 if both occur."""
    return 1 if np.all(values >= 0) else -1 if np.all(values <= 0) else 0


def _varies(values: Numbers) -> bool:
    finite = values[np.isfinite(values)]
    return bool(finite.size and np.ptp(finite) > WHOLE * np.max(np.abs(finite)))


def _exact(value: float) -> Fraction:
    exact = exact_fraction(round(float(value), 12))
    return Fraction(value).limit_denominator(1000) if exact is None else exact


def explain_impossible(units: TableUnits) -> str:
    """Return why no formula can have the unit of the target."""
    listed = list_names([f"{name} ({unit})" for name, unit in zip(units.names, units.columns, strict=True)])
    bases = bases_of(units.dimensions)
    missing = [base for base in bases_of([units.target.dimension]) if base not in bases]
    reason = f"nothing has the dimension {list_names(missing)}" if missing else "no product of powers of them has it"
    return (
        f"No formula can have the unit of the target, {units.target}: of the columns {listed}, {reason}. Give the column or the named "
        'constant that is missing (`known`, --known), or let fitted numbers have units (`constants="any"`, --constants any).'
    )
