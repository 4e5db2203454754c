"""The weak form of a differential equation: averages against test functions, so that no derivative is ever taken.

A law dx/dt = f(x) is multiplied by a test function phi that vanishes at the ends of its window, and integrated by
parts:

    integral phi f(x) dt = - integral phi' x dt          (second order: integral phi f dt = integral phi'' x dt)

Divided by the integral of phi, this says: the mean of f over the window is the goal. The right side is a sum over
measured values, in which the noise averages out. The test functions are bumps (1 - s^2)^p on overlapping windows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.dynamics.signals import as_series, estimate_noise, is_even
from spl.errors import DataError, SettingError

BUMP_POWER = 4  # of the bumps: their first three derivatives vanish at the ends
OVERLAP = 4  # windows that cover a moment
MIN_WIDTH = 8  # samples of a window, so that sums are good integrals
_N_WIDTHS = 30  # tried
_GAP = 0.25  # of a window: longer steps between samples are gaps
_FINER = 4  # grid points per sample, for uneven samples
# Share of the width with most information about a derivative. Narrower windows suffer less from the noise inside
# nonlinear terms. Long series of five systems with 2 to 20 % noise did best, or equally well, at 0.25 to 0.5; series of
# 200 to 600 samples of two of them did best at 0.5 to 1.
_SHARE = 0.3
_ORDERS = (1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class WeakRows:
    """What the mean of the right-hand side over each of K windows must be."""

    operator: Any  # sparse [K, N]: from values at the samples to their means
    goals: NDArray[np.float64]  # [K, D], means of the first derivatives; of the second for order 2
    states: NDArray[np.float64]  # [K, D], means of the states
    inputs: NDArray[np.float64]  # [K, U], means of the inputs
    velocities: NDArray[np.float64] | None  # [K, D], means of the first derivatives, for order 2 only
    goal_errors: NDArray[np.float64]  # [K, D], standard deviations of the goals for noise of deviation 1
    width: float  # time that a window covers
    span: float  # rows that share samples: rows this far apart are independent

    @property
    def n_rows(self) -> int:
        """How many windows there are."""
        return len(self.goals)


def make_weak_rows(
    t: ArrayLike,
    x: ArrayLike,
    u: ArrayLike | None = None,
    *,
    width: float | None = None,
    order: int = 1,
) -> WeakRows:
    """Return the weak form of a series: for the true law f, `operator @ f(x)` is `goals`, apart from noise.

    Goals come from measured states. The terms of f should use smoothed states: noise inside a term does not average out
    and pulls the coefficients towards 0.

    Args:
        t: increasing times [N].
        x: measured states [N], or one column per state [N, D]; not smoothed.
        u: inputs [N] or [N, U], if there are any.
        width: time that a window covers; None to choose it from the data.
        order: 2 if the law gives second derivatives.

    Examples:
        >>> t = np.linspace(0, 10, 1001)
        >>> rows = make_weak_rows(t, np.exp(-t), width=1.0)  # dx/dt = -x
        >>> bool(np.abs(rows.operator @ -np.exp(-t) - rows.goals[:, 0]).max() < 1e-6)
        True
    """
    times, columns = as_series(t, x, min_samples=MIN_WIDTH + 1)
    inputs = np.zeros((len(times), 0)) if u is None else as_series(times, u)[1]
    if order not in _ORDERS:
        raise SettingError(f"`order` must be 1 or 2; got {order!r}.")
    if width is None:
        width = choose_width(times, columns, order=order)
    _check_width(width, times)
    windows = _Windows.place(times, width)
    if windows.mean.shape[0] == 0:
        raise DataError(f"Every window of width {width:g} touches a gap between samples. Use a larger width.")
    goals = windows.slope if order == 1 else windows.second
    return WeakRows(
        operator=windows.mean,
        goals=goals @ columns,
        states=windows.mean @ columns,
        inputs=windows.mean @ inputs,
        velocities=windows.slope @ columns if order == 2 else None,
        goal_errors=np.tile(np.sqrt(goals.multiply(goals).sum(axis=1)).reshape(-1, 1), columns.shape[1]),
        width=float(width),
        span=float(OVERLAP),
    )


def choose_width(t: ArrayLike, x: ArrayLike, *, order: int = 1) -> float:
    """Return the width of windows, in time, from which a regression finds a law best.

    Wide windows average out the noise, but also the signal, and there are fewer of them. The information about the
    derivatives is the variance of the goals over that of their noise, times the number of windows that fit side by side.
    The result is a fixed share of the width with most information (geometric mean over the columns).

    Examples:
        >>> t = np.linspace(0, 60, 3000)
        >>> noisy = np.sin(t) + np.random.default_rng(0).normal(0, 0.1, t.size)
        >>> 1 < choose_width(t, noisy) < 4
        True
    """
    times, columns = as_series(t, x, min_samples=MIN_WIDTH + 1)
    duration = times[-1] - times[0]
    narrowest = min(MIN_WIDTH * duration / (len(times) - 1), duration)
    noise = estimate_noise(times, columns)
    widths = np.geomspace(narrowest, max(narrowest, duration / 4), _N_WIDTHS)
    scores = [_measure_information(times, columns, noise, width=width, order=order) for width in widths]
    return float(max(narrowest, _SHARE * widths[int(np.argmax(scores))]))


def _measure_information(
    t: NDArray[np.float64], x: NDArray[np.float64], noise: NDArray[np.float64], *, width: float, order: int
) -> float:
    windows = _Windows.place(t, width)
    goals = windows.slope if order == 1 else windows.second
    if goals.shape[0] == 0:
        return -np.inf
    gain = float(goals.multiply(goals).sum()) / goals.shape[0]  # variance of a goal for noise of deviation 1
    power = np.mean((goals @ x) ** 2, axis=0)
    signal = np.maximum(power - noise**2 * gain, 1e-3 * power)
    return float(np.mean(np.log(signal + np.finfo(np.float64).tiny)) - np.log(gain * width))


@dataclass(frozen=True, slots=True, eq=False)
class _Windows:
    """Sparse matrices [K, N] from samples to means over windows: of the values, and of their derivatives."""

    mean: Any
    slope: Any
    second: Any

    @classmethod
    def place(cls, t: NDArray[np.float64], width: float) -> "_Windows":
        """Spread overlapping windows over the series.

        Uneven samples are first interpolated on an even grid. Windows that touch a gap are left out.
        """
        n_windows = max(1, round(OVERLAP * (t[-1] - t[0] - width) / width) + 1)
        centres = np.linspace(t[0] + width / 2, t[-1] - width / 2, n_windows)
        centres = centres[~_touches_gap(t, centres, width)]
        if is_even(t):
            return cls(*_integrate_by_parts(t, centres, width))
        grid = np.linspace(t[0], t[-1], _FINER * t.size)
        resample = _interpolate(t, grid)
        return cls(*(matrix @ resample for matrix in _integrate_by_parts(grid, centres, width)))


def _touches_gap(t: NDArray[np.float64], centres: NDArray[np.float64], width: float) -> NDArray[np.bool_]:
    """Return for each window whether it contains a step between samples that is too long."""
    n_gaps = np.concatenate([[0], np.cumsum(np.diff(t) > _GAP * width)])  # [N], up to each sample
    firsts = np.clip(np.searchsorted(t, centres - width / 2, side="right") - 1, 0, None)
    lasts = np.clip(np.searchsorted(t, centres + width / 2), None, t.size - 1)
    return np.asarray(n_gaps[lasts] > n_gaps[firsts])


def _integrate_by_parts(t: NDArray[np.float64], centres: NDArray[np.float64], width: float) -> list[Any]:
    """Return, for even times, the matrices from samples to means of values, first and second derivatives.

    Sums approximate the integrals of bumps well. They are corrected to be exact for constants, straight lines and, for the
    second derivative, parabolas, so that a large mean does no harm where there are few samples.
    """
    from scipy import sparse  # slow to import

    firsts = np.searchsorted(t, centres - width / 2)
    counts = np.searchsorted(t, centres + width / 2, side="right") - firsts
    rows = np.repeat(np.arange(counts.size), counts)  # a sample appears once per window
    places = np.arange(rows.size) + np.repeat(firsts - np.cumsum(counts) + counts, counts)
    times = t[places] - centres[rows]

    def moment(weights: NDArray[np.float64], power: int) -> NDArray[np.float64]:
        return np.asarray(np.bincount(rows, weights * times**power)[rows], dtype=np.float64)

    s = 2 * times / width
    inside = np.maximum(1 - s**2, 0.0)
    mean = inside**BUMP_POWER
    slope = s * inside ** (BUMP_POWER - 1)
    second = ((2 * BUMP_POWER - 1) * s**2 - 1) * inside ** (BUMP_POWER - 2)
    mean = mean / moment(mean, 0)
    slope = slope - mean * moment(slope, 0)
    slope = slope / moment(slope, 1)
    second = second - mean * moment(second, 0)
    second = second - slope * moment(second, 1)
    second = 2 * second / moment(second, 2)
    shape = (centres.size, t.size)
    return [sparse.csr_matrix((weights, (rows, places)), shape=shape) for weights in (mean, slope, second)]


def _interpolate(t: NDArray[np.float64], grid: NDArray[np.float64]) -> Any:
    """Return the sparse matrix from samples at times t to a grid: straight lines between neighbours.

    Cubics would be more precise for clean data, but amplify the noise of samples that are close together.
    """
    from scipy import sparse  # slow to import

    lefts = np.clip(np.searchsorted(t, grid) - 1, 0, t.size - 2)
    shares = (grid - t[lefts]) / (t[lefts + 1] - t[lefts])
    rows = np.arange(grid.size)
    entries = np.concatenate([1 - shares, shares]), (np.tile(rows, 2), np.concatenate([lefts, lefts + 1]))
    return sparse.csr_matrix(entries, shape=(grid.size, t.size))


def _check_width(width: float, t: NDArray[np.float64]) -> None:
    duration = t[-1] - t[0]
    if not np.isfinite(width) or width <= 0:
        raise SettingError(f"`width` must be a number above 0; got {width!r}.")
    if width > duration * (1 + 1e-9):
        raise SettingError(f"`width` must be at most the duration of the series, {duration:g}; got {width:g}.")
    n_inside = width / duration * (t.size - 1)
    if n_inside < MIN_WIDTH * (1 - 1e-9):
        raise DataError(
            f"A window of width {width:g} holds about {n_inside:.3g} samples; {MIN_WIDTH} are needed. "
            "Use a larger width, or measure more often."
        )
