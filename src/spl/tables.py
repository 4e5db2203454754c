"""Data files into columns of numbers: CSV, TSV and Parquet, and clear words for what is wrong with them.

Text is read in `table_text`; which columns and rows are used is said in `choose_columns`.
"""

import gzip
import io
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spl.errors import DataError, shorten, suggest_name
from spl.table_text import SNIFFED, TABBED, Columns, TextFile, columns_in, decode, holds_numbers, read_text

STANDARD_INPUT = "-"
_PARQUET = (".parquet", ".pq")
_GZIP_MARK = b"\x1f\x8b"
_UNZIPPED_BYTES, _UNZIPPED_TIMES = 1 << 27, 100  # a file may be so large when unzipped, or so many times as large


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a file holds: the names of all columns, the values of those that are numbers, and those of the others."""

    source: str
    names: tuple[str, ...]
    numbers: dict[str, NDArray[np.float64]]  # name -> [N], NaN where a value is missing
    texts: dict[str, NDArray[np.object_]]  # name -> [N], None where a value is missing
    notes: tuple[str, ...] = ()  # what was left out while reading


def read_table(path: str) -> Table:
    """Read a table by the ending of its name; `-` is CSV from standard input. Files may be gzipped."""
    source = "standard input" if path == STANDARD_INPUT else f"'{path}'"
    raw = _unzip(_read_bytes(path, source), source)
    ending = _ending(path)
    if ending in _PARQUET:
        return _read_parquet(raw, source)
    if ending not in (*SNIFFED, *TABBED):
        known = ", ".join((*SNIFFED[1:], *TABBED, *_PARQUET))
        raise DataError(f"{source} ends in '{ending}', which cannot be read. Save it as one of: {known}.")
    return _name_columns(source, *read_text(TextFile(decode(raw, source), source, ending)))


def _name_columns(source: str, header: Sequence[str], columns: Columns) -> Table:
    """Give the columns their names; one without a name cannot stand in a formula."""
    named = [place for place, name in enumerate(header) if name]
    names = tuple(header[place] for place in named)
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise DataError(f"{source} has two columns named '{shorten(twice)}'. Rename one of them.")
    n_nameless = len(header) - len(named)
    notes = (f"{count_noun(n_nameless, 'column')} without a name left out.",) if n_nameless else ()
    numbers = {header[place]: columns[place] for place in named if holds_numbers(columns[place])}
    texts = {header[place]: columns[place] for place in named if not holds_numbers(columns[place])}
    return Table(source, names, numbers, texts, notes)


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or the plural.

    Examples:
        >>> count_noun(1, "row"), count_noun(1200, "row")
        ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


# ---- bytes ---------------------------------------------------------------------------------------


def _read_bytes(path: str, source: str) -> bytes:
    try:
        raw = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except IsADirectoryError:
        raise DataError(f"{source} is a directory. Name a file.") from None
    except FileNotFoundError:
        raise DataError(f"There is no file {source}.{_suggest_file(path)}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{source} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    if not raw.strip():
        raise DataError(f"{source} is empty.")
    return raw


def _suggest_file(path: str) -> str:
    folder = Path(path).parent
    return suggest_name(Path(path).name, [other.name for other in folder.iterdir()]) if folder.is_dir() else ""


def _unzip(raw: bytes, source: str) -> bytes:
    if not raw.startswith(_GZIP_MARK):
        return raw
    largest = max(_UNZIPPED_BYTES, _UNZIPPED_TIMES * len(raw))
    try:
        with gzip.open(io.BytesIO(raw)) as stream:
            unzipped = stream.read(largest + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{source} cannot be unzipped: {error}.") from None
    if len(unzipped) > largest:
        raise DataError(
            f"{source} would be more than {_UNZIPPED_TIMES} times as large unzipped, which no table is. "
            "If it is one, unzip it first."
        )
    return unzipped


def _ending(path: str) -> str:
    if path == STANDARD_INPUT:
        return ""
    name = path.lower().removesuffix(".gz")
    return Path(name).suffix


# ---- Parquet -------------------------------------------------------------------------------------


def _read_parquet(raw: bytes, source: str) -> Table:
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(raw))
    except ImportError:
        raise DataError(
            f'Reading {source} needs pyarrow. Install it with: pip install "symbolic-physics-learner[parquet]"'
        ) from None
    except (ValueError, OSError, NotImplementedError, LookupError, TypeError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{source} cannot be read as Parquet: {reason}") from None
    header = [str(name) for name in frame.columns]
    frame.columns = pd.RangeIndex(len(header))
    if not len(frame):
        raise DataError(f"{source} has no rows.")
    return _name_columns(source, header, columns_in(frame))
