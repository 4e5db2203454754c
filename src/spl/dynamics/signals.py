"""Sampled signals: checked times and columns, and how much white noise they contain. Arrays and numbers only."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.data.trajectories import EVEN_STEPS
from spl.errors import DataError

_MAX_DIFFERENCE = 10  # highest order of the differences that noise is estimated from
_CLIP = 2.5  # standard deviations; larger differences are clipped: they are signal, or outliers
_N_CLIPS = 50  # iterations, enough to converge from a scale that is far too large


def as_series(t: ArrayLike, x: ArrayLike, *, min_samples: int = 2) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times [N] and columns [N, D] as floats; raise a clear error if something is wrong with them.

    Examples:
        >>> t, x = as_series([0, 1, 2], [5, 6, 7])
        >>> x.shape
        (3, 1)
    """
    times, columns = _as_numbers(t, "times"), _as_numbers(x, "samples")
    if times.ndim != 1:
        raise DataError(f"The times must be one series [N]; they have {times.ndim} dimensions.")
    if columns.ndim not in (1, 2):
        raise DataError(f"The samples must be one series [N] or columns [N, D]; they have {columns.ndim} dimensions.")
    if len(times) != len(columns):
        raise DataError(f"There are {len(times)} times, but {len(columns)} samples. Give one time per sample.")
    if len(times) < min_samples:
        raise DataError(f"There are {len(times)} samples; at least {min_samples} are needed. Give more samples.")
    backward = np.flatnonzero(np.diff(times) <= 0)
    if backward.size:
        place = int(backward[0])
        raise DataError(
            f"The times must increase; {times[place + 1]:g} follows {times[place]:g}. Sort the samples, "
            "and keep one of those with equal times."
        )
    return times, columns.reshape(len(columns), -1)


def is_even(t: NDArray[np.float64]) -> bool:
    """Return whether all steps between times are the same.

    Examples:
        >>> is_even(0.1 * np.arange(5)), is_even(np.array([0.0, 1.0, 3.0]))
        (True, False)
    """
    steps = np.diff(t)
    return bool(np.all(np.abs(steps - steps.mean()) <= EVEN_STEPS * steps.mean()))


def relative_steps(series: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return how far each column moves from one sample to the next [D], as a root mean square and a share of its spread.

    Args:
        series: samples of one or more runs, each [N, D].

    Examples:
        >>> turns = np.arange(100)
        >>> coarse, fine = (np.sin(2 * np.pi * turns / n)[:, np.newaxis] for n in (5.1, 40))
        >>> relative_steps([coarse]).round(1), relative_steps([fine]).round(1)
        (array([1.2]), array([0.2]))
    """
    spread = np.concatenate(series).std(axis=0)
    steps = np.concatenate([np.diff(x, axis=0) for x in series])
    return np.asarray(np.sqrt(np.mean(steps**2, axis=0)) / np.where(spread > 0, spread, 1.0))


def estimate_noise(t: ArrayLike, x: ArrayLike) -> NDArray[np.float64]:
    """Return the standard deviation of the white noise in each column, [D].

    Differences of high order remove what is smooth and leave the noise. The lowest order is used for which no higher one
    leaves clearly less. Steps may be uneven. A smooth signal without noise gives almost 0.

    Examples:
        >>> t = np.linspace(0, 20, 1000)
        >>> noisy = np.sin(t) + np.random.default_rng(0).normal(0, 0.1, t.size)
        >>> float(estimate_noise(t, noisy)[0].round(2)), float(estimate_noise(t, np.sin(t))[0].round(9))
        (0.1, 0.0)
    """
    times, columns = as_series(t, x, min_samples=4)
    orders = range(1, max(1, min(_MAX_DIFFERENCE, len(times) // 3)) + 1)
    scales = np.array([_robust_scale(_take_differences(times, columns, order)) for order in orders])  # [orders, D]
    errors = np.array([_relative_error(order, len(times)) for order in orders])
    return np.array([_pick_plateau(column, errors) for column in scales.T])


def _pick_plateau(scales: NDArray[np.float64], errors: NDArray[np.float64]) -> float:
    """Return the first scale that is not clearly above a later one."""
    for place, scale in enumerate(scales):
        if np.all(scale * (1 - errors[place:]) <= scales[place:]):
            return float(scale)
    return float(scales[-1])


def _take_differences(t: NDArray[np.float64], x: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """Return divided differences [N - order, D], each scaled so that white noise keeps its variance."""
    n_rows = len(t) - order
    near = np.lib.stride_tricks.sliding_window_view(t, order + 1)  # [rows, order + 1]
    gaps = (near[:, :, None] - near[:, None, :]) / np.median(np.diff(t))
    gaps[:, range(order + 1), range(order + 1)] = 1.0
    weights = 1.0 / np.prod(gaps, axis=2)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    total = np.zeros((n_rows, x.shape[1]))
    for place in range(order + 1):
        total += weights[:, place, None] * x[place : place + n_rows]
    return total


def _robust_scale(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation [D] of numbers with mean 0, with large ones clipped (Huber's proposal 2)."""
    inside = math.erf(_CLIP / math.sqrt(2))
    density = math.exp(-(_CLIP**2) / 2) / math.sqrt(2 * math.pi)
    expected = inside - 2 * _CLIP * density + _CLIP**2 * (1 - inside)  # of clipped squares of a normal number
    squares = differences**2
    variance = squares.mean(axis=0)
    for _ in range(_N_CLIPS):
        variance = np.minimum(squares, _CLIP**2 * variance).mean(axis=0) / expected
    return np.asarray(np.sqrt(variance))


def _relative_error(order: int, n_samples: int) -> float:
    """Return the relative standard error of the scale: differences of neighbours are correlated."""
    correlation = math.comb(4 * order, 2 * order) / math.comb(2 * order, order) ** 2
    return math.sqrt(correlation / (2 * (n_samples - order)))


def _as_numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"The {what} must be numbers. Leave out columns of text, and rows of unequal length.") from None
    n_bad = int(np.count_nonzero(~np.isfinite(numbers)))
    if n_bad:
        raise DataError(f"The {what} hold {n_bad} missing or infinite values. Fill the gaps, or cut the series there.")
    return numbers
