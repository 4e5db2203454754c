"""User operators as programs of built-in operators, so that they can be written in any language.

The user's function is called once, with stand-ins for numbers that record what is done to them.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from spl.errors import ExpressionError, OperatorError
from spl.formulas.operators import BUILT_IN, Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import make_token, power_token
from spl.kernels.programs import tokens as tk
from spl.notation.from_sympy import from_sympy
from spl.notation.to_sympy import to_sympy

ARGUMENTS = ("a", "b")
MAX_TRACED_LENGTH = 10_000  # parts of a formula: with each step of a loop it can double

_SPELLED = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg", "reciprocal": "inv"}
_SPELLED |= {"square": "square", "float_power": "pow"}
_UFUNCS: dict[Any, int] = {
    row.function: row.opcode for row in BUILT_IN.values() if isinstance(row.function, np.ufunc)
} | {getattr(np, spelling): BUILT_IN[name].opcode for spelling, name in _SPELLED.items()}


def trace_operator(operator: Operator) -> Program:
    """Return an operator as a program over `a` (and `b`), from its function or, failing that, from its form in sympy.

    Examples:
        >>> from spl.formulas.text import to_text
        >>> to_text(trace_operator(Operator("sinc", lambda x: np.sin(x) / x)))
        'sin(a)/a'
    """
    try:
        return trace_function(operator.function, operator.arity)
    except Exception as error:  # the user's function may raise anything on a stand-in
        if operator.sympy is None:
            raise OperatorError(
                f"Operator '{operator.name}' cannot be written in another language: its function uses more than "
                f"arithmetic and our operators. Give its form in sympy: Operator(..., sympy=...)."
            ) from error
    names = ARGUMENTS[: operator.arity]
    words = Vocabulary(names, own=(operator,))
    call = Program((words.operator_token(operator), *map(words.variable_token, names)), words)
    try:
        return from_sympy(to_sympy(call), Vocabulary(names))
    except ExpressionError as error:
        raise OperatorError(f"Operator '{operator.name}' cannot be written in another language: {error}") from error


def trace_function(function: Callable[..., Any], arity: int) -> Program:
    """Return a Python function as a program over `a` (and `b`); any exception means that it cannot be followed.

    Examples:
        >>> from spl.formulas.text import to_text
        >>> to_text(trace_function(lambda y, f: (f - y) ** 2, 2))
        '(b - a)**2'
    """
    names = ARGUMENTS[:arity]
    return _to_program(function(*(_Traced([name]) for name in names)), names)


class _Traced(NDArrayOperatorsMixin):
    """A stand-in for a number: its formula in prefix order, as tokens, numbers and names of arguments."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: list[int | float | str]) -> None:
        if len(prefix) > MAX_TRACED_LENGTH:
            raise ValueError("the formula is too long")
        self.prefix = prefix

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented  # then numpy raises an error that names the function
        if ufunc in _COMPOSED:
            return _COMPOSED[ufunc](*inputs)
        if ufunc not in _UFUNCS:
            return NotImplemented
        return _Traced([_UFUNCS[ufunc], *(item for value in inputs for item in _prefix_of(value))])

    def __bool__(self) -> bool:
        raise TypeError("a stand-in is neither true nor false")


def _prefix_of(value: Any) -> list[int | float | str]:
    if isinstance(value, _Traced):
        return value.prefix
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"a formula cannot hold {number}")
    return [number]


def _raise_to_power(base: Any, exponent: Any) -> _Traced:
    token = None if isinstance(exponent, _Traced) else power_token(float(exponent))
    if token is not None:
        return _Traced([token, *_prefix_of(base)])
    return _Traced([tk.POW, *_prefix_of(base), *_prefix_of(exponent)])


_COMPOSED: dict[Any, Callable[..., Any]] = {
    np.power: _raise_to_power,
    np.positive: lambda a: a,
    np.exp2: lambda a: 2.0**a,
    np.log2: lambda a: np.log(a) / math.log(2.0),
    np.log10: lambda a: np.log(a) / math.log(10.0),
    np.hypot: lambda a, b: np.sqrt(a * a + b * b),
}


def _to_program(result: Any, names: tuple[str, ...]) -> Program:
    prefix = _prefix_of(result)
    literals = tuple(dict.fromkeys(item for item in prefix if isinstance(item, float)))
    words = Vocabulary(names, literals)
    tokens = []
    for item in prefix:
        if isinstance(item, float):
            tokens.append(make_token(tk.LITERAL, literals.index(item)))
        else:
            tokens.append(words.variable_token(item) if isinstance(item, str) else item)
    return Program(tuple(tokens), words)
