"""A table as the studio shows it: columns with type and range, the first rows, and the column that may be the time."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.grouping_columns import offer_groupings
from spl.data.table_files import Table, read_table
from spl.errors import DataError
from spl.units.unit import has_unit_in_header, split_header

SHOWN_ROWS = 6
MAX_SHOWN_COLUMNS = 500
TIME_NAMES = ("t", "time", "times", "seconds", "sec", "s")


def read_named(path: Path, missing: Sequence[str] = ()) -> Table:
    """Return the table in a file; messages show only its name. `missing` lists texts to read as missing."""
    try:
        return read_table(str(path), missing)
    except DataError as error:
        raise DataError(str(error).replace(str(path), path.name)) from None


def describe_table(table: Table, name: str) -> dict[str, Any]:
    """Return what a page needs to offer the columns of a table."""
    if len(table.names) > MAX_SHOWN_COLUMNS:
        raise DataError(
            f"'{name}' has {len(table.names)} columns; the studio shows at most {MAX_SHOWN_COLUMNS}. Leave some out."
        )
    columns = [_describe_column(table, column) for column in table.names]
    values = [_first_values(table, column) for column in table.names]
    return {
        "name": name,
        "n_rows": _count_rows(table),
        "columns": columns,
        "first_rows": [list(row) for row in zip(*values, strict=True)],
        "notes": [*table.notes, *(note for notes in table.column_notes.values() for note in notes)],
        "time": _guess_time(table),
        "groups": _guess_groups(table),
    }


def _count_rows(table: Table) -> int:
    return int(next(iter([*table.numbers.values(), *table.texts.values()])).size) if table.names else 0


def _describe_column(table: Table, name: str) -> dict[str, Any]:
    if name not in table.numbers:
        texts = table.texts[name]
        n_missing = sum(text is None for text in texts)
        return {"name": name, "is_number": False, "n_missing": n_missing, "problem": table.problems.get(name)}
    numbers = table.numbers[name]
    finite = numbers[np.isfinite(numbers)]
    header = split_header(name) if has_unit_in_header(name) else None
    return {
        "name": name,
        "is_number": True,
        "n_missing": int(numbers.size - finite.size),
        "min": float(finite.min()) if finite.size else None,
        "max": float(finite.max()) if finite.size else None,
        **({"is_boolean": True} if name in table.booleans else {}),
        **({} if header is None else {"unit": header[1]}),
    }


def _first_values(table: Table, name: str) -> list[Any]:
    if name in table.numbers:
        return [value if math.isfinite(value) else None for value in table.numbers[name][:SHOWN_ROWS].tolist()]
    return [None if text is None else str(text) for text in table.texts[name][:SHOWN_ROWS]]


def _guess_groups(table: Table) -> list[str]:
    """Return the columns of text and booleans that may be groupings of the rows."""
    return list(offer_groupings(table, None, set()).names)


def _guess_time(table: Table) -> str | None:
    """Return an increasing column whose name suggests time; None if there is none."""

    named = [name for name in table.numbers if name.lower().split("[")[0].split("(")[0].strip() in TIME_NAMES]
    return next((name for name in named if _only_grows(table.numbers[name])), None)


def _only_grows(values: NDArray[np.float64]) -> bool:
    return values.size > 1 and bool(np.all(np.diff(values) > 0))
