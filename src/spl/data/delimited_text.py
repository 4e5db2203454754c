"""Text tables: encoding, separator, comments, and rows with the line each begins in.

`cells` and `columns` decide what the cells mean.
"""

import csv
import io
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from spl.data.cells import MissingMarks
from spl.data.columns import Column
from spl.data.table_content import FileContent, Row, RowSource, check_width, read_content
from spl.errors import DataError

SNIFFED = ("", ".csv", ".txt", ".dat")  # the first line shows the separator
TABBED = (".tsv", ".tab")
_SEPARATORS = (",", ";", "\t")
_BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # how a file may begin
_PEEK = 1 << 16  # bytes searched for signs that a file is not text
_COMMENT = "#"
_NO_COMMENT = re.compile(
    r"\s*#(?:n/a|na|div/0!|value!|ref!|name\?|num!|null!)", re.IGNORECASE
)  # missing values of spreadsheets
_BLANKS = re.compile(r'"((?:[^"]|"")*)"|(\S+)')  # cells separated by white space


def decode(raw: bytes, source: str) -> str:
    """Return the text: in the encoding that the first bytes name, else UTF-8, else Latin-1."""
    encoding = next((encoding for mark, encoding in _BYTE_ORDER_MARKS.items() if raw.startswith(mark)), None)
    if encoding is None and b"\0" in raw[:_PEEK]:
        raise DataError(
            f"{source} is not text. Save the table as CSV; if it is a Parquet or Excel file, name it .parquet or .xlsx."
        )
    try:
        return raw.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        if encoding is None:
            return raw.decode("latin-1")
    raise DataError(f"{source} begins like {encoding.upper()} text, but is not valid. Save it as UTF-8.")


def read_text(file: "TextFile", missing: MissingMarks) -> FileContent:
    """Return the content of a text file."""
    separator = file.separator()
    header = _read_header(file, separator)
    check_width(header.names, file.source)
    notes = [f"Column names are read from the comment in line {header.line}."] if header.is_comment else []
    plain = None if missing.numbers else _read_plain_numbers(file, separator, header)
    if plain is not None:
        columns = [Column(np.ascontiguousarray(numbers)) for numbers in plain.T]
        return FileContent(header.names, columns, _count_lines(file, header, len(plain)), notes)
    rows = partial(_data_rows, file, separator, header)
    return read_content(RowSource(file.source, header.names, rows, separator=separator), notes, missing)


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text table that is not split into cells yet."""

    text: str
    source: str
    ending: str

    def open(self) -> TextIO:
        """Return a stream from the beginning of the text."""
        return io.StringIO(self.text, newline="")

    def separator(self) -> str | None:
        """Return the separator of columns; None for white space."""
        if self.ending in TABBED:
            return "\t"
        first = next((line for line in self.open() if line.strip() and not _is_comment(line)), "")
        plain = re.sub(r'"[^"]*"', "", first)
        signs = _SEPARATORS if any(letter.isalpha() for letter in plain) else (";", "\t", ",")  # 1,5;2,5
        best = max(signs, key=plain.count) if signs is _SEPARATORS else next((s for s in signs if s in plain), ",")
        if best in plain:
            return best
        words = plain.split()
        has_blanks = len(words) > 1 and (self.ending in (".txt", ".dat") or all(map(is_number, words)))
        return None if has_blanks else ","


class _TextRows:
    """Iterates over the rows of a text file, skipping blank lines and collecting comments."""

    def __init__(self, file: TextFile, separator: str | None) -> None:
        self._file, self._separator = file, separator
        self.n_lines = 0  # read so far
        self.comments: list[tuple[int, str]] = []  # line and text
        self._begin = 0  # line in which the current row begins; 0 between rows

    def __iter__(self) -> Iterator[Row]:
        with self._file.open() as stream:
            lines = self._meaningful_lines(stream)
            rows = map(_split_at_blanks, lines) if self._separator is None else self._parse(lines)
            for cells in rows:
                row = Row(self._begin, cells)
                self._begin = 0
                if any(map(str.strip, cells)) or len(cells) > 1:
                    yield row

    def _meaningful_lines(self, stream: TextIO) -> Iterator[str]:
        """Yield lines, skipping blank ones and comments except inside a quoted cell."""
        for self.n_lines, line in enumerate(stream, start=1):
            if not self._begin:
                if not line.strip():
                    continue
                if _is_comment(line):
                    self.comments.append((self.n_lines, line.strip()))
                    continue
                self._begin = self.n_lines
            yield line

    def _parse(self, lines: Iterator[str]) -> Iterator[list[str]]:
        assert self._separator is not None
        try:
            yield from csv.reader(lines, delimiter=self._separator, skipinitialspace=True, strict=True)
        except csv.Error as error:
            source, place = self._file.source, f"line {self._begin or self.n_lines}"
            if "unexpected end" in str(error):
                raise DataError(f"{source} has a quotation mark in {place} that is never closed.") from None
            if "expected after" in str(error):
                raise DataError(
                    f"{source} has text after a closing quotation mark in {place}. Double the quotation mark."
                ) from None
            raise DataError(f"{source} cannot be read in {place}: {error}.") from None


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(_COMMENT) and not _NO_COMMENT.match(line)


def _split_at_blanks(line: str) -> list[str]:
    return [quoted.replace('""', '"') or word for quoted, word in _BLANKS.findall(line)]


def is_number(text: str) -> bool:
    """Return whether a text is a plain number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of the columns, and the line they end in; `is_comment` if that line is a comment above the numbers."""

    names: list[str]
    line: int
    is_comment: bool = False


def _read_header(file: TextFile, separator: str | None) -> _Header:
    """Return the names of the columns: the first row, or the comment above it if that row has numbers and as many cells."""
    rows = _TextRows(file, separator)
    first = next(iter(rows), None)
    if first is None:
        raise DataError(f"{file.source} is empty." if not rows.comments else f"{file.source} holds only comments.")
    names = [str(cell).strip() for cell in first.cells]
    if rows.comments and any(map(is_number, names)):
        line, text = rows.comments[-1]
        above = next(iter(_TextRows(TextFile(text.lstrip(_COMMENT), file.source, file.ending), separator)), None)
        if above and len(above.cells) == len(names):
            return _Header([str(cell).strip() for cell in above.cells], line, is_comment=True)
    return _Header(names, rows.n_lines)


def _read_plain_numbers(file: TextFile, separator: str | None, header: _Header) -> NDArray[np.float64] | None:
    """Return the rows below the header if they hold only numbers, else None; faster than cell by cell."""
    with file.open() as stream:
        for _ in range(header.line):
            next(stream)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a table without rows
                rows = np.loadtxt(stream, delimiter=separator, comments=None, ndmin=2, dtype=np.float64)
        except ValueError:
            return None
    return rows if rows.size and rows.shape[1] == len(header.names) else None


def _count_lines(file: TextFile, header: _Header, n_rows: int) -> NDArray[np.int64]:
    """Return the lines of the `n_rows` rows below the header, each of which takes one line."""
    with file.open() as stream:
        if sum(1 for _ in stream) == header.line + n_rows:
            return np.arange(n_rows) + header.line + 1
    with file.open() as stream:
        lines = [number for number, line in enumerate(stream, start=1) if number > header.line and line.strip()]
    return np.array(lines)


def _data_rows(file: TextFile, separator: str | None, header: _Header, comments: list[int]) -> Iterator[Row]:
    """Yield the rows below the header; append the lines of comments among them to `comments`."""
    rows = _TextRows(file, separator)
    yield from (row for row in rows if row.line > header.line)
    comments += [line for line, _ in rows.comments if line > header.line]
