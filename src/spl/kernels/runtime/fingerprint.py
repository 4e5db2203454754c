"""Fingerprints of kernels: what their machine code depends on, in a few letters.

The code of a kernel depends on its own instructions, on the constants they name, and on the kernels that are compiled into it, but not
on linked kernels, which it refers to by name. An upgrade therefore compiles only what changed.
"""

import functools
import hashlib
import sys
from collections.abc import Callable, Iterator
from numbers import Number
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.core.types import Type
from numba.extending import intrinsic

_Intrinsic = type(intrinsic(lambda typing_context: None))


@functools.cache
def fingerprint(function: Callable[..., Any]) -> str:
    """Return a digest of what the code of a function depends on, apart from the types of its arguments."""
    return _digest(*sorted(set(_lines_of(function, set()))))


@functools.cache
def platform() -> str:
    """Return a digest of everything that all kernels depend on: compiler, processor, Python, and how kernels are compiled."""
    here = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
    versions = (numba.__version__, np.__version__, sys.implementation.cache_tag, str(numba.config.BOUNDSCHECK))
    return _digest(*versions, str(cpu_target.target_context.codegen().magic_tuple()), *here)


@functools.cache
def digest_of_sources() -> str:
    """Return a digest of all kernels: while it stays the same, nothing needs to be compiled."""
    sources = sorted(Path(__file__).parents[1].glob("*/*.py"))
    return _digest(platform(), *(path.read_text(encoding="utf-8") for path in sources))


def describe_options(options: dict[str, Any]) -> str:
    """Return options of the compiler in words that do not depend on the order of anything."""
    return repr(
        sorted((name, sorted(value) if isinstance(value, set) else str(value)) for name, value in options.items())
    )


def _digest(*lines: str) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:24]


def _lines_of(function: Callable[..., Any], seen: set[Any]) -> Iterator[str]:
    """Yield one line for each thing that the code of a function depends on."""
    if function in seen:
        return
    seen.add(function)
    name = f"{function.__module__}.{function.__qualname__}"
    yield f"{name} {_describe_code(function.__code__)} {function.__defaults__}"
    for used, value in _values_used(function):
        yield from (f"{name}: {used} {line}" for line in _describe(value, seen))


def _describe_code(code: CodeType) -> str:
    """Return the instructions and the constants of some code, but not where in a file it is."""
    constants = list(map(_describe_constant, code.co_consts))
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames} {code.co_freevars}"


def _describe_constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return _describe_code(value)
    if isinstance(value, frozenset):
        return f"set of {sorted(map(repr, value))}"  # its own order differs between processes
    return repr(value)


def _values_used(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the global names and closure variables of a function, with their values."""
    for code in _nested_codes(function.__code__):
        for name in code.co_names:
            if name in function.__globals__:
                value = function.__globals__[name]
                yield name, value
                yield from _members_used(value, code)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _members_used(module: Any, code: CodeType) -> Iterator[tuple[str, Any]]:
    """Yield what code may take from a module, such as `tokens.ADD`."""
    members = vars(module) if isinstance(module, ModuleType) else {}
    for name in code.co_names:
        if name in members:
            yield f"{module.__name__}.{name}", members[name]


def _nested_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _nested_codes(value)


def _describe(value: Any, seen: set[Any]) -> Iterator[str]:
    """Yield what a kernel depends on when it uses a value."""
    if isinstance(value, Dispatcher):
        yield from _lines_of(value.py_func, seen)
        yield describe_options(value.targetoptions)
    elif isinstance(value, _Intrinsic):
        yield getattr(value, "linked_name", "") or value._defn.__qualname__
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, tuple):
        yield f"{type(value).__qualname__} of {len(value)}"
        for place, member in enumerate(value):
            yield from (f"[{place}] {line}" for line in _describe(member, seen))
    elif isinstance(value, np.generic):
        yield f"{value.dtype} {value!r}"  # numpy 1 leaves the type out
    elif isinstance(value, Number | str | bytes | np.dtype | Type | type(None)):
        yield repr(value)
    elif isinstance(value, type):
        yield f"{value.__qualname__} {getattr(value, '_fields', ())}"
    elif callable(value):  # of numpy or math
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
    else:
        raise TypeError(f"a kernel uses a value of type {type(value).__name__}, which has no fingerprint")
