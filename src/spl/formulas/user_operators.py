"""Operators of the user: compiled when they are made, and refused with a clear message if they cannot be used.

A kernel calls them millions of times and cannot stop for an error, so everything that could go wrong is checked here: that a
function compiles, does not print, and gives each number of a row its own value. Where a function raises, its value is NaN.
"""

import builtins
import contextlib
import ctypes
import dis
import functools
import math
from collections import ChainMap
from collections.abc import Callable
from numbers import Real
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.errors import OperatorError, shorten
from spl.formulas.operators import Operator
from spl.kernels.runtime.user_functions import CompiledOperator, compile_elementwise, compile_slope

_TRIED = np.array([0.5, -2.5, -1.0, -0.3, 0.0, 1.0, 2.0, 7.0])  # arguments that an operator is tried on
_EXAMPLE_ARGUMENTS = (0.5, 2.0)  # for messages
_MAY_USE = "It may use numbers, `if`, loops, and functions of numpy and math."
_POINTER = ctypes.POINTER(ctypes.c_double)
_ELEMENTWISE_FUNCTION = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _POINTER, ctypes.c_int64)


def check_own_operator(operator: Operator) -> None:
    """Raise a clear error, with the operator's name, unless kernels can call its function and its derivatives."""
    for function in (operator.function, *operator.derivatives):
        _check_quiet(operator, function)
    value, *_ = compile_operator(operator)
    _check_result(operator)
    first, second = _TRIED, np.roll(_TRIED, 3)
    together = _call(value, first, second)
    if not np.array_equal(together, _call(value, first, second), equal_nan=True):
        raise OperatorError(
            f"Operator '{operator.name}' gives different values for the same number. Remove what is random."
        )
    alone = [_call(value, first[k : k + 1], second[k : k + 1])[0] for k in range(first.size)]
    if not np.allclose(
        together, alone, equal_nan=True
    ):  # up to rounding: arrays are computed several numbers at a time
        raise OperatorError(
            f"Operator '{operator.name}' gives a number a different value when it is in an array with others. Each "
            "value must depend on its own number only."
        )


@functools.lru_cache(maxsize=256)
def compile_operator(operator: Operator) -> tuple[CompiledOperator, ...]:
    """Return the compiled functions of a user's operator: its value, then its derivative by each argument.

    Examples:
        >>> len(compile_operator(Operator("product", lambda a, b: a * b)))
        3
    """
    arity, given = operator.arity, operator.derivatives
    value = _compile(operator, operator.function, f"Operator '{operator.name}'")
    if given and len(given) != arity:
        raise OperatorError(
            f"Operator '{operator.name}' takes {arity} argument(s), but has {len(given)} derivative(s)."
        )
    if given:
        what = f"The derivative of operator '{operator.name}'"
        return (value, *(_compile(operator, function, what) for function in given))
    if operator.sympy is not None:
        functions = _differentiate_sympy_form(operator)
        with contextlib.suppress(OperatorError):  # it may need a function that the compiler does not know
            return (value, *(compile_elementwise(function, arity) for function in functions))
    return (value, *_compile_slopes(operator))


def _compile_slopes(operator: Operator) -> tuple[CompiledOperator, ...]:
    """Return the compiled derivatives, computed as differences."""
    arity = operator.arity
    function = _as_plain_function(operator.function, arity)
    try:
        return tuple(compile_slope(function, arity, argument) for argument in range(arity))
    except OperatorError as failure:
        raise OperatorError(
            f"Operator '{operator.name}' cannot be differentiated numerically: its function takes arrays, but not single "
            "numbers. Give its derivative, Operator(..., derivative=...), or write it for numbers."
        ) from failure.__cause__


def _compile(operator: Operator, function: Callable[..., Any], what: str) -> CompiledOperator:
    if not callable(function):
        raise OperatorError(f"{what} must be a Python function, or a tuple of them; got {shorten(repr(function))}.")
    try:
        return compile_elementwise(_as_plain_function(function, operator.arity), operator.arity)
    except Exception as failure:  # the compiler may raise anything on a user's function
        raise OperatorError(_explain(function, operator.arity, what)) from failure.__cause__ or failure


def _as_plain_function(function: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """Return a function defined in Python: numba compiles nothing else, not even `np.sin` by itself."""
    if isinstance(function, FunctionType):
        return function
    return (lambda a: function(a)) if arity == 1 else (lambda a, b: function(a, b))


def _differentiate_sympy_form(operator: Operator) -> tuple[Callable[..., Any], ...]:
    """Return the derivatives of the sympy form."""
    import sympy

    assert operator.sympy is not None
    arguments = sympy.symbols(f"a:{operator.arity}", real=True)
    try:
        form = sympy.sympify(operator.sympy(*arguments))
        return tuple(sympy.lambdify(arguments, sympy.diff(form, a), "numpy") for a in arguments)
    except Exception as error:  # the user's form may raise anything
        raise OperatorError(
            f"The sympy form of operator '{operator.name}' cannot be differentiated: {error}."
        ) from error


def _call(compiled: CompiledOperator, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.empty(a.size)
    _ELEMENTWISE_FUNCTION(compiled.address)(*(row.ctypes.data_as(_POINTER) for row in (a, b, out)), a.size)
    return out


# ---- checks and messages -------------------------------------------------------------------------


def _check_quiet(operator: Operator, function: object) -> None:
    """Raise a clear error if a function prints."""
    if isinstance(function, FunctionType) and _names_in(function).get("print") is print:
        raise OperatorError(
            f"The function of operator '{operator.name}' prints; a search calls it millions of times. "
            "Leave out the print."
        )


def _check_result(operator: Operator) -> None:
    """Raise a clear error if a function returns anything but a number: compiled, it would return a part of it."""
    try:
        result = operator.function(*_EXAMPLE_ARGUMENTS[: operator.arity])
    except Exception:  # Python raises where compiled code gives NaN
        return
    if not _is_number(result):
        raise OperatorError(_explain(operator.function, operator.arity, f"Operator '{operator.name}'"))


def _is_number(result: Any) -> bool:
    values = np.asarray(result)
    return values.shape == () and values.dtype.kind in "biuf"


def _names_in(function: FunctionType) -> dict[str, Any]:
    """Return the global names and closure variables that a function uses, with their values; undefined names are left out."""
    known = ChainMap(function.__globals__, vars(builtins))
    loaded = [step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL"]
    found = {name: known[name] for name in loaded if name in known}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # a cell that is still empty
            found[name] = cell.cell_contents
    return found


def _explain(function: Callable[..., Any], arity: int, what: str) -> str:
    """Return why a function did not compile: what it returns in Python, or what it uses."""
    arguments = _EXAMPLE_ARGUMENTS[:arity]
    called = f"for {' and '.join(map(str, arguments))} it"
    try:
        result = function(*arguments)
    except Exception as error:  # the user's function may raise anything
        return f"{what} does not work: {called} raises {type(error).__name__}: {shorten(str(error), 200)}."
    if not _is_number(result):
        return (
            f"{what} must return a number; {called} returns {shorten(repr(result))}, of type {type(result).__name__}."
        )
    if not isinstance(function, FunctionType):
        name = getattr(function, "__name__", None)
        unknown = f"the function `{name}`" if name else f"objects of type `{type(function).__name__}`"
        return f"{what} cannot be compiled: numba does not know {unknown}. {_MAY_USE}"
    foreign = [
        f"`{name}` ({type(value).__name__})" for name, value in _names_in(function).items() if _is_foreign(value)
    ]
    if foreign:
        return f"{what} cannot be compiled: it uses {', '.join(foreign)}. {_MAY_USE}"
    return f"{what} cannot be compiled by numba. {_MAY_USE}"


def _is_foreign(value: object) -> bool:
    """Return whether this value keeps a function from being compiled: it is neither a number nor a function that numba knows."""
    if isinstance(value, ModuleType):
        return value not in (np, math)
    module = getattr(value, "__module__", None) or ""
    is_known = hasattr(value, "py_func") or module in ("builtins", "math") or module.startswith("numpy")
    return not isinstance(value, Real | np.ndarray) and not (callable(value) and is_known)
