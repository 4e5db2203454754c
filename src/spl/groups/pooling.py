"""Pooled targets: the offset or the scale of each group is taken out, so that small groups can be searched together.

If y = a * f(x) + b with an own a or b, a smooth model of f with these numbers by alternating least squares tells a and b before f is
known. Then (y - b) / a is a target for all rows at once.
"""

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.groups.rows import GroupedRows

Array = NDArray[np.float64]

MAX_TERMS = 40  # of the smooth model
ROWS_PER_TERM = 4
MAX_POOLED_DEGREE = 8
N_ROUNDS = 12
RIDGE = 1e-3  # pulls the numbers of tiny groups to those of all, as if they had this share of a row more
LEAST_SCALE = 0.1  # of the median: groups with a smaller scale are left out

OFFSET, SCALE, BOTH = "offset", "scale", "both"


def pool_target(rows: GroupedRows, place: int, kind: str) -> Dataset | None:
    """Return the rows with the offset, the scale, or both of each group taken out of the target; None if too few rows remain.

    Examples:
        >>> from spl.data.groupings import Grouping
        >>> x = np.tile(np.linspace(0.0, 1.0, 9), 2)
        >>> wood = Grouping.from_labels(9 * ["oak"] + 9 * ["ash"], "wood")
        >>> data = Dataset.from_arrays(x[:, np.newaxis], np.exp(x) + 5 * wood.codes, names=["x"])
        >>> pooled = pool_target(GroupedRows(data, (wood,)), 0, "offset").target
        >>> bool(np.allclose(pooled[:9], pooled[9:]))
        True
    """
    data, codes, n_groups = rows.data, rows.groupings[place].codes, rows.groupings[place].n_groups
    terms = _make_terms(data.columns, max(min(MAX_TERMS, data.n_rows // ROWS_PER_TERM), 2))
    unit = data.spread
    target, weights = data.target / unit, data.weights
    scale, offset = np.ones(n_groups), np.zeros(n_groups)
    if kind != SCALE:
        offset = _group_means(target, weights, codes, n_groups)
    else:
        scale = np.sqrt(np.maximum(_group_means(target**2, weights, codes, n_groups), 1e-12))
    for _ in range(N_ROUNDS):
        values = _fit_smooth(terms, target - offset[codes], scale[codes], weights)
        scale, offset = _fit_groups(values, target, weights, codes, n_groups, kind)
    size = np.abs(scale)
    kept = np.flatnonzero(size[codes] >= LEAST_SCALE * np.median(size))
    if kept.size < max(8, data.n_rows // 4):
        return None
    a, b = scale[codes[kept]], offset[codes[kept]]
    pooled = (target[kept] - b) / a * unit
    if not np.isfinite(pooled).all():
        return None
    return Dataset.from_arrays(data.columns[:, kept].T, pooled, names=data.names, weights=weights[kept] * a**2)


def _make_terms(columns: Array, most: int) -> Array:
    """Return products of Chebyshev polynomials of the columns [T, N], those of low degree first."""
    low, high = columns.min(axis=1, keepdims=True), columns.max(axis=1, keepdims=True)
    inside = 2 * (columns - low) / np.where(high > low, high - low, 1.0) - 1
    terms = [np.ones(columns.shape[1])]
    waves = [
        [np.cos(degree * np.arccos(np.clip(x, -1, 1))) for degree in range(1, MAX_POOLED_DEGREE + 1)] for x in inside
    ]
    for degree in range(1, MAX_POOLED_DEGREE + 1):
        terms += [wave[degree - 1] for wave in waves]
        for first in range(len(waves)):
            for second in range(first):
                terms += [waves[first][k - 1] * waves[second][degree - k - 1] for k in range(1, degree)]
        if len(terms) >= most:
            break
    return np.array(terms[:most])


def _group_means(values: Array, weights: Array, codes: NDArray[np.intp], n_groups: int) -> Array:
    total = np.bincount(codes, weights, n_groups)
    return np.asarray(np.bincount(codes, weights * values, n_groups) / np.where(total > 0, total, 1.0))


def _fit_smooth(terms: Array, target: Array, scale: Array, weights: Array) -> Array:
    root = np.sqrt(weights)
    found = np.linalg.lstsq((terms * scale * root).T, target * root, rcond=1e-9)[0]
    return np.asarray(found @ terms)


def _fit_groups(
    values: Array, target: Array, weights: Array, codes: NDArray[np.intp], n_groups: int, kind: str
) -> tuple[Array, Array]:
    """Return scale and offset of each group by least squares; the means of both are 1 and 0."""

    def add(what: Array) -> Array:
        return np.asarray(np.bincount(codes, weights * what, n_groups), np.float64)

    n, sum_f, sum_y = add(np.ones_like(values)), add(values), add(target)
    if kind == OFFSET:
        offset = (sum_y - sum_f) / np.where(n > 0, n, 1.0)
        return np.ones(n_groups), offset - offset[n > 0].mean()
    square, product = add(values**2), add(values * target)
    ridge = RIDGE * float(np.mean(values**2)) + 1e-12
    if kind == SCALE:
        scale = (product + ridge) / (square + ridge)
        return scale / np.mean(scale[n > 0]), np.zeros(n_groups)
    mean_f, mean_y = sum_f / np.maximum(n, 1e-12), sum_y / np.maximum(n, 1e-12)
    scale = (product - n * mean_f * mean_y + ridge) / (square - n * mean_f**2 + ridge)
    scale = scale / np.mean(scale[n > 0])
    offset = mean_y - scale * mean_f
    return scale, offset
