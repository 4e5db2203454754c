"""Tables whose columns do not explain the target: all numbers are drawn independently, and the answer is a constant."""

import numpy as np
from numpy.typing import NDArray

from spl.errors import SettingError, explain_unknown

TARGET_KINDS = ("normal", "relative", "student", "poisson", "binomial")
MIN_UNRELATED_ROWS, MAX_UNRELATED_ROWS = 20, 1000
MAX_UNRELATED_COLUMNS = 10
_STREAM = 2026  # of these tables
_RELATIVE_SHARE = 0.2  # standard deviation of a relative target / its mean
_STUDENT_FREEDOM = 3  # degrees of freedom of a target with heavy tails


def make_unrelated(number: int, kind: str = "normal") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return X [N, D], normal, positive or uniform columns in turn, and an unrelated y [N]. Every second target has a larger mean.

    There are 20 to 1,000 rows and 1 to 10 columns.

    Args:
        number: of the table, from 0.
        kind: distribution of the target: "normal"; "relative", positive; "student", with heavy tails; "poisson", counts;
            "binomial", 0 or 1.

    Examples:
        >>> X, y = make_unrelated(1, "poisson")
        >>> X.shape, y[:3]
        ((136, 4), array([34., 36., 28.]))
    """
    if kind not in TARGET_KINDS:
        raise SettingError(explain_unknown("kind of target", kind, TARGET_KINDS))
    rng = np.random.default_rng([_STREAM, number])
    n_rows = round(np.exp(rng.uniform(np.log(MIN_UNRELATED_ROWS), np.log(MAX_UNRELATED_ROWS))))
    size = (n_rows, int(rng.integers(1, MAX_UNRELATED_COLUMNS + 1)))
    target = _draw_target(rng, kind, n_rows, is_large=number % 2 == 1)
    return _draw_columns(rng, number, size), target


def _draw_target(rng: np.random.Generator, kind: str, n_rows: int, *, is_large: bool) -> NDArray[np.float64]:
    if kind == "normal":
        return rng.standard_normal(n_rows) + 3.0 * is_large
    if kind == "relative":
        return np.abs((30.0 if is_large else 3.0) * (1 + _RELATIVE_SHARE * rng.standard_normal(n_rows)))
    if kind == "student":
        return rng.standard_t(_STUDENT_FREEDOM, n_rows) + 3.0 * is_large
    if kind == "poisson":
        return rng.poisson(30.0 if is_large else 3.0, n_rows).astype(np.float64)
    return rng.binomial(1, 0.5 if is_large else 0.2, n_rows).astype(np.float64)


def _draw_columns(rng: np.random.Generator, number: int, size: tuple[int, int]) -> NDArray[np.float64]:
    if number % 3 == 0:
        return rng.standard_normal(size)
    low, high = (0.1, 5.0) if number % 3 == 1 else (-3.0, 3.0)
    return rng.uniform(low, high, size)
