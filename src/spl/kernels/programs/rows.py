"""The values of each operator on rows of numbers; its derivatives are in `slopes`.

A row is n consecutive numbers of a flat array. Leaving a domain gives NaN, never an infinity, so that it always shows in the result:
a / 0, inv(0), log(x <= 0), sqrt(x < 0), asin and acos beyond [-1, 1], 0 ** negative, negative ** fraction.
"""

import numpy as np

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
    MAX,
    MAX_USER,
    MIN,
    MUL,
    NEG,
    PAYLOAD_MASK,
    POW,
    POWER,
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
from spl.kernels.programs.vector_math import (
    TRIG_LIMIT,
    arccosine,
    arcsine,
    arctangent,
    cosine,
    cube_root,
    exponential,
    hyperbolic_cosine,
    hyperbolic_sine,
    hyperbolic_tangent,
    is_plain_power,
    logarithm,
    power,
    sine,
    tangent,
)
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import row_kernel
from spl.kernels.runtime.user_functions import call_user

FIRST_POWER = POWER << KIND_SHIFT  # the smallest token of kind POWER; all of kind OPERATOR are below


@kernel
def apply_unary(token, user, x, at, n):
    """Replace the row of x at `at` by the values of a token with that operand."""
    if token < USER_UNARY or token >= FIRST_POWER:
        _apply_unary(token, x, at, x, at, x, at, x, at, n)
    else:
        call_user(user[token - USER_UNARY, 0], x, at, x, at, x, at, n)


@kernel
def apply_binary(token, user, a, i, b, k, n):
    """Replace the row of b at k by the values of a token with two operands, the rows of a at i and of b at k."""
    if token < USER_UNARY:
        combine_rows(token, a, i, b, k, a, i, b, k, n)
    else:
        call_user(user[MAX_USER + token - USER_BINARY, 0], a, i, b, k, b, k, n)


@kernel
def fill_row(x, at, value, n):
    """Fill a row with one number."""
    at = np.uint64(at)
    for j in range(np.uint64(n)):
        x[at + j] = value


@kernel
def copy_row(source, s, target, t, n):
    """Copy a row to another place."""
    _copy_row(0, source, s, target, t, source, s, target, t, n)


@row_kernel
def _copy_row(_code, a, b, _c, _d, n):
    """Put a into b."""
    for j in range(n):
        b[j] = a[j]


@row_kernel
def combine_rows(opcode, a, b, _c, _d, n):
    """Put the values of an operator of a and b into b."""
    if opcode == ADD:
        for j in range(n):
            b[j] = a[j] + b[j]
    elif opcode == SUB:
        for j in range(n):
            b[j] = a[j] - b[j]
    elif opcode == MUL:
        for j in range(n):
            b[j] = a[j] * b[j]
    elif opcode == DIV:
        for j in range(n):
            b[j] = a[j] / b[j] if b[j] != 0.0 else np.nan
    elif opcode == MIN:
        for j in range(n):
            b[j] = a[j] if (a[j] < b[j]) | (a[j] != a[j]) else b[j]
    elif opcode == MAX:
        for j in range(n):
            b[j] = a[j] if (a[j] > b[j]) | (a[j] != a[j]) else b[j]
    elif opcode == POW:
        if _are_plain_powers(a, b, n):
            for j in range(n):
                b[j] = power(a[j], b[j])
        else:
            for j in range(n):
                b[j] = power(a[j], b[j]) if is_plain_power(a[j], b[j]) else _special_power(a[j], b[j])


@row_kernel
def _apply_unary(token, x, _b, _c, _d, n):
    """Put the values of an operator or power of x into x."""
    if token >= FIRST_POWER:
        exponent = (token & PAYLOAD_MASK) - POWER_OFFSET
        for j in range(n):
            x[j] = integer_power(x[j], exponent)
    elif token == NEG:
        for j in range(n):
            x[j] = -x[j]
    elif token == INV:
        for j in range(n):
            x[j] = 1.0 / x[j] if x[j] != 0.0 else np.nan
    elif token == SQUARE:
        for j in range(n):
            x[j] = x[j] * x[j]
    elif token == CUBE:
        for j in range(n):
            x[j] = x[j] * x[j] * x[j]
    elif token == SQRT:
        for j in range(n):
            x[j] = np.sqrt(x[j])
    elif token == CBRT:
        for j in range(n):
            x[j] = cube_root(x[j])
    elif token == EXP:
        for j in range(n):
            x[j] = exponential(x[j])
    elif token == LOG:
        for j in range(n):
            x[j] = logarithm(x[j])
    elif token == ASIN:
        for j in range(n):
            x[j] = arcsine(x[j])
    elif token == ACOS:
        for j in range(n):
            x[j] = arccosine(x[j])
    elif token == ATAN:
        for j in range(n):
            x[j] = arctangent(x[j])
    elif token == SINH:
        for j in range(n):
            x[j] = hyperbolic_sine(x[j])
    elif token == COSH:
        for j in range(n):
            x[j] = hyperbolic_cosine(x[j])
    elif token == TANH:
        for j in range(n):
            x[j] = hyperbolic_tangent(x[j])
    elif token == ABS:
        for j in range(n):
            x[j] = abs(x[j])
    elif token == SIGN:
        for j in range(n):
            x[j] = sign(x[j])
    elif not are_within_trig_limit(x, n):
        for j in range(n):
            x[j] = any_trigonometric(token, x[j])
    elif token == SIN:
        for j in range(n):
            x[j] = sine(x[j])
    elif token == COS:
        for j in range(n):
            x[j] = cosine(x[j])
    elif token == TAN:
        for j in range(n):
            x[j] = tangent(x[j])


@kernel
def are_within_trig_limit(x, n):
    """Return whether the vector functions are valid for all numbers of a row; they are not for NaN."""
    n_beyond = 0
    for j in range(n):
        n_beyond += not abs(x[j]) <= TRIG_LIMIT
    return n_beyond == 0


@kernel
def any_trigonometric(opcode, x):
    """Return sin, cos or tan of any number: from the C library where the vector function is not valid."""
    is_near = abs(x) <= TRIG_LIMIT
    if opcode == SIN:
        return sine(x) if is_near else np.sin(x)
    if opcode == COS:
        return cosine(x) if is_near else np.cos(x)
    return tangent(x) if is_near else np.tan(x)


@kernel
def sign(x):
    """Return -1, 1, or x itself if it is a zero or NaN."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x)


@kernel
def _are_plain_powers(a, b, n):
    """Return whether `power` is valid for all numbers of two rows."""
    n_special = 0
    for j in range(n):
        n_special += not is_plain_power(a[j], b[j])
    return n_special == 0


@kernel
def _special_power(a, b):
    """Return a ** b for any numbers; NaN for NaN, for 0 to a negative power and for a negative number to a fractional power."""
    if a != a or b != b or (a == 0.0 and b < 0.0) or (a < 0.0 and b != np.floor(b)):
        return np.nan
    return np.power(a, b)


@kernel
def integer_power(x, exponent):
    """Return x ** exponent by repeated squaring; 0 to a negative power is NaN.

    The choice of factors is the same for all samples of a row, so that a loop over them needs no branches.
    """
    n = abs(exponent)
    x2 = x * x
    x4 = x2 * x2
    x8 = x4 * x4
    value = (x if n & 1 else 1.0) * (x2 if n & 2 else 1.0) * (x4 if n & 4 else 1.0) * (x8 if n & 8 else 1.0)
    if n >= 16:
        square = x8
        n >>= 4
        while n > 0:
            square = square * square
            value = value * (square if n & 1 else 1.0)
            n >>= 1
    value = value if exponent >= 0 else (1.0 / value if x != 0.0 else np.nan)
    return value if x == x else x
