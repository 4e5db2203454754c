"""The values of a program and their derivatives by each of its constants, sample by sample, in reverse mode."""

from spl.kernels.compiler import kernel
from spl.kernels.evaluate import BLOCK, OK, STACK_TOO_SMALL, arity_of
from spl.kernels.rows import apply_binary, apply_unary, copy_row, fill_row
from spl.kernels.slopes import scale_by_slope, scale_by_slope_of
from spl.kernels.tokens import CONSTANT, KIND_SHIFT, LITERAL, PAYLOAD_MASK, VARIABLE


@kernel(entry=True)
def differentiate(tokens, length, constants, alphabet, columns, first, n, tape, adjoint, jacobian, ends):
    """Put the program's values into tape[:n] and its derivative by constant c into jacobian[c * BLOCK :][:n].

    Needs a valid program tokens[:length] and n <= BLOCK. Rows of BLOCK numbers in the flat arrays: `tape` one per token, `adjoint`
    `stack_rows_needed` + 2, `jacobian` one per constant; `ends` is int64[2 * length + 1] of scratch. Constants are numbered first token
    first. Returns OK, or STACK_TOO_SMALL if any of them has too few rows: nothing is written beyond their ends.
    """
    if tape.size < length * BLOCK or ends.size < 2 * length + 1:
        return STACK_TOO_SMALL
    n_constants = find_ends(tokens, length, ends)
    if jacobian.size < n_constants * BLOCK:
        return STACK_TOO_SMALL
    record(tokens, length, constants, alphabet, columns, first, n, tape, ends)
    return propagate(tokens, length, alphabet, n, tape, adjoint, jacobian, ends)


@kernel
def find_ends(tokens, length, ends):
    """Put one past the last token of each token's subtree into ends[:length], and how many constants come from each token on into
    ends[length : 2 * length + 1]; return the number of constants."""
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
    """Tell whether the subtree of token i has a constant."""
    return ends[length + i] > ends[length + ends[i]]


@kernel
def record(tokens, length, constants, alphabet, columns, first, n, tape, ends):
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

    The adjoint rows are a stack: the topmost belongs to the token at hand, which replaces it by those of its operands, first operand
    on top. Subtrees without constants are passed over.
    """
    n_constants = ends[length]
    if adjoint.size < BLOCK:
        return STACK_TOO_SMALL
    fill_row(adjoint, 0, 1.0, n)
    top = 0
    i = 0
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


