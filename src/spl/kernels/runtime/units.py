"""Units: kernels that are compiled by themselves, each for given types of its arguments.

A unit is compiled into machine code that refers to other units by symbol, as to the functions of a C library. It needs none of them
while it is compiled, so several processes can compile at once and share what they make through the store. To be used, a unit is
linked: first the units that it refers to, then itself. That is the only way into a process, so a search finds the same formulas
whether its kernels were just compiled or not.
"""

import functools
import hashlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import llvmlite.binding
import numba
from llvmlite.binding import Linkage
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from spl.kernels.runtime import store
from spl.kernels.runtime.fingerprint import describe_options, fingerprint, platform

COMPILER_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}

Types = tuple[Any, ...]  # of arguments, as numba has them


class Unit(NamedTuple):
    """A kernel for given types of its arguments."""

    kernel: "UnitKernel"
    arguments: Types

    @property
    def symbol(self) -> str:
        """The name by which other units refer to it."""
        return f"{self.kernel.name}.{_digest(describe_types(self.arguments))}"

    @property
    def file(self) -> str:
        """Its file in the store."""
        content = (
            describe_types(self.arguments),
            fingerprint(self.kernel.function),
            self.kernel.description,
            platform(),
        )
        return f"{self.kernel.name}-{_digest(' '.join(content))}.nbc"


class Code(NamedTuple):
    """A compiled unit: what is in its file."""

    callees: tuple[tuple[str, Types], ...]  # the units that it refers to, by the names of their kernels
    machine_code: bytes  # an object file
    function: str  # its symbol there
    python_function: Any  # what numba needs to make it callable from Python; None if it is not


class UnitKernel:
    """A kernel that is compiled by itself.

    Args:
        function: the kernel in Python.
        is_called: whether Python calls it; else other kernels do.
        returns: the type of its result; if it is None, the compiler finds out.
        options: of numba.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        is_called: bool,
        returns: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.function, self.returns, self._is_called = function, returns, is_called
        self.name = kernel_name(function)
        self.python_functions: dict[Types, Any] = {}  # by which Python calls it
        all_options = COMPILER_OPTIONS | (options or {}) | {"no_cpython_wrapper": not is_called}
        self.description = f"{describe_options(all_options)} {returns}"
        self._compiler = numba.njit(**all_options, pipeline_class=_UnitCompiler)(function)._compiler
        if not is_called:
            if "<locals>" in function.__qualname__:
                raise ValueError(f"{self.name} is linked by its name, so it cannot be made inside a function")
            LINKED_KERNELS[self.name] = self

    def compile(self, arguments: Types) -> Code:
        """Compile it for these types of its arguments."""
        with global_compiler_lock:
            compiled = self._compiler.compile(arguments, self.returns)
            compiled.library.finalize()
        description = compiled.fndesc
        description.typemap = description.calltypes = None  # large, and no longer needed
        return Code(
            tuple((unit.kernel.name, unit.arguments) for unit in _callees_of(compiled.library)),
            compiled.library.machine_code,
            description.llvm_func_name,
            (description, compiled.environment) if self._is_called else None,
        )


LINKED_KERNELS: dict[str, UnitKernel] = {}  # those that kernels refer to by symbol, by name
_REFERRED: dict[str, Unit] = {}  # the units that code of this process refers to, by symbol
_LINKED: set[str] = set()  # symbols that the linker knows


def kernel_name(function: Callable[..., Any]) -> str:
    """Return the name of a kernel in files and symbols."""
    return f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")


@functools.cache
def describe_types(arguments: Types) -> str:
    """Return the types of arguments in words, with the names of the members of records, which numba leaves out."""
    return ", ".join(map(_describe_type, arguments))


@functools.cache
def _describe_type(kind: Any) -> str:
    if isinstance(kind, types.BaseNamedTuple):
        members = (f"{name}: {_describe_type(member)}" for name, member in zip(kind.fields, kind, strict=True))
        return f"{kind.instance_class.__qualname__}({', '.join(members)})"
    if isinstance(kind, types.BaseTuple):
        return f"({', '.join(map(_describe_type, kind))})"
    record = getattr(kind, "record", None)
    return f"Reference({_describe_type(record)})" if record is not None else str(kind)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


# ---- compilation ---------------------------------------------------------------------------------


class _UnitCode(JITCodeLibrary):
    """The code of a unit, with copies of its callees that nothing else calls. It is not linked, only written to memory.

    numba gives these copies weak symbols, and of all copies of a callee the process calls the one that it loaded first. Each caller
    optimises its copy differently, so the last bits of a sum would depend on what was loaded before.
    """

    machine_code = b""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        assert not self._dynamic_globals, f"{self.name} contains addresses of this process"
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"
        self.machine_code = self._codegen._tm.emit_object(self._final_module)
        self._finalized = True


class _UnitCompiler(Compiler):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags.no_compile = True

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = _UnitCode(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def refer_to(unit: Unit) -> str:
    """Return the symbol of a unit, for the code of a caller."""
    symbol = unit.symbol
    _REFERRED[symbol] = unit
    return symbol


def _callees_of(library: Any) -> Iterator[Unit]:
    for function in library._final_module.functions:
        if function.is_declaration and function.name in _REFERRED:
            yield _REFERRED[function.name]


def compile_unit(unit: Unit) -> Code:
    """Compile a unit and put it into the store."""
    code = unit.kernel.compile(unit.arguments)
    store.write(unit.file, code)
    return code


def callees_of(code: Code) -> list[Unit]:
    """Return the units that a unit refers to."""
    return [Unit(LINKED_KERNELS[name], arguments) for name, arguments in code.callees]


# ---- linking -------------------------------------------------------------------------------------


def link(unit: Unit, obtain: Callable[[Unit], Code]) -> Code:
    """Link a unit into this process, after those that it refers to; `obtain` gives the code of a unit."""
    code = obtain(unit)
    for callee in callees_of(code):
        if callee.symbol not in _LINKED:
            linked = link(callee, obtain)
            llvmlite.binding.add_symbol(callee.symbol, _engine().get_function_address(linked.function))
            _LINKED.add(callee.symbol)
    engine = _engine()._ee
    engine.add_object_file(llvmlite.binding.ObjectFileRef.from_data(code.machine_code))
    engine.finalize_object()
    return code


def make_python_function(code: Code) -> Any:
    """Return the function by which Python calls a unit that was linked."""
    return cpu_target.target_context.get_executable(_LinkedCode(), *code.python_function)


class _LinkedCode:
    """Code in memory, as far as numba asks for it."""

    @property
    def codegen(self) -> Any:
        return cpu_target.target_context.codegen()

    def get_pointer_to_function(self, name: str) -> int:
        return int(_engine().get_function_address(name))


def _engine() -> Any:
    return cpu_target.target_context.codegen()._engine
