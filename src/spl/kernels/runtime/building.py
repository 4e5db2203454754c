"""Compiling what is missing in the store, together with other processes that do the same."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

import numba

from spl.kernels.runtime import store
from spl.kernels.runtime.fingerprint import digest_of_sources
from spl.kernels.runtime.units import Code, Unit, callees_of, compile_unit, link

WAIT_SECONDS = 0.01  # between two looks whether another process is done

_compiled_here: dict[str, Code] = {}  # by file, until they are linked
_announced: set[str] = set()  # files of the units that are ready
_watchers: list[Callable[[], None]] = []


def link_unit(unit: Unit) -> Code:
    """Link a unit into this process; compile what is missing for it."""
    return link(unit, _obtain)


def _obtain(unit: Unit) -> Code:
    code = _find(unit)
    if code is None:
        build([unit])
        code = _find(unit) or compile_unit(unit)  # the store may not keep anything
    _compiled_here.pop(unit.file, None)
    _announce(unit)
    return code


def _find(unit: Unit) -> Code | None:
    return _compiled_here.get(unit.file) or store.read(unit.file)


def build(roots: Sequence[Unit], *, from_end: bool = False) -> None:
    """Compile units, and all that they refer to, unless the store has them.

    Several processes can do this at the same time: each takes what no other has taken. With `from_end`, the last that is known
    comes first, so that two processes rarely need the same.
    """
    left = list(roots)
    known = {unit.file for unit in left}
    while left:
        unit = next(filter(_is_possible, reversed(left) if from_end else left), None)
        if unit is None:
            time.sleep(WAIT_SECONDS)
            continue
        try:
            code = _find(unit) or _compile(unit)
        finally:
            store.release(unit.file)
        left.remove(unit)
        new = [callee for callee in callees_of(code) if callee.file not in known]
        left.extend(new)
        known.update(callee.file for callee in new)
        _announce(unit)


def _announce(unit: Unit) -> None:
    if unit.file not in _announced:
        _announced.add(unit.file)
        for watch in _watchers:
            watch()


def _is_possible(unit: Unit) -> bool:
    """Return whether a unit is there, or this process may compile it: then it has claimed it."""
    return unit.file in _compiled_here or store.contains(unit.file) or store.claim(unit.file)


def _compile(unit: Unit) -> Code:
    code = _compiled_here[unit.file] = compile_unit(unit)
    return code


def are_all_stored() -> bool:
    """Return whether the kernels of this version were all compiled once, so that nothing needs to be."""
    return bool(numba.config.DISABLE_JIT) or store.contains(_mark())


def note_that_all_are_stored() -> None:
    """Let `are_all_stored` be true from now on, until a kernel changes."""
    store.write(_mark(), "")


def _mark() -> str:
    return f"all-{digest_of_sources()}.nbc"


@contextlib.contextmanager
def watching(watch: Callable[[], None]) -> Iterator[None]:
    """Call a function after each unit that gets ready, whoever compiled it."""
    _watchers.append(watch)
    try:
        yield
    finally:
        _watchers.remove(watch)
