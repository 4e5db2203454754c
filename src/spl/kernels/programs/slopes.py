"""The slope of each operator: the factor by which a derivative passes from the operator's value to an operand."""

import numpy as np

from spl.kernels.programs.rows import (
    FIRST_POWER,
    any_trigonometric,
    are_within_trig_limit,
    combine_rows,
    integer_power,
    sign,
)
from spl.kernels.programs.tokens import (
    ABS,
    ACOS,
    ASIN,
    ATAN,
    CBRT,
    COS,
    COSH,
    CUBE,
    DIV,
    EXP,
    INV,
    LOG,
    MAX,
    MAX_USER,
    MIN,
    MUL,
    NEG,
    PAYLOAD_MASK,
    POW,
    POWER_OFFSET,
    SIGN,
    SIN,
    SINH,
    SQRT,
    SQUARE,
    SUB,
    TAN,
    TANH,
    USER_BINARY,
    USER_UNARY,
)
from spl.kernels.programs.vector_math import cosine, hyperbolic_cosine, hyperbolic_sine, logarithm, sine
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import row_kernel
from spl.kernels.runtime.user_functions import call_user


@kernel
def scale_by_slope(token, user, g, at, scratch, tape, x, value, n):
    """Multiply the row of g at `at` by the derivative of a token with one operand.

    The operand's row is at x of the tape, the token's own at `value`; the row of g at `scratch` is overwritten.
    """
    if token < USER_UNARY or token >= FIRST_POWER:
        _scale_by_slope(token, g, at, tape, x, tape, value, tape, value, n)
    else:
        call_user(user[token - USER_UNARY, 1], tape, x, tape, x, g, scratch, n)
        combine_rows(MUL, g, scratch, g, at, g, scratch, g, at, n)


@kernel
def scale_by_slope_of(operand, token, user, g, at, scratch, tape, a, b, value, n):
    """Multiply the row of g at `at` by the derivative of a token with two operands by operand 0 or 1.

    The operands' rows are at a and b of the tape, the token's own at `value`; the row of g at `scratch` is overwritten.
    """
    if token >= USER_BINARY:
        call_user(user[MAX_USER + token - USER_BINARY, 1 + operand], tape, a, tape, b, g, scratch, n)
        combine_rows(MUL, g, scratch, g, at, g, scratch, g, at, n)
    elif operand == 0:
        _scale_by_slope_of_first(token, g, at, tape, a, tape, b, tape, value, n)
    else:
        _scale_by_slope_of_second(token, g, at, tape, a, tape, b, tape, value, n)


@row_kernel
def _scale_by_slope(token, g, x, value, _, n):
    """Multiply g by the derivative of an operator or power at x, where it has that value; for `abs` at 0 it is 0."""
    if token >= FIRST_POWER:
        exponent = (token & PAYLOAD_MASK) - POWER_OFFSET
        for j in range(n):
            g[j] = g[j] * (exponent * integer_power(x[j], exponent - 1)) if exponent != 0 else 0.0 * g[j]
    elif token == NEG:
        for j in range(n):
            g[j] = -g[j]
    elif token == INV:
        for j in range(n):
            g[j] = g[j] * (-value[j] * value[j])
    elif token == SQUARE:
        for j in range(n):
            g[j] = g[j] * (2.0 * x[j])
    elif token == CUBE:
        for j in range(n):
            g[j] = g[j] * (3.0 * x[j] * x[j])
    elif token == SQRT:
        for j in range(n):
            g[j] = g[j] * (0.5 / value[j])
    elif token == CBRT:
        for j in range(n):
            g[j] = g[j] / (3.0 * value[j] * value[j])
    elif token == EXP:
        for j in range(n):
            g[j] = g[j] * value[j]
    elif token == LOG:
        for j in range(n):
            g[j] = g[j] / x[j]
    elif token == TAN:
        for j in range(n):
            g[j] = g[j] * (1.0 + value[j] * value[j])
    elif token == ASIN:
        for j in range(n):
            g[j] = g[j] / np.sqrt((1.0 - x[j]) * (1.0 + x[j]))
    elif token == ACOS:
        for j in range(n):
            g[j] = -g[j] / np.sqrt((1.0 - x[j]) * (1.0 + x[j]))
    elif token == ATAN:
        for j in range(n):
            g[j] = g[j] / (1.0 + x[j] * x[j])
    elif token == SINH:
        for j in range(n):
            g[j] = g[j] * hyperbolic_cosine(x[j])
    elif token == COSH:
        for j in range(n):
            g[j] = g[j] * hyperbolic_sine(x[j])
    elif token == TANH:
        for j in range(n):
            g[j] = g[j] * ((1.0 - value[j]) * (1.0 + value[j]))
    elif token == ABS:
        for j in range(n):
            g[j] = g[j] * sign(x[j])
    elif token == SIGN:
        for j in range(n):
            g[j] = g[j] * (0.0 * x[j])
    elif not are_within_trig_limit(x, n):
        for j in range(n):
            slope = any_trigonometric(SIN + COS - token, x[j])
            g[j] = g[j] * (slope if token == SIN else -slope)
    elif token == SIN:
        for j in range(n):
            g[j] = g[j] * cosine(x[j])
    elif token == COS:
        for j in range(n):
            g[j] = g[j] * -sine(x[j])


@row_kernel
def _scale_by_slope_of_first(opcode, g, a, b, value, n):
    """Multiply g by the derivative of an operator by its first operand, the choice of `min` and `max` in a tie."""
    if opcode == MUL:
        for j in range(n):
            g[j] = g[j] * b[j]
    elif opcode == DIV:
        for j in range(n):
            g[j] = g[j] / b[j]
    elif opcode == MIN:
        for j in range(n):
            g[j] = g[j] if a[j] <= b[j] else 0.0
    elif opcode == MAX:
        for j in range(n):
            g[j] = g[j] if a[j] >= b[j] else 0.0
    elif opcode == POW:
        for j in range(n):
            at_zero = 0.0 if (b[j] > 1.0) | (b[j] == 0.0) else (1.0 if b[j] == 1.0 else np.nan)
            g[j] = g[j] * (b[j] * value[j] / a[j] if a[j] != 0.0 else at_zero)


@row_kernel
def _scale_by_slope_of_second(opcode, g, a, b, value, n):
    """Multiply g by the derivative of an operator by its second operand."""
    if opcode == SUB:
        for j in range(n):
            g[j] = -g[j]
    elif opcode == MUL:
        for j in range(n):
            g[j] = g[j] * a[j]
    elif opcode == DIV:
        for j in range(n):
            g[j] = g[j] * (-value[j] / b[j])
    elif opcode == MIN:
        for j in range(n):
            g[j] = 0.0 if a[j] <= b[j] else g[j]
    elif opcode == MAX:
        for j in range(n):
            g[j] = 0.0 if a[j] >= b[j] else g[j]
    elif opcode == POW:
        for j in range(n):
            g[j] = g[j] * (value[j] * logarithm(a[j]) if (a[j] != 0.0) | (value[j] != 0.0) else 0.0)
