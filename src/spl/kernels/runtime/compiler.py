"""The decorators of kernels, and the records that kernels take.

A kernel is compiled into each kernel that calls it. Python can call it too: then it is a unit of its own, see `units`.
"""

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock

from spl.kernels.runtime.building import link_unit
from spl.kernels.runtime.units import COMPILER_OPTIONS, Unit, UnitKernel, make_python_function

# No `nnan` or `ninf`: NaN is how a formula says that it left its domain.
FAST_MATH = {"contract", "nsz", "arcp", "reassoc"}


class _InlinedCode(JITCodeLibrary):
    """The code of a kernel for the kernels that call it, which optimise it within their own: it is never machine code."""

    @property
    def codegen(self) -> Any:
        return _NoMachine()

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _NoMachine:
    """Takes the place of the machine code that inlined code does not have."""

    def set_env(self, name: str, environment: object) -> None:
        pass


class _InlinedCompiler(Compiler):
    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = _InlinedCode(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function as a kernel: no Python objects, no GIL.

    With `NUMBA_DISABLE_JIT=1` the function stays plain Python. Kernels must not create arrays: they do without numba's reference
    counting, which took 70 ns per call.
    """
    if function is None:
        return functools.partial(kernel, **options)
    all_options = COMPILER_OPTIONS | options | {"no_cpython_wrapper": True, "pipeline_class": _InlinedCompiler}
    inlined = numba.njit(**all_options)(function)
    if not numba.config.DISABLE_JIT:
        inlined.add_overload = functools.partial(_keep_overload, inlined)
        inlined.get_call_template = functools.partial(_get_call_template, inlined)
        unit_kernel = UnitKernel(function, is_called=True, options=options)
        inlined.unit_kernel = unit_kernel
        inlined._compile_for_args = functools.partial(_link_for_python, inlined)
    return inlined


def _keep_overload(inlined: Any, compiled: Any) -> None:
    """Keep what callers need. The list of what Python can call stays as it is."""
    inlined.overloads[tuple(compiled.signature.args)] = compiled


def _get_call_template(inlined: Any, args: Any, kws: Any) -> Any:
    """Let all integers have one type: with a type for each literal, some kernels were compiled ten times."""
    return type(inlined).get_call_template(inlined, tuple(map(_general_type, args)), kws)


def _general_type(kind: Any) -> Any:
    kind = types.unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind.signed else kind


def _link_for_python(inlined: Any, *arguments: Any) -> Any:
    """Return the function by which Python calls a kernel with these arguments."""
    unit = unit_of(inlined, *arguments)
    known = unit.kernel.python_functions
    with global_compiler_lock:  # several threads may need it at the same time
        if unit.arguments not in known:
            function = known[unit.arguments] = make_python_function(link_unit(unit))
            inlined._insert([kind._code for kind in unit.arguments], function, False)  # which does not keep it alive
        return known[unit.arguments]


def unit_of(called: Any, *arguments: Any) -> Unit:
    """Return the unit that a call of a kernel from Python needs."""
    return Unit(called.unit_kernel, tuple(map(numba.typeof, arguments)))


def make_record(dtype: np.dtype[Any]) -> Any:
    """Return one zeroed record, which kernels take by reference and access by attribute."""
    return np.zeros(1, dtype).view(np.recarray)[0]


def make_scratch(dtype: np.dtype[Any]) -> Any:
    """Return one uninitialised record: zeroing the two megabytes of a fit took a seventh of its time."""
    return np.empty(1, dtype).view(np.recarray)[0]
