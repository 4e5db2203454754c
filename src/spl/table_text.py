"""Tables that are text into columns: encoding, separator, header and numbers. What the columns are for is said elsewhere."""

import csv
import io
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from spl.data import MAX_COLUMNS
from spl.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

SNIFFED = ("", ".csv", ".txt", ".dat")  # the separator is read off the first line
TABBED = (".tsv", ".tab")
_SEPARATORS = (",", ";", "\t")
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # how a file may begin
_PEEK = 1 << 16  # bytes in which a file that is not text gives itself away
MAX_FILE_COLUMNS = 2 * MAX_COLUMNS

Columns = dict[
    int, NDArray[Any]
]  # place -> [N]: numbers, NaN where one is missing; else objects, None where one is missing


@dataclass(frozen=True, slots=True)
class TextFile:
    """The letters of a table that is text."""

    text: str
    source: str
    ending: str

    def open(self) -> TextIO:
        """Return a stream that begins at the first letter."""
        return io.StringIO(self.text, newline="")

    def separator(self) -> str | None:
        """Return the sign between two columns; None is any white space."""
        if self.ending in TABBED:
            return "\t"
        first = next((line for line in self.open() if line.strip()), "")
        plain = re.sub(r'"[^"]*"', "", first)
        best = max(_SEPARATORS, key=plain.count)
        if best in plain:
            return best
        return None if self.ending in (".txt", ".dat") and len(plain.split()) > 1 else ","


def decode(raw: bytes, source: str) -> str:
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


def read_text(file: TextFile) -> tuple[list[str], Columns]:
    """Return the names in the first line, and the columns below them."""
    separator = file.separator()
    with file.open() as stream:
        header = _read_header(stream, separator, file.source)
        columns = _read_plain_numbers(stream, separator, len(header))
    if columns is None:
        columns = _read_with_pandas(file, separator, len(header))
    if not any(column.size for column in columns.values()):
        raise DataError(f"{file.source} has column names, but no rows.")
    return header, columns


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


def _read_with_pandas(file: TextFile, separator: str | None, n_columns: int) -> Columns:
    columns = _parse(file, separator, n_columns, ".")
    if separator == ";" and _count_numbers(columns) < n_columns:  # 1,5 for 1.5
        with_comma = _parse(file, separator, n_columns, ",")
        columns = with_comma if _count_numbers(with_comma) > _count_numbers(columns) else columns
    return columns


def _count_numbers(columns: Columns) -> int:
    return sum(holds_numbers(column) for column in columns.values())


def _parse(file: TextFile, separator: str | None, n_columns: int, decimal: str) -> Columns:
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
    return columns_in(frame)


def _too_many_values(source: str, n_columns: int) -> DataError:
    return DataError(
        f"{source} has rows with more values than the {n_columns} column(s) of its first line. "
        "Each column needs a name, and text with the separator in it needs quotation marks."
    )


def columns_in(frame: "pd.DataFrame") -> Columns:
    """Return the columns by their places: numbers, among which true and false are 1 and 0, and all others as objects."""
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    return {
        place: frame[place].to_numpy(dtype=np.float64, na_value=np.nan)
        if is_numeric_dtype(frame[place].dtype) and not is_complex_dtype(frame[place].dtype)
        else frame[place].astype(object).where(frame[place].notna(), None).to_numpy()
        for place in range(frame.shape[1])
    }


def holds_numbers(column: NDArray[Any]) -> bool:
    """Return whether a column is one of numbers."""
    return column.dtype.kind == "f"
