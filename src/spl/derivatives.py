"""Derivatives of sampled signals, as the paper takes them: central differences, then a Savitzky-Golay filter.

The filter fits a polynomial to each window of samples. A wider window removes more noise, and flattens the signal more.
States that go into a search with their derivatives should be smoothed by the same filter, so that both are flattened
alike.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.errors import DataError, SettingError

# The best pair for the Lorenz system with 5 % noise and a step of 0.01: the derivative is off by 10 % of its spread.
WINDOW = 31  # samples
ORDER = 4
_MIN_SAMPLES = 3  # the fewest that have a central difference


def estimate_derivative(x: ArrayLike, step: float, *, window: int = WINDOW, order: int = ORDER) -> NDArray[np.float64]:
    """Return the smoothed derivative of samples that lie `step` apart, in the shape of `x`.

    Args:
        x: samples [N], or one column a state [N, D].
        step: time from one sample to the next.
        window: samples in the filter's window, an odd number; 1 leaves the central differences as they are.
        order: degree of the polynomial that is fitted to each window.

    Examples:
        >>> t = np.arange(0, 5, 0.01)
        >>> slope = estimate_derivative(np.sin(t), 0.01)
        >>> bool(np.allclose(slope, np.cos(t), atol=1e-3))
        True
    """
    samples = _check_samples(x, window, order)
    if not np.isfinite(step) or step <= 0:
        raise SettingError(f"`step` must be a number above 0; it is {step!r}.")
    return _filter(np.gradient(samples, float(step), axis=0, edge_order=2), window, order)


def smooth(x: ArrayLike, *, window: int = WINDOW, order: int = ORDER) -> NDArray[np.float64]:
    """Return the samples with their noise reduced, in the shape of `x`: the filter of `estimate_derivative` on values.

    Examples:
        >>> noisy = np.sin(np.linspace(0, 3, 200)) + np.random.default_rng(0).normal(0, 0.1, 200)
        >>> error = smooth(noisy) - np.sin(np.linspace(0, 3, 200))
        >>> bool(error.std() < 0.05)
        True
    """
    return _filter(_check_samples(x, window, order), window, order)


def _filter(samples: NDArray[np.float64], window: int, order: int) -> NDArray[np.float64]:
    if window == 1:
        return samples.copy()
    from scipy.signal import savgol_filter  # slow to import

    return np.asarray(savgol_filter(samples, window, order, axis=0), dtype=np.float64)


def _check_samples(x: ArrayLike, window: int, order: int) -> NDArray[np.float64]:
    """Return the samples as floats, or say what is wrong with them or with the filter."""
    _check_filter(window, order)
    try:
        samples = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("The samples must be numbers. Leave out columns of text, and rows of unequal length.") from None
    if samples.ndim not in (1, 2):
        raise DataError(f"The samples must be one series [N] or columns [N, D]; they have {samples.ndim} dimensions.")
    n_bad = int(np.count_nonzero(~np.isfinite(samples)))
    if n_bad:
        raise DataError(f"The samples hold {n_bad} missing or infinite values. Fill the gaps, or cut the series there.")
    n_samples = len(samples)
    if n_samples < max(window, _MIN_SAMPLES):
        remedy = "Give more samples, or use a smaller window." if n_samples >= _MIN_SAMPLES else "Give more samples."
        raise DataError(f"There are {n_samples} samples for a window of {max(window, _MIN_SAMPLES)}. {remedy}")
    return samples


def _check_filter(window: int, order: int) -> None:
    if not _is_whole(window) or window < 1 or window % 2 == 0:
        raise SettingError(f"`window` must be an odd whole number, 1 or more; it is {window!r}.")
    if not _is_whole(order) or order < 0:
        raise SettingError(f"`order` must be a whole number, 0 or more; it is {order!r}.")
    if order >= window > 1:
        raise SettingError(f"`order` must be below the window of {window} samples; it is {order}.")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
