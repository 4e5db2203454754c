"""Clear errors for functions that cannot be a loss: not finite, not lowest at f = y, flat on one side, or with a wrong slope.

Losses come in as functions over arrays: `values(y, f)` and `slopes(y, f)`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spl.errors import LossError, shorten

Floats = NDArray[np.float64]
Rows = Callable[[Floats, Floats], Floats]  # of the measured values and the predicted ones

_ORDINARY = np.array([1.7, 0.31, 8.9, 0.013, 97.0])  # a loss must be finite where y and f are such numbers
_EXTREME = np.array([1e-6, 1e6, 1e12])  # here it may overflow
_NEAR = 1e-3  # relative distance of f from y at which a loss is tried too
_ROUNDING = 1e-12  # differences of a loss below this share are rounding errors
_CHECK_STEP = 1e-6  # relative to f - y
_SLOPE_TOLERANCE = 0.01  # relative; a wrong factor or sign is much more


def check_finite(name: str, function: Callable[[float, float], float], values: Rows) -> None:
    """Raise an error unless the loss is finite for positive y and f; the Python function says what it raises there."""
    y, f = _pair(_ORDINARY, _ORDINARY)
    losses = values(y, f)
    for k in np.flatnonzero(~np.isfinite(losses))[:1]:
        raise LossError(
            f"Loss '{name}' must be finite for positive y and f; for y = {y[k]:.6g} and f = {f[k]:.6g} it "
            f"{_say_result(function, y[k], f[k], losses[k])}."
        )


def check_shape(name: str, values: Rows) -> None:
    """Raise an error unless the loss is lowest at f = y and rises on both sides, for positive y.

    A loss that is made for positive y may be anything for others.
    """
    sizes = np.concatenate([_ORDINARY, _EXTREME])
    near_y, near_f = np.tile(_ORDINARY, 2), np.concatenate([(1 + _NEAR) * _ORDINARY, (1 - _NEAR) * _ORDINARY])
    far_y, far_f = _pair(sizes, np.concatenate([sizes, -sizes, [0.0]]))
    y, f = np.concatenate([near_y, far_y]), np.concatenate([near_f, far_f])
    check_lowest(name, values, y, f)
    rises = values(y, f) > values(y, y)
    for side, is_there in (("above", f > y), ("below", f < y)):
        if not np.any(rises & is_there):
            raise LossError(f"Loss '{name}' must rise as f moves away from y; it stays the same for any f {side} y.")


def check_lowest(name: str, values: Rows, y: Floats, f: Floats) -> None:
    """Raise an error if the loss of a pair is lower than at f = y; where either is NaN, there is nothing to compare."""
    losses, at_target = values(y, f), values(y, y)
    with np.errstate(all="ignore"):
        is_lower = losses < at_target - _ROUNDING * np.maximum(np.abs(losses), np.abs(at_target))
    for k in np.flatnonzero(is_lower)[:1]:
        raise LossError(
            f"Loss '{name}' must be lowest at f = y; for y = {y[k]:.6g} it is {at_target[k]:.6g} at f = {y[k]:.6g}, but "
            f"{losses[k]:.6g} at f = {f[k]:.6g}."
        )


def check_slope(name: str, values: Rows, slopes: Rows) -> None:
    """Raise an error if a slope lies outside the differences on its two sides, which differ at a kink."""
    y, f = _pair(_ORDINARY, _ORDINARY)
    y, f = y[y != f], f[y != f]
    given, losses = slopes(y, f), values(y, f)
    step = _CHECK_STEP * np.abs(f - y)
    with np.errstate(all="ignore"):
        above = (values(y, f + step) - losses) / ((f + step) - f)
        below = (losses - values(y, f - step)) / (f - (f - step))
        rounding = 4 * np.finfo(float).eps * np.abs(losses) / step
        tolerance = _SLOPE_TOLERANCE * np.maximum(np.abs(above), np.abs(below)) + rounding
    agrees = (given >= np.minimum(above, below) - tolerance) & (given <= np.maximum(above, below) + tolerance)
    for k in np.flatnonzero(~agrees & np.isfinite(above + below))[:1]:
        raise LossError(
            f"The slope of loss '{name}' is {given[k]:.6g} for y = {y[k]:.6g} and f = {f[k]:.6g}, but there the loss rises by "
            f"{(above[k] + below[k]) / 2:.6g} per unit of f. Give its derivative by f, or leave the slope out."
        )


def _pair(y: Floats, f: Floats) -> tuple[Floats, Floats]:
    """Return all pairs of a y and an f."""
    ys, fs = np.meshgrid(y, f, indexing="ij")
    return ys.ravel(), fs.ravel()


def _say_result(function: Callable[[float, float], float], y: float, f: float, value: float) -> str:
    try:
        with np.errstate(all="ignore"):
            function(float(y), float(f))
    except Exception as error:  # the user's function may raise anything
        return f"raises {type(error).__name__}: {shorten(str(error), 200)}"
    return f"is {value}"
