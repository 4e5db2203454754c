"""Weights of rows before there is a formula: from the targets alone, or from how far a row is from its neighbours."""

import numpy as np
from numpy.typing import NDArray

from spl.noise.models import POISSON, RELATIVE, STUDENT, NoiseModel

Array = NDArray[np.float64]

N_NEIGHBOURS = 9  # whose median says what the target of a row should be
OUTLYING = 3.0  # robust deviations from there at which a row counts a quarter
SMALLEST_SHARE = 0.01  # of the rows: smaller targets get no more weight than this quantile
MAX_NEAR_COLUMNS = 8  # with more columns, no row is near another
TO_DEVIATION = 1.4826  # from the median absolute error of normal noise to its standard deviation


def guess_precisions(model: NoiseModel, target: Array, residual: Array | None = None) -> Array:
    """Return a first guess of the precision of each row, up to a factor.

    Args:
        model: the noise model.
        target: of the rows [N].
        residual: how far the rows are from where they should be [N], by their neighbours or by a formula: for outliers.

    Examples:
        >>> guess_precisions(POISSON, np.array([0.0, 4.0]))
        array([1.  , 0.25])
    """
    if model is RELATIVE:
        sizes = np.abs(target)
        smallest = np.quantile(sizes[sizes > 0], SMALLEST_SHARE) if sizes.any() else 1.0
        return np.asarray(1.0 / np.maximum(sizes, smallest) ** 2)
    if model is POISSON:
        return np.asarray(1.0 / np.maximum(target, 1.0))
    if model is STUDENT and residual is not None:
        deviation = robust_deviation(residual)
        if deviation > 0:  # the farther away a row is, the less its whole error counts
            return np.asarray(1.0 / (1.0 + (residual / (OUTLYING * deviation)) ** 2) ** 2)
    return np.ones(target.size)


def robust_deviation(residual: Array) -> float:
    """Return the standard deviation of normal errors with the same median size: a few outliers do not change it.

    Examples:
        >>> round(robust_deviation(np.array([-1.0, 1.0, -1.0, 1.0, 1000.0])), 2)
        1.48
    """
    return TO_DEVIATION * float(np.median(np.abs(residual)))


def distance_from_neighbours(columns: Array, target: Array, at_columns: Array, at_target: Array) -> Array | None:
    """Return how far targets are from the median of their neighbours' [M]; None if no row is near another.

    Rows are near each other by the ranks of their columns, so that units do not matter.

    Args:
        columns: of all rows [D, N].
        target: of all rows [N].
        at_columns: of the rows to look at [D, M], some of all rows.
        at_target: of the rows to look at [M].
    """
    from scipy.spatial import cKDTree

    varying = [k for k in range(len(columns)) if np.ptp(columns[k]) > 0]
    if not 1 <= len(varying) <= MAX_NEAR_COLUMNS or target.size <= 2 * N_NEIGHBOURS:
        return None
    ranked = [np.sort(columns[k]) for k in varying]

    def ranks(table: Array) -> Array:
        places = [np.searchsorted(row, table[k]) / row.size for row, k in zip(ranked, varying, strict=True)]
        return np.column_stack(places)

    _, near = cKDTree(ranks(columns)).query(ranks(at_columns), k=N_NEIGHBOURS + 1)
    expected = np.median(target[near[:, 1:]], axis=1)  # the first is the row itself
    return np.asarray(at_target - expected)
