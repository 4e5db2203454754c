"""How much of a program's values is rounding error: what they would change by if every result on the way were off in its last digit.

`x + y - x - y` is 0 but for rounding; times 1e11 it fits noise as well as anything. To first order, the error of a result is the sum
over all operators of |derivative of the result by the operator's value| * |value| * EPSILON. Columns and numbers count as exact: dates
in seconds are far from 0, and differences of them are right all the same.
"""

import numpy as np

from spl.kernels.programs.constant_gradients import find_ends, record
from spl.kernels.programs.evaluate import BLOCK, arity_of
from spl.kernels.programs.rows import copy_row, fill_row
from spl.kernels.programs.slopes import scale_by_slope, scale_by_slope_of
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import apart

EPSILON = 2.0**-52
# Beside what a formula explains, a rounding error of up to this share of the target's spread is small. Laws that are exact to six
# digits stay; a residue of rounding that is scaled up until it explains anything is far above it.
MAX_ROUNDING = 1e-6
OWN_ROUNDING = (
    16.0  # times the rounding error of the target itself is as small: a target far from 0 is not known any better
)
CONSTANT_TARGET = 1e-26  # a target whose squared spread is a smaller share of its square is constant but for rounding


@kernel
def add_rounding(adjoint, top, tape, row, n, total):
    """Add what one token contributes on n samples; nothing where it has no derivative, as sqrt(x - 1) at 1, the edge of its domain."""
    for j in range(n):
        contribution = abs(adjoint[top + j] * tape[row + j])
        if np.isfinite(contribution):
            total[j] += contribution


@kernel
def sum_rounding(tokens, length, alphabet, n, tape, adjoint, ends, total):
    """Fill total[:n] with the sum over all operators of |derivative by its value * value|, from a recorded tape.

    The adjoint rows are a stack, as in `differentiate.propagate`, but no subtree is passed over.
    """
    fill_row(total, np.int64(0), 0.0, n)
    top = np.int64(0)
    fill_row(adjoint, top, 1.0, n)
    for i in range(length):
        token = tokens[i]
        arity = arity_of(token)
        if arity == 0:
            top -= BLOCK
            continue
        add_rounding(adjoint, top, tape, i * BLOCK, n, total)
        if arity == 2:
            a, b, value, scratch = (i + 1) * BLOCK, ends[i + 1] * BLOCK, i * BLOCK, top + 2 * BLOCK
            copy_row(adjoint, top, adjoint, top + BLOCK, n)
            for operand in range(2):
                g = top + BLOCK - operand * BLOCK
                scale_by_slope_of(operand, token, alphabet.user, adjoint, g, scratch, tape, a, b, value, n)
            top += BLOCK
        else:
            scale_by_slope(token, alphabet.user, adjoint, top, top + BLOCK, tape, (i + 1) * BLOCK, i * BLOCK, n)


@apart
def is_stable(tokens, length, constants, alphabet, table, n_rows, work):
    """Return whether rounding error is a small part of a program's values on the first rows, beside the spread of the target.

    Needs a program of at most MAX_LENGTH tokens that stays inside its domain there. Beside a constant target any program is stable.
    """
    find_ends(tokens, length, work.places)
    square = 0.0
    size = 0.0
    for first in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - first)
        record(tokens, length, constants, alphabet, table.columns, first, n, work.tape, work.places)
        sum_rounding(tokens, length, alphabet, n, work.tape, work.adjoint, work.places, work.residual)
        for j in range(n):
            square += table.weights[first + j] * (EPSILON * work.residual[j]) ** 2
            size += table.weights[first + j] * table.target[first + j] ** 2
    spread = table.square * n_rows / table.target.size
    if spread <= CONSTANT_TARGET * size:
        return True
    return square <= max(MAX_ROUNDING**2 * spread, (OWN_ROUNDING * EPSILON) ** 2 * size)


@kernel(entry=True)
def is_program_stable(program, alphabet, table, work):
    """Return whether rounding error is a small part of the values of a program with its guesses as constants, on all rows."""
    return is_stable(program.tokens, program.n_tokens, program.guesses, alphabet, table, table.target.size, work)
