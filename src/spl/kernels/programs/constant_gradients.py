"""The values of a program and their derivatives by each of its constants, sample by sample, in reverse mode."""

import numpy as np

from spl.kernels.programs.evaluate import BLOCK, OK, STACK_TOO_SMALL, arity_of
from spl.kernels.programs.rows import apply_binary, apply_unary, copy_row, fill_row
from spl.kernels.programs.slopes import scale_by_slope, scale_by_slope_of
from spl.kernels.programs.tokens import CONSTANT, KIND_SHIFT, LITERAL, PAYLOAD_MASK, VARIABLE
from spl.kernels.runtime.compiler import kernel


@kernel
def differentiate_by_constants(tokens, length, constants, alphabet, columns, first, n, tape, adjoint, jacobian, ends):
    """Put a program's values into tape[:n], its derivative by constant c into jacobian[c * BLOCK:]; return a status.

    Constants are numbered in token order. Needs a valid program tokens[:length], n <= BLOCK, and flat arrays of rows of BLOCK numbers:
    `tape` one per token, `adjoint` `stack_rows_needed` + 2 or one per token, `jacobian` one per constant; `ends` is scratch
    int64[2 * length + 1]. The status is OK, or STACK_TOO_SMALL if one of them has too few rows: nothing is written beyond their ends.
    """
    if tape.size < length * BLOCK or ends.size < 2 * length + 1:
        return STACK_TOO_SMALL
    n_constants = find_ends(tokens, length, ends)
    if jacobian.size < n_constants * BLOCK:
        return STACK_TOO_SMALL
    fill_tape(tokens, length, constants, alphabet, columns, first, n, tape, ends)
    return propagate(tokens, length, alphabet, n, tape, adjoint, jacobian, ends)


@kernel
def find_ends(tokens, length, ends):
    """Put the end of each token's subtree into ends[:length]; return the number of constants.

    ends[length:] gets the number of constants from each token on, and a final 0.
    """
    ends[2 * length] = 0
    for i in range(length - 1, -1, -1):
        arity = arity_of(tokens[i])
        end = i + 1
        for _ in range(arity):
            end = ends[end]
        ends[i] = end
        ends[length + i] = ends[length + i + 1] + (tokens[i] >> KIND_SHIFT == CONSTANT)
    return ends[length]


@kernel
def has_constants(i, length, ends):
    """Return whether the subtree of token i has a constant."""
    return ends[length + i] > ends[length + ends[i]]


@kernel
def fill_tape(tokens, length, constants, alphabet, columns, first, n, tape, ends):
    """Put the values of each token's subtree into its row of the tape."""
    n_constants = ends[length]
    for i in range(length - 1, -1, -1):
        token = tokens[i]
        kind = token >> KIND_SHIFT
        payload = token & PAYLOAD_MASK
        row = i * BLOCK
        if kind == VARIABLE:
            copy_row(columns, payload * columns.shape[1] + first, tape, row, n)
        elif kind == CONSTANT:
            fill_row(tape, row, constants[n_constants - ends[length + i]], n)
        elif kind == LITERAL:
            fill_row(tape, row, alphabet.literals[payload], n)
        elif arity_of(token) == 2:
            copy_row(tape, ends[i + 1] * BLOCK, tape, row, n)
            apply_binary(token, alphabet.user, tape, row + BLOCK, tape, row, n)
        else:
            copy_row(tape, row + BLOCK, tape, row, n)
            apply_unary(token, alphabet.user, tape, row, n)


@kernel
def propagate(tokens, length, alphabet, n, tape, adjoint, jacobian, ends):
    """Carry derivatives of the result from the root down to the constants.

    The adjoint rows are a stack: the topmost belongs to the current token, which replaces it by those of its operands, first operand
    on top. Subtrees without constants are skipped.
    """
    n_constants = ends[length]
    if adjoint.size < BLOCK:
        return STACK_TOO_SMALL
    top = np.int64(0)  # bare zeros have a type of their own: numba would compile the callees twice
    i = np.int64(0)
    fill_row(adjoint, top, 1.0, n)
    while i < length:
        token = tokens[i]
        if not has_constants(i, length, ends):
            i = ends[i]
            top -= BLOCK
            continue
        if token >> KIND_SHIFT == CONSTANT:
            copy_row(adjoint, top, jacobian, (n_constants - ends[length + i]) * BLOCK, n)
            top -= BLOCK
        elif arity_of(token) == 2:
            if top + 3 * BLOCK > adjoint.size:
                return STACK_TOO_SMALL
            a, b, value, scratch = (i + 1) * BLOCK, ends[i + 1] * BLOCK, i * BLOCK, top + 2 * BLOCK
            copy_row(adjoint, top, adjoint, top + BLOCK, n)
            for operand in range(2):
                if has_constants(i + 1 if operand == 0 else ends[i + 1], length, ends):
                    g = top + BLOCK - operand * BLOCK
                    scale_by_slope_of(operand, token, alphabet.user, adjoint, g, scratch, tape, a, b, value, n)
            top += BLOCK
        else:
            if top + 2 * BLOCK > adjoint.size:
                return STACK_TOO_SMALL
            scale_by_slope(token, alphabet.user, adjoint, top, top + BLOCK, tape, (i + 1) * BLOCK, i * BLOCK, n)
        i += 1
    return OK
