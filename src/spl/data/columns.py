"""From cells to columns: decide whether a column holds numbers, dates or text, and name what is ambiguous.

Other modules split files and frames into cells; `cells` looks at single cells.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.data.cells import ColumnCells, MissingMarks, is_empty
from spl.data.decimals import COMMA, POINT, SAMPLED_CELLS, find_decimal_mark, needs_point, parse_number
from spl.data.timestamps import AmbiguousDate, read_instants, seconds_since
from spl.errors import DataError, count_noun, shorten, show_value

_TRUTHS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column of numbers or of texts, with notes for whoever uses it."""

    numbers: NDArray[np.float64] | None  # [N], NaN where missing
    texts: NDArray[np.object_] | None = None  # [N], None where missing
    notes: tuple[str, ...] = ()
    problem: str | None = None  # why a column that looks like numbers cannot be read as numbers
    origin: int | None = None  # the instant that dates and times are counted from
    is_boolean: bool = False  # numbers that stand for true and false


class ReadingContext(NamedTuple):
    """What the readers of columns know about the source."""

    place: Callable[[int], str]  # the name of a row in messages
    missing: MissingMarks
    remedy: str  # for a stray cell of text
    raw: Callable[[int], Sequence[object]] = lambda _: ()  # all cells of a column, unchanged
    separator: str | None = None  # between columns, if the source is text
    origins: Mapping[str, int] = MappingProxyType({})  # column -> instant that its dates are counted from


def read_columns(
    names: Sequence[str], gathered: Sequence[ColumnCells], reading: ReadingContext
) -> tuple[list[Column], list[str]]:
    """Return the columns, and notes that concern all of them."""
    decimal_marks = _choose_decimal_marks(gathered, reading)
    examples: list[str] = []
    columns = [
        _ColumnReader(name, index, column, reading, decimal_marks[index], examples).read()
        for index, (name, column) in enumerate(zip(names, gathered, strict=True))
    ]
    return columns, [f"Numbers with separators: {examples[0]}."] if examples else []


def _choose_decimal_marks(gathered: Sequence[ColumnCells], reading: ReadingContext) -> list[str | None]:
    """Return the decimal mark of each column; None where it is ambiguous. One clear column decides for the whole file."""
    others = [_texts_in(column, reading.missing) for column in gathered]
    found = [find_decimal_mark(texts) if texts else POINT for texts in others]
    is_comma = COMMA in found
    for index, mark in enumerate(found):
        if mark is None or (is_comma and not others[index]):
            found[index] = find_decimal_mark(_texts_of(reading.raw(index), reading.missing))
    if None not in found:
        return found
    usual = {";": COMMA, ",": POINT}.get(reading.separator or "")
    if is_comma:
        usual = COMMA
    elif any(needs_point(_texts_of(reading.raw(index), reading.missing)) for index in range(len(found))):
        usual = POINT
    return [usual if mark is None else mark for mark in found]


def _texts_in(column: ColumnCells, missing: MissingMarks) -> list[str]:
    """Return cells that are not plain numbers, but may be numbers with separators."""
    return list(islice(_texts_of(column.others.values(), missing), SAMPLED_CELLS))


def _texts_of(cells: Iterable[object], missing: MissingMarks) -> Iterator[str]:
    """Yield the cells that are text and not missing."""
    texts = (cell for cell in cells if isinstance(cell, str) and not is_empty(cell))
    return (text for text in texts if not missing.has(text, among_numbers=True))


def note_missing(name: str, blanked: Sequence[tuple[int, object]], reading: ReadingContext) -> tuple[str, ...]:
    """Return a note on cells that are read as missing, given their rows and contents; nothing if there are none."""
    if not blanked:
        return ()
    cells = "1 cell is" if len(blanked) == 1 else f"{len(blanked):,} cells are"
    first = "" if len(blanked) == 1 else "the first: "
    return (f"Column '{name}': {cells} read as missing ({first}{show_cell(*min(blanked, key=_row_of), reading)}).",)


def note_durations(name: str) -> str:
    """Return the note on a column of durations."""
    return f"Column '{name}' holds durations, read in seconds."


def show_cell(row: int, cell: object, reading: ReadingContext) -> str:
    """Return a cell and its place, for messages."""
    return f"{reading.place(row)}: {show_value(cell.strip() if isinstance(cell, str) else cell)}"


def _row_of(blanked: tuple[int, object]) -> int:
    return blanked[0]


@dataclass(slots=True)
class _ColumnReader:
    """Reads one column from its cells."""

    name: str
    index: int
    cells: ColumnCells
    reading: ReadingContext
    decimal_mark: str | None
    examples: list[str]  # numbers with separators and how they are read; shared by all columns

    def read(self) -> Column:
        """Return the column."""
        numbers, others = self.cells.numbers, dict(self.cells.others)
        if self.decimal_mark == COMMA:
            numbers, others = self._read_with_comma()
        blanked = self._blank_out_missing(numbers, others)
        notes = note_missing(self.name, blanked, self.reading)
        if self.cells.has_durations:
            notes = (*notes, note_durations(self.name))
        if not others:
            return Column(numbers, notes=notes, is_boolean=self.cells.are_booleans)
        n_plain = int(np.count_nonzero(~np.isnan(numbers)))
        if n_plain == 0:
            if all(isinstance(cell, str) and cell.strip().casefold() in _TRUTHS for cell in others.values()):
                self._put(numbers, {row: _TRUTHS[str(cell).strip().casefold()] for row, cell in others.items()}, others)
                return Column(numbers, notes=notes, is_boolean=True)
            dates = self._read_dates(numbers, others, notes)
            if dates is not None:
                return dates
        self._read_with_separators(numbers, others)
        if not others:
            return Column(numbers, notes=notes)
        return self._read_texts(numbers, others)

    def _read_with_comma(self) -> tuple[NDArray[np.float64], dict[int, object]]:
        """Read all cells again with a decimal comma: 1.234 then means one thousand two hundred thirty-four."""
        raw = self.reading.raw(self.index)
        with_points = ColumnCells()  # most cells are plain numbers except for the comma
        with_points.add(
            [cell.replace(COMMA, "x" if POINT in cell else POINT) if isinstance(cell, str) else cell for cell in raw]
        )
        numbers, others = with_points.numbers, {row: raw[row] for row in with_points.others}
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
            self._add_example(first, raw[first], float(numbers[first]))
        return numbers, others

    def _blank_out_missing(self, numbers: NDArray[np.float64], others: dict[int, object]) -> list[tuple[int, object]]:
        """Remove cells that mean a missing value from `others` and `numbers`; return their rows and contents."""
        blanked = [(row, cell) for row, cell in others.items() if self.reading.missing.has(cell, among_numbers=True)]
        for row, _ in blanked:
            del others[row]
        return blanked + self.reading.missing.blank_out(numbers)

    def _read_dates(
        self, numbers: NDArray[np.float64], others: dict[int, object], notes: tuple[str, ...]
    ) -> Column | None:
        """Return the column in seconds if most of its cells are dates or times, else None."""
        rows = list(others)
        try:
            found = read_instants(list(others.values()))
        except AmbiguousDate as error:
            row = rows[error.index]
            return self._refuse(
                f"is ambiguous ({self._show(row, others[row])}): the day or the month may come first. "
                "Write dates as 2024-12-31."
            )
        if 2 * found.n_found <= len(rows):
            return None
        if found.n_found < len(rows):
            strays = {row: others[row] for row, each in zip(rows, found.nanoseconds, strict=True) if each is None}
            return self._refuse_strays(strays, len(rows))
        first = found.nanoseconds[0]
        assert first is not None
        origin = self.reading.origins.get(self.name, first)
        numbers[rows] = seconds_since(found.nanoseconds, origin)
        how = " (hours:minutes)" if found.kind == "time of day" else ""
        note = f"Column '{self.name}' is in seconds since {shorten(str(others[rows[0]]).strip())}{how}."
        return Column(numbers, notes=(*notes, note), origin=origin)

    def _read_with_separators(self, numbers: NDArray[np.float64], others: dict[int, object]) -> None:
        """Read numbers with thousands separators, and move them from `others` to `numbers`."""
        read = {row: parse_number(cell, POINT) for row, cell in others.items() if isinstance(cell, str)}
        numbers_at = {row: number for row, number in read.items() if number is not None}
        if numbers_at and self.decimal_mark is not None:
            first = min(numbers_at)
            self._add_example(first, others[first], numbers_at[first])
            self._put(numbers, numbers_at, others)

    def _put(self, numbers: NDArray[np.float64], found: dict[int, float], others: dict[int, object]) -> None:
        for row, number in found.items():
            numbers[row] = number
            del others[row]

    def _read_texts(self, numbers: NDArray[np.float64], others: dict[int, object]) -> Column:
        """Return a column with text in it: a column of numbers with a mistake, or a column of text."""
        n_numbers = int(np.count_nonzero(~np.isnan(numbers)))
        row, cell = next(iter(others.items()))
        if self.decimal_mark is None and isinstance(cell, str) and parse_number(cell) is not None:
            as_point, as_comma = (f"{parse_number(cell, mark):.15g}" for mark in (POINT, COMMA))
            return self._refuse(
                f"is ambiguous ({self._show(row, cell)} is {as_point} or {as_comma}). "
                "Write numbers without thousands separators."
            )
        if n_numbers > len(others):
            return self._refuse_strays(others, n_numbers + len(others))
        if not n_numbers:
            return Column(None, self._raw_texts())
        note = (
            f"Column '{self.name}' is text: only {n_numbers:,} of {n_numbers + len(others):,} cells are numbers "
            f"({self._show(row, cell)} is not)."
        )
        return Column(None, self._raw_texts(), notes=(note,))

    def _refuse_strays(self, strays: dict[int, object], n_cells: int) -> Column:
        row, cell = next(iter(strays.items()))
        what = "text" if isinstance(cell, str) else "something that is not a number"
        return self._refuse(
            f"has {what} in {len(strays):,} of {n_cells:,} cells ({self._show(row, cell)}). {self.reading.remedy}"
        )

    def _refuse(self, problem: str) -> Column:
        return Column(None, self._raw_texts(), problem=f"Column '{self.name}' {problem}")

    def _raw_texts(self) -> NDArray[np.object_]:
        missing = self.reading.missing
        texts: NDArray[np.object_] = np.empty(self.cells.n_rows, dtype=object)
        texts[:] = [
            None if is_empty(cell) or missing.has(cell, among_numbers=False) else cell
            for cell in self.reading.raw(self.index)
        ]
        return texts

    def _show(self, row: int, cell: object) -> str:
        return show_cell(row, cell, self.reading)

    def _add_example(self, row: int, cell: object, number: float) -> None:
        self.examples.append(f"{self._show(row, cell)} is read as {number:.15g}")


# ---- rows ----------------------------------------------------------------------------------------


def find_complete_rows(
    columns: Mapping[str, NDArray[np.float64]], source: str, place: Callable[[int], str]
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which rows have a finite number in each column, and a note on the others; it is an error if no row does.

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
            f"No row of {source} has a number in every column used. "
            f"The {worst} has {n_missing:,} missing values out of {complete.size:,}; leave it out, or fill the gaps."
        )
    if not n_dropped:
        return complete, []
    first = "" if n_dropped == 1 else "the first: "
    rows = f"{count_noun(n_dropped, 'row')} of {complete.size:,}"
    return complete, [f"{rows} with missing or infinite values left out ({first}{place(int(np.argmin(complete)))})."]
