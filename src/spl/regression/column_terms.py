"""Simple terms of single columns, for screening: each column itself, and waves of its ranks.

Waves of ranks are bounded, and any smooth function of a column is a sum of a few of them, whatever the column's unit or distribution:
a logarithm, an inverse, a power. So a handful of terms serves for all the functions that a formula may apply to a column.
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Terms = NDArray[np.float32]  # [D, K, N]: 4 digits are enough to compare columns, and half the time

N_WAVES = 8  # enough for a sine of three periods
FEWEST_WAVES = 3
MAX_TERMS = 16_000  # of all columns together, unless `FEWEST_WAVES` need more
MOST_SPREADS = 4.0  # spreads from the middle: values beyond count as this far
LEAST_SPREAD = 1e-6  # of a term between -1 and 1 that varies


def make_terms(columns: Numbers, weights: Numbers) -> Terms:
    """Return the terms of each column: the column itself, then waves, slow ones first; mean 0 and mean square 1.

    A term that does not vary is 0 everywhere. There are fewer waves if there are many columns.

    Args:
        columns: [D, N].
        weights: of the rows [N], all above 0.

    Examples:
        >>> terms = make_terms(np.array([[1.0, 2.0, 5.0], [7.0, 7.0, 7.0]]), np.ones(3))
        >>> terms.shape, terms[0, 1].round().tolist()
        ((2, 9, 3), [1.0, 0.0, -1.0])
        >>> bool(terms[1].any())
        False
    """
    n_waves = int(np.clip(MAX_TERMS // max(len(columns), 1) - 1, FEWEST_WAVES, N_WAVES))
    terms = np.empty((len(columns), n_waves + 1, columns.shape[1]), np.float32)
    waves = np.pi * np.arange(1, n_waves + 1)[:, np.newaxis]
    for own, column in zip(terms, columns, strict=True):
        own[0] = standardize(clip_far_values(column), weights)
        own[1:] = standardize(np.cos(waves * rank_values(column)), weights)
    return terms


def standardize(values: Numbers, weights: Numbers) -> Numbers:
    """Return values [..., N] with weighted mean 0 and mean square 1; 0 if they do not vary.

    Examples:
        >>> standardize(np.array([[1.0, 3.0], [3.0, 3.0]]), np.ones(2)).round(6).tolist()
        [[-1.0, 1.0], [0.0, 0.0]]
    """
    shares = weights / weights.sum()
    size = np.maximum(np.max(np.abs(values), axis=-1, keepdims=True), np.finfo(float).tiny)
    values = values / size
    centred = values - np.sum(shares * values, axis=-1, keepdims=True)
    spread = np.sqrt(np.sum(shares * centred**2, axis=-1, keepdims=True))
    return np.asarray(np.where(spread > LEAST_SPREAD, centred / np.maximum(spread, LEAST_SPREAD), 0.0))


def rank_values(values: Numbers) -> Numbers:
    """Return the rank of each value, between 0 and 1; equal values have the same.

    Examples:
        >>> rank_values(np.array([5.0, 1.0, 5.0, 9.0])).tolist()
        [0.5, 0.125, 0.5, 0.875]
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(((np.cumsum(count) - count / 2) / values.size)[place])


def score_normally(values: Numbers) -> Numbers:
    """Return values of the same order whose distribution is normal.

    Examples:
        >>> score_normally(np.array([1e9, 2.0, 3.0])).round(2).tolist()
        [0.97, -0.97, 0.0]
    """
    ranks, place = np.unique(rank_values(values), return_inverse=True)
    return np.array([NormalDist().inv_cdf(rank) for rank in ranks])[place]


def clip_far_values(values: Numbers) -> Numbers:
    """Return the distances of values from their middle in units of their spread, with far ones moved in.

    Examples:
        >>> clip_far_values(np.array([0.0, 1.0, 2.0, 3.0, 4.0, 1e9])).round(2).tolist()
        [-1.35, -0.81, -0.27, 0.27, 0.81, 4.0]
    """
    lower, middle, upper = np.quantile(values, [0.25, 0.5, 0.75])
    spread = (upper - lower) / 1.349 or np.max(np.abs(values - middle)) or 1.0
    with np.errstate(over="ignore"):
        return np.asarray(np.clip((values - middle) / spread, -MOST_SPREADS, MOST_SPREADS))
