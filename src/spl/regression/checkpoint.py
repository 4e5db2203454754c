"""The checkpoint: everything that changes during a search, as a value and as bytes that hold nothing but numbers.

With the same data, grammar and settings, a search that starts from a checkpoint does what the original search would have done.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.checked_values import Damage, StoredFields, as_fields, as_whole, load_json
from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs import tokens as tk
from spl.kernels.tree.ledger import RECORD
from spl.kernels.tree.search import NODE
from spl.regression.candidate import Candidate, Module
from spl.regression.packing import unpack_program

Array = NDArray[Any]

MAX_ARRAY_BYTES = 1 << 30  # of arrays that are read back
_FASTEST = 1  # level of compression
_SIZE_BYTES = 4  # of the header's length, in front of it


@dataclass(frozen=True, slots=True, eq=False)
class SearcherState:
    """Everything that changes in a searcher: its random numbers, its ledger and its tree."""

    random: Array  # uint64[1]
    totals: Array  # int64[N_TOTALS]
    keys: Array  # uint64[K], programs tried
    losses: Array  # float64[K]
    places: Array  # uint32[K], where the ledger has them, ascending
    front: Array  # RECORD[F]
    modules: Array  # RECORD[M], found since they were last cleared
    planted: Array  # RECORD[P], modules that are rules of the tree
    rivals: Array  # RECORD[...], programs with short descriptions
    rival_lengths: Array  # float64[...], of their descriptions
    nodes: Array  # NODE[T]
    children: Array  # int64[...]
    counts: Array  # int64[3]: the present size of modules, episodes before the tree was planted, why it stopped


@dataclass(frozen=True, slots=True, eq=False)
class ViewCheckpoint:
    """Where a view is in its schedule, with its trees, and with the front at the end of its last whole batch."""

    noise: str  # the name of its noise model
    weights: Array  # float64[N], of the rows of the search
    columns: tuple[int, ...]  # that the trees see; none: all
    asked: tuple[int, ...]  # the formula whose errors were last compared with other columns
    n_restarts: int
    n_before: tuple[int, int]  # episodes and evaluations before the last restart
    schedule: int
    round: int  # of the schedule
    batch: int  # of the round
    episodes_at_exact: int | None  # when the first exact law was found
    episodes_at_choice: int  # when the present choice was found
    front: Array  # RECORD[F]
    seen: Array  # RECORD[S], programs that were fitted to the check rows, with their losses on the sample
    rivals: Array  # RECORD[R], of the trees before the last restart
    searchers: tuple[SearcherState, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """Where a search is: all of its views, and which of them leads."""

    seconds: float  # the search took so far
    n_entries: int  # of the bank
    lead: int  # the place of the leading view
    views: tuple[ViewCheckpoint, ...]  # in the order in which they were opened
    literals: tuple[float, ...] = ()  # that formulas may have besides those of the grammar


_DTYPES: Mapping[str, Any] = {
    "random": np.uint64, "totals": np.int64, "keys": np.uint64, "losses": np.float64, "places": np.uint32, "front": RECORD,
    "modules": RECORD, "planted": RECORD, "nodes": NODE, "children": np.int64, "counts": np.int64, "seen": RECORD,
    "weights": np.float64, "rivals": RECORD, "rival_lengths": np.float64,
}  # fmt: skip


# ---- programs as records -------------------------------------------------------------------------


def pack_modules(modules: Iterable[Module]) -> Array:
    """Return modules as records."""
    return _records((module.program, module.loss, module.reward, module.size) for module in modules)


def pack_candidates(candidates: Iterable[Candidate]) -> Array:
    """Return candidates as records."""
    return _records((candidate.program, candidate.loss, candidate.reward, 0) for candidate in candidates)


def unpack_modules(records: Array, vocabulary: Vocabulary) -> tuple[Module, ...]:
    """Return the modules in records."""
    return tuple(
        Module(
            unpack_record(record, vocabulary), int(record["n_rules"]), float(record["loss"]), float(record["reward"])
        )
        for record in records
    )


def unpack_candidates(records: Array, vocabulary: Vocabulary) -> tuple[Candidate, ...]:
    """Return the candidates in records."""
    return tuple(
        Candidate(unpack_record(record, vocabulary), float(record["loss"]), float(record["reward"]))
        for record in records
    )


def unpack_record(record: Any, vocabulary: Vocabulary) -> Program:
    """Return the program in a record."""
    return unpack_program(record["tokens"][: record["length"]], record["constants"], vocabulary)


def blank_unused(records: Array) -> Array:
    """Return records whose unused places are 0, whatever was in memory there."""
    clean = np.asarray(records).view(np.ndarray).view(RECORD).copy()
    clean[clean["length"] == 0] = np.zeros((), RECORD)
    unused = np.arange(tk.MAX_PROGRAM_LENGTH) >= clean["length"][:, np.newaxis]
    clean["tokens"][unused] = 0
    clean["origin"][unused] = 0
    n_constants = np.sum(clean["tokens"] >> tk.KIND_SHIFT == tk.CONSTANT, axis=1)
    clean["constants"][np.arange(tk.MAX_CONSTANTS) >= n_constants[:, np.newaxis]] = 0.0
    clean["loss"][clean["length"] == 0] = np.inf
    return clean


def _records(rows: Iterable[tuple[Program, float, float, int]]) -> Array:
    kept = list(rows)
    records = np.zeros(len(kept), RECORD)
    for record, (program, loss, reward, n_rules) in zip(records, kept, strict=True):
        record["tokens"][: len(program)] = program.tokens
        record["constants"][: len(program.constants)] = program.constants
        record["length"], record["loss"], record["reward"], record["n_rules"] = len(program), loss, reward, n_rules
    return records


# ---- bytes ---------------------------------------------------------------------------------------


def to_bytes(arrays: Mapping[str, Array]) -> bytes:
    """Return named arrays as compressed bytes: their names and lengths as JSON, then the numbers."""
    header = json.dumps({name: int(array.size) for name, array in arrays.items()}).encode()
    body = [np.ascontiguousarray(array, _DTYPES[name]).tobytes() for name, array in arrays.items()]
    return zlib.compress(b"".join([len(header).to_bytes(_SIZE_BYTES, "little"), header, *body]), _FASTEST)


def from_bytes(packed: bytes) -> StoredFields:
    """Return the arrays in bytes from an untrusted file: their numbers may be wrong, but they are only numbers."""
    plain = _inflate(packed)
    start = _SIZE_BYTES + int.from_bytes(plain[:_SIZE_BYTES], "little")
    sizes = as_fields(load_json(plain[_SIZE_BYTES:start].decode("utf-8", errors="replace"))).check_names(tuple(_DTYPES))
    arrays = StoredFields()
    for name, size in sizes.items():
        end = start + as_whole(size) * np.dtype(_DTYPES[name]).itemsize
        if end > len(plain):
            raise Damage(f"'{name}' cannot have {size} numbers")
        arrays[name] = np.frombuffer(plain[start:end], _DTYPES[name])
        start = end
    return arrays


def _inflate(packed: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(packed, MAX_ARRAY_BYTES)
    except zlib.error as error:
        raise Damage(f"the state of the search cannot be unpacked ({error})") from None
    if not inflater.eof:
        raise Damage("the state of the search is too long, or cut off")
    return plain
