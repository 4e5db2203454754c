"""Checks of columns that people name: they exist, and hold numbers where numbers are needed."""

from spl.data.delimited_text import is_number
from spl.data.table_files import Table
from spl.errors import DataError, list_names, suggest_name


def check_number_column(table: Table, name: str, role: str) -> None:
    """Raise a clear error unless a table has this column and it holds numbers."""
    check_column(table, name)
    if name in table.problems:
        raise DataError(table.problems[name])
    if name not in table.numbers:
        remedy = f" Leave it out of --{role}s." if role in ("feature", "state", "input") else ""
        if role == "feature":
            remedy = f" Leave it out of --features, or give each of its groups numbers of its own: --groups {name}."
        raise DataError(f"The column '{name}' of {table.source} holds text, not only numbers.{remedy}")


def check_column(table: Table, name: str) -> None:
    """Raise a clear error unless a table has this column."""
    if name in table.numbers or name in table.texts:
        return
    if all(is_number(known) for known in table.names):
        raise DataError(
            f"There is no column '{name}'. The first line of {table.source} must hold the column names, not numbers."
        )
    hint = suggest_name(name, table.names)
    raise DataError(f"There is no column '{name}' in {table.source}.{hint} The columns are: {list_names(table.names)}.")
