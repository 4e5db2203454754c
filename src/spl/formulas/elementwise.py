"""Plain Python functions of numbers from a user: compiled over arrays, or refused with a clear message.

Compiled code cannot stop for an error, so everything that could go wrong is checked here: that a function compiles, does not print,
and gives each number of a row its own value. Where a function raises, its value is NaN.
"""

import builtins
import contextlib
import ctypes
import dis
import math
from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.errors import SplError, shorten
from spl.kernels.runtime.user_functions import CompiledOperator, compile_elementwise

_TRIED = np.array([0.5, -2.5, -1.0, -0.3, 0.0, 1.0, 2.0, 7.0])  # arguments that a function is tried on
_EXAMPLE_ARGUMENTS = (0.5, 2.0)  # for messages
_MAY_USE = "It may use numbers, `if`, loops, and functions of numpy and math."
_POINTER = ctypes.POINTER(ctypes.c_double)
_ROW_FUNCTION = ctypes.CFUNCTYPE(None, _POINTER, _POINTER, _POINTER, ctypes.c_int64)


@dataclass(frozen=True, slots=True)
class ElementwiseFunction:
    """A user's function of one or two numbers, and what the messages about it need.

    Examples:
        >>> product = ElementwiseFunction(lambda a, b: a * b, 2, "Operator 'product'", SplError)
        >>> call_compiled(product.compile(), np.array([2.0, 3.0]), np.array([5.0, 7.0]))
        array([10., 21.])
    """

    function: Callable[..., Any]
    arity: int
    title: str  # at the start of messages, such as "Operator 'sinc'"
    error: type[SplError]

    def compile(self) -> CompiledOperator:
        """Return the compiled function, or raise an error that says why it does not compile."""
        if not callable(self.function):
            raise self.error(
                f"{self.title} must be a Python function, or a tuple of them; got {shorten(repr(self.function))}."
            )
        try:
            return compile_elementwise(self.as_plain_function(), self.arity)
        except Exception as failure:  # the compiler may raise anything on a user's function
            raise self.error(self._explain()) from failure.__cause__ or failure

    def as_plain_function(self) -> Callable[..., Any]:
        """Return a function defined in Python: numba compiles nothing else, not even `np.sin` by itself."""
        function = self.function
        if isinstance(function, FunctionType):
            return function
        return (lambda a: function(a)) if self.arity == 1 else (lambda a, b: function(a, b))

    def check_quiet(self) -> None:
        """Raise a clear error if the function prints."""
        if isinstance(self.function, FunctionType) and _names_in(self.function).get("print") is print:
            raise self.error(f"{self.title} prints; a search calls it millions of times. Leave out the print.")

    def check_values(self, compiled: CompiledOperator) -> None:
        """Raise a clear error unless the compiled function gives each number of an array one value, always the same."""
        self._check_result()
        first, second = _TRIED, np.roll(_TRIED, 3)
        together = call_compiled(compiled, first, second)
        if not np.array_equal(together, call_compiled(compiled, first, second), equal_nan=True):
            raise self.error(f"{self.title} gives different values for the same number. Remove what is random.")
        alone = [call_compiled(compiled, first[k : k + 1], second[k : k + 1])[0] for k in range(first.size)]
        # Up to rounding: arrays are computed several numbers at a time.
        if not np.allclose(together, alone, equal_nan=True) or self._mixes_rows(alone):
            raise self.error(
                f"{self.title} gives a number a different value when it is in an array with others. Each value must "
                "depend on its own number only: nothing like a mean over the rows."
            )

    def _mixes_rows(self, alone: list[float]) -> bool:
        """Return whether Python gives other values for a whole array: compiled for numbers, `np.mean(a)` would be `a`."""
        try:
            with np.errstate(all="ignore"):
                result = np.asarray(self.function(*(_TRIED.copy(), np.roll(_TRIED, 3))[: self.arity]))
        except Exception:  # it is written for numbers only
            return False
        if result.dtype.kind not in "biuf" or result.shape not in ((), _TRIED.shape):
            return True
        is_finite = np.isfinite(result) & np.isfinite(alone)
        return not np.allclose(np.where(is_finite, result, 0.0), np.where(is_finite, alone, 0.0))

    def _check_result(self) -> None:
        """Raise a clear error if the function returns anything but a number: compiled, it would return a part of it."""
        try:
            with np.errstate(all="ignore"):
                result = self.function(*_EXAMPLE_ARGUMENTS[: self.arity])
        except Exception:  # Python raises where compiled code gives NaN
            return
        if not _is_number(result):
            raise self.error(self._explain())

    def _explain(self) -> str:
        """Return why the function did not compile: what it returns in Python, or what it uses."""
        function, arguments = self.function, _EXAMPLE_ARGUMENTS[: self.arity]
        called = f"for {' and '.join(map(str, arguments))} it"
        try:
            with np.errstate(all="ignore"):
                result = function(*arguments)
        except Exception as error:  # the user's function may raise anything
            return f"{self.title} does not work: {called} raises {type(error).__name__}: {shorten(str(error), 200)}."
        if not _is_number(result):
            return (
                f"{self.title} must return a number; {called} returns {shorten(repr(result))}, "
                f"of type {type(result).__name__}."
            )
        if not isinstance(function, FunctionType):
            name = getattr(function, "__name__", None)
            unknown = f"the function `{name}`" if name else f"objects of type `{type(function).__name__}`"
            return f"{self.title} cannot be compiled: numba does not know {unknown}. {_MAY_USE}"
        foreign = [
            f"`{name}` ({type(value).__name__})" for name, value in _names_in(function).items() if _is_foreign(value)
        ]
        if foreign:
            return f"{self.title} cannot be compiled: it uses {', '.join(foreign)}. {_MAY_USE}"
        return f"{self.title} cannot be compiled by numba. {_MAY_USE}"


def call_compiled(compiled: CompiledOperator, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a compiled function of the numbers in contiguous arrays; a function of one number ignores `b`."""
    out = np.empty(a.size)
    _ROW_FUNCTION(compiled.address)(*(row.ctypes.data_as(_POINTER) for row in (a, b, out)), a.size)
    return out


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


def _is_foreign(value: object) -> bool:
    """Return whether this value keeps a function from being compiled: it is neither a number nor a function that numba knows."""
    if isinstance(value, ModuleType):
        return value not in (np, math)
    module = getattr(value, "__module__", None) or ""
    is_known = hasattr(value, "py_func") or module in ("builtins", "math") or module.startswith("numpy")
    return not isinstance(value, Real | np.ndarray) and not (callable(value) and is_known)
