"""Holding rows out: they are set aside before the search, which never sees them, and then tell how good its formulas are."""

from dataclasses import replace
from numbers import Real

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import DataError, SettingError, count_noun, show_value

MIN_HELD_OUT = 5  # rows: five in the right order by chance happen once in 120 times, four once in 24


def check_share(share: object) -> float:
    """Return a share of the rows, between 0 and 1.

    Examples:
        >>> check_share(1.2)
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: `validation` must be a share of the rows between 0 and 1, such as 0.2; got 1.2.
    """
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < float(share) < 1:
        raise SettingError(
            f"`validation` must be a share of the rows between 0 and 1, such as 0.2; got {show_value(share)}."
        )
    return float(share)


def hold_out(data: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """Return the rows to search with, and a share of the rows drawn at random, both in their order.

    Rows of weight 0 are not drawn.

    Examples:
        >>> kept, held_out = hold_out(Dataset.from_arrays(np.eye(20), np.arange(20.0)), 0.25, seed=0)
        >>> kept.n_rows, held_out.n_rows
        (15, 5)
    """
    usable = np.flatnonzero(data.weights > 0)
    n_held_out = round(share * usable.size)
    n_kept = usable.size - n_held_out
    if n_held_out < MIN_HELD_OUT or n_kept < MIN_HELD_OUT:
        raise DataError(
            f"A share of {share:g} of {count_noun(usable.size, 'row')} leaves {n_kept} to search and {n_held_out} for validation; "
            f"both need at least {MIN_HELD_OUT}. Choose another share, or give other rows for validation."
        )
    random = np.random.default_rng([seed, usable.size])
    drawn = np.sort(random.choice(usable, n_held_out, replace=False))
    kept = np.setdiff1d(np.arange(data.n_rows), drawn)
    return replace(data.take(kept), notes=data.notes), data.take(drawn)


def check_held_out(rows: Dataset, names: tuple[str, ...]) -> None:
    """Raise a clear error unless these rows can serve for validation of formulas with these columns."""
    if rows.names != names:
        raise DataError(f"The columns of the validation rows are {rows.names}; those of the data are {names}.")
    n_rows = int(np.count_nonzero(rows.weights))
    if n_rows < MIN_HELD_OUT:
        raise DataError(
            f"There {'is' if n_rows == 1 else 'are'} {count_noun(n_rows, 'row')} for validation; at least {MIN_HELD_OUT} are needed "
            "to compare formulas. Give more rows, or none."
        )
