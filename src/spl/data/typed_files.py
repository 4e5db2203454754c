"""Data files whose cells have types: Parquet and Excel. Each needs an optional package."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from spl.data.cells import MissingMarks
from spl.data.columns import ReadingContext
from spl.data.frames import read_frame
from spl.data.table_content import CELL_REMEDY, FileContent, Row, RowSource, check_width, is_filled, read_content
from spl.errors import DataError, shorten

PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm")


def read_parquet(raw: bytes, source: str, missing: MissingMarks) -> FileContent:
    """Return the content of a Parquet file; rows are counted from 1."""
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(raw))
    except ImportError:
        raise DataError(
            f'Reading {source} needs pyarrow. Install it with: pip install "symbolic-physics-learner[parquet]"'
        ) from None
    except (ValueError, OSError, NotImplementedError, LookupError, TypeError, AttributeError) as error:
        raise DataError(f"{source} cannot be read as Parquet: {_first_line(error)}") from None
    header = [str(name) for name in frame.columns]
    check_width(header, source)
    if not len(frame):
        raise DataError(f"{source} has no rows.")
    reading = ReadingContext(place=lambda row: f"row {row + 1}", missing=missing, remedy=CELL_REMEDY)
    columns, notes = read_frame(frame, header, reading)
    return FileContent(header, columns, np.arange(len(frame)) + 1, notes, "row")


def read_excel(raw: bytes, source: str, missing: MissingMarks, *, largest: int) -> FileContent:
    """Return the content of a workbook's first sheet; `largest` bounds its unzipped bytes. Rows are counted as in the sheet."""
    title, n_sheets, rows = _open_sheet(raw, source, largest)
    notes = [f"Only the first of {n_sheets} sheets is read: '{shorten(title)}'."] if n_sheets > 1 else []
    first = next(_filled_rows(rows, 0, []), None)
    if first is None:
        raise DataError(f"The first sheet of {source} is empty.")
    width = max(place + 1 for place, cell in enumerate(first.cells) if is_filled(cell))
    header = ["" if cell is None else str(cell).strip() for cell in first.cells[:width]]

    def below(comments: list[int]) -> Iterator[Row]:
        return _filled_rows(rows, first.line, comments)

    return read_content(RowSource(source, header, below, line_word="row"), notes, missing)


def _filled_rows(rows: list[tuple[Any, ...]], start: int, comments: list[int]) -> Iterator[Row]:
    """Yield the rows from `start` that are not empty; append the row numbers of comments to `comments`."""
    for number, cells in enumerate(rows[start:], start=start + 1):
        filled = [cell for cell in cells if is_filled(cell)]
        if len(filled) == 1 and str(filled[0]).lstrip().startswith("#"):
            comments.append(number)
        elif filled:
            yield Row(number, cells)


def _open_sheet(raw: bytes, source: str, largest: int) -> tuple[str, int, list[tuple[Any, ...]]]:
    """Return the name of the first sheet, the number of sheets, and the rows of the first."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DataError(
            f'Reading {source} needs openpyxl. Install it with: pip install "symbolic-physics-learner[excel]"'
        ) from None
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size <= largest:
            book = load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            return sheet.title, len(book.worksheets), list(sheet.iter_rows(values_only=True))
    except Exception as error:  # openpyxl and its XML parser raise nearly anything for a damaged workbook
        raise DataError(f"{source} cannot be read as an Excel workbook: {shorten(_first_line(error), 200)}") from None
    raise DataError(
        f"{source} would take {size / 1e6:.0f} MB when unzipped, too much for a workbook of its size. Save it as CSV."
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
