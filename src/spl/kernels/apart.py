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

from spl.kernels.compiler import LINKED_KERNELS, LinkedCache, kernel
from spl.kernels.references import passed_as, refer


class _ApartKernel:
    def __init__(self, function):
        self._dispatcher = kernel(function)
        self._dispatcher._cache = LinkedCache(function)
        self._published = set()
        self._was_cached = None

    def symbol(self, arguments):
        """Return the name of the function for these argument types."""
        function = self._dispatcher.py_func
        digest = hashlib.sha256(str(arguments).encode()).hexdigest()[:16]
        return f"{function.__module__}.{function.__qualname__}.{digest}"

    def compile(self, arguments):
        """Compile it for these argument types, or load it from the cache; make its symbol known to the linker; once."""
        self._dispatcher.compile(arguments)
        compiled = self._dispatcher.overloads[arguments]
        if arguments not in self._published:
            address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
            llvmlite.binding.add_symbol(self.symbol(arguments), address)
            self._published.add(arguments)
        return compiled.signature.return_type

    def publish(self):
        """Load all that is in the cache, before a caller that refers to it is loaded; tell whether anything was there.

        If not, callers must be compiled even after this is: they may refer to it for other types of arguments.
        """
        if self._was_cached is None:
            index = self._dispatcher._cache._cache_file._load_index()
            self._was_cached = len(index) > 0
            for arguments, *_ in index:
                self.compile(arguments)
        return self._was_cached


def apart(function):
    """Compile a kernel apart from the kernels that call it. Python cannot call it directly."""
    if numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK:
        return kernel(function)
    apart_kernel = _ApartKernel(function)
    LINKED_KERNELS.append(apart_kernel)

    @intrinsic
    def call(typing_context, *arguments):
        given = tuple(types.unliteral(argument) for argument in arguments)
        plain = tuple(passed_as(argument) for argument in given)
        result = apart_kernel.compile(plain)

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
