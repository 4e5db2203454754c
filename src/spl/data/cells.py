"""Single cells, text or objects of Python: which are numbers, which mean that there is nothing, and which are units."""

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import islice
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from spl.data.decimals import COMMA, POINT, parse_number
from spl.data.timestamps import AmbiguousDate, read_instants

_NOTHING = frozenset({"na", "n/a", "#n/a", "#na", "nan", "-nan", "<na>", "nat", "null"})  # missing in any column
_DASHES = frozenset(
    {"-", "--", "---", "–", "—", ".", "..", "...", "?", "*", "none", "nil", "missing", "void", "unknown"}
)
_FAULTS = frozenset({"#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "1.#qnan", "-1.#ind", "1.#ind"})
_MISSING_NUMBERS = _NOTHING | _DASHES | _FAULTS  # missing among numbers; in text they may mean something
_ABSENT = ("NAType", "NaTType")  # what pandas calls missing
_LOOKED_AT = 1000  # texts of a column from which it is told whether there are numbers among them


class Missing:
    """What is read as missing besides the usual marks: texts, and numbers whatever way they are written.

    Examples:
        >>> marks = Missing(["bad", "-9999"])
        >>> marks.has("Bad", among_numbers=True), marks.has("-", among_numbers=True), marks.has("-", among_numbers=False)
        (True, True, False)
        >>> marks.numbers
        [-9999.0]
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        given = [text.strip().casefold() for text in texts]
        self.numbers = [number for number in map(plain_number, given) if number == number]
        self._any = _NOTHING | frozenset(given)
        self._among_numbers = _MISSING_NUMBERS | frozenset(given)

    def has(self, cell: object, *, among_numbers: bool) -> bool:
        """Return whether a cell of text means that there is nothing."""
        known = self._among_numbers if among_numbers else self._any
        return isinstance(cell, str) and cell.strip().casefold() in known

    def take_numbers(self, numbers: NDArray[np.float64]) -> list[tuple[int, object]]:
        """Replace numbers that mean that there is nothing by NaN; return their rows, and what stood there."""
        taken: list[tuple[int, object]] = []
        for number in self.numbers:
            rows = np.flatnonzero(numbers == number)
            numbers[rows] = np.nan
            taken += [(int(row), f"{number:g}") for row in rows]
        return taken


class Gathered:
    """The cells of a column as they come: those that are plain numbers, and all others by their rows."""

    def __init__(self) -> None:
        self._parts: list[NDArray[np.float64]] = []
        self.others: dict[int, object] = {}
        self.n_rows = 0
        self.has_durations = False  # which are numbers, too: seconds

    def add(self, cells: Sequence[object]) -> None:
        """Take further cells."""
        try:
            numbers: NDArray[np.float64] = np.array(cells, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array(list(map(plain_number, cells)), dtype=np.float64)
            self.has_durations |= any(isinstance(cell, dt.timedelta) for cell in cells)
            self.others |= {
                self.n_rows + place: cells[place]
                for place in np.flatnonzero(np.isnan(numbers)).tolist()
                if not is_empty(cells[place])
            }
        self._parts.append(numbers)
        self.n_rows += len(cells)

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The numbers [N]; NaN where a cell is missing or something else."""
        return np.concatenate(self._parts) if self._parts else np.empty(0)

    def without_first(self) -> "Gathered":
        """Return the same without the first row."""
        rest = Gathered()
        rest._parts = [self.numbers[1:]]
        rest.others = {row - 1: cell for row, cell in self.others.items() if row}
        rest.n_rows = self.n_rows - 1
        rest.has_durations = self.has_durations
        return rest


def plain_number(cell: object) -> float:
    """Return the number that a cell is as it stands; NaN if it is none."""
    try:
        if isinstance(cell, str | bytes | Decimal):
            return float(cell)
        if isinstance(cell, dt.timedelta):
            return cell.total_seconds() if cell == cell else np.nan
        return float(cell) if isinstance(cell, Real | np.number) and not isinstance(cell, complex) else np.nan
    except (ValueError, OverflowError, TypeError):
        return np.nan


def is_empty(cell: object) -> bool:
    """Return whether there is nothing in a cell."""
    if isinstance(cell, str):
        return not cell.strip() or cell.strip().casefold().lstrip("+-") == "nan"
    return cell is None or type(cell).__name__ in _ABSENT or (isinstance(cell, float | np.floating) and cell != cell)


def has_units(columns: Sequence[Gathered], missing: Missing) -> bool:
    """Return whether the first row names units: text where all below are numbers, and a number nowhere."""
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


def _is_numeric_below(column: Gathered, missing: Missing) -> bool:
    below = list(islice((cell for row, cell in column.others.items() if row), _LOOKED_AT))
    n_texts = sum(not _is_readable(cell, missing) for cell in below)
    n_marks = sum(missing.has(cell, among_numbers=True) for cell in below)
    n_numbers = int(np.count_nonzero(~np.isnan(column.numbers[1:]))) + len(below) - n_texts - n_marks
    return n_numbers > n_texts


def _is_readable(cell: object, missing: Missing) -> bool:
    """Return whether a cell that is no plain number is a number all the same, a date, or missing."""
    if not isinstance(cell, str):
        return True
    is_number = any(parse_number(cell, mark) is not None for mark in (POINT, COMMA))
    return is_number or missing.has(cell, among_numbers=True) or _is_date(cell)


def _is_date(cell: str) -> bool:
    try:
        return read_instants([cell]).n_found == 1
    except AmbiguousDate:
        return True
