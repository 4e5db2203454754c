"""Single cells, as text or Python objects: numbers, missing values, and units below the header."""

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import islice
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from spl.data.decimals import COMMA, POINT, SAMPLED_CELLS, parse_number
from spl.data.timestamps import AmbiguousDate, read_instants

_ALWAYS_MISSING = frozenset(
    {"na", "n/a", "#n/a", "#na", "nan", "-nan", "<na>", "nat", "null"}
)  # missing in every column
_PLACEHOLDERS = frozenset(
    {"-", "--", "---", "–", "—", ".", "..", "...", "?", "*", "none", "nil", "missing", "void", "unknown"}
)
_SPREADSHEET_ERRORS = frozenset(
    {"#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "1.#qnan", "-1.#ind", "1.#ind"}
)
_MISSING_AMONG_NUMBERS = (
    _ALWAYS_MISSING | _PLACEHOLDERS | _SPREADSHEET_ERRORS
)  # missing among numbers; in text they may mean something
_PANDAS_MISSING = ("NAType", "NaTType")  # types of pandas' missing values


class MissingMarks:
    """Texts and numbers that mean a missing value: the usual ones such as `NA`, and those the user names.

    Examples:
        >>> missing = MissingMarks(["bad", "-9999"])
        >>> missing.has("Bad", among_numbers=True)
        True
        >>> missing.has("-", among_numbers=True), missing.has("-", among_numbers=False)
        (True, False)
        >>> missing.numbers
        [-9999.0]
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        given = [text.strip().casefold() for text in texts]
        self.numbers = [number for number in map(number_or_nan, given) if number == number]
        self._any = _ALWAYS_MISSING | frozenset(given)
        self._among_numbers = _MISSING_AMONG_NUMBERS | frozenset(given)

    def has(self, cell: object, *, among_numbers: bool) -> bool:
        """Return whether a cell is text that means a missing value."""
        known = self._among_numbers if among_numbers else self._any
        return isinstance(cell, str) and cell.strip().casefold() in known

    def blank_out(self, numbers: NDArray[np.float64]) -> list[tuple[int, object]]:
        """Replace numbers that mean a missing value by NaN; return their rows and what they were."""
        replaced: list[tuple[int, object]] = []
        for number in self.numbers:
            rows = np.flatnonzero(numbers == number)
            numbers[rows] = np.nan
            replaced += [(int(row), f"{number:g}") for row in rows]
        return replaced


class ColumnCells:
    """The cells of a column: plain numbers in an array, and all others by their rows."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.float64]] = []
        self.others: dict[int, object] = {}
        self.n_rows = 0
        self.has_durations = False  # durations count as numbers, in seconds
        self._are_booleans = True

    def add(self, cells: Sequence[object]) -> None:
        """Append cells."""
        try:
            numbers: NDArray[np.float64] = np.array(cells, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array(list(map(number_or_nan, cells)), dtype=np.float64)
            self.has_durations |= any(isinstance(cell, dt.timedelta) for cell in cells)
            self.others |= {
                self.n_rows + index: cells[index]
                for index in np.flatnonzero(np.isnan(numbers)).tolist()
                if not is_empty(cells[index])
            }
        self._are_booleans = self._are_booleans and all(
            is_empty(cell) or isinstance(cell, bool | np.bool_) for cell in cells
        )
        self._parts.append(numbers)
        self.n_rows += len(cells)

    @property
    def are_booleans(self) -> bool:
        """Whether all cells are true or false, except for empty ones."""
        return self._are_booleans and bool(np.isfinite(self.numbers).any())

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The numbers [N]; NaN where a cell is missing or something else."""
        return np.concatenate(self._parts) if self._parts else np.empty(0)

    def without_first(self) -> "ColumnCells":
        """Return the cells below the first row."""
        rest = ColumnCells()
        rest._parts = [self.numbers[1:]]
        rest.others = {row - 1: cell for row, cell in self.others.items() if row}
        rest.n_rows = self.n_rows - 1
        rest.has_durations = self.has_durations
        rest._are_booleans = self._are_booleans
        return rest


def number_or_nan(cell: object) -> float:
    """Return a cell as a number; NaN if it is not a plain number."""
    try:
        if isinstance(cell, str | bytes | Decimal):
            return float(cell)
        if isinstance(cell, dt.timedelta):
            return cell.total_seconds() if cell == cell else np.nan
        return float(cell) if isinstance(cell, Real | np.number) and not isinstance(cell, complex) else np.nan
    except (ValueError, OverflowError, TypeError):
        return np.nan


def is_empty(cell: object) -> bool:
    """Return whether a cell is empty or NaN."""
    if isinstance(cell, str):
        return not cell.strip() or cell.strip().casefold().lstrip("+-") == "nan"
    return (
        cell is None
        or type(cell).__name__ in _PANDAS_MISSING
        or (isinstance(cell, float | np.floating) and cell != cell)
    )


def starts_with_units(columns: Sequence[ColumnCells], missing: MissingMarks) -> bool:
    """Return whether the first row holds units: text in columns of numbers, and no number anywhere."""
    firsts = [column.others.get(0) for column in columns if column.n_rows > 1 and _is_numeric_below(column, missing)]
    are_numbers = [
        not np.isnan(column.numbers[0])
        for column in columns
        if column.n_rows > 1 and _is_numeric_below(column, missing)
    ]
    texts = [first for first in firsts if isinstance(first, str) and not _is_readable(first, missing)]
    has_numbers = any(are_numbers) or any(
        first is not None and not missing.has(first, among_numbers=True) and _is_readable(first, missing)
        for first in firsts
    )
    return bool(texts) and 2 * len(texts) >= len(firsts) and not has_numbers


def _is_numeric_below(column: ColumnCells, missing: MissingMarks) -> bool:
    below = list(islice((cell for row, cell in column.others.items() if row), SAMPLED_CELLS))
    n_texts = sum(not _is_readable(cell, missing) for cell in below)
    n_marks = sum(missing.has(cell, among_numbers=True) for cell in below)
    n_numbers = int(np.count_nonzero(~np.isnan(column.numbers[1:]))) + len(below) - n_texts - n_marks
    return n_numbers > n_texts


def _is_readable(cell: object, missing: MissingMarks) -> bool:
    """Return whether a cell that is not a plain number can be read as a number, a date, or missing."""
    if not isinstance(cell, str):
        return True
    is_number = any(parse_number(cell, mark) is not None for mark in (POINT, COMMA))
    return is_number or missing.has(cell, among_numbers=True) or _is_date(cell)


def _is_date(cell: str) -> bool:
    try:
        return read_instants([cell]).n_found == 1
    except AmbiguousDate:
        return True
