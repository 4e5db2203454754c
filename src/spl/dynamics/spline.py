"""Smoothing splines whose smoothness follows the data and varies along the series. Arrays and numbers only.

A quintic spline is fitted to each column, with a penalty on its third derivative:

    minimise  sum (x_i - s(t_i))^2  +  strength * sum_j weight_j * s'''_j^2

The strength is the most likely one when s''' is white noise of variance 1 / weight (restricted maximum likelihood).
First, all weights are equal. That makes signals with fast and slow parts, such as relaxation oscillations, too smooth in
the fast parts and too rough in the slow ones. So the weights are set to one over the local energy of s''', and the fit
is repeated. The states of a system tend to be fast at the same time, so half of that energy is the mean over the columns.

Everything is banded: time and memory grow with the number of samples.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.errors import DataError

MIN_SPLINE_SAMPLES = 10
_DEGREE = 5
_PENALTY = 3  # the derivative that is penalised
_N_ROUNDS = 3  # of updating the weights; more change little
_ENERGY_WIDTH = 1.5  # of the window for the local energy, in widths of the smoothing
_ENERGY_FLOOR = 0.01  # of the mean: no part counts as smoother than this
_POOLED = 0.5  # share of the local energy that is the mean over all columns
_STRENGTHS = (-5.0, 9.0)  # decimal logarithms, in units of knots; above 9 the equations are badly conditioned
_CHANGE = 3.0  # of the strength, at most, when the weights are updated
_COARSEN_ABOVE = 7.0  # strength above which knots can be left out
_COARSER = 4  # times fewer knots
_MIN_KNOTS = 32


@dataclass(frozen=True, slots=True, eq=False)
class SplineFit:
    """Splines at the sample times, each array [N, D]."""

    values: NDArray[np.float64]
    slopes: NDArray[np.float64]
    second: NDArray[np.float64]
    freedom: NDArray[np.float64]  # [D], the effective number of parameters of each spline


def fit_splines(t: NDArray[np.float64], x: NDArray[np.float64]) -> SplineFit:
    """Fit a smoothing spline to each column of x [N, D] at increasing times t [N], N at least `MIN_SPLINE_SAMPLES`.

    Examples:
        >>> t = np.linspace(0, 10, 500)
        >>> noisy = np.sin(t) + np.random.default_rng(0).normal(0, 0.1, t.size)
        >>> fit = fit_splines(t, noisy[:, None])
        >>> bool(np.abs(fit.slopes[20:-20, 0] - np.cos(t)[20:-20]).max() < 0.1)
        True
    """
    places = (t - t[0]) / (t[-1] - t[0]) * (len(t) - 1)  # mean step 1, so that the numbers are well scaled
    centre, spread = x.mean(axis=0), x.std(axis=0)
    scaled = (x - centre) / np.where(spread > 0, spread, 1.0)
    try:
        columns = _fit_columns(places, scaled)
        freedom = np.array([column.freedom() for column in columns])
    except np.linalg.LinAlgError:
        shortest, longest = np.diff(t).min(), np.diff(t).max()
        raise DataError(
            f"The steps between samples are too uneven for a spline: {shortest:g} to {longest:g}. Use "
            "'finite_difference', or leave out samples that are close together."
        ) from None
    rate = (len(t) - 1) / (t[-1] - t[0])

    def collect(derivative: int) -> NDArray[np.float64]:
        curves = np.column_stack([column.evaluate(derivative) for column in columns])
        return np.asarray(curves * spread * rate**derivative)

    return SplineFit(collect(0) + centre, collect(1), collect(2), freedom)


def _fit_columns(t: NDArray[np.float64], x: NDArray[np.float64]) -> list["_Spline"]:
    columns = [_fit_evenly(t, column) for column in x.T]
    for _ in range(_N_ROUNDS):
        energies = [column.local_energy() for column in columns]
        shared = np.mean(energies, axis=0)
        columns = [
            column.adapt((1 - _POOLED) * energy + _POOLED * shared)
            for column, energy in zip(columns, energies, strict=True)
        ]
    return columns


def _fit_evenly(t: NDArray[np.float64], y: NDArray[np.float64]) -> "_Spline":
    """Fit with the same penalty everywhere; leave out knots while the signal is too smooth to need them."""
    stride = 1
    while True:
        basis = _Basis.build(t, stride)
        weights = np.ones(basis.n_penalties)
        spline = _Spline.fit(basis, y, weights, *_STRENGTHS)
        if spline.strength <= _COARSEN_ABOVE or len(t) < _MIN_KNOTS * stride * _COARSER:
            return spline
        stride *= _COARSER


@dataclass(frozen=True, slots=True, eq=False)
class _Basis:
    """B-splines on the knots, and the parts of the equations that do not depend on the values of the samples."""

    t: NDArray[np.float64]  # [N]
    stride: int  # samples from knot to knot
    knots: NDArray[np.float64]
    design: Any  # sparse [N, n], each B-spline at each sample
    third: Any  # sparse [n - 3, n], from the coefficients of a spline to those of its third derivative
    spans: NDArray[np.float64]  # [n - 3], the time that each of these covers
    centres: NDArray[np.float64]  # [n - 3], the middle of that time
    gram: NDArray[np.float64]  # bands of design.T @ design

    @property
    def n_penalties(self) -> int:
        return self.spans.size

    @classmethod
    def build(cls, t: NDArray[np.float64], stride: int) -> "_Basis":
        from scipy import sparse  # slow to import
        from scipy.interpolate import BSpline

        skipped = (_DEGREE + 1) // 2  # knots near each end, so that there are as many B-splines as samples
        inner = t[:-1:stride][skipped : len(t[:-1:stride]) - skipped + 1]
        knots = np.concatenate([np.repeat(t[0], _DEGREE + 1), inner, np.repeat(t[-1], _DEGREE + 1)])
        design = sparse.csr_matrix(BSpline.design_matrix(t, knots, _DEGREE))
        third: Any = sparse.identity(design.shape[1], format="csr")
        for taken in range(_PENALTY):
            degree, inside = _DEGREE - taken, knots[taken + 1 : len(knots) - taken - 1]
            rise = (third[1:] - third[:-1]) * degree * stride
            third = sparse.diags(1.0 / (inside[degree:] - inside[:-degree])) @ rise
        left = _DEGREE - _PENALTY + 1
        inside = knots[_PENALTY : len(knots) - _PENALTY]
        spans = (inside[left:] - inside[:-left]) / left
        centres = (inside[left:] + inside[:-left]) / 2
        return cls(t, stride, knots, design, third, spans / stride, centres, _take_bands(design.T @ design))


@dataclass(frozen=True, slots=True, eq=False)
class _Spline:
    """One column's spline, with the strength of its penalty."""

    basis: _Basis
    y: NDArray[np.float64]
    weights: NDArray[np.float64]  # [n - 3], geometric mean 1
    strength: float  # decimal logarithm
    coefficients: NDArray[np.float64]

    @classmethod
    def fit(
        cls, basis: _Basis, y: NDArray[np.float64], weights: NDArray[np.float64], lowest: float, highest: float
    ) -> "_Spline":
        """Fit with the most likely strength: try a coarse grid of strengths, then finer ones around the best."""
        equations = _Equations(basis, y, weights)
        step = 1.5
        tried = {strength: equations.deviance(strength) for strength in np.arange(lowest, highest + step / 2, step)}
        for _ in range(2):
            best = min(tried, key=tried.__getitem__)
            step /= 3
            tried |= {best + k * step: equations.deviance(best + k * step) for k in (-2, -1, 1, 2)}
        strength = float(min(tried, key=tried.__getitem__))
        coefficients, _ = equations.solve(strength)
        return cls(basis, y, weights, strength, coefficients)

    def evaluate(self, derivative: int) -> NDArray[np.float64]:
        """Return the values of the spline, or of one of its derivatives, at the samples."""
        from scipy.interpolate import BSpline  # slow to import

        return np.asarray(BSpline(self.basis.knots, self.coefficients, _DEGREE)(self.basis.t, nu=derivative))

    def local_energy(self) -> NDArray[np.float64]:
        """Return the square of the third derivative around each sample, with mean 1."""
        from scipy.ndimage import gaussian_filter1d  # slow to import

        width = self.basis.stride * 10 ** (self.strength / (2 * _PENALTY))
        energy = gaussian_filter1d(self.evaluate(_PENALTY) ** 2, max(3.0, _ENERGY_WIDTH * width), mode="nearest")
        mean = energy.mean()
        return np.asarray(energy / mean) if mean > 0 else np.ones_like(energy)

    def adapt(self, energy: NDArray[np.float64]) -> "_Spline":
        """Fit again, with a smaller penalty where there is more energy."""
        weights = 1.0 / (np.interp(self.basis.centres, self.basis.t, energy) + _ENERGY_FLOOR)
        weights /= np.exp(np.mean(np.log(weights)))
        lowest, highest = self.strength - _CHANGE, min(self.strength + _CHANGE, _STRENGTHS[1])
        return _Spline.fit(self.basis, self.y, weights, lowest, highest)

    def freedom(self) -> float:
        """Return the trace of the map from samples to fitted values: n - d log det / d log strength."""
        equations, small = _Equations(self.basis, self.y, self.weights), 0.01
        rise = equations.solve(self.strength)[1] - equations.solve(self.strength - small)[1]
        return float(self.coefficients.size - rise / (small * np.log(10)))


class _Equations:
    """The normal equations of one column, for any strength."""

    def __init__(self, basis: _Basis, y: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
        from scipy import sparse  # slow to import

        self._basis, self._y = basis, y
        self._penalties = basis.spans * weights
        self._bands = _take_bands(basis.third.T @ sparse.diags(self._penalties) @ basis.third)
        self._right = basis.design.T @ y

    def solve(self, strength: float) -> tuple[NDArray[np.float64], float]:
        """Return the coefficients, and the logarithm of the determinant of the matrix."""
        from scipy.linalg import cho_solve_banded, cholesky_banded  # slow to import

        factor = cholesky_banded(self._basis.gram + 10.0**strength * self._bands, check_finite=False)
        coefficients = cho_solve_banded((factor, False), self._right, check_finite=False)
        return coefficients, 2.0 * float(np.log(factor[-1]).sum())

    def deviance(self, strength: float) -> float:
        """Return minus twice the log likelihood of a strength, up to a constant; infinite if there is no solution."""
        try:
            coefficients, log_determinant = self.solve(strength)
        except np.linalg.LinAlgError:
            return np.inf
        misfit = np.sum((self._y - self._basis.design @ coefficients) ** 2)
        bending = 10.0**strength * np.sum(self._penalties * (self._basis.third @ coefficients) ** 2)
        n_free = self._y.size - _PENALTY
        tiny = np.finfo(np.float64).tiny  # a constant column leaves nothing
        penalised = self._penalties.size * strength * np.log(10)
        return float(n_free * np.log(misfit + bending + tiny) + log_determinant - penalised)


def _take_bands(matrix: Any) -> NDArray[np.float64]:
    """Return the upper bands of a symmetric matrix, as LAPACK takes them."""
    bands = np.zeros((_DEGREE + 1, matrix.shape[0]))
    for offset in range(_DEGREE + 1):
        bands[_DEGREE - offset, offset:] = matrix.diagonal(offset)
    return bands
