"""The values of a program: its prefix tokens are evaluated from right to left on a stack of rows.

A row holds the values of one operand on up to `BLOCK` samples, so that a whole stack stays in the cache. Single operators are in
`rows`, derivatives in `constant_gradients`.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.rows import apply_binary, apply_unary, copy_row, fill_row
from spl.kernels.programs.tokens import (
    CONSTANT,
    FIRST_UNARY,
    KIND_SHIFT,
    LITERAL,
    OPERATOR,
    PAYLOAD_MASK,
    USER_BINARY,
    VARIABLE,
)
from spl.kernels.runtime.compiler import kernel

BLOCK = 504  # samples in a row: measured best of 120, 248, 504, 1016. No power of two, or rows collide in the cache

OK = 0
STACK_TOO_SMALL = 1


class Alphabet(NamedTuple):
    """What tokens refer to beyond the built-in operators."""

    literals: np.ndarray  # float64[K], the numbers to which LITERAL tokens refer by index
    # int64[M, 3], addresses of C functions, see `user_functions`: the value, its derivatives by argument 0 and by argument 1.
    # Unary operators start at row 0, binary ones at row MAX_USER; without any, there may be no rows.
    user: np.ndarray


@kernel
def arity_of(token):
    """Return how many operands a token takes: 0, 1 or 2."""
    kind = token >> KIND_SHIFT
    if kind >= VARIABLE:
        return 0
    opcode = token & PAYLOAD_MASK
    if kind == OPERATOR and (opcode < FIRST_UNARY or opcode >= USER_BINARY):
        return 2
    return 1


@kernel
def stack_rows_needed(tokens, length):
    """Return how many rows of `BLOCK` numbers `evaluate` needs for the program tokens[:length]."""
    depth = 0
    deepest = 0
    for i in range(length - 1, -1, -1):
        depth += 1 - arity_of(tokens[i])
        deepest = max(deepest, depth)
    return deepest


@kernel
def evaluate(tokens, length, constants, alphabet, columns, first, n, stack):
    """Put the values of the program tokens[:length] on samples first..first+n into stack[:n]; return a status.

    Needs a valid program, n <= BLOCK, C-contiguous columns float64[D, N], and a flat stack with `stack_rows_needed` rows of BLOCK
    numbers; (length + 1) // 2 rows always suffice. The status is OK or STACK_TOO_SMALL: then nothing is written beyond the stack's
    end, and its contents are meaningless.
    """
    # A small stride keeps few samples on few pages; below 64, vector loops suspect an overlap and fall back to single numbers.
    stride = max(n, 64)
    n_samples = columns.shape[1]
    n_constants = count_constants(tokens, length)
    top = -stride
    # Where the next operator's first operand is in the columns, if it is a variable: variables are read without a copy.
    direct = np.int64(-1)  # a bare -1 has a type of its own: numba would compile the callees twice
    for i in range(length - 1, -1, -1):
        token = tokens[i]
        kind = token >> KIND_SHIFT
        if kind < VARIABLE:
            if arity_of(token) == 1:
                apply_unary(token, alphabet.user, stack, top, n)
            elif direct >= 0:
                apply_binary(token, alphabet.user, columns, direct, stack, top, n)
                direct = np.int64(-1)
            else:
                top -= stride
                apply_binary(token, alphabet.user, stack, top + stride, stack, top, n)
            continue
        payload = token & PAYLOAD_MASK
        if kind == VARIABLE and i > 0 and arity_of(tokens[i - 1]) == 2:
            direct = payload * n_samples + first
            continue
        top += stride
        if top + stride > stack.size:
            return STACK_TOO_SMALL
        if kind == VARIABLE:
            copy_row(columns, payload * n_samples + first, stack, top, n)
        elif kind == CONSTANT:
            n_constants -= 1
            fill_row(stack, top, constants[n_constants], n)
        elif kind == LITERAL:
            fill_row(stack, top, alphabet.literals[payload], n)
    return OK


@kernel
def count_constants(tokens, length):
    """Return how many constants the program tokens[:length] has."""
    n_constants = 0
    for i in range(length):
        n_constants += tokens[i] >> KIND_SHIFT == CONSTANT
    return n_constants


@kernel
def evaluate_all(tokens, length, constants, alphabet, columns, out, stack):
    """Put the values of the program tokens[:length] on all samples into out[N]; return a status like `evaluate`."""
    n_samples = columns.shape[1]
    for first in range(0, n_samples, BLOCK):
        n = min(BLOCK, n_samples - first)
        status = evaluate(tokens, length, constants, alphabet, columns, first, n, stack)
        if status != OK:
            return status
        copy_row(stack, 0, out, first, n)
    return OK
