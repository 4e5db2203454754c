"""Least squares for the constants of a program: residuals, normal equations and the damped step."""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.constant_gradients import differentiate_by_constants
from spl.kernels.programs.evaluate import BLOCK, evaluate
from spl.kernels.programs.tokens import MAX_CONSTANTS, MAX_PROGRAM_LENGTH
from spl.kernels.runtime.compiler import FAST_MATH, kernel
from spl.kernels.runtime.linking import linked_kernel

DEPENDENT_PIVOT = 1e-13  # a smaller pivot of the scaled system belongs to a constant that others can replace


class FitTable(NamedTuple):
    """The samples a program is fitted to."""

    columns: np.ndarray  # float64[D, N]
    target: np.ndarray  # float64[N]
    weights: np.ndarray  # float64[N], mean 1
    square: float  # sum of weights * (target - mean)**2, the yardstick for rounding error


# Scratch of one thread
FIT_WORK = np.dtype(
    [
        ("tape", np.float64, MAX_PROGRAM_LENGTH * BLOCK),
        ("adjoint", np.float64, (MAX_PROGRAM_LENGTH + 2) * BLOCK),
        ("stack", np.float64, MAX_PROGRAM_LENGTH * BLOCK),
        ("jacobian", np.float64, MAX_CONSTANTS * BLOCK),
        ("residual", np.float64, BLOCK),
        ("weighted", np.float64, BLOCK),
        ("places", np.int64, 3 * MAX_PROGRAM_LENGTH),
        ("gram", np.float64, (MAX_CONSTANTS, MAX_CONSTANTS)),
        ("slope", np.float64, MAX_CONSTANTS),
        ("kept_gram", np.float64, (MAX_CONSTANTS, MAX_CONSTANTS)),
        ("kept_slope", np.float64, MAX_CONSTANTS),
        ("factor", np.float64, (MAX_CONSTANTS, MAX_CONSTANTS)),
        ("step", np.float64, MAX_CONSTANTS),
        ("scale", np.float64, MAX_CONSTANTS),  # natural size of each constant
        ("start", np.float64, MAX_CONSTANTS),
        ("trial", np.float64, MAX_CONSTANTS),
        ("best", np.float64, MAX_CONSTANTS),
        ("role", np.int64, MAX_CONSTANTS),  # LINEAR, FACTOR, INSIDE or FROZEN
        ("order", np.int64, MAX_CONSTANTS),  # the constants to fit, linear ones first
        ("n_constants", np.int64),
        ("n_fitted", np.int64),
        ("n_linear", np.int64),
        ("n_outside", np.int64),  # constants to fit that are not inside a function
    ],
    align=True,
)


@kernel(fastmath=FAST_MATH)
def dot(a, a_at, b, b_at, n):
    """Return the dot product of a[a_at : a_at + n] and b[b_at : b_at + n]."""
    total = 0.0
    for j in range(n):
        total += a[a_at + j] * b[b_at + j]
    return total


@kernel
def residuals(table, first, n, values, work):
    """Fill the residuals of one block, weighted and unweighted; return the weighted sum of squares, not finite outside the domain."""
    for j in range(n):
        r = table.target[first + j] - values[j]
        work.residual[j] = r
        work.weighted[j] = r * table.weights[first + j]
    return dot(work.residual, 0, work.weighted, 0, n)


@linked_kernel
def squared_error(tokens, length, constants, alphabet, table, n_rows, work) -> float:
    """Return the weighted sum of squared errors on the first rows; infinity if the program leaves its domain."""
    total = 0.0
    for first in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - first)
        evaluate(tokens, length, constants, alphabet, table.columns, first, n, work.stack)
        total += residuals(table, first, n, work.stack, work)
        if not np.isfinite(total):
            return np.inf
    return total


@linked_kernel
def normal_equations(tokens, length, constants, alphabet, table, n_rows, work) -> float:
    """Fill `gram` and `slope` at these constants; return the squared error, infinity if the program leaves its domain."""
    for a in range(work.n_constants):
        work.slope[a] = 0.0
        for b in range(work.n_constants):
            work.gram[a, b] = 0.0
    total = 0.0
    for first in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - first)
        differentiate_by_constants(
            tokens,
            length,
            constants,
            alphabet,
            table.columns,
            first,
            n,
            work.tape,
            work.adjoint,
            work.jacobian,
            work.places,
        )
        total += residuals(table, first, n, work.tape, work)
        if not np.isfinite(total):
            return np.inf
        for i in range(work.n_fitted):
            a = work.order[i]
            work.slope[a] += dot(work.jacobian, a * BLOCK, work.weighted, 0, n)
        for i in range(work.n_fitted):
            a = work.order[i]
            for j in range(n):
                work.weighted[j] = work.jacobian[a * BLOCK + j] * table.weights[first + j]
            for k in range(i + 1):
                b = work.order[k]
                work.gram[a, b] += dot(work.jacobian, b * BLOCK, work.weighted, 0, n)
    for i in range(work.n_fitted):
        a = work.order[i]
        if not np.isfinite(work.gram[a, a]):
            return np.inf
        for k in range(i):
            work.gram[work.order[k], a] = work.gram[a, work.order[k]]
    return total


@kernel
def factorise_row(work, i, damping):
    """Fill row i of the factor of the system scaled to a unit diagonal, and the forward substitution into step[i].

    Constants are in `order`; those after the linear ones are damped. A vanishing pivot gives a row of zeros.
    """
    factor = work.factor
    p = work.order[i]
    size = np.sqrt(work.gram[p, p])
    work.step[i] = 0.0
    factor[i, i] = 0.0
    if size == 0.0:
        for k in range(i):
            factor[i, k] = 0.0
        return
    pivot = 1.0
    right = work.slope[p] / size
    for k in range(i):
        if k == work.n_linear:
            pivot *= 1.0 + damping
        q = work.order[k]
        if factor[k, k] == 0.0:
            factor[i, k] = 0.0
            continue
        total = work.gram[p, q] / size / np.sqrt(work.gram[q, q])
        for m in range(k):
            total -= factor[i, m] * factor[k, m]
        factor[i, k] = total / factor[k, k]
        pivot -= factor[i, k] * factor[i, k]
        right -= factor[i, k] * work.step[k]
    if i == work.n_linear:
        pivot *= 1.0 + damping
    if pivot >= DEPENDENT_PIVOT:
        factor[i, i] = np.sqrt(pivot)
        work.step[i] = right / factor[i, i]


@linked_kernel
def solve_step(work, damping) -> float:
    """Fill `step` from `gram` and `slope`; return how much the linear constants alone would lower the squared error.

    A constant whose pivot vanishes can be replaced by others: its step is 0.
    """
    gain = 0.0
    factor = work.factor
    for i in range(work.n_fitted):
        factorise_row(work, i, damping)
        if i < work.n_linear:
            gain += work.step[i] * work.step[i]
    for i in range(work.n_fitted - 1, -1, -1):
        if factor[i, i] == 0.0:
            work.step[i] = 0.0
            continue
        total = work.step[i]
        for k in range(i + 1, work.n_fitted):
            total -= factor[k, i] * work.step[k]
        work.step[i] = total / factor[i, i]
    for i in range(work.n_fitted):
        if factor[i, i] != 0.0:
            work.step[i] /= np.sqrt(work.gram[work.order[i], work.order[i]])
    return gain
