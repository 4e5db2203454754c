"""The decorators of kernels and of operations on rows, and the cache of compiled kernels on disk.

numba's own cache looks only at the file of the outermost function, so a change in a callee would go unnoticed. Ours is keyed by a
digest of every source in `kernels/`: any change there recompiles the kernels, nothing else does. numba's cache also knows nothing of
code that refers to other code by symbol, and processes that write to it at the same time lose each other's entries.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import tempfile
import uuid
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from llvmlite.binding import Linkage
from numba import types
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult
from numba.core.serialize import dumps
from numba.extending import intrinsic

_KERNEL_FOLDER = Path(__file__).parents[1]
ARE_CALLABLE = (
    os.environ.get("SPL_CALLABLE_KERNELS") == "1"
)  # whether Python can call all kernels, not only the entries

_CHECKSUM_BYTES = 4

# No `nnan` or `ninf`: NaN is how a formula says that it left its domain.
FAST_MATH = {"contract", "nsz", "arcp", "reassoc"}

NEWEST_TESTED_NUMBA = (0, 68)  # this folder uses private parts of numba, which may change in any release


def check_numba_version(version: str) -> None:
    """Refuse a version of numba that is newer than the tested ones."""
    from spl.errors import SplError

    if tuple(map(int, version.split(".")[:2])) > NEWEST_TESTED_NUMBA:
        major, minor = NEWEST_TESTED_NUMBA
        raise SplError(
            f"numba {version} is installed; spl was tested with numba up to {major}.{minor}. "
            f'Install a tested version: pip install "numba<{major}.{minor + 1}"'
        )


check_numba_version(numba.__version__)


@functools.cache
def source_digest() -> str:
    """Return a short digest of all kernel sources, of numba's version, and of whether it checks bounds."""
    digest = hashlib.sha256(f"{numba.__version__} {numba.config.BOUNDSCHECK} {ARE_CALLABLE}".encode())
    for path in sorted(_KERNEL_FOLDER.rglob("*.py")):
        digest.update(path.relative_to(_KERNEL_FOLDER).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels; make it if necessary.

    It is in `SPL_CACHE`, else in the user's cache; if that cannot be written to, it is a new temporary folder.
    """
    chosen = os.environ.get("SPL_CACHE") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(chosen) / "symbolic-physics-learner" / f"kernels-{source_digest()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        folder = Path(
            tempfile.mkdtemp(prefix="symbolic-physics-learner-")
        )  # new, so nobody else can have put code there
    return folder


class KernelCache(NullCache):
    """The code of one kernel on disk, in one file per signature.

    A file also names the kernels that its code refers to by symbol. These are published before the code is loaded: the linker ends
    the process at the first unknown symbol. No file lists other files, and each is written in one step. So any number of processes
    can share a cache, and any file can be missing or damaged: its kernel is recompiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = kernel_name(function)

    @property
    def cache_path(self) -> str:
        """The folder, as numba's statistics show it."""
        return str(cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature, or None if it is not in the cache."""
        target_context.refresh()
        stored = _read(self._path(sig, target_context.codegen()))
        if stored is None or stored[0] != sig:
            return None
        _, callees, code = stored
        if any(name not in LINKED_KERNELS for name, _ in callees):
            return None
        for name, arguments in callees:
            LINKED_KERNELS[name].publish(arguments)
        return CompileResult._rebuild(target_context, *code)

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Write the code for a signature, unless it contains addresses of this process."""
        if not compiled.library.has_dynamic_globals:
            callees = _published_callees(compiled.library)
            _write(self._path(sig, compiled.codegen), (sig, callees, compiled._reduce()))

    def _path(self, sig: Any, codegen: Any) -> Path:
        key = f"{sig} {codegen.magic_tuple()} {sys.implementation.cache_tag}"
        return cache_folder() / f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.nbc"


def kernel_name(function: Callable[..., Any]) -> str:
    """Return the name of a kernel in files and symbols."""
    return f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")


def _published_callees(library: Any) -> list[tuple[str, Any]]:
    """Return the kernels that code refers to by symbol, each with the types of its arguments."""
    declared = {function.name for function in library._final_module.functions if function.is_declaration}
    published = ((name, *item) for name, callee in LINKED_KERNELS.items() for item in callee.published.items())
    return [(name, arguments) for name, symbol, arguments in published if symbol in declared]


def _read(path: Path) -> Any:
    """Return the value that `_write` wrote, or None if the file is missing or damaged."""
    try:
        content = memoryview(path.read_bytes())
    except OSError:
        return None
    checksum, pickled = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    return pickle.loads(pickled) if _checksum(pickled) == checksum else None


def _write(path: Path, value: Any) -> None:
    """Write a file in one step; if it cannot be written, for example on a full disk, continue without it."""
    pickled = dumps(value)
    unfinished = path.with_name(f"{uuid.uuid4().hex}.tmp")
    try:
        unfinished.write_bytes(_checksum(pickled) + pickled)
        unfinished.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            unfinished.unlink()


def _checksum(content: bytes | memoryview) -> bytes:
    return zlib.crc32(content).to_bytes(_CHECKSUM_BYTES, "little")


class _KernelCode(JITCodeLibrary):
    """The code of a kernel, with copies of its callees that nothing else calls.

    numba gives these copies weak symbols, and of all copies of a callee the process calls the one that it loaded first. Each caller
    optimises its copy differently, so the last bits of a sum depended on what was loaded before: the process that compiled the
    kernels, and so also loaded the callees themselves, found other formulas than all later ones.
    """

    def _finalize_final_module(self) -> None:
        copies = [function for function in self._final_module.functions if function.linkage == Linkage.linkonce_odr]
        for copy in copies:
            copy.linkage = "internal"
        super()._finalize_final_module()
        for copy in copies:
            copy.linkage = "linkonce_odr"  # callers merge the copies that several callees bring


class _KernelCompiler(Compiler):
    def compile_extra(self, func: Callable[..., Any]) -> Any:
        self.state.library = _KernelCode(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


def kernel(function: Callable[..., Any] | None = None, *, entry: bool = False, **options: Any) -> Any:
    """Compile a function as a kernel: no Python objects, no GIL.

    `entry` marks a kernel that Python calls; it is cached on disk. Other kernels can be called from Python only with
    `SPL_CALLABLE_KERNELS=1`, as in the tests: without their wrappers, compilation takes a third less time. With
    `NUMBA_DISABLE_JIT=1` the function stays plain Python. Kernels must not create arrays: they do without numba's reference
    counting, which took 70 ns per call.
    """
    if function is None:
        return functools.partial(kernel, entry=entry, **options)
    is_called = entry or ARE_CALLABLE
    options |= {"no_cpython_wrapper": not is_called, "no_cfunc_wrapper": True, "pipeline_class": _KernelCompiler}
    compiled = numba.njit(nogil=True, error_model="numpy", _nrt=False, **options)(function)
    if entry and not numba.config.DISABLE_JIT:
        compiled._cache = KernelCache(function)
    return compiled


def row_kernel(function: Callable[..., None]) -> Callable[..., None]:
    """Compile f(code, a, b, c, d, n), an operation on rows of n numbers that `code` selects, separately from its callers.

    numba optimises all callees again within each caller, and within the callers of that: for the elementary functions this took 1 s at
    every level. So callers refer to a row kernel by symbol, as to a function of a C library, and it is compiled once. No slices are
    made and no references counted.

    Callers pass contiguous arrays and the places where the rows begin: f(code, a, a_at, b, b_at, c, c_at, d, d_at, n). If fewer than
    four rows are needed, they repeat one. Inside the function, rows are pointers, or arrays with bounds checks or without the
    compiler: it may only index them.
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
    linked = LINKED_KERNELS[kernel_name(function)] = _RowKernel(function)
    return _caller_of(linked)


class _RowKernel:
    """A row kernel as a C function `void f(int64 code, double* a, double* b, double* c, double* d, int64 n)`."""

    def __init__(self, function: Callable[..., None]) -> None:
        rows = 4 * (types.CPointer(types.float64),)
        options = {"nopython": True, "error_model": "numpy", "_nrt": False}
        self.symbol = kernel_name(function)
        self.published: dict[str, None] = {}  # symbols that the linker knows, with the types of their arguments
        self._c_function = CFunc(
            function, ((types.int64, *rows, types.int64), types.void), {}, options, _KernelCompiler
        )
        self._c_function._cache = KernelCache(function)

    def publish(self, arguments: None = None) -> None:
        """Compile it, or load it from the cache, and tell the linker its symbol. Only the first call has an effect."""
        if self.symbol not in self.published:
            self._c_function.compile()
            llvmlite.binding.add_symbol(self.symbol, self._c_function.address)
            self.published[self.symbol] = arguments


LINKED_KERNELS: dict[str, Any] = {}  # by name; filled while the kernel modules are imported, and only then


def _caller_of(row_kernel: _RowKernel) -> Callable[..., None]:
    @intrinsic
    def call(typing_context, code, a, a_at, b, b_at, c, c_at, d, d_at, n):
        row_kernel.publish()
        integer = types.int64
        signature = types.void(integer, a, integer, b, integer, c, integer, d, integer, integer)

        def emit(context, builder, signature, args):
            rows = [row_pointer(context, builder, signature.args[k], args[k], args[k + 1]) for k in (1, 3, 5, 7)]
            arguments = [args[0], *rows, args[9]]
            function_type = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
            function = builder.module.globals.get(row_kernel.symbol)
            if function is None:
                function = ir.Function(builder.module, function_type, row_kernel.symbol)
            builder.call(function, arguments)
            return context.get_dummy_value()

        return signature, emit

    return call


def row_pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
    """Emit the address of an element of a flat array."""
    return builder.gep(context.make_array(array_type)(context, builder, value=array).data, [at])


def make_record(dtype: np.dtype[Any]) -> Any:
    """Return one zeroed record, which kernels take by reference and access by attribute."""
    return np.zeros(1, dtype).view(np.recarray)[0]


def make_scratch(dtype: np.dtype[Any]) -> Any:
    """Return one uninitialised record: zeroing the two megabytes of a fit took a seventh of its time."""
    return np.empty(1, dtype).view(np.recarray)[0]


def kernels_are_compiled() -> bool:
    """Return whether the kernels of this version are on disk, so that nothing needs to be compiled."""
    return numba.config.DISABLE_JIT or any(cache_folder().glob("*run_episodes-*.nbc"))
