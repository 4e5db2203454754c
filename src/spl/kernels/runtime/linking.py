"""Linked kernels: compiled once, separately from their callers, which refer to them by symbol as to a function of a C library.

numba optimises all callees again within each caller, and within the callers of that: with a dozen levels from an episode down to a row
of numbers, compilation took minutes. A linked kernel is compiled once per signature.
"""

import hashlib

import llvmlite.binding
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from spl.kernels.runtime.by_reference import emit_reference, linked_type
from spl.kernels.runtime.compiler import LINKED_KERNELS, KernelCache, kernel, kernel_name


class _LinkedKernel:
    def __init__(self, function):
        self._name = kernel_name(function)
        self._dispatcher = kernel(function)
        self._dispatcher._cache = KernelCache(function)
        self.published = {}  # symbols that the linker knows, with the types of their arguments

    def symbol(self, arguments):
        """Return the name of the function for these argument types."""
        return f"{self._name}.{hashlib.sha256(str(arguments).encode()).hexdigest()[:16]}"

    def publish(self, arguments):
        """Compile it for these argument types, or load it from the cache, and tell the linker its symbol; return its result type.

        Only the first call has an effect.
        """
        self._dispatcher.compile(arguments)
        compiled = self._dispatcher.overloads[arguments]
        symbol = self.symbol(arguments)
        if symbol not in self.published:
            address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
            llvmlite.binding.add_symbol(symbol, address)
            self.published[symbol] = arguments
        return compiled.signature.return_type


def linked_kernel(function):
    """Compile a kernel separately from the kernels that call it. Python cannot call it directly.

    Without the compiler it is an ordinary function. With bounds checks, callers pass an error of the kernel on.
    """
    if numba.config.DISABLE_JIT:
        return kernel(function)
    linked = LINKED_KERNELS[kernel_name(function)] = _LinkedKernel(function)

    @intrinsic
    def call(typing_context, *arguments):
        given = tuple(types.unliteral(argument) for argument in arguments)
        passed_types = tuple(linked_type(argument) for argument in given)
        result = linked.publish(passed_types)

        def emit(context, builder, signature, values):
            unpacked = [builder.extract_value(values[0], k) for k in range(len(given))]
            passed = [
                value if a == b else emit_reference(builder, value)
                for value, a, b in zip(unpacked, given, passed_types)
            ]
            symbol = linked.symbol(passed_types)
            callee = builder.module.globals.get(symbol)
            if callee is None:
                callee = ir.Function(builder.module, context.call_conv.get_function_type(result, passed_types), symbol)
            status, value = context.call_conv.call_function(builder, callee, result, passed_types, passed)
            if numba.config.BOUNDSCHECK:
                with cgutils.if_unlikely(builder, status.is_error):
                    context.call_conv.return_status_propagate(builder, status)
            return value

        return result(types.StarArgTuple(given)), emit

    return call
