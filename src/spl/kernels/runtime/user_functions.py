"""User-defined operators: Python functions compiled to C functions, and the call of one from a kernel.

Every such C function is `void f(double* a, double* b, double* out, int64 n)`; unary ones ignore `b`. Kernels know it
by its address. It cannot raise: where the Python function does, the value is NaN (measured: this costs no time).
"""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from spl.errors import OperatorError
from spl.kernels.runtime.linking import row_pointer

SLOPE_STEP = 6e-6  # cube root of the rounding error: best for a central difference

_DOUBLES = types.CPointer(types.float64)
_SIGNATURE = types.void(_DOUBLES, _DOUBLES, _DOUBLES, types.int64)
_C_DOUBLES = ctypes.POINTER(ctypes.c_double)
_C_ROW_FUNCTION = ctypes.CFUNCTYPE(None, _C_DOUBLES, _C_DOUBLES, _C_DOUBLES, ctypes.c_int64)


class CompiledOperator(NamedTuple):
    """A C function and the object that keeps it alive: keep it for as long as a kernel may call the address."""

    address: int
    owner: Any


@intrinsic
def _call_compiled(typing_context, address, a, a_at, b, b_at, out, out_at, n):
    def emit(context, builder, signature, args):
        rows = [row_pointer(context, builder, signature.args[k], args[k], args[k + 1]) for k in (1, 3, 5)]
        arguments = [*rows, args[7]]
        function_type = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
        builder.call(builder.inttoptr(args[0], function_type.as_pointer()), arguments)
        return context.get_dummy_value()

    integer = types.int64
    return types.void(integer, a, integer, b, integer, out, integer, integer), emit


def _call_interpreted(address, a, a_at, b, b_at, out, out_at, n):
    def pointer(array, at):
        return ctypes.cast(array.ctypes.data + 8 * int(at), _C_DOUBLES)

    _C_ROW_FUNCTION(int(address))(pointer(a, a_at), pointer(b, b_at), pointer(out, out_at), int(n))


# call_user(address, a, a_at, b, b_at, out, out_at, n) calls the C function at an address on a[a_at : a_at + n] and
# b[b_at : b_at + n] and puts the values into out[out_at : out_at + n]. Arrays must be contiguous. Only kernels can call it.
call_user = _call_interpreted if numba.config.DISABLE_JIT else _call_compiled


def compile_elementwise(function: Callable[..., Any], arity: int) -> CompiledOperator:
    """Compile a Python function of one or two numbers to a C function over arrays.

    A function that does not compile for numbers is tried on whole arrays.

    Examples:
        >>> compile_elementwise(lambda x: np.sin(x) / x, 1).address != 0
        True
    """
    if numba.config.DISABLE_JIT:
        return _interpret(function, arity)
    failures = []
    for build in (_loop_over_numbers, _whole_arrays):
        try:
            compiled = numba.cfunc(_SIGNATURE, nopython=True)(build(numba.njit(error_model="numpy")(function), arity))
        except numba.core.errors.NumbaError as failure:
            failures.append(failure)
        else:
            return CompiledOperator(compiled.address, compiled)
    name = getattr(function, "__name__", repr(function))
    reason = str(failures[0]).strip().splitlines()
    raise OperatorError(
        f"The operator's function `{name}` does not compile: {' '.join(reason[:3])} "
        f"It must take {arity} number{'s' if arity > 1 else ''} and return a number, with numpy functions only."
    ) from failures[0]


def compile_slope(function: Callable[..., Any], arity: int, argument: int) -> CompiledOperator:
    """Compile the derivative of a function by one of its arguments, as a central difference good to about ten digits.

    Examples:
        >>> compile_slope(lambda x: x * x, 1, 0).address != 0
        True
    """
    value = numba.njit(error_model="numpy")(function)

    def slope_of_one(x):
        step = SLOPE_STEP * max(abs(x), 1.0)
        return (value(x + step) - value(x - step)) / (2.0 * step)

    def slope_by_first(x, y):
        step = SLOPE_STEP * max(abs(x), 1.0)
        return (value(x + step, y) - value(x - step, y)) / (2.0 * step)

    def slope_by_second(x, y):
        step = SLOPE_STEP * max(abs(y), 1.0)
        return (value(x, y + step) - value(x, y - step)) / (2.0 * step)

    return compile_elementwise(slope_of_one if arity == 1 else (slope_by_first, slope_by_second)[argument], arity)


def _loop_over_numbers(function, arity):
    if arity == 1:

        def loop(a, b, out, n):
            for j in range(n):
                try:
                    out[j] = function(a[j])
                except Exception:
                    out[j] = np.nan
    else:

        def loop(a, b, out, n):
            for j in range(n):
                try:
                    out[j] = function(a[j], b[j])
                except Exception:
                    out[j] = np.nan

    return loop


def _whole_arrays(function, arity):
    if arity == 1:

        def whole(a, b, out, n):
            try:
                numba.carray(out, n)[:] = function(numba.carray(a, n))
            except Exception:
                numba.carray(out, n)[:] = np.nan
    else:

        def whole(a, b, out, n):
            try:
                numba.carray(out, n)[:] = function(numba.carray(a, n), numba.carray(b, n))
            except Exception:
                numba.carray(out, n)[:] = np.nan

    return whole


def _interpret(function, arity):
    """Wrap a Python function as a C function, for kernels that run without the compiler."""

    def loop(a, b, out, n):
        operands = (a, b)[:arity]
        for j in range(n):
            try:
                out[j] = function(*(np.float64(operand[j]) for operand in operands))
            except Exception:  # as compiled code does
                out[j] = np.nan

    callback = _C_ROW_FUNCTION(loop)
    return CompiledOperator(ctypes.cast(callback, ctypes.c_void_p).value, callback)
