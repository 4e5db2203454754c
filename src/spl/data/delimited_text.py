"""Tables that are text: encoding, separator, comments and rows, each with the line of the file it begins in.

What the cells are is said in `cells`.
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

from spl.data.cells import Missing
from spl.data.columns import Column
from spl.data.table_content import Content, Row, RowSource, check_width, read_content
from spl.errors import DataError

SNIFFED = ("", ".csv", ".txt", ".dat")  # the separator is read off the first line
TABBED = (".tsv", ".tab")
_SEPARATORS = (",", ";", "\t")
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # how a file may begin
_PEEK = 1 << 16  # bytes in which a file that is not text gives itself away
_COMMENT = "#"
_NO_COMMENT = re.compile(
    r"\s*#(?:n/a|na|div/0!|value!|ref!|name\?|num!|null!)", re.IGNORECASE
)  # missing, of spreadsheets
_BLANKS = re.compile(r'"((?:[^"]|"")*)"|(\S+)')  # cells with white space between them


def decode(raw: bytes, source: str) -> str:
    """Return the letters: as the first bytes say, else UTF-8, else as on old Windows machines."""
    encoding = next((encoding for mark, encoding in _MARKS.items() if raw.startswith(mark)), None)
    if encoding is None and b"\0" in raw[:_PEEK]:
        raise DataError(
            f"{source} is not text. Save the table as CSV, or let its name end in .parquet or .xlsx if it is such a file."
        )
    try:
        return raw.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        if encoding is None:
            return raw.decode("latin-1")
    raise DataError(f"{source} begins like text in {encoding.upper()}, but is none. Save it as UTF-8.")


def read_text(file: "TextFile", missing: Missing) -> Content:
    """Return what a text file holds."""
    separator = file.separator()
    header = _read_header(file, separator)
    check_width(header.names, file.source)
    notes = [f"Column names are read from the comment in line {header.line}."] if header.is_comment else []
    plain = None if missing.numbers else _read_plain_numbers(file, separator, header)
    if plain is not None:
        columns = [Column(np.ascontiguousarray(numbers)) for numbers in plain.T]
        return Content(header.names, columns, _count_lines(file, header, len(plain)), notes)
    rows = partial(_data_rows, file, separator, header)
    return read_content(RowSource(file.source, header.names, rows, separator=separator), notes, missing)


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
    """The rows of a text file one after the other, without blank lines and comments, which it counts."""

    def __init__(self, file: TextFile, separator: str | None) -> None:
        self._file, self._separator = file, separator
        self.n_lines = 0  # that were read
        self.comments: list[tuple[int, str]] = []  # line and text
        self._begin = 0  # the line in which the present row begins; 0 between rows

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
        """Yield lines without blank ones and comments, unless they are in the midst of a row: in quotation marks."""
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
                    f"{source} has text behind a closing quotation mark in {place}. Double the mark."
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
    """The names of the columns, and the lines they end in; `is_comment` if they stand in a comment above the numbers."""

    names: list[str]
    line: int
    is_comment: bool = False


def _read_header(file: TextFile, separator: str | None) -> _Header:
    """Return the names of the columns: the first row, or the comment above it if the first row has numbers and as many cells."""
    rows = _TextRows(file, separator)
    first = next(iter(rows), None)
    if first is None:
        raise DataError(f"{file.source} is empty." if not rows.comments else f"{file.source} holds comments only.")
    names = [str(cell).strip() for cell in first.cells]
    if rows.comments and any(map(is_number, names)):
        line, text = rows.comments[-1]
        above = next(iter(_TextRows(TextFile(text.lstrip(_COMMENT), file.source, file.ending), separator)), None)
        if above and len(above.cells) == len(names):
            return _Header([str(cell).strip() for cell in above.cells], line, is_comment=True)
    return _Header(names, rows.n_lines)


def _read_plain_numbers(file: TextFile, separator: str | None, header: _Header) -> NDArray[np.float64] | None:
    """Return the rows below the header if they are nothing but numbers, else None; faster than cell by cell."""
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
    """Return the lines of rows below the header, of which there are so many, where no row takes two lines."""
    with file.open() as stream:
        if sum(1 for _ in stream) == header.line + n_rows:
            return np.arange(n_rows) + header.line + 1
    with file.open() as stream:
        lines = [number for number, line in enumerate(stream, start=1) if number > header.line and line.strip()]
    return np.array(lines)


def _data_rows(file: TextFile, separator: str | None, header: _Header, comments: list[int]) -> Iterator[Row]:
    """Yield the rows below the header; the lines of comments among them are put into `comments`."""
    rows = _TextRows(file, separator)
    yield from (row for row in rows if row.line > header.line)
    comments += [line for line, _ in rows.comments if line > header.line]
