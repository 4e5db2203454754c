"""Kernels compiled apart from their callers.

numba optimises the code of all callees again within each caller, and within the callers of that: with a dozen levels from an episode
down to a row of numbers, compilation took minutes. A kernel compiled apart is compiled once for each signature; callers know it by a
symbol, as they would a function of a C library.
"""

import hashlib

import llvmlite.binding
import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from spl.kernels.runtime.by_reference import passed_as, refer
from spl.kernels.runtime.compiler import LINKED_KERNELS, KernelCache, kernel, kernel_name


class _ApartKernel:
    def __init__(self, function):
        self._name = kernel_name(function)
        self._dispatcher = kernel(function)
        self._dispatcher._cache = KernelCache(function)
        self.published = {}  # symbols that the linker knows, with the types of their arguments

    def symbol(self, arguments):
        """Return the name of the function for these argument types."""
        return f"{self._name}.{hashlib.sha256(str(arguments).encode()).hexdigest()[:16]}"

    def publish(self, arguments):
        """Compile it for these argument types, or load it from the cache, and make its symbol known to the linker; once.

        Returns the type of its result.
        """
        self._dispatcher.compile(arguments)
        compiled = self._dispatcher.overloads[arguments]
        symbol = self.symbol(arguments)
        if symbol not in self.published:
            address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
            llvmlite.binding.add_symbol(symbol, address)
            self.published[symbol] = arguments
        return compiled.signature.return_type


def apart(function):
    """Compile a kernel apart from the kernels that call it. Python cannot call it directly."""
    if numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK:
        return kernel(function)
    apart_kernel = LINKED_KERNELS[kernel_name(function)] = _ApartKernel(function)

    @intrinsic
    def call(typing_context, *arguments):
        given = tuple(types.unliteral(argument) for argument in arguments)
        plain = tuple(passed_as(argument) for argument in given)
        result = apart_kernel.publish(plain)

        def emit(context, builder, signature, values):
            unpacked = [builder.extract_value(values[0], k) for k in range(len(given))]
            passed = [value if a == b else refer(builder, value) for value, a, b in zip(unpacked, given, plain)]
            symbol = apart_kernel.symbol(plain)
            callee = builder.module.globals.get(symbol)
            if callee is None:
                callee = ir.Function(builder.module, context.call_conv.get_function_type(result, plain), symbol)
            _, value = context.call_conv.call_function(builder, callee, result, plain, passed)
            return value

        return result(types.StarArgTuple(given)), emit

    return call
