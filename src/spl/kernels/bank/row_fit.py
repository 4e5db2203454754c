"""One row of values fitted to another by scale and offset, each row of the data with its weight."""

import numpy as np

from spl.kernels.bank.value_index import IDENTICAL, UP_TO_SCALE_AND_OFFSET
from spl.kernels.runtime.compiler import FAST_MATH, kernel

CANCELLED_SQUARE = (
    1e-14  # the remainder of a goal's square below this share of it is rounding error, and may be negative
)
FLAT = 1e-12  # values whose spread is a smaller share of their square are constant


@kernel(fastmath=FAST_MATH)
def weighted_sums(values, at, rows, weights, goal, n):
    """Return the weighted sums of v, v * v and v * goal on the first n rows."""
    v1 = 0.0
    v2 = 0.0
    vh = 0.0
    for j in range(n):
        wv = rows[weights + j] * values[at + j]
        v1 += wv
        v2 += wv * values[at + j]
        vh += wv * rows[goal + j]
    return v1, v2, vh


@kernel
def fit_sums(own, sums, mode):
    """Return the squared error of values at the best scale and offset, and these two, from their `weighted_sums` and `goal_sums`.

    The error is a difference of large numbers. It is at least `CANCELLED_SQUARE` of the goal's square, below which it is rounding
    error.
    """
    v1, v2, vh = own
    w, h1, h2 = sums
    if not (v2 > 0.0 and np.isfinite(v2)):
        return np.inf, 1.0, 0.0  # they left their domain
    if mode == IDENTICAL:
        return max(h2 - 2.0 * vh + v2, CANCELLED_SQUARE * h2), 1.0, 0.0
    shift = v1 / w if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    level = h1 / w if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    spread = v2 - w * shift * shift
    if not spread > FLAT * v2:
        return np.inf, 1.0, 0.0
    scale = (vh - w * shift * level) / spread
    error = max(h2 - w * level * level - scale * scale * spread, CANCELLED_SQUARE * h2)
    return error, scale, level - scale * shift


@kernel
def fit_row(values, at, rows, weights, goal, sums, mode, n):
    """Return the squared error of values on the first n rows, at the best scale and offset, and these; infinity if they are constant.

    `sums` are the `goal_sums`.
    """
    return fit_sums(weighted_sums(values, at, rows, weights, goal, n), sums, mode)


@kernel
def fit_offset(own, sums):
    """Return the squared error of values at the best offset, and the offset; see `fit_sums`."""
    v1, v2, vh = own
    w, h1, h2 = sums
    offset = (h1 - v1) / w
    return max(h2 - 2.0 * vh + v2 - w * offset * offset, CANCELLED_SQUARE * h2), offset


@kernel
def goal_sums(rows, weights, goal, n):
    """Return the sum of the weights, and the weighted sums of the goal and of its square."""
    w = 0.0
    h1 = 0.0
    h2 = 0.0
    for j in range(n):
        w += rows[weights + j]
        wh = rows[weights + j] * rows[goal + j]
        h1 += wh
        h2 += wh * rows[goal + j]
    return w, h1, h2
