"""What the cells of a column are together: numbers, dates, or text; and clear words for what is doubtful.

Files and tables in memory are taken apart by others, single cells are looked at in `cells`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.data.cells import Gathered, Missing, is_empty
from spl.data.decimals import COMMA, POINT, find_mark, needs_point, parse_number
from spl.data.timestamps import AmbiguousDate, read_instants, seconds_since
from spl.errors import DataError, count_noun, shorten, show_value

_TRUTHS = {"true": 1.0, "false": 0.0}
_LOOKED_AT = 1000  # texts of a column from which it is told how its numbers are written


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """What a column is: numbers, or else texts; and what is to be said about it when it is used."""

    numbers: NDArray[np.float64] | None  # [N], NaN where one is missing
    texts: NDArray[np.object_] | None = None  # [N], None where one is missing
    notes: tuple[str, ...] = ()
    problem: str | None = None  # why it cannot be read as numbers although most of it looks like numbers
    origin: int | None = None  # the instant from which dates and times are counted


class Reading(NamedTuple):
    """Where cells come from: how messages call a row, all cells of a column as they stand, and what helps to read them."""

    place: Callable[[int], str]
    missing: Missing
    remedy: str  # for a cell that is text
    raw: Callable[[int], Sequence[object]] = lambda _: ()
    separator: str | None = None  # of the columns, if they are text
    origins: Mapping[str, int] = MappingProxyType({})  # instants from which the dates of columns are counted


def read_columns(
    names: Sequence[str], gathered: Sequence[Gathered], reading: Reading
) -> tuple[list[Column], list[str]]:
    """Return what the columns are, and what is to be said about all of them together."""
    marks = _choose_marks(gathered, reading)
    written: list[str] = []
    columns = [
        _Reader(name, place, column, reading, marks[place], written).read()
        for place, (name, column) in enumerate(zip(names, gathered, strict=True))
    ]
    return columns, [f"Numbers with separators are read as they are written: {written[0]}."] if written else []


def _choose_marks(gathered: Sequence[Gathered], reading: Reading) -> list[str | None]:
    """Return the decimal mark of each column, None where it cannot be told. A file is written in one way, if it says which."""
    others = [_texts_in(column, reading.missing) for column in gathered]
    found = [find_mark(texts) if texts else POINT for texts in others]
    is_comma = COMMA in found
    for place, mark in enumerate(found):
        if mark is None or (is_comma and not others[place]):
            found[place] = find_mark(_texts_of(reading.raw(place), reading.missing))
    if None not in found:
        return found
    usual = {";": COMMA, ",": POINT}.get(reading.separator or "")
    if is_comma:
        usual = COMMA
    elif any(needs_point(_texts_of(reading.raw(place), reading.missing)) for place in range(len(found))):
        usual = POINT
    return [usual if mark is None else mark for mark in found]


def _texts_in(column: Gathered, missing: Missing) -> list[str]:
    """Return cells that are no plain numbers, but may be numbers that are written in another way."""
    return list(islice(_texts_of(column.others.values(), missing), _LOOKED_AT))


def _texts_of(cells: Iterable[object], missing: Missing) -> Iterator[str]:
    """Yield the cells that are text and mean something."""
    texts = (cell for cell in cells if isinstance(cell, str) and not is_empty(cell))
    return (text for text in texts if not missing.has(text, among_numbers=True))


def note_missing(name: str, marked: Sequence[tuple[int, object]], reading: Reading) -> tuple[str, ...]:
    """Return what is said about cells of a column that mean that there is nothing: their rows, and what stands there."""
    if not marked:
        return ()
    cells = "1 cell is" if len(marked) == 1 else f"{len(marked):,} cells are"
    first = "" if len(marked) == 1 else "the first: "
    return (f"Column '{name}': {cells} read as missing ({first}{show_cell(*min(marked, key=_row_of), reading)}).",)


def note_durations(name: str) -> str:
    """Return what is said about a column of durations."""
    return f"Column '{name}' holds durations, read in seconds."


def show_cell(row: int, cell: object, reading: Reading) -> str:
    """Return a cell and where it is, for people."""
    return f"{reading.place(row)}: {show_value(cell.strip() if isinstance(cell, str) else cell)}"


def _row_of(marked: tuple[int, object]) -> int:
    return marked[0]


@dataclass(slots=True)
class _Reader:
    """One column on its way from cells to numbers."""

    name: str
    place: int
    cells: Gathered
    reading: Reading
    mark: str | None
    written: list[str]  # examples of numbers with separators, for all columns

    def read(self) -> Column:
        """Return what the column is."""
        numbers, others = self.cells.numbers, dict(self.cells.others)
        if self.mark == COMMA:
            numbers, others = self._gather_again()
        marked = self._take_missing(numbers, others)
        notes = note_missing(self.name, marked, self.reading)
        if self.cells.has_durations:
            notes = (*notes, note_durations(self.name))
        if not others:
            return Column(numbers, notes=notes)
        n_plain = int(np.count_nonzero(~np.isnan(numbers)))
        if n_plain == 0:
            if all(isinstance(cell, str) and cell.strip().casefold() in _TRUTHS for cell in others.values()):
                self._put(numbers, {row: _TRUTHS[str(cell).strip().casefold()] for row, cell in others.items()}, others)
                return Column(numbers, notes=notes)
            dates = self._read_dates(numbers, others, notes)
            if dates is not None:
                return dates
        self._read_written(numbers, others)
        if not others:
            return Column(numbers, notes=notes)
        return self._text(numbers, others)

    def _gather_again(self) -> tuple[NDArray[np.float64], dict[int, object]]:
        """Read all cells once more with a comma before the decimals: 1.234 is then more than a thousand."""
        raw = self.reading.raw(self.place)
        turned = Gathered()  # most cells are plain numbers but for the comma
        turned.add(
            [cell.replace(COMMA, "x" if POINT in cell else POINT) if isinstance(cell, str) else cell for cell in raw]
        )
        numbers, others = turned.numbers, {row: raw[row] for row in turned.others}
        grouped = [row for row, cell in enumerate(raw) if isinstance(cell, str) and POINT in cell]
        for row in {*others, *grouped}:
            number = parse_number(str(raw[row]), COMMA) if isinstance(raw[row], str) else None
            numbers[row] = np.nan if number is None else number
            if number is None:
                others[row] = raw[row]
            else:
                others.pop(row, None)
        changed = (row for row, cell in enumerate(raw) if isinstance(cell, str) and (COMMA in cell or POINT in cell))
        first = next((row for row in changed if not np.isnan(numbers[row])), None)
        if first is not None:
            self._show_written(first, raw[first], float(numbers[first]))
        return numbers, others

    def _take_missing(self, numbers: NDArray[np.float64], others: dict[int, object]) -> list[tuple[int, object]]:
        """Take cells that mean that there is nothing out of the others and out of the numbers; return them with their rows."""
        marked = [(row, cell) for row, cell in others.items() if self.reading.missing.has(cell, among_numbers=True)]
        for row, _ in marked:
            del others[row]
        return marked + self.reading.missing.take_numbers(numbers)

    def _read_dates(
        self, numbers: NDArray[np.float64], others: dict[int, object], notes: tuple[str, ...]
    ) -> Column | None:
        """Return the column in seconds, if most of its cells are dates or times."""
        rows = list(others)
        try:
            found = read_instants(list(others.values()))
        except AmbiguousDate as error:
            row = rows[error.place]
            return self._doubt(
                f"can be read in two ways ({self._show(row, others[row])}): day first or month first. "
                "Write dates as 2024-12-31."
            )
        if 2 * found.n_found <= len(rows):
            return None
        if found.n_found < len(rows):
            strays = {row: others[row] for row, each in zip(rows, found.nanoseconds, strict=True) if each is None}
            return self._stray(strays, len(rows))
        first = found.nanoseconds[0]
        assert first is not None
        origin = self.reading.origins.get(self.name, first)
        numbers[rows] = seconds_since(found.nanoseconds, origin)
        how = " (hours:minutes)" if found.kind == "time of day" else ""
        note = f"Column '{self.name}' is in seconds since {shorten(str(others[rows[0]]).strip())}{how}."
        return Column(numbers, notes=(*notes, note), origin=origin)

    def _read_written(self, numbers: NDArray[np.float64], others: dict[int, object]) -> None:
        """Read numbers with separators of thousands."""
        read = {row: parse_number(cell, POINT) for row, cell in others.items() if isinstance(cell, str)}
        numbers_at = {row: number for row, number in read.items() if number is not None}
        if numbers_at and self.mark is not None:
            first = min(numbers_at)
            self._show_written(first, others[first], numbers_at[first])
            self._put(numbers, numbers_at, others)

    def _put(self, numbers: NDArray[np.float64], found: dict[int, float], others: dict[int, object]) -> None:
        for row, number in found.items():
            numbers[row] = number
            del others[row]

    def _text(self, numbers: NDArray[np.float64], others: dict[int, object]) -> Column:
        """Return a column with text in it: a mistake in one of numbers, or else one of text."""
        n_numbers = int(np.count_nonzero(~np.isnan(numbers)))
        row, cell = next(iter(others.items()))
        if self.mark is None and isinstance(cell, str) and parse_number(cell) is not None:
            as_point, as_comma = (f"{parse_number(cell, mark):.15g}" for mark in (POINT, COMMA))
            return self._doubt(
                f"can be read in two ways ({self._show(row, cell)} is {as_point} or {as_comma}). "
                "Write numbers without separators of thousands."
            )
        if n_numbers > len(others):
            return self._stray(others, n_numbers + len(others))
        if not n_numbers:
            return Column(None, self._raw_texts())
        note = (
            f"Column '{self.name}' is text: only {n_numbers:,} of {n_numbers + len(others):,} cells are numbers "
            f"({self._show(row, cell)} is not)."
        )
        return Column(None, self._raw_texts(), notes=(note,))

    def _stray(self, strays: dict[int, object], n_cells: int) -> Column:
        row, cell = next(iter(strays.items()))
        what = "text" if isinstance(cell, str) else "something that is no number"
        return self._doubt(
            f"has {what} in {len(strays):,} of {n_cells:,} cells ({self._show(row, cell)}). {self.reading.remedy}"
        )

    def _doubt(self, problem: str) -> Column:
        return Column(None, self._raw_texts(), problem=f"Column '{self.name}' {problem}")

    def _raw_texts(self) -> NDArray[np.object_]:
        missing = self.reading.missing
        texts: NDArray[np.object_] = np.empty(self.cells.n_rows, dtype=object)
        texts[:] = [
            None if is_empty(cell) or missing.has(cell, among_numbers=False) else cell
            for cell in self.reading.raw(self.place)
        ]
        return texts

    def _show(self, row: int, cell: object) -> str:
        return show_cell(row, cell, self.reading)

    def _show_written(self, row: int, cell: object, number: float) -> None:
        self.written.append(f"{self._show(row, cell)} is {number:.15g}")


# ---- rows ----------------------------------------------------------------------------------------


def find_complete_rows(
    columns: Mapping[str, NDArray[np.float64]], source: str, place: Callable[[int], str]
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows have a finite number in each column, and what is said about the others; an error if there is none.

    Examples:
        >>> find_complete_rows({"column 'a'": np.array([1.0, np.nan])}, "the data", lambda row: f"row {row}")[1]
        ['1 row of 2 with missing or infinite values left out (row 1).']
    """
    finite = {name: np.isfinite(values) for name, values in columns.items()}
    complete: NDArray[np.bool_] = np.all(list(finite.values()), axis=0)
    n_dropped = int(np.count_nonzero(~complete))
    if n_dropped and n_dropped == complete.size:
        worst = min(finite, key=lambda name: np.count_nonzero(finite[name]))
        n_missing = int(np.count_nonzero(~finite[worst]))
        raise DataError(
            f"No row of {source} has a number in every column that is used. "
            f"The {worst} has {n_missing:,} missing values out of {complete.size:,}; leave it out, or fill the gaps."
        )
    if not n_dropped:
        return complete, []
    first = "" if n_dropped == 1 else "the first: "
    rows = f"{count_noun(n_dropped, 'row')} of {complete.size:,}"
    return complete, [f"{rows} with missing or infinite values left out ({first}{place(int(np.argmin(complete)))})."]
