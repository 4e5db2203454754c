"""How much of a program's values is rounding error: their change if every intermediate result were off in its last digit.

`x + y - x - y` is 0 but for rounding; times 1e11 it fits noise as well as anything. To first order, the error of a result is the sum
over all operators of |derivative of the result by the operator's value| * |value| * EPSILON. Columns and numbers count as exact: dates
in seconds are far from 0, but their differences are right.
"""

import numpy as np

from spl.kernels.programs.constant_gradients import fill_tape, find_ends
from spl.kernels.programs.evaluate import BLOCK, arity_of
from spl.kernels.programs.rows import copy_row, fill_row
from spl.kernels.programs.slopes import scale_by_slope, scale_by_slope_of
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

EPSILON = 2.0**-52
# A rounding error of up to this share of the target's spread is negligible. Laws that are exact to six digits pass; rounding residue
# that is scaled up until it explains something is far above.
MAX_ROUNDING = 1e-6
OWN_ROUNDING = (
    16.0  # so is this many times the rounding error of the target: a target far from 0 is not known any better
)
CONSTANT_TARGET = 1e-26  # a target whose squared spread is a smaller share of its square is constant but for rounding


@kernel
def add_rounding(adjoint, top, tape, row, n, total):
    """Add the contribution of one token on n samples; nothing where it has no derivative, such as sqrt(x - 1) at 1."""
    for j in range(n):
        contribution = abs(adjoint[top + j] * tape[row + j])
        if np.isfinite(contribution):
            total[j] += contribution


@kernel
def sum_rounding(tokens, length, alphabet, n, tape, adjoint, ends, total):
    """Fill total[:n] with the sum over all operators of |derivative by its value * value|, from a recorded tape.

    The adjoint rows are a stack, as in `constant_gradients.propagate`, but no subtree is skipped.
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


@linked_kernel
def is_stable(tokens, length, constants, alphabet, table, n_rows, work) -> bool:
    """Return whether a program's rounding error on the first rows is small compared with the spread of the target.

    The program must have at most MAX_PROGRAM_LENGTH tokens and stay inside its domain there. For a constant target any program is
    stable.
    """
    find_ends(tokens, length, work.places)
    square = 0.0
    size = 0.0
    for first in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - first)
        fill_tape(tokens, length, constants, alphabet, table.columns, first, n, work.tape, work.places)
        sum_rounding(tokens, length, alphabet, n, work.tape, work.adjoint, work.places, work.residual)
        for j in range(n):
            square += table.weights[first + j] * (EPSILON * work.residual[j]) ** 2
            size += table.weights[first + j] * table.target[first + j] ** 2
    spread = table.square * n_rows / table.target.size
    if spread <= CONSTANT_TARGET * size:
        return True
    return square <= max(MAX_ROUNDING**2 * spread, (OWN_ROUNDING * EPSILON) ** 2 * size)


@kernel
def is_program_stable(program, alphabet, table, work):
    """Return whether the rounding error of a program with its guesses as constants is small on all rows; see `is_stable`."""
    return is_stable(program.tokens, program.n_tokens, program.guesses, alphabet, table, table.target.size, work)
