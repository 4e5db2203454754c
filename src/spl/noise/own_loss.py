"""A loss of the user: a plain Python function of the measured value y and the predicted value f, compiled and checked when it is made.

`formulas/elementwise` checks what every function of a user must do, and `loss_checks` what a loss must do. A fit gets what it needs:
values, slopes, and weights with which least squares lowers the loss.
"""

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spl.errors import SHOWN_TEXT, LossError, OperatorError, count_noun, shorten, show_value
from spl.noise.loss_checks import Floats, check_finite, check_lowest, check_shape, check_slope

if TYPE_CHECKING:
    from spl.kernels.runtime.user_functions import CompiledOperator

_STEP = 6e-6  # of a central difference, relative to f - y: cube root of the rounding error
_SMALLEST_STEP = 1e-8  # relative to f: smaller steps drown in rounding errors
_TINY = 1e-150  # the step where y and f are both 0
_SHARES = (-10.0, -1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0, 10.0)  # of the spread of a target: distances that are tried on it
_AT_TARGET = 1e-4  # of the median residual: f - y below this counts as 0
_SMOOTHED = 1.5  # median residuals: about a standard deviation of normal errors
_MAX_DOUBLINGS = 60  # of an error, until it gives the mean loss


class _Compiled(NamedTuple):
    value: "CompiledOperator"
    slope: "CompiledOperator | None"  # None: differences of the value are used


@dataclass(frozen=True, slots=True, repr=False)
class Loss:
    """How bad a prediction is: a function of the measured value y and the predicted value f, lowest at f = y.

    The function is compiled and checked at once. It must be finite for positive y and f, except for overflow far apart. Elsewhere it
    may be NaN: a loss may be made for positive data only. It need not be 0 at f = y. Numbers from outside, such as a threshold, keep
    the value they have now.

    Args:
        name: what messages and results call it.
        function: takes two numbers, y and f, and returns a number; it may use `if`, loops, and functions of numpy and math.
        slope: its derivative by f, a function of y and f; left out, it is derived from the function, or taken from differences.

    Examples:
        >>> huber = Loss("huber", lambda y, f: (f - y) ** 2 if abs(f - y) < 1 else 2 * abs(f - y) - 1)
        >>> huber.values([1.0, 1.0], [1.5, 11.0])
        array([ 0.25, 19. ])
        >>> Loss("shifted", lambda y, f: (f - y - 1) ** 2)
        Traceback (most recent call last):
        ...
        spl.errors.LossError: Loss 'shifted' must be lowest at f = y; for y = 1.7 it is 1 at f = 1.7, but 0.996603 at f = 1.7017.
    """

    name: str
    function: Callable[[float, float], float]
    slope: Callable[[float, float], float] | None = None
    _compiled: _Compiled = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise LossError(f"The name of a loss must be a word or two; got {show_value(self.name)}.")
        if len(self.name) > SHOWN_TEXT:
            raise LossError(
                f"The name of a loss may have up to {SHOWN_TEXT} characters; '{shorten(self.name)}' has {len(self.name)}."
            )
        given = {"function": self.function} | ({} if self.slope is None else {"slope": self.slope})
        for what, function in given.items():
            if not callable(function):
                raise LossError(
                    f"The {what} of loss '{self.name}' must be a Python function of y and f; got {show_value(function)}."
                )
        self._prepare()

    def _prepare(self) -> None:
        """Compile and check the functions."""
        from spl.formulas.elementwise import ElementwiseFunction  # it imports numba, which is slow

        function = ElementwiseFunction(self.function, 2, f"Loss '{self.name}'", LossError)
        function.check_quiet()
        value = function.compile()
        function.check_values(value)
        object.__setattr__(self, "_compiled", _Compiled(value, None))
        check_finite(self.name, self.function, self.values)
        check_shape(self.name, self.values)
        if self.slope is None:
            object.__setattr__(self, "_compiled", _Compiled(value, _differentiate(self.function)))
            return
        given = ElementwiseFunction(self.slope, 2, f"The slope of loss '{self.name}'", LossError)
        given.check_quiet()
        slope = given.compile()
        given.check_values(slope)
        check_slope(self.name, self.values, partial(_call, slope))
        object.__setattr__(self, "_compiled", _Compiled(value, slope))

    def __repr__(self) -> str:
        return f"Loss({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.function, self.slope)  # whoever unpacks it compiles it again

    def __deepcopy__(self, memo: object) -> "Loss":
        return self  # it never changes; scikit-learn copies every parameter

    # ---- on rows -------------------------------------------------------------------------------------

    def values(self, target: ArrayLike, predictions: ArrayLike) -> Floats:
        """Return the loss of each row, NaN where it is undefined.

        Args:
            target: measured values, [N].
            predictions: predicted values, [N].

        Examples:
            >>> Loss("absolute", lambda y, f: abs(f - y)).values([1.0, 2.0], [1.5, 0.0])
            array([0.5, 2. ])
        """
        return _call(self._compiled.value, *_as_rows(target, predictions))

    def slopes(self, target: ArrayLike, predictions: ArrayLike) -> Floats:
        """Return the derivative of each row's loss by its prediction, NaN where the loss is undefined.

        At a kink it is a number between the slopes on both sides.

        Args:
            target: measured values, [N].
            predictions: predicted values, [N].

        Examples:
            >>> Loss("squares", lambda y, f: (f - y) ** 2).slopes([1.0, 2.0], [1.5, 2.0])
            array([1., 0.])
        """
        y, f = _as_rows(target, predictions)
        if self._compiled.slope is None:
            return self._difference(y, f)
        slopes = np.where(np.isnan(self.values(y, f)), np.nan, _call(self._compiled.slope, y, f))
        is_missing = ~np.isfinite(slopes)  # at kinks, the derivative of a formula can be 0/0
        slopes[is_missing] = self._difference(y[is_missing], f[is_missing])
        return slopes

    def _difference(self, y: Floats, f: Floats) -> Floats:
        """Return slopes from central differences. Where a step would leave the domain at f = 0, it is shorter."""
        step = np.maximum(np.maximum(_STEP * np.abs(f - y), _SMALLEST_STEP * np.abs(f)), _TINY)
        slopes = self._difference_over(y, f, step)
        is_missing = ~np.isfinite(slopes)
        y, f, step = y[is_missing], f[is_missing], step[is_missing]
        slopes[is_missing] = self._difference_over(y, f, np.minimum(step, np.abs(f) / 2))
        return slopes

    def _difference_over(self, y: Floats, f: Floats, step: Floats) -> Floats:
        above, below = f + step, f - step
        with np.errstate(all="ignore"):
            return np.asarray((self.values(y, above) - self.values(y, below)) / (above - below))

    def weights(self, target: ArrayLike, predictions: ArrayLike) -> Floats:
        """Return weights with which weighted squares have the slopes of this loss, up to a factor of 2.

        A weight is slope / (f - y). Where f is closer to y than 1e-4 of the median distance it is the mean of both sides at that
        distance, the second derivative for a smooth loss. Where f has no loss, or the loss falls with the distance, it is 0.

        Args:
            target: measured values, [N].
            predictions: predicted values, [N].

        Examples:
            >>> Loss("absolute", lambda y, f: abs(f - y)).weights([0.0, 0.0], [0.5, -4.0])
            array([2.  , 0.25])
        """
        y, f = _as_rows(target, predictions)
        residuals = f - y
        distances = np.abs(residuals)
        typical = distances[np.isfinite(distances) & (distances > 0)]
        smallest = _AT_TARGET * float(np.median(typical)) if typical.size else 0.0
        closest = np.maximum(np.maximum(smallest, _SMALLEST_STEP * np.abs(y)), _TINY)
        is_close = distances < closest
        with np.errstate(all="ignore"):
            weights = self.slopes(y, f) / residuals
            weights[is_close] = self._weigh_close(y[is_close], closest[is_close])
        return np.where(np.isfinite(weights) & (weights > 0), weights, 0.0)

    def _weigh_close(self, y: Floats, distance: Floats) -> Floats:
        above, below = y + distance, y - distance
        return _average(self.slopes(y, above) / (above - y), self.slopes(y, below) / (below - y))

    def curvatures(self, target: ArrayLike, predictions: ArrayLike) -> Floats:
        """Return the change of each row's slope with its prediction, smoothed over a part of the typical error; 0 where it has none.

        A kink of the loss has no second derivative, but the mean over many rows has one. The more rows, the less is smoothed.

        Args:
            target: measured values, [N].
            predictions: predicted values, [N].

        Examples:
            >>> Loss("squares", lambda y, f: 3 * (f - y) ** 2).curvatures([1.0, 2.0], [1.5, 2.5])
            array([6., 6.])
        """
        y, f = _as_rows(target, predictions)
        distances = np.abs(f - y)
        typical = float(np.median(distances)) if y.size else 0.0
        width = _SMOOTHED * typical * max(y.size, 1) ** -0.2  # as wide as a density is best estimated with
        width = max(width, _TINY, _SMALLEST_STEP * float(np.max(np.abs(f), initial=0.0)))
        curvatures = self._curvatures_over(y, f, np.full(y.size, width))
        is_missing = ~np.isfinite(curvatures)
        y, f = y[is_missing], f[is_missing]
        curvatures[is_missing] = self._curvatures_over(y, f, np.minimum(width, np.abs(f) / 2))
        return np.where(np.isfinite(curvatures), curvatures, 0.0)

    def _curvatures_over(self, y: Floats, f: Floats, step: Floats) -> Floats:
        above, below = f + step, f - step
        with np.errstate(all="ignore"):
            return np.asarray((self.slopes(y, above) - self.slopes(y, below)) / (above - below))

    def equivalent_error(
        self, target: ArrayLike, predictions: ArrayLike, row_weights: ArrayLike | None = None
    ) -> float:
        """Return the error that gives the same mean loss if every row has it, in the units of y.

        It is the root mean square for squares, and the mean for absolute values. Half of the error counts upwards and half downwards,
        as far as the loss is defined there. It is inf if the mean loss is not finite, and the largest error of all rows if a bounded
        loss exceeds what any common error gives.

        Args:
            target: measured values, [N].
            predictions: predicted values, [N].
            row_weights: how much each row counts, [N]; left out, all count the same.

        Examples:
            >>> squares = Loss("squares", lambda y, f: 3 * (f - y) ** 2 + 1)
            >>> round(squares.equivalent_error([0.0, 0.0], [1.0, 7.0]), 12)
            5.0
        """
        y, f = _as_rows(target, predictions)
        _, shares = _as_rows(y, np.ones(y.size) if row_weights is None else row_weights)
        y, f, shares = y[shares > 0], f[shares > 0], shares[shares > 0]
        if not y.size:
            return 0.0
        lowest = self._lowest(y)

        def mean(losses: Floats) -> float:
            return float(np.average(losses - lowest, weights=shares))

        def mean_of_error(error: float) -> float:
            return mean(_average(self.values(y, y + error), self.values(y, y - error)))

        with np.errstate(all="ignore"):
            mean_loss = mean(self.values(y, f))
            return _solve_rising(mean_of_error, mean_loss, start=float(np.max(np.abs(f - y))))

    def _lowest(self, y: Floats) -> Floats:
        """Return the loss at f = y, or just above y where it is only defined there: `f - y*log(f)` at y = 0."""
        lowest = self.values(y, y)
        return np.where(np.isfinite(lowest), lowest, self.values(y, np.nextafter(y, np.inf)))

    def check_target(self, target: ArrayLike) -> None:
        """Raise a clear error unless the loss has a value at f = y for every row, and is lowest there.

        Args:
            target: measured values, [N].

        Examples:
            >>> Loss("relative", lambda y, f: ((f - y) / y) ** 2).check_target([1.0, 0.0, 2.0])
            Traceback (most recent call last):
            ...
            spl.errors.LossError: Loss 'relative' has no value at f = y for 1 row of 3, such as y = 0. Leave these rows ...
        """
        y, _ = _as_rows(target, target)
        missing = y[~np.isfinite(self._lowest(y))]
        if missing.size:
            raise LossError(
                f"Loss '{self.name}' has no value at f = y for {count_noun(missing.size, 'row')} of {y.size}, such as "
                f"y = {missing[0]:.6g}. Leave these rows out, or give the loss a value there."
            )
        spread = float(np.std(y)) or float(np.max(np.abs(y), initial=0.0)) or 1.0
        for share in _SHARES:
            check_lowest(self.name, self.values, y, y + share * spread)


# ---- arrays --------------------------------------------------------------------------------------


def _as_rows(target: ArrayLike, predictions: ArrayLike) -> tuple[Floats, Floats]:
    try:
        y, f = (np.ascontiguousarray(values, dtype=np.float64) for values in (target, predictions))
    except (TypeError, ValueError) as error:
        raise LossError(f"A loss takes columns of numbers: {error}.") from None
    if y.ndim != 1 or y.shape != f.shape:
        raise LossError(f"A loss takes two columns of the same length; their shapes are {y.shape} and {f.shape}.")
    return y, f


def _call(compiled: "CompiledOperator", y: Floats, f: Floats) -> Floats:
    from spl.formulas.elementwise import call_compiled  # it imports numba, which is slow

    with np.errstate(all="ignore"):
        return call_compiled(compiled, y, f)


def _average(above: Floats, below: Floats) -> Floats:
    """Return the average of both sides, or the only one that is defined."""
    return np.where(np.isnan(below), above, np.where(np.isnan(above), below, above / 2 + below / 2))


def _solve_rising(function: Callable[[float], float], value: float, start: float) -> float:
    """Return where a rising function of a positive number, 0 at 0, has a value; `start` if it never gets there."""
    from scipy.optimize import brentq  # slow to import

    if not math.isfinite(value):
        return math.inf
    if value <= 0 or start == 0:
        return 0.0
    high = start
    for _ in range(_MAX_DOUBLINGS):
        if function(high) >= value * (1 - 1e-12):
            break
        high *= 2
    else:
        return start
    low = high / 2
    while function(low) > value and low > np.finfo(float).tiny:
        low /= 8
    least, most = np.finfo(float).tiny, np.finfo(float).max

    def excess(logarithm: float) -> float:  # nearly a straight line for most losses, so few steps are needed
        return math.log(min(most, max(least, function(math.exp(logarithm))))) - math.log(value)

    ends = math.log(low), math.log(high)
    if excess(ends[1]) <= 0:
        return high
    return math.exp(brentq(excess, *ends, xtol=1e-14)) if excess(ends[0]) < 0 else low


def _differentiate(function: Callable[[float, float], float]) -> "CompiledOperator | None":
    """Return the compiled derivative by f of a function that can be written as a formula; None for any other."""
    from spl.formulas.user_operators import differentiate  # these import numba, which is slow
    from spl.kernels.runtime.user_functions import compile_elementwise
    from spl.notation.operator_tracing import ARGUMENTS, trace_function
    from spl.notation.to_sympy import to_sympy

    try:
        formula = to_sympy(trace_function(function, 2), real=True)
        _, slope = differentiate(formula, ARGUMENTS)
    except Exception:  # the user's function, or sympy on its formula, may raise anything
        return None
    with contextlib.suppress(OperatorError):  # it may need a function that the compiler does not know
        return compile_elementwise(slope, 2)
    return None
