"""Derivatives of sampled signals, by name: local polynomials, the filter of the paper, or smoothing splines.

    finite_difference   for clean data: polynomials of degree 6 through neighbours; nothing is smoothed
    savgol              as in the paper: central differences, then a Savitzky-Golay filter with a window chosen by the noise
    spline              for noisy data: smoothing splines whose smoothness follows the data (the default then)

Rows for a search should take values and derivatives from the same method, so that both are flattened alike. Wider
windows and stronger smoothing remove more noise, but flatten the signal more.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.dynamics.signals import as_series, estimate_noise, is_even
from spl.dynamics.spline import MIN_SPLINE_SAMPLES, fit_splines
from spl.errors import DataError, SettingError, suggest_name

__all__ = [
    "DERIVATIVES",
    "Smoothed",
    "choose_method",
    "estimate_derivative",
    "estimate_difference_error",
    "estimate_noise",
    "smooth",
    "smooth_and_differentiate",
]

# The best pair for the Lorenz system with 5 % noise and a step of 0.01: the derivative is off by 10 % of its spread.
WINDOW = 31  # samples
ORDER = 4
_MIN_SLOPE_SAMPLES = 3  # the fewest with a central difference
NEGLIGIBLE = 1e-4  # noise below this share of the change between samples leaves finite differences exact enough
_STENCIL = 7  # neighbours of a finite difference
_MAX_WINDOW = 301  # samples
_WINDOWS_PER_CALL = 512  # fitted at once


def estimate_derivative(x: ArrayLike, step: float, *, window: int = WINDOW, order: int = ORDER) -> NDArray[np.float64]:
    """Return the smoothed derivative of samples that are `step` apart, in the shape of `x`.

    Args:
        x: samples [N], or one column per state [N, D].
        step: time from one sample to the next.
        window: odd number of samples in the filter's window; 1 leaves the central differences as they are.
        order: degree of the polynomial fitted to each window.

    Examples:
        >>> t = np.arange(0, 5, 0.01)
        >>> slope = estimate_derivative(np.sin(t), 0.01)
        >>> bool(np.allclose(slope, np.cos(t), atol=1e-3))
        True
    """
    samples = _check_samples(x, window, order)
    if not np.isfinite(step) or step <= 0:
        raise SettingError(f"`step` must be a number above 0; got {step!r}.")
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
    """Return the samples as floats; raise a clear error if they or the filter are wrong."""
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
    if n_samples < max(window, _MIN_SLOPE_SAMPLES):
        remedy = "Give more samples."
        if n_samples >= _MIN_SLOPE_SAMPLES:
            remedy = "Give more samples, or use a smaller window."
        raise DataError(f"There are {n_samples} samples for a window of {max(window, _MIN_SLOPE_SAMPLES)}. {remedy}")
    return samples


def _check_filter(window: int, order: int) -> None:
    if not _is_whole(window) or window < 1 or window % 2 == 0:
        raise SettingError(f"`window` must be an odd whole number, 1 or more; got {window!r}.")
    if not _is_whole(order) or order < 0:
        raise SettingError(f"`order` must be a whole number, 0 or more; got {order!r}.")
    if order >= window > 1:
        raise SettingError(f"`order` must be below the window of {window} samples; got {order}.")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


# ---- methods by name -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Smoothed:
    """A signal without most of its noise, and its derivatives at the same times, each array [N, D]."""

    values: NDArray[np.float64]
    slopes: NDArray[np.float64]
    second: NDArray[np.float64] | None  # second derivatives, where asked for
    span: float  # samples over which the estimates are correlated: rows this far apart are independent
    method: str  # the one that was used


class DerivativeMethod(Protocol):
    """A method: takes times [N], columns [N, D] and the highest derivative wanted (1 or 2)."""

    def __call__(self, t: NDArray[np.float64], x: NDArray[np.float64], order: int) -> Smoothed:
        """Return the smoothed columns and their derivatives."""


UserMethod = Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike]  # (t, x) -> x_dot


def smooth_and_differentiate(
    t: ArrayLike, x: ArrayLike, method: str | UserMethod = "auto", *, order: int = 1
) -> Smoothed:
    """Return smoothed values and derivatives of sampled columns; steps may be uneven.

    Args:
        t: increasing times [N].
        x: samples [N], or one column per state [N, D].
        method: one of `DERIVATIVES`, "auto" to choose by the noise in the data, or a function from times [N] and
            columns [N, D] to derivatives [N, D], which leaves the values as they are.
        order: 2 to get second derivatives too.

    Examples:
        >>> t = np.linspace(0, 10, 500)
        >>> found = smooth_and_differentiate(t, np.sin(t) + np.random.default_rng(0).normal(0, 0.05, t.size))
        >>> found.method, bool(np.abs(found.slopes[20:-20, 0] - np.cos(t)[20:-20]).max() < 0.1)
        ('spline', True)
        >>> smooth_and_differentiate(t, np.sin(t)).method
        'finite_difference'
    """
    times, columns = as_series(t, x, min_samples=_MIN_SLOPE_SAMPLES)
    if order not in (1, 2):
        raise SettingError(f"`order` must be 1 or 2; got {order!r}.")
    if callable(method):
        return _call_user_method(method, times, columns, order)
    if method == "auto":
        method = choose_method(times, columns)
    if method not in DERIVATIVES:
        known = ("auto", *DERIVATIVES)
        raise SettingError(
            f"There is no derivative method '{method}'.{suggest_name(str(method), known)} Known: {', '.join(known)}."
        )
    return DERIVATIVES[method](times, columns, order)


def choose_method(t: ArrayLike, x: ArrayLike, noise: ArrayLike | None = None) -> str:
    """Return "finite_difference" if the noise [D] hardly affects the derivatives, else "spline".

    If `noise` is None, it is estimated. Series too short for a spline get finite differences.

    Examples:
        >>> t = np.linspace(0, 10, 500)
        >>> choose_method(t, np.sin(t)), choose_method(t, np.sin(t), noise=[0.01])
        ('finite_difference', 'spline')
    """
    times, columns = as_series(t, x, min_samples=_MIN_SLOPE_SAMPLES)
    if len(times) < MIN_SPLINE_SAMPLES:
        return "finite_difference"
    noise = estimate_noise(times, columns) if noise is None else np.asarray(noise, dtype=np.float64)
    slopes = np.sqrt(np.mean(np.gradient(columns, times, axis=0) ** 2, axis=0))
    step = (times[-1] - times[0]) / (len(times) - 1)
    return "finite_difference" if bool(np.all(noise <= NEGLIGIBLE * slopes * step)) else "spline"


def _call_user_method(method: UserMethod, t: NDArray[np.float64], x: NDArray[np.float64], order: int) -> Smoothed:
    """Take derivatives from a user's function; for second derivatives it is applied twice."""
    try:
        slopes = _check_slopes(method(t.copy(), x.copy()), x.shape)
        second = _check_slopes(method(t.copy(), slopes.copy()), x.shape) if order == 2 else None
    except TypeError as error:
        raise SettingError(
            f"The derivative method must be a function of times [N] and states [N, D]; calling it failed: {error}."
        ) from error
    return Smoothed(x, slopes, second, 1.0, getattr(method, "__name__", "callable"))


def _check_slopes(slopes: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    found = np.array(slopes, dtype=np.float64)
    if found.size != math.prod(shape):
        raise DataError(f"The derivative function gave an array of shape {found.shape}; it must be {shape}.")
    if not np.all(np.isfinite(found)):
        raise DataError("The derivative function gave missing or infinite values. Make it return finite ones.")
    return found.reshape(shape)


def _take_finite_differences(t: NDArray[np.float64], x: NDArray[np.float64], order: int) -> Smoothed:
    """Differentiate the polynomial of degree 6 through seven neighbours: precise for clean data; noise is not smoothed."""
    fits = _fit_windows(t, x, min(_STENCIL, len(t)), min(_STENCIL, len(t)) - 1)
    return Smoothed(x.copy(), fits.slopes, fits.second if order == 2 else None, 1.0, "finite_difference")


def estimate_difference_error(t: ArrayLike, x: ArrayLike, *, order: int = 1) -> NDArray[np.float64]:
    """Return the estimated error of finite differences for each column [D] of clean data, as a root mean square.

    Two more neighbours reduce the error by about the same factor each time, so the last two reductions predict the next. On twelve
    simulated systems the estimate was 1 to 4 times too small. It is 0 for series with too few samples.

    Examples:
        >>> t = np.linspace(0, 6, 200)
        >>> true = np.abs(smooth_and_differentiate(t, np.sin(t)).slopes[:, 0] - np.cos(t))
        >>> error = estimate_difference_error(t, np.sin(t))[0]
        >>> bool(0.1 < error / np.sqrt(np.mean(true**2)) < 10)
        True
    """
    times, columns = as_series(t, x, min_samples=_MIN_SLOPE_SAMPLES)
    if len(times) < _STENCIL:
        return np.zeros(columns.shape[1])
    fits = [_fit_windows(times, columns, size, size - 1) for size in (_STENCIL - 4, _STENCIL - 2, _STENCIL)]
    coarse, fine, finest = (fit.slopes if order == 1 else fit.second for fit in fits)
    first, second = (np.sqrt(np.mean((a - b) ** 2, axis=0)) for a, b in ((coarse, fine), (fine, finest)))
    return np.asarray(second * second / np.maximum(np.maximum(first, second), np.finfo(float).tiny))


def _take_splines(t: NDArray[np.float64], x: NDArray[np.float64], order: int) -> Smoothed:
    """Differentiate smoothing splines whose smoothness follows the data; see `spl.dynamics.spline`."""
    if len(t) < MIN_SPLINE_SAMPLES:
        raise DataError(_too_few(len(t), "spline"))
    fit = fit_splines(t, x)
    span = len(t) / max(1.0, float(np.mean(fit.freedom)))
    return Smoothed(fit.values, fit.slopes, fit.second if order == 2 else None, max(1.0, span), "spline")


def _take_savgol(t: NDArray[np.float64], x: NDArray[np.float64], order: int) -> Smoothed:
    """Differentiate by central differences and a Savitzky-Golay filter, with a window chosen for each column.

    For uneven steps, polynomials of the same degree are fitted to the same number of neighbours.
    """
    if len(t) < MIN_SPLINE_SAMPLES:
        raise DataError(_too_few(len(t), "savgol"))
    noise, even = estimate_noise(t, x), is_even(t)
    fits, windows = [], []
    for column, deviation in zip(x.T[:, :, None], noise, strict=True):
        windows.append(_choose_window(t, _take_splines(t, column, 1), float(deviation), even))
        fits.append(_filter_window(t, column, windows[-1], even))
    values, slopes, second = (np.hstack(parts) for parts in zip(*fits, strict=True))
    span = max(1.0, float(np.mean(windows)) / 2)  # neighbours share half of their windows
    return Smoothed(values, slopes, second if order == 2 else None, span, "savgol")


def _too_few(n_samples: int, method: str) -> str:
    return (
        f"There are {n_samples} samples; '{method}' needs {MIN_SPLINE_SAMPLES}. "
        "Give more samples, or use 'finite_difference'."
    )


DERIVATIVES: Mapping[str, DerivativeMethod] = MappingProxyType(
    {"finite_difference": _take_finite_differences, "savgol": _take_savgol, "spline": _take_splines}
)


# ---- polynomials on windows ----------------------------------------------------------------------


class _WindowFit(NamedTuple):
    """Polynomials on windows around each sample."""

    values: NDArray[np.float64]  # [N, D]
    slopes: NDArray[np.float64]  # [N, D]
    second: NDArray[np.float64]  # [N, D]


def _choose_window(t: NDArray[np.float64], pilot: Smoothed, noise: float, even: bool) -> int:
    """Return the window with the least estimated mean squared error of one column's slope.

    The variance follows from the noise. The bias is measured on a signal with a known slope that is similar to the true
    one: the pilot, a smoothing spline.
    """
    best, best_error = ORDER + 3, np.inf
    step = (t[-1] - t[0]) / (len(t) - 1)
    for window in _windows(len(t)):
        bias = np.mean((_take_slopes(t, pilot.values, window, even) - pilot.slopes) ** 2)
        error = float(bias + np.sum((noise / step * _slope_weights(window, even)) ** 2))
        if error < best_error:
            best, best_error = window, error
    return best


def _windows(n_samples: int) -> list[int]:
    """Return odd windows, each about a fifth larger than the last, up to a third of the series."""
    largest = min(_MAX_WINDOW, max(n_samples // 3, min(n_samples, ORDER + 5)))
    found = [ORDER + 3 if ORDER % 2 == 0 else ORDER + 4]
    while (following := max(found[-1] + 2, int(found[-1] * 1.2) // 2 * 2 + 1)) <= largest:
        found.append(following)
    return found


def _slope_weights(window: int, even: bool) -> NDArray[np.float64]:
    """Return the weights of the samples in the slope at the middle of a window with steps of 1, as in `_take_slopes`."""
    places = np.arange(window) - window // 2
    inverse = np.linalg.pinv(np.vander(places / window, ORDER + 1, increasing=True))
    if even:
        return np.convolve(inverse[0], [0.5, 0.0, -0.5])  # the filter after central differences
    return np.asarray(inverse[1] / window)


def _take_slopes(t: NDArray[np.float64], x: NDArray[np.float64], window: int, even: bool) -> NDArray[np.float64]:
    if not even:
        return _fit_windows(t, x, window, ORDER).slopes
    return estimate_derivative(x, (t[-1] - t[0]) / (len(t) - 1), window=window)


def _filter_window(t: NDArray[np.float64], x: NDArray[np.float64], window: int, even: bool) -> _WindowFit:
    if not even:
        return _fit_windows(t, x, window, ORDER)
    slopes = _take_slopes(t, x, window, even)
    return _WindowFit(smooth(x, window=window), slopes, _take_slopes(t, slopes, window, even))


def _fit_windows(t: NDArray[np.float64], x: NDArray[np.float64], window: int, degree: int) -> _WindowFit:
    """Fit a polynomial by least squares to each sample and its neighbours; at the ends the window stays inside the series."""
    fits = []
    for first in range(0, len(t), _WINDOWS_PER_CALL):
        places = np.arange(first, min(first + _WINDOWS_PER_CALL, len(t)))
        starts = np.clip(places - window // 2, 0, len(t) - window)
        rows = starts[:, None] + np.arange(window)
        offsets = t[rows] - t[places, None]
        scale = np.abs(offsets).max(axis=1)
        basis = (offsets / scale[:, None])[:, :, None] ** np.arange(degree + 1)
        q, r = np.linalg.qr(basis)
        terms = np.linalg.solve(r, np.swapaxes(q, 1, 2) @ x[rows])  # [chunk, degree + 1, D]
        second = 2 * terms[:, 2] / scale[:, None] ** 2
        fits.append(_WindowFit(terms[:, 0], terms[:, 1] / scale[:, None], second))
    return _WindowFit(*(np.concatenate(parts) for parts in zip(*fits, strict=True)))
