"""Linked kernels: compiled once, separately from their callers, which refer to them by symbol as to a function of a C library.

numba optimises all callees again within each caller, and within the callers of that: with a dozen levels from an episode down to a row
of numbers, compilation took minutes. A linked kernel is compiled once per signature.

The annotation of its result says what it returns, so that callers can be compiled before it.
"""

from typing import Any, get_type_hints

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from spl.kernels.runtime.by_reference import emit_reference, linked_type
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.units import Unit, UnitKernel, refer_to

_RESULTS = {type(None): types.void, bool: types.boolean, int: types.int64, float: types.float64}
_ROWS = 4 * (types.CPointer(types.float64),)


def linked_kernel(function):
    """Compile a kernel separately from the kernels that call it. Python cannot call it directly.

    Without the compiler it is an ordinary function. With bounds checks, callers pass an error of the kernel on.
    """
    if numba.config.DISABLE_JIT:
        return function
    linked = UnitKernel(function, is_called=False, returns=_result_type(get_type_hints(function)["return"]))

    @intrinsic
    def call(typing_context, *arguments):
        given = tuple(types.unliteral(argument) for argument in arguments)
        passed_types = tuple(linked_type(argument) for argument in given)
        unit = Unit(linked, passed_types)

        def emit(context, builder, signature, values):
            unpacked = [builder.extract_value(values[0], k) for k in range(len(given))]
            passed = [
                value if a == b else emit_reference(builder, value)
                for value, a, b in zip(unpacked, given, passed_types)
            ]
            return _emit_call(context, builder, unit, passed)

        return linked.returns(types.StarArgTuple(given)), emit

    call.linked_name = f"{linked.name} -> {linked.returns}"
    return call


def _result_type(annotation):
    """Return the type of a result from its annotation, which may be a record of numbers."""
    if annotation in _RESULTS:
        return _RESULTS[annotation]
    members = get_type_hints(annotation)
    return types.NamedTuple([_RESULTS[members[name]] for name in annotation._fields], annotation)


def _emit_call(context, builder, unit, values):
    """Emit a call of a unit; return its result."""
    symbol, returns = refer_to(unit), unit.kernel.returns
    callee = builder.module.globals.get(symbol)
    if callee is None:
        callee = ir.Function(builder.module, context.call_conv.get_function_type(returns, unit.arguments), symbol)
    status, value = context.call_conv.call_function(builder, callee, returns, unit.arguments, values)
    if numba.config.BOUNDSCHECK:
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
    return value


def row_kernel(function):
    """Compile f(code, a, b, c, d, n), an operation on rows of n numbers that `code` selects, as a linked kernel.

    Callers pass contiguous arrays and the places where the rows begin: f(code, a, a_at, b, b_at, c, c_at, d, d_at, n). If fewer than
    four rows are needed, they repeat one. Inside the function, rows are pointers, or arrays with bounds checks or without the
    compiler: it may only index them. No slices are made and no references counted.
    """

    def on_slices(code, a, a_at, b, b_at, c, c_at, d, d_at, n):
        a = a.reshape(-1)[a_at : a_at + n]
        b = b.reshape(-1)[b_at : b_at + n]
        c = c.reshape(-1)[c_at : c_at + n]
        d = d.reshape(-1)[d_at : d_at + n]
        compiled(code, a, b, c, d, n)

    if numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK:
        compiled = kernel(function)
        return kernel(on_slices)
    unit = Unit(UnitKernel(function, is_called=False, returns=types.void), (types.int64, *_ROWS, types.int64))

    @intrinsic
    def call(typing_context, code, a, a_at, b, b_at, c, c_at, d, d_at, n):
        integer = types.int64

        def emit(context, builder, signature, args):
            rows = [row_pointer(context, builder, signature.args[k], args[k], args[k + 1]) for k in (1, 3, 5, 7)]
            return _emit_call(context, builder, unit, [args[0], *rows, args[9]])

        return types.void(integer, a, integer, b, integer, c, integer, d, integer, integer), emit

    call.linked_name = unit.kernel.name
    return call


def row_pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    """Emit the address of an element of a flat array."""
    return builder.gep(context.make_array(array_type)(context, builder, value=array).data, [at])
