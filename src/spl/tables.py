"""Data files into columns of numbers: CSV, TSV and Parquet, and clear words for what is wrong with them.

What a dataset must be is said in `data`; this file only finds the numbers, and drops the rows where one is missing. Rows that
are samples of trajectories are taken apart in `run_tables`.
"""

import csv
import gzip
import io
import re
import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from spl.data import MAX_COLUMNS, Dataset
from spl.errors import DataError, shorten, suggest_name

if TYPE_CHECKING:
    import pandas as pd

STANDARD_INPUT = "-"
_SNIFFED = ("", ".csv", ".txt", ".dat")  # the separator is read off the first line
_TABBED = (".tsv", ".tab")
_PARQUET = (".parquet", ".pq")
_SEPARATORS = (",", ";", "\t")
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # how a file may begin
_GZIP_MARK = b"\x1f\x8b"
_PEEK = 1 << 16  # bytes in which a file that is not text gives itself away
_UNZIPPED_BYTES, _UNZIPPED_TIMES = 1 << 27, 100  # a file may be so large when unzipped, or so many times as large
MAX_FILE_COLUMNS = 2 * MAX_COLUMNS
_SHOWN_NAMES = 20  # columns that a message lists

Columns = dict[
    int, NDArray[Any]
]  # place -> [N]: numbers, NaN where one is missing; else objects, None where one is missing


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What a file holds: the names of all columns, the values of those that are numbers, and those of the others."""

    source: str
    names: tuple[str, ...]
    numbers: dict[str, NDArray[np.float64]]  # name -> [N], NaN where a value is missing
    texts: dict[str, NDArray[np.object_]]  # name -> [N], None where a value is missing
    notes: tuple[str, ...] = ()  # what was left out while reading


class Prepared(NamedTuple):
    """A dataset, and what was left out on the way to it."""

    data: Dataset
    notes: list[str]


def read_table(path: str) -> Table:
    """Read a table by the ending of its name; `-` is CSV from standard input. Files may be gzipped."""
    source = "standard input" if path == STANDARD_INPUT else f"'{path}'"
    raw = _unzip(_read_bytes(path, source), source)
    ending = _ending(path)
    if ending in _PARQUET:
        return _read_parquet(raw, source)
    if ending not in (*_SNIFFED, *_TABBED):
        known = ", ".join((*_SNIFFED[1:], *_TABBED, *_PARQUET))
        raise DataError(f"{source} ends in '{ending}', which cannot be read. Save it as one of: {known}.")
    return _read_text(_TextFile(_decode(raw, source), source, ending))


def prepare_dataset(
    table: Table, *, target: str, features: Sequence[str] | None = None, weights: str | None = None
) -> Prepared:
    """Return the dataset of some columns (all others that are numbers, if none are named), without incomplete rows."""
    notes = list(table.notes)
    check_number_column(table, target, "target")
    if weights is not None:
        check_number_column(table, weights, "weights")
    names = list(features) if features is not None else other_number_columns(table, {target, weights}, notes)
    for role, name in (("target", target), ("weights", weights)):
        if name in names:
            raise DataError(f"The {role} '{name}' is also among the features. Take it out of one of the two.")
    for name in names:
        check_number_column(table, name, "feature")
    if not names:
        raise DataError(f"{table.source} has no column of numbers besides '{target}' to search a formula in.")
    complete = _complete_rows(table, [target, *names, *([weights] if weights else [])], notes)
    data = Dataset.from_arrays(
        np.column_stack([table.numbers[name][complete] for name in names]),
        table.numbers[target][complete],
        names=names,
        weights=None if weights is None else table.numbers[weights][complete],
    )
    return Prepared(replace(data, notes=tuple(notes)), notes)


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


# ---- text ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _TextFile:
    """The letters of a table that is text."""

    text: str
    source: str
    ending: str

    def open(self) -> TextIO:
        return io.StringIO(self.text, newline="")

    def separator(self) -> str | None:
        """Return the sign between two columns; None is any white space."""
        if self.ending in _TABBED:
            return "\t"
        first = next((line for line in self.open() if line.strip()), "")
        plain = re.sub(r'"[^"]*"', "", first)
        best = max(_SEPARATORS, key=plain.count)
        if best in plain:
            return best
        return None if self.ending in (".txt", ".dat") and len(plain.split()) > 1 else ","


def _decode(raw: bytes, source: str) -> str:
    """Return the letters: as the first bytes say, else UTF-8, else as on old Windows machines."""
    encoding = next((encoding for mark, encoding in _MARKS.items() if raw.startswith(mark)), None)
    if encoding is None and b"\0" in raw[:_PEEK]:
        raise DataError(f"{source} is not text. Save the table as CSV, or let its name end in .parquet if it is.")
    try:
        return raw.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        if encoding is None:
            return raw.decode("latin-1")
    raise DataError(f"{source} begins like text in {encoding.upper()}, but is none. Save it as UTF-8.")


def _read_text(file: _TextFile) -> Table:
    separator = file.separator()
    with file.open() as stream:
        header = _read_header(stream, separator, file.source)
        columns = _read_plain_numbers(stream, separator, len(header))
    if columns is None:
        columns = _read_with_pandas(file, separator, len(header))
    if not any(column.size for column in columns.values()):
        raise DataError(f"{file.source} has column names, but no rows.")
    return _name_columns(file.source, header, columns)


def _read_header(stream: TextIO, separator: str | None, source: str) -> list[str]:
    """Return the words of the first line that is not empty; the stream then stands behind it."""
    if separator is None:
        words = next((line for line in stream if line.strip()), "").split()
    else:
        try:
            words = next((row for row in csv.reader(stream, delimiter=separator, skipinitialspace=True) if row), [])
        except csv.Error as error:
            raise DataError(f"The first line of {source} cannot be read as names of columns: {error}.") from None
    if not words:
        raise DataError(f"{source} is empty.")
    if len(words) > MAX_FILE_COLUMNS:
        raise DataError(
            f"{source} has {len(words)} columns in its first line; at most {MAX_FILE_COLUMNS} are read. "
            "Save only those that matter."
        )
    return [word.strip() for word in words]


def _read_plain_numbers(stream: TextIO, separator: str | None, n_columns: int) -> Columns | None:
    """Return the columns of a table of nothing but numbers, else None; this takes 0.4 s less than to load pandas."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a table without rows
            rows = np.loadtxt(stream, delimiter=separator, comments=None, ndmin=2, dtype=np.float64)
    except ValueError:
        return None
    if rows.size and rows.shape[1] != n_columns:
        return None
    return dict(enumerate(rows.reshape(-1, n_columns).T))


def _read_with_pandas(file: _TextFile, separator: str | None, n_columns: int) -> Columns:
    columns = _parse(file, separator, n_columns, ".")
    if separator == ";" and _count_numbers(columns) < n_columns:  # 1,5 for 1.5
        with_comma = _parse(file, separator, n_columns, ",")
        columns = with_comma if _count_numbers(with_comma) > _count_numbers(columns) else columns
    return columns


def _count_numbers(columns: Columns) -> int:
    return sum(_holds_numbers(column) for column in columns.values())


def _parse(file: _TextFile, separator: str | None, n_columns: int, decimal: str) -> Columns:
    import pandas as pd

    with file.open() as stream, warnings.catch_warnings():
        _read_header(stream, separator, file.source)
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows longer than the header
        try:
            frame = pd.read_csv(
                stream,
                sep=r"\s+" if separator is None else separator,
                decimal=decimal,
                header=None,
                names=list(range(n_columns)),
                index_col=False,
                skipinitialspace=True,
                low_memory=False,
            )
        except pd.errors.EmptyDataError:
            return {place: np.empty(0) for place in range(n_columns)}
        except pd.errors.ParserError as error:
            if "EOF inside string" not in str(error):
                raise _too_many_values(file.source, n_columns) from None
            raise DataError(f"{file.source} has a quotation mark that is never closed.") from None
        except pd.errors.ParserWarning:
            raise _too_many_values(file.source, n_columns) from None
    return _columns_in(frame)


def _too_many_values(source: str, n_columns: int) -> DataError:
    return DataError(
        f"{source} has rows with more values than the {n_columns} column(s) of its first line. "
        "Each column needs a name, and text with the separator in it needs quotation marks."
    )


def _name_columns(source: str, header: Sequence[str], columns: Columns) -> Table:
    """Give the columns their names; one without a name cannot stand in a formula."""
    named = [place for place, name in enumerate(header) if name]
    names = tuple(header[place] for place in named)
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise DataError(f"{source} has two columns named '{shorten(twice)}'. Rename one of them.")
    n_nameless = len(header) - len(named)
    notes = (f"{count_noun(n_nameless, 'column')} without a name left out.",) if n_nameless else ()
    numbers = {header[place]: columns[place] for place in named if _holds_numbers(columns[place])}
    texts = {header[place]: columns[place] for place in named if not _holds_numbers(columns[place])}
    return Table(source, names, numbers, texts, notes)


def _holds_numbers(column: NDArray[Any]) -> bool:
    return column.dtype.kind == "f"


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
    return _name_columns(source, header, _columns_in(frame))


def _columns_in(frame: "pd.DataFrame") -> Columns:
    """Return the columns by their places: numbers, among which true and false are 1 and 0, and all others as objects."""
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    return {
        place: frame[place].to_numpy(dtype=np.float64, na_value=np.nan)
        if is_numeric_dtype(frame[place].dtype) and not is_complex_dtype(frame[place].dtype)
        else frame[place].astype(object).where(frame[place].notna(), None).to_numpy()
        for place in range(frame.shape[1])
    }


# ---- choosing columns and rows -------------------------------------------------------------------


def check_number_column(table: Table, name: str, role: str) -> None:
    """Raise a clear error unless a table has such a column of numbers."""
    check_column(table, name)
    if name not in table.numbers:
        remedy = f" Leave it out of --{role}s." if role in ("feature", "state", "input") else ""
        raise DataError(f"The column '{name}' of {table.source} holds text, not only numbers.{remedy}")


def check_column(table: Table, name: str) -> None:
    """Raise a clear error unless a table has such a column."""
    if name in table.numbers or name in table.texts:
        return
    if all(_is_number(known) for known in table.names):
        raise DataError(f"There is no column '{name}': the first line of {table.source} must hold names, not numbers.")
    shown = ", ".join(map(shorten, table.names[:_SHOWN_NAMES])) + (", ..." if len(table.names) > _SHOWN_NAMES else "")
    raise DataError(
        f"There is no column '{name}' in {table.source}.{suggest_name(name, table.names)} The columns are: {shown}."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def other_number_columns(table: Table, taken: set[str | None], notes: list[str]) -> list[str]:
    """Return all columns of numbers that are not taken, and note the others."""
    others = [name for name in table.names if name not in taken]
    texts = [name for name in others if name not in table.numbers]
    empty = [name for name in others if name in table.numbers and not np.isfinite(table.numbers[name]).any()]
    if texts:
        notes.append(
            f"{count_noun(len(texts), 'column')} of text left out: {', '.join(map(shorten, texts[:_SHOWN_NAMES]))}."
        )
    if empty:
        notes.append(
            f"{count_noun(len(empty), 'column')} without any number left out: {', '.join(map(shorten, empty[:_SHOWN_NAMES]))}."
        )
    left_out = {*texts, *empty}
    return [name for name in others if name not in left_out]


def _complete_rows(table: Table, names: Sequence[str], notes: list[str]) -> NDArray[np.bool_]:
    """Return which rows have a finite number in each column, and note how many have not."""
    finite = {name: np.isfinite(table.numbers[name]) for name in names}
    complete: NDArray[np.bool_] = np.all(list(finite.values()), axis=0)
    n_dropped = int(np.count_nonzero(~complete))
    if n_dropped == complete.size:
        worst = min(finite, key=lambda name: np.count_nonzero(finite[name]))
        n_missing = int(np.count_nonzero(~finite[worst]))
        raise DataError(
            f"No row of {table.source} has a number in every column that is used. "
            f"The column '{worst}' misses {n_missing} of {complete.size}; leave it out, or fill the gaps."
        )
    if n_dropped:
        notes.append(f"{count_noun(n_dropped, 'row')} of {complete.size} with missing or infinite values left out.")
    return complete


def count_noun(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or the plural.

    Examples:
        >>> count_noun(1, "row"), count_noun(1200, "row")
        ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
