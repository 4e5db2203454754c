"""Least squares with few terms: a triangular factor of all terms, from which terms are eliminated one after the other.

The factor is computed once on all rows; the elimination needs only its few numbers.
"""

import numpy as np

from spl.kernels.programs.normal_equations import dot
from spl.kernels.runtime.compiler import FAST_MATH, kernel
from spl.kernels.runtime.linking import linked_kernel

MAX_CLOSER_TERMS = 40  # terms to select from, including the constant
EXACT_SHARE = 1e-20  # a squared error that is a smaller share of the goal's square is rounding error
DEPENDENT_SHARE = 1e-11  # a column with a smaller share left after projecting out the others depends on them
MOST_TERMS = 9  # of a selected combination

LEAST_SQUARES = np.dtype(
    [
        (
            "r",
            np.float64,
            (MAX_CLOSER_TERMS + 1, MAX_CLOSER_TERMS + 1),
        ),  # triangular factor of the weighted terms, the goal in the last column
        ("small", np.float64, (MAX_CLOSER_TERMS + 1, MAX_CLOSER_TERMS + 1)),  # the same for the kept terms
        ("inverse", np.float64, (MAX_CLOSER_TERMS, MAX_CLOSER_TERMS)),
        ("coefficient", np.float64, MAX_CLOSER_TERMS),
        ("loss", np.float64, MAX_CLOSER_TERMS),  # increase of the squared error without each term
        ("kept", np.int64, MAX_CLOSER_TERMS),
        ("best_kept", np.int64, MAX_CLOSER_TERMS),
        ("best_coefficient", np.float64, MAX_CLOSER_TERMS),
        ("n_best", np.int64),
        ("factor", np.int64),  # entry of the bank in a product of powers
        ("n_factors", np.int64),  # whether there is one
    ],
    align=True,
)


@kernel(fastmath=FAST_MATH)
def _subtract(a, i, b, j, factor, n):
    for k in range(n):
        a[i + k] -= factor * b[j + k]


@linked_kernel
def orthogonalise(matrix, n_columns, n, work) -> None:
    """Fill `work.r` by modified Gram-Schmidt on the rows of the flat matrix [n_columns, n], which are overwritten.

    The last of them is the goal. A row that is a combination of those before it gets a pivot of 0.
    """
    for a in range(n_columns):
        size = dot(matrix, a * n, matrix, a * n, n)
        before = size
        for b in range(a):
            if work.r[b, b] == 0.0:
                work.r[b, a] = 0.0
                continue
            factor = dot(matrix, b * n, matrix, a * n, n)
            work.r[b, a] = factor
            _subtract(matrix, a * n, matrix, b * n, factor, n)
        size = dot(matrix, a * n, matrix, a * n, n)
        is_goal = a == n_columns - 1
        if not is_goal and not size > DEPENDENT_SHARE * DEPENDENT_SHARE * before:
            work.r[a, a] = 0.0
            continue
        work.r[a, a] = np.sqrt(size)
        if not is_goal:
            for k in range(n):
                matrix[a * n + k] /= work.r[a, a]


@kernel
def reduce_to_kept(work, n_terms, n_kept):
    """Put the triangular factor of the kept columns of `work.r` and of the goal into `work.small`, by Householder reflections."""
    small = work.small
    n_rows = n_terms + 1
    for c in range(n_kept + 1):
        source = work.kept[c] if c < n_kept else n_terms
        for i in range(n_rows):
            small[i, c] = work.r[i, source] if i <= source else 0.0
    for c in range(n_kept):
        square = 0.0
        for i in range(c, n_rows):
            square += small[i, c] * small[i, c]
        size = np.sqrt(square)
        if size == 0.0:
            continue
        alpha = -size if small[c, c] > 0.0 else size
        scale = square - small[c, c] * alpha
        small[c, c] -= alpha
        for d in range(c + 1, n_kept + 1):
            total = 0.0
            for i in range(c, n_rows):
                total += small[i, c] * small[i, d]
            total /= scale
            for i in range(c, n_rows):
                small[i, d] -= total * small[i, c]
        small[c, c] = alpha
        for i in range(c + 1, n_rows):
            small[i, c] = 0.0


@kernel
def solve_kept(work, n_terms, n_kept):
    """Return the squared error with the kept terms; fill their coefficients, and `inverse` with the inverse of the factor."""
    small = work.small
    left = 0.0
    for i in range(n_kept, n_terms + 1):
        left += small[i, n_kept] * small[i, n_kept]
    for c in range(n_kept - 1, -1, -1):
        total = small[c, n_kept]
        for d in range(c + 1, n_kept):
            total -= small[c, d] * work.coefficient[d]
        work.coefficient[c] = total / small[c, c] if small[c, c] != 0.0 else 0.0
    for c in range(n_kept):
        for i in range(c + 1):
            total = 1.0 if i == c else 0.0
            work.inverse[i, c] = total
        for i in range(c, -1, -1):
            total = work.inverse[i, c]
            for k in range(i + 1, c + 1):
                total -= small[i, k] * work.inverse[k, c]
            work.inverse[i, c] = total / small[i, i] if small[i, i] != 0.0 else 0.0
    return left


@kernel
def _leave_out(work, n_kept, unneeded):
    """Drop the term whose loss raises the squared error least, and others that raise it by less than `unneeded`.

    At most a third of them at a time, because they may replace each other. Return the number of kept terms.
    """
    for i in range(n_kept):
        spread = 0.0
        for c in range(i, n_kept):
            spread += work.inverse[i, c] * work.inverse[i, c]
        work.loss[i] = work.coefficient[i] * work.coefficient[i] / spread if spread > 0.0 else 0.0
    n_out = 0
    while n_out == 0 or n_out < n_kept // 3:
        chosen = -1
        lowest = np.inf if n_out == 0 else unneeded
        for i in range(n_kept):
            if work.kept[i] >= 0 and work.loss[i] < lowest:
                lowest = work.loss[i]
                chosen = i
        if chosen < 0 and n_out == 0:
            return 0  # all losses are NaN: nothing can be said about any term
        if chosen < 0:
            break
        work.kept[chosen] = -1
        n_out += 1
    n_left = 0
    for i in range(n_kept):
        if work.kept[i] >= 0:
            work.kept[n_left] = work.kept[i]
            n_left += 1
    return n_left


@linked_kernel
def choose_terms(work, n_terms, n_rows, square, charge) -> None:
    """Eliminate terms until none is left; keep in `best_kept` the set of at most MOST_TERMS with the lowest Bayesian criterion.

    A `charge` above 1 makes terms costlier than in that criterion.
    """
    n_kept = 0
    for c in range(n_terms):
        if work.r[c, c] != 0.0:
            work.kept[n_kept] = c
            n_kept += 1
    lowest = np.inf
    work.n_best = 0
    while n_kept > 0:
        reduce_to_kept(work, n_terms, n_kept)
        left = max(solve_kept(work, n_terms, n_kept), EXACT_SHARE * square)
        error = left / max(n_rows - n_kept, 1)
        criterion = n_rows * np.log(error) + 2.0 * charge * n_kept * np.log(n_rows)
        if n_kept <= MOST_TERMS and criterion < lowest:
            lowest = criterion
            work.n_best = n_kept
            for i in range(n_kept):
                work.best_kept[i] = work.kept[i]
                work.best_coefficient[i] = work.coefficient[i]
        n_kept = _leave_out(work, n_kept, error)
