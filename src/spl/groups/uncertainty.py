"""How well the data determines shared and own numbers, and the values of a formula, from the joint information on all of them.

The numbers of the grouping with more groups are eliminated group by group, as in the fit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from spl.data.dataset import Dataset
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Program
from spl.noise.models import NORMAL
from spl.regression.constant_slopes import slopes_by_constants
from spl.regression.fit import evaluate, find_scatter
from spl.regression.uncertainty import BAR_FACTORS

Array = NDArray[np.float64]

STEP = 1e-5  # of an own number, relative to its size, for derivatives
REPLACEABLE = 1e-10  # pivots below this share of the diagonal: others can replace the number


@dataclass(frozen=True, slots=True, eq=False)
class JointCurvature:
    """The joint likelihood of a formula near its numbers."""

    program: Program
    own: tuple[OwnNumber, ...]
    n_columns: int
    dense: Array  # [M, M], covariance of the shared numbers, and of the own numbers that are not eliminated, group by group
    inverse: Array  # [G, O, O], of the information on the eliminated numbers of each group
    coupling: Array  # [G, O, M], by how much they move with the dense ones
    eliminated: tuple[int, ...]  # places of own numbers
    others: tuple[int, ...]  # places of own numbers in the dense part
    is_known: NDArray[np.bool_]  # [G], whether the rows determine the eliminated numbers of a group
    degrees: float

    def dense_place(self, number: int, group: int) -> int:
        """Return where an own number of a group is in the dense part."""
        return self.program.n_constants + group * len(self.others) + self.others.index(number)

    @property
    def shared_errors(self) -> Array:
        """The standard errors of the shared numbers."""
        n = self.program.n_constants
        return np.sqrt(np.diag(self.dense)[:n])

    def own_errors(self, number: int) -> Array:
        """Return the standard errors of an own number, one per group; infinite where the data does not determine it."""
        n_groups = len(self.own[number].labels)
        if number in self.others:
            places = [self.dense_place(number, group) for group in range(n_groups)]
            return np.sqrt(np.diag(self.dense)[places])
        at = self.eliminated.index(number)
        moved = np.einsum("gm,mn,gn->g", self.coupling[:, at], self.dense, self.coupling[:, at])
        errors = np.sqrt(self.inverse[:, at, at] + moved)
        return np.where(self.is_known, errors, np.inf)

    def covariance(self) -> Array:
        """Return the covariance of all numbers: the shared ones, then each own number, group by group."""
        n, n_dense = self.program.n_constants, len(self.dense)
        by_dense = [np.eye(n_dense)[:n]]  # by how much each number moves with the dense ones
        for number, own in enumerate(self.own):
            if number in self.others:
                by_dense.append(np.eye(n_dense)[[self.dense_place(number, group) for group in range(len(own.labels))]])
            else:
                by_dense.append(self.coupling[:, self.eliminated.index(number)])
        moves = np.vstack(by_dense)
        covariance = moves @ self.dense @ moves.T
        starts = n + np.cumsum([0, *(len(own.labels) for own in self.own)])
        groups = np.arange(len(self.inverse))
        for o, one in enumerate(self.eliminated):
            for p, other in enumerate(self.eliminated):
                covariance[starts[one] + groups, starts[other] + groups] += self.inverse[:, o, p]
        return covariance

    def quantile(self, level: float) -> float:
        """Return how many standard errors an interval extends to both sides."""
        chance = 0.5 * (1 + level)
        return float(ndtri(chance) if math.isinf(self.degrees) else stdtrit(self.degrees, chance))

    def value_errors(self, columns: Array, codes: Sequence[NDArray[np.intp]]) -> Array:
        """Return the standard errors of values on columns [D + K, N], own numbers last; `codes` [K, N] are their groups."""
        slopes = slopes_by_numbers(self.program, columns, self.n_columns)
        n, n_rows = self.program.n_constants, columns.shape[1]
        variance = np.zeros(n_rows)
        for at in range(n_rows):
            direction = np.zeros(len(self.dense))
            direction[:n] = slopes[:n, at]
            for number in self.others:
                direction[self.dense_place(number, int(codes[number][at]))] = slopes[n + number, at]
            if self.eliminated:
                group = int(codes[self.eliminated[0]][at])
                own = slopes[[n + number for number in self.eliminated], at]
                direction += own @ self.coupling[group]
                variance[at] = own @ self.inverse[group] @ own if self.is_known[group] else np.inf
            used = np.flatnonzero(direction)
            variance[at] += direction[used] @ self.dense[np.ix_(used, used)] @ direction[used]
        return np.sqrt(np.maximum(variance, 0.0))


def slopes_by_numbers(program: Program, columns: Array, n_columns: int) -> Array:
    """Return the derivatives of the values by all shared and own numbers [C + K, N]."""
    slopes = [*slopes_by_constants(program, columns)]
    with np.errstate(all="ignore"):
        for column in range(n_columns, len(columns)):
            own = columns[column]
            step = STEP * np.where(own != 0, np.abs(own), float(np.nanmax(np.abs(own), initial=0.0)) or 1.0)
            moved = [columns.copy(), columns.copy()]
            moved[0][column], moved[1][column] = own + step, own - step
            above, below = (evaluate(program, each) for each in moved)
            slopes.append((above - below) / (moved[0][column] - moved[1][column]))
    return np.array(slopes).reshape(program.n_constants + len(columns) - n_columns, columns.shape[1])


def measure_joint_curvature(
    program: Program, own: tuple[OwnNumber, ...], data: Dataset, codes: Sequence[NDArray[np.intp]], n_columns: int
) -> JointCurvature:
    """Return how the likelihood depends on all numbers of a formula.

    Args:
        program: the formula, whose own numbers are variables after the columns.
        own: its own numbers.
        data: the rows, with the own numbers of each row as further columns.
        codes: of the groups of each own number [K, N].
        n_columns: of the table itself.
    """
    model = data.noise or NORMAL
    scatter = find_scatter(program, replace(data, noise=model))
    slopes = slopes_by_numbers(program, data.columns, n_columns)
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    weights = scatter.curvatures if scatter.curvatures is not None else scatter.precisions
    weights = np.broadcast_to(weights, (data.n_rows,))
    eliminated, others = _split(own)
    n = program.n_constants
    n_groups = len(own[eliminated[0]].labels) if eliminated else 1
    group = codes[eliminated[0]] if eliminated else np.zeros(data.n_rows, np.intp)
    places = [np.full(data.n_rows, place) for place in range(n)]
    places += [n + codes[number] * len(others) + k for k, number in enumerate(others)]
    n_dense = n + (len(own[others[0]].labels) * len(others) if others else 0)
    rows = [slopes[place] for place in range(n)] + [slopes[n + number] for number in others]
    dense, cross = np.zeros((n_dense, n_dense)), np.zeros((n_groups, len(eliminated), n_dense))
    for a, at in zip(rows, places, strict=True):
        for b, beside in zip(rows, places, strict=True):
            np.add.at(dense, (at, beside), weights * a * b)
        for o, number in enumerate(eliminated):
            np.add.at(cross[:, o], (group, at), weights * a * slopes[n + number])
    block = np.zeros((n_groups, len(eliminated), len(eliminated)))
    for o, one in enumerate(eliminated):
        for p, other in enumerate(eliminated):
            np.add.at(block[:, o, p], group, weights * slopes[n + one] * slopes[n + other])
    inverse, is_known = _invert_blocks(block)
    coupling = -np.einsum("gop,gpm->gom", inverse, cross)
    reduced = dense + np.einsum("gom,gon->mn", coupling, cross)
    covariance = _invert_dense(reduced, np.diag(dense))
    degrees = math.inf
    if not _is_size_known(data, scatter.numbers, model.n_numbers):
        n_known = int(is_known.sum()) * len(eliminated) + int((np.diag(covariance) > 0).sum())
        degrees = max(data.n_rows - n_known, 0.0)
        factor = data.n_rows / degrees if degrees else np.inf
        inverse, covariance = inverse * factor, covariance * factor
    return JointCurvature(program, own, n_columns, covariance, inverse, coupling, eliminated, others, is_known, degrees)


def _split(own: tuple[OwnNumber, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the places of the own numbers of the grouping with more groups, and of the others."""
    if not own:
        return (), ()
    outer = max(own, key=lambda number: len(number.labels)).grouping
    is_outer = [number.grouping == outer for number in own]
    places = range(len(own))
    return tuple(k for k in places if is_outer[k]), tuple(k for k in places if not is_outer[k])


def _invert_blocks(block: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return the inverse information of each group, and whether there is one."""
    size = np.sqrt(np.einsum("goo->go", block))
    unit = block / np.where(size > 0, size, 1.0)[:, :, np.newaxis] / np.where(size > 0, size, 1.0)[:, np.newaxis, :]
    values, vectors = np.linalg.eigh(unit)
    is_known = np.asarray((values > REPLACEABLE).all(axis=1), np.bool_)
    kept = np.where(values > REPLACEABLE, 1.0 / np.where(values > REPLACEABLE, values, 1.0), 0.0)
    inverse = np.einsum("gov,gv,gpv->gop", vectors, kept, vectors)
    scale = np.where(size > 0, 1.0 / np.where(size > 0, size, 1.0), 0.0)
    return inverse * scale[:, :, np.newaxis] * scale[:, np.newaxis, :], is_known


def _invert_dense(information: Array, diagonal: Array) -> Array:
    size = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(information / size[:, np.newaxis] / size)
    kept = np.where(values > REPLACEABLE, 1.0 / np.where(values > REPLACEABLE, values, 1.0), 0.0)
    return np.asarray((vectors * kept) @ vectors.T / size[:, np.newaxis] / size)


def _is_size_known(data: Dataset, numbers: object, n_numbers: int) -> bool:
    if n_numbers == 0:
        return True
    assert hasattr(numbers, "get")
    return data.sigma is not None and all(numbers.get(name, 1.0) <= 1.0 for name in BAR_FACTORS)
