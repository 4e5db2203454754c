"""The groups that people give to `SPLRegressor`: labels of rows, as one or two groupings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spl.data.groupings import MAX_GROUPINGS, Grouping, group_complete_rows, read_labels
from spl.errors import DataError, count_noun

DEFAULT_NAME = "group"


def read_groups(groups: Any, n_rows: int) -> dict[str, Any]:
    """Return one column of labels for each grouping, by name; raise a clear error if there is not one label per row.

    Args:
        groups: a list, an array, a Series, a categorical, or a DataFrame with one or two columns.
        n_rows: of the table.

    Examples:
        >>> list(read_groups(["oak", "ash"], 2))
        ['group']
        >>> read_groups(["oak"], 2)
        Traceback (most recent call last):
        ...
        spl.errors.DataError: `groups` must have one label per row (2); it has 1.
    """
    if isinstance(groups, pd.DataFrame):
        columns: dict[str, Any] = {str(name): groups[name] for name in groups.columns}
    else:
        table = groups if isinstance(groups, pd.Series | pd.Categorical) else _as_labels(groups)
        if isinstance(table, np.ndarray) and table.ndim == 2:
            columns = {f"{DEFAULT_NAME}{place + 1}": column for place, column in enumerate(table.T)}
        else:
            columns = {str(getattr(groups, "name", None) or DEFAULT_NAME): table}
    if not 1 <= len(columns) <= MAX_GROUPINGS:
        raise DataError(
            f"`groups` has {count_noun(len(columns), 'column')}. It may have 1 or {MAX_GROUPINGS}: choose those that matter most."
        )
    for labels in columns.values():
        if np.ndim(labels) != 1 or len(labels) != n_rows:
            found = len(labels) if np.ndim(labels) else "a single value"
            raise DataError(f"`groups` must have one label per row ({n_rows}); it has {found}.")
    return columns


def _as_labels(groups: Any) -> NDArray[Any]:
    if isinstance(groups, str) or not hasattr(groups, "__len__"):
        raise DataError(
            "`groups` must have one label per row: a list, an array, a Series, or a DataFrame with two columns."
        )
    return np.array(groups, dtype=object) if isinstance(groups, Sequence) else np.asarray(groups)


def make_groupings(columns: dict[str, Any], places: NDArray[np.intp]) -> tuple[tuple[Grouping, ...], list[str]]:
    """Return the groupings of the complete rows, and notes about groupings and groups that say nothing.

    Args:
        columns: labels of all rows, by the name of the grouping.
        places: of the complete rows among all.
    """
    texts = {name: np.array(read_labels(labels, name), dtype=object) for name, labels in columns.items()}
    return group_complete_rows(texts, places)
