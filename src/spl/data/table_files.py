"""Data files of any format as tables: text, Parquet and Excel, gzipped or not.

`delimited_text` and `typed_files` read the formats; `column_choice` and `trajectory_files` choose columns and rows.
"""

import gzip
import io
import sys
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spl.data.cells import MissingMarks
from spl.data.delimited_text import SNIFFED, TABBED, TextFile, decode, read_text
from spl.data.table_content import FileContent
from spl.data.typed_files import EXCEL, PARQUET, read_excel, read_parquet
from spl.errors import DataError, count_noun, shorten, suggest_name

STANDARD_INPUT = "-"
_GZIP_MARK = b"\x1f\x8b"
_UNZIPPED_BYTES, _UNZIPPED_TIMES = 1 << 27, 100  # how large a file may be when unzipped: bytes, or times its size


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table read from a file: the names of all columns, and their values as numbers or texts."""

    source: str
    names: tuple[str, ...]
    numbers: dict[str, NDArray[np.float64]]  # name -> [N], NaN where missing
    texts: dict[str, NDArray[np.object_]]  # name -> [N], None where missing
    notes: tuple[str, ...] = ()  # what was repaired or left out while reading
    column_notes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the same, shown if the column is used
    problems: dict[str, str] = field(default_factory=dict)  # why a column that looks like numbers is unreadable
    origins: dict[str, int] = field(default_factory=dict)  # instants that columns of dates are counted from
    lines: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # [N], line of each row
    line_word: str = "line"
    booleans: frozenset[str] = frozenset()  # columns of numbers that stand for true and false

    def place(self, row: int) -> str:
        """Return the place of a row in the file, for messages."""
        return f"{self.line_word} {self.lines[row]}"


def read_table(path: str, missing: Iterable[str] = ()) -> Table:
    """Read a table in the format that its file extension names; `-` is CSV from standard input. Files may be gzipped.

    Args:
        path: the file.
        missing: texts and numbers to read as missing, besides the usual ones such as `NA` and `-`.
    """
    source = "standard input" if path == STANDARD_INPUT else f"'{path}'"
    raw = _unzip(_read_bytes(path, source), source)
    ending = _ending(path)
    marks = MissingMarks(missing)
    if ending in PARQUET:
        return _name_columns(source, read_parquet(raw, source, marks))
    if ending in EXCEL:
        return _name_columns(source, read_excel(raw, source, marks, largest=_largest_unzipped(raw)))
    if ending not in (*SNIFFED, *TABBED):
        known = ", ".join((*SNIFFED[1:], *TABBED, *PARQUET, *EXCEL))
        raise DataError(f"{source} ends in '{ending}', which is not supported. Save it as one of: {known}.")
    return _name_columns(source, read_text(TextFile(decode(raw, source), source, ending), marks))


def _name_columns(source: str, content: FileContent) -> Table:
    """Return the table of all columns with a name; the others cannot appear in a formula."""
    header = content.header
    named = [index for index, name in enumerate(header) if name]
    names = tuple(header[index] for index in named)
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise DataError(f"{source} has two columns named '{shorten(repeated)}'. Rename one of them.")
    n_nameless = len(header) - len(named)
    nameless = [f"{count_noun(n_nameless, 'column')} without a name left out."] if n_nameless else []
    columns = {header[index]: content.columns[index] for index in named}
    return Table(
        source,
        names,
        {name: column.numbers for name, column in columns.items() if column.numbers is not None},
        {name: column.texts for name, column in columns.items() if column.texts is not None},
        (*content.notes, *nameless),
        {name: column.notes for name, column in columns.items() if column.notes},
        {name: column.problem for name, column in columns.items() if column.problem is not None},
        {name: column.origin for name, column in columns.items() if column.origin is not None},
        content.lines,
        content.line_word,
        frozenset(name for name, column in columns.items() if column.is_boolean),
    )


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
    largest = _largest_unzipped(raw)
    try:
        with gzip.open(io.BytesIO(raw)) as stream:
            unzipped = stream.read(largest + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{source} cannot be unzipped: {error}.") from None
    if len(unzipped) > largest:
        raise DataError(
            f"{source} would be more than {_UNZIPPED_TIMES} times as large when unzipped, which is unusual for a table. "
            "If it is a table, unzip it first."
        )
    return unzipped


def _largest_unzipped(raw: bytes) -> int:
    return max(_UNZIPPED_BYTES, _UNZIPPED_TIMES * len(raw))


def _ending(path: str) -> str:
    if path == STANDARD_INPUT:
        return ""
    name = path.lower().removesuffix(".gz")
    return Path(name).suffix
