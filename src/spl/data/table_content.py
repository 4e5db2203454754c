"""The content of a data file of any format: names, columns, and the line of each row. Turns rows of cells into columns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.data.cells import ColumnCells, MissingMarks, starts_with_units
from spl.data.columns import Column, ReadingContext, read_columns
from spl.data.dataset import MAX_COLUMNS
from spl.errors import DataError, count_noun, shorten

CELL_REMEDY = "Fix the cell, or pass --missing to treat it as missing."
MAX_FILE_COLUMNS = 2 * MAX_COLUMNS
_CHUNK_ROWS = 4096  # rows read at once
_SHOWN_UNITS = 6  # that a note lists


class Row(NamedTuple):
    """The cells of one row, and the line of the file it begins in, counted from 1."""

    line: int
    cells: Sequence[object]


class FileContent(NamedTuple):
    """What a file holds."""

    header: list[str]
    columns: Sequence[Column]
    lines: NDArray[np.int64]  # [N]
    notes: Sequence[str] = ()
    line_word: str = "line"


@dataclass(frozen=True, slots=True)
class RowSource:
    """Where rows come from: each call of `rows` yields all of them, and appends the lines of comments to its argument."""

    source: str
    header: list[str]
    rows: Callable[[list[int]], Iterable[Row]]
    line_word: str = "line"
    separator: str | None = None


def read_content(given: RowSource, notes: list[str], missing: MissingMarks) -> FileContent:
    """Return the content of a file from its rows; a first row of units is left out."""
    n_columns = len(given.header)
    check_width(given.header, given.source)
    comments: list[int] = []
    lines: list[int] = []
    gathered = [ColumnCells() for _ in given.header]
    for rows in _chunks(given.rows(comments)):
        for row in rows:
            _check_length(row, given)
        lines += [row.line for row in rows]
        padded = ([*row.cells[:n_columns], *[None] * (n_columns - len(row.cells))] for row in rows)
        for column, cells in zip(gathered, zip(*padded, strict=True), strict=True):
            column.add(cells)
    if not lines:
        raise DataError(f"{given.source} has column names, but no rows.")
    notes = [*notes, *_note_comments(comments, given.line_word)]
    if starts_with_units(gathered, missing):
        notes.append(_note_units(f"{given.line_word} {lines[0]}", [column.others.get(0) for column in gathered]))
        gathered = [column.without_first() for column in gathered]
        del lines[0]

    @cache
    def raw_of(indices: tuple[int, ...]) -> dict[int, list[object]]:
        cells: dict[int, list[object]] = {index: [] for index in indices}
        for row in given.rows([]):
            if row.line >= lines[0]:
                for index in indices:
                    cells[index].append(row.cells[index] if index < len(row.cells) else None)
        return cells

    def raw(index: int) -> list[object]:
        unclear = tuple(k for k, column in enumerate(gathered) if column.others)  # most likely needed next
        return raw_of(unclear if index in unclear else (index,))[index]

    reading = ReadingContext(
        place=lambda row: f"{given.line_word} {lines[row]}",
        raw=raw,
        missing=missing,
        remedy=CELL_REMEDY,
        separator=given.separator,
    )
    columns, written = read_columns(given.header, gathered, reading)
    return FileContent(given.header, columns, np.array(lines), [*notes, *written], given.line_word)


def check_width(header: Sequence[str], source: str) -> None:
    """Raise a clear error if a file has too many columns."""
    if len(header) > MAX_FILE_COLUMNS:
        raise DataError(
            f"{source} has {len(header)} columns in its first line; at most {MAX_FILE_COLUMNS} are allowed. "
            "Save only those that you need."
        )


def is_filled(cell: object) -> bool:
    """Return whether a cell is not empty."""
    return bool(cell.strip()) if isinstance(cell, str) else cell is not None


def _check_length(row: Row, given: RowSource) -> None:
    n_columns = len(given.header)
    if len(row.cells) > n_columns and any(map(is_filled, row.cells[n_columns:])):
        raise DataError(
            f"{given.source} has {len(row.cells)} values in {given.line_word} {row.line}, but {n_columns} column name(s). "
            "Each column needs a name, and text with the separator in it needs quotation marks."
        )


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    source = iter(rows)
    while chunk := list(islice(source, _CHUNK_ROWS)):
        yield chunk


def _note_comments(lines: Sequence[int], line_word: str) -> list[str]:
    if not lines:
        return []
    first = "" if len(lines) == 1 else "the first: "
    return [f"{count_noun(len(lines), 'comment')} among the rows left out ({first}{line_word} {lines[0]})."]


def _note_units(place: str, units: Sequence[object]) -> str:
    shown = [shorten(str(unit).strip()) for unit in units if unit is not None]
    more = ", ..." if len(shown) > _SHOWN_UNITS else ""
    return f"{place.capitalize()} is read as units, not as data: {', '.join(shown[:_SHOWN_UNITS])}{more}."
