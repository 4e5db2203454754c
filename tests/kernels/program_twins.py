"""Programs evaluated from their definition: numpy, one token at a time, by recursion. And random ones to try."""

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies as st

from spl.kernels.programs import tokens as t

X0 = t.VARIABLE << t.KIND_SHIFT
X1 = X0 + 1
CONSTANT = t.CONSTANT << t.KIND_SHIFT
LITERAL = t.LITERAL << t.KIND_SHIFT


def power_token(exponent: int) -> int:
    return (t.POWER << t.KIND_SHIFT) + t.POWER_OFFSET + exponent


def nan_where(is_outside, values):
    return np.where(is_outside, np.nan, values)


UNARY: dict[int, Callable] = {
    t.NEG: lambda x: -x,
    t.INV: lambda x: nan_where(x == 0, 1 / x),
    t.SQUARE: lambda x: x**2,
    t.CUBE: lambda x: x**3,
    t.SQRT: np.sqrt,
    t.CBRT: np.cbrt,
    t.EXP: np.exp,
    t.LOG: lambda x: nan_where(x == 0, np.log(x)),
    t.SIN: np.sin,
    t.COS: np.cos,
    t.TAN: np.tan,
    t.ASIN: np.arcsin,
    t.ACOS: np.arccos,
    t.ATAN: np.arctan,
    t.SINH: np.sinh,
    t.COSH: np.cosh,
    t.TANH: np.tanh,
    t.ABS: np.abs,
    t.SIGN: np.sign,
}
BINARY: dict[int, Callable] = {
    t.ADD: lambda a, b: a + b,
    t.SUB: lambda a, b: a - b,
    t.MUL: lambda a, b: a * b,
    t.DIV: lambda a, b: nan_where(b == 0, a / b),
    t.MIN: np.minimum,
    t.MAX: np.maximum,
    t.POW: lambda a, b: nan_where(
        np.isnan(a) | np.isnan(b) | ((a == 0) & (b < 0)) | ((a < 0) & (b != np.floor(b))), np.power(a, b)
    ),
}


def evaluate_slowly(program: Sequence[int], constants, literals, columns, user=None) -> np.ndarray:
    """Return the values of a program; `user` has the Python functions of user operators by token."""
    place = 0
    n_constants = 0

    def take() -> np.ndarray:
        nonlocal place, n_constants
        token = program[place]
        place += 1
        kind, payload = token >> t.KIND_SHIFT, token & t.PAYLOAD_MASK
        if kind == t.VARIABLE:
            return columns[payload]
        if kind == t.CONSTANT:
            n_constants += 1
            return np.full(columns.shape[1], constants[n_constants - 1])
        if kind == t.LITERAL:
            return np.full(columns.shape[1], literals[payload])
        if kind == t.POWER:
            x, exponent = take(), payload - t.POWER_OFFSET
            return nan_where(np.isnan(x) | ((x == 0) & (exponent < 0)), x ** float(exponent))
        if t.USER_UNARY <= token < t.USER_BINARY:
            return user[token](take())
        if token >= t.USER_BINARY:
            a = take()
            return user[token](a, take())
        if token >= t.FIRST_UNARY:
            return UNARY[token](take())
        a = take()
        return BINARY[token](a, take())

    with np.errstate(all="ignore"):
        return take()


@st.composite
def programs(draw, max_depth: int = 4, unary=tuple(UNARY), binary=tuple(BINARY)) -> list[int]:
    """Draw a program of two variables, constants and two literals."""

    def grow(depth: int) -> list[int]:
        shape = draw(st.integers(0, 3)) if depth > 0 else 0
        if shape == 0:
            return [draw(st.sampled_from([X0, X1, CONSTANT, LITERAL, LITERAL + 1]))]
        if shape == 1:
            return [draw(st.sampled_from([*unary, power_token(4), power_token(-2)])), *grow(depth - 1)]
        return [draw(st.sampled_from(binary)), *grow(depth - 1), *grow(depth - 1)]

    return grow(max_depth)


def count_constants(program: Sequence[int]) -> int:
    return sum(token == CONSTANT for token in program)
