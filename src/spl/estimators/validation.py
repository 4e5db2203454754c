"""The rows of a fit that are held out for validation: a share of its own, or others that the user gives."""

from collections.abc import Callable
from numbers import Real
from typing import Any

from spl.data.dataset import Dataset, RowPlaces
from spl.data.hold_out import check_share, hold_out
from spl.errors import SettingError, show_value
from spl.estimators.inputs import Rows

Read = Callable[
    [Any, Any, Any], Rows
]  # returns the complete rows of a table, its target and its weights, read as those of the fit


def set_validation_aside(data: Dataset, validation: Any, seed: int, read: Read) -> tuple[Dataset, Dataset | None]:
    """Return the rows to search with, and those that are held out; None if there are none.

    Args:
        data: all rows of the fit.
        validation: None, a share of these rows, or other rows: a pair (X, y), or (X, y, sample_weight).
        seed: decides which rows a share takes.
        read: reads other rows.
    """
    if validation is None:
        return data, None
    if isinstance(validation, Real):
        return hold_out(data, check_share(validation), seed)
    if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
        raise SettingError(
            "`validation` must be a share of the rows, such as 0.2, or other rows with their target, (X, y) or (X, y, sample_weight); "
            f"got {show_value(validation)}."
        )
    X, y, weights = (*validation, None)[:3]
    rows = read(X, y, weights)
    held_out = Dataset.from_arrays(
        rows.X, rows.y, names=data.names, weights=rows.weights, places=RowPlaces(rows.places, "validation row")
    )
    return data, held_out
