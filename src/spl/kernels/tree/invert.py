"""Inverse operators: the values that one operand must have, given the result and the other operand."""

import numpy as np

from spl.kernels.programs.evaluate import arity_of
from spl.kernels.programs.rows import apply_unary, combine_rows, copy_row
from spl.kernels.programs.tokens import (
    ABS,
    ACOS,
    ADD,
    ASIN,
    ATAN,
    CBRT,
    COS,
    COSH,
    CUBE,
    DIV,
    EXP,
    INV,
    KIND_SHIFT,
    LOG,
    MUL,
    NEG,
    PAYLOAD_MASK,
    POW,
    POWER,
    POWER_OFFSET,
    SIN,
    SINH,
    SQRT,
    SQUARE,
    SUB,
    TAN,
    TANH,
)
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

DOMAIN_TOLERANCE = 1e-9  # how far rounding may carry a value beyond its domain


@linked_kernel
def invert(token, side, branch, goal, g, sibling, s, out, o, n, user) -> bool:
    """Put the values that operand `side` (0 or 1) of an operator must have into the row of `out` at o; return whether all exist.

    The result is in the row of `goal` at g, the other operand, if there is one, in that of `sibling` at s. Of two possible operands,
    `branch` 0 is the principal one. Rows must not overlap.
    """
    if arity_of(token) == 2:
        _invert_binary(token, side, goal, g, sibling, s, out, o, n)
    else:
        copy_row(goal, g, out, o, n)
        _invert_unary(token, branch, out, o, n, user)
    n_bad = 0
    for j in range(n):
        n_bad += not np.isfinite(out[o + j])
    return n_bad == 0


@kernel
def _invert_binary(token, side, goal, g, sibling, s, out, o, n):
    if token == ADD:
        for j in range(n):
            out[o + j] = goal[g + j] - sibling[s + j]
    elif token == SUB and side == 0:
        for j in range(n):
            out[o + j] = goal[g + j] + sibling[s + j]
    elif token == SUB:
        for j in range(n):
            out[o + j] = sibling[s + j] - goal[g + j]
    elif token == MUL:
        for j in range(n):
            out[o + j] = goal[g + j] / sibling[s + j]
    elif token == DIV and side == 0:
        for j in range(n):
            out[o + j] = goal[g + j] * sibling[s + j]
    elif token == DIV:
        for j in range(n):
            out[o + j] = sibling[s + j] / goal[g + j] if sibling[s + j] != 0.0 else np.nan
    elif token == POW and side == 0:
        for j in range(n):
            is_possible = sibling[s + j] != 0.0 and goal[g + j] > 0.0
            out[o + j] = 1.0 / sibling[s + j] if is_possible else np.nan
        combine_rows(POW, goal, g, out, o, goal, g, out, o, n)
    elif token == POW:
        for j in range(n):
            is_possible = sibling[s + j] > 0.0 and goal[g + j] > 0.0
            out[o + j] = np.log(goal[g + j]) / np.log(sibling[s + j]) if is_possible else np.nan
    else:
        out[o] = np.nan  # min, max and user-defined operators


@kernel
def _invert_unary(token, branch, x, at, n, user):
    if token >> KIND_SHIFT == POWER:
        _invert_power((token & PAYLOAD_MASK) - POWER_OFFSET, branch, x, at, n)
    elif token == NEG or token == INV:
        apply_unary(token, user, x, at, n)
    elif token == SQUARE:
        _invert_power(2, branch, x, at, n)
    elif token == CUBE:
        _invert_power(3, branch, x, at, n)
    elif token == SQRT:
        _invert_root(x, at, n)
    elif token == CBRT:
        apply_unary(CUBE, user, x, at, n)
    elif token == EXP:
        apply_unary(LOG, user, x, at, n)
    elif token == LOG:
        apply_unary(EXP, user, x, at, n)
    elif token == SIN or token == COS:
        _invert_wave(token, branch, x, at, n, user)
    elif token == TAN:
        apply_unary(ATAN, user, x, at, n)
    elif token == ASIN:
        _keep_between(x, at, n, -np.pi / 2.0, np.pi / 2.0)
        apply_unary(SIN, user, x, at, n)
    elif token == ACOS:
        _keep_between(x, at, n, 0.0, np.pi)
        apply_unary(COS, user, x, at, n)
    elif token == ATAN:
        _keep_between(x, at, n, -np.pi / 2.0, np.pi / 2.0)
        apply_unary(TAN, user, x, at, n)
    elif token == SINH or token == COSH or token == TANH:
        _invert_hyperbolic(token, branch, x, at, n)
    elif token == ABS:
        for j in range(n):
            x[at + j] = np.nan if x[at + j] < 0.0 else (-x[at + j] if branch else x[at + j])
    else:
        x[at] = np.nan  # sign and user-defined operators


@kernel
def _invert_power(exponent, branch, x, at, n):
    """Replace x by its roots: for an even exponent the negative ones if `branch` is 1."""
    degree = abs(exponent)
    if degree == 0:
        x[at] = np.nan
        return
    for j in range(n):
        value = x[at + j] if exponent > 0 else 1.0 / x[at + j]
        if degree == 2:
            root = np.sqrt(value)
        elif value < 0.0 and degree % 2 == 1:
            root = -np.power(-value, 1.0 / degree)
        else:
            root = np.power(value, 1.0 / degree)
        x[at + j] = -root if branch and degree % 2 == 0 else root


@kernel
def _keep_between(x, at, n, low, high):
    """Replace values outside the range of an operator by NaN."""
    for j in range(n):
        if not (x[at + j] >= low - DOMAIN_TOLERANCE and x[at + j] <= high + DOMAIN_TOLERANCE):
            x[at + j] = np.nan


@kernel
def _invert_root(x, at, n):
    for j in range(n):
        x[at + j] = x[at + j] * x[at + j] if x[at + j] >= 0.0 else np.nan


@kernel
def _invert_wave(token, branch, x, at, n, user):
    for j in range(n):
        if abs(x[at + j]) > 1.0 and abs(x[at + j]) <= 1.0 + DOMAIN_TOLERANCE:
            x[at + j] = 1.0 if x[at + j] > 0.0 else -1.0
    apply_unary(ASIN if token == SIN else ACOS, user, x, at, n)
    if branch:
        for j in range(n):
            x[at + j] = np.pi - x[at + j] if token == SIN else -x[at + j]


@kernel
def _invert_hyperbolic(token, branch, x, at, n):
    for j in range(n):
        if token == SINH:
            x[at + j] = np.arcsinh(x[at + j])
        elif token == TANH:
            x[at + j] = np.arctanh(x[at + j])
        else:
            x[at + j] = -np.arccosh(x[at + j]) if branch else np.arccosh(x[at + j])
