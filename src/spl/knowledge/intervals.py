"""Interval arithmetic: bounds that hold the values of an expression at all points of a box.

An interval has a lower and an upper end, which are rounded outwards. Where an expression is undefined at a point of an interval, both
ends are NaN, and stay NaN in all that follows; where nothing is known, the ends are infinite.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.formulas.operators import Operator
from spl.kernels.programs import tokens as tk

Numbers = NDArray[np.float64]

_EPS = float(np.finfo(float).eps)
_TINY = float(np.nextafter(0.0, 1.0))
# numpy's functions are off by at most about 4 units in the last place, arithmetic by half a unit
_FUNCTION_ROUNDING, _ROUNDING = 8 * _EPS, 2 * _EPS
_LARGEST_ANGLE = 1e9  # beyond, sine and cosine are only known to lie between -1 and 1


class Interval(NamedTuple):
    """Intervals: lower and upper ends, arrays [M] of the same shape."""

    low: Numbers
    high: Numbers


def whole(like: Numbers) -> Interval:
    """Return intervals that hold every number.

    Examples:
        >>> whole(np.zeros(1))
        Interval(low=array([-inf]), high=array([inf]))
    """
    return Interval(np.full(like.shape, -np.inf), np.full(like.shape, np.inf))


def _outward(low: Numbers, high: Numbers, rounding: float, tiny: float = _TINY) -> Interval:
    """Return the ends moved by rounding errors."""
    return Interval(
        np.where(np.isfinite(low), low - (rounding * np.abs(low) + tiny), low),
        np.where(np.isfinite(high), high + (rounding * np.abs(high) + tiny), high),
    )


def _keep_sign(found: Interval, is_not_negative: NDArray[np.bool_], is_not_positive: NDArray[np.bool_]) -> Interval:
    """Return intervals without what rounding outwards added beyond 0."""
    return Interval(
        np.where(is_not_negative, np.maximum(found.low, 0.0), found.low),
        np.where(is_not_positive, np.minimum(found.high, 0.0), found.high),
    )


def _undefined_where(found: Interval, is_undefined: NDArray[np.bool_]) -> Interval:
    return Interval(np.where(is_undefined, np.nan, found.low), np.where(is_undefined, np.nan, found.high))


def _increasing(function: np.ufunc, a: Interval) -> Interval:
    return _outward(np.asarray(function(a.low)), np.asarray(function(a.high)), _FUNCTION_ROUNDING)


class IntervalArithmetic:
    """Operations on intervals. Call them with numpy's warnings off.

    Examples:
        >>> with np.errstate(all="ignore"):
        ...     root = IntervalArithmetic().apply(tk.SQRT, Interval(np.array([4.0, -1.0]), np.array([9.0, 1.0])))
        >>> root.low.round(3), root.high.round(3)
        (array([ 2., nan]), array([ 3., nan]))
    """

    def constant(self, value: float, like: Interval) -> Interval:
        """Return a number as often as there are intervals."""
        ends = np.full(like.low.shape, value)
        return Interval(ends, ends)

    def add(self, a: Interval, b: Interval) -> Interval:
        """Return a + b. A sum that is 0 is exactly 0, and otherwise has the right sign."""
        low, high = a.low + b.low, a.high + b.high
        low = np.where(np.isnan(low) & ~_is_undefined(a, b), -np.inf, low)
        high = np.where(np.isnan(high) & ~_is_undefined(a, b), np.inf, high)
        return _outward(low, high, _ROUNDING, tiny=0.0)

    def sub(self, a: Interval, b: Interval) -> Interval:
        """Return a - b."""
        return self.add(a, Interval(-b.high, -b.low))

    def mul(self, a: Interval, b: Interval) -> Interval:
        """Return a * b."""
        products = [_product(x, y) for x in a for y in b]
        low = np.minimum(np.minimum(products[0], products[1]), np.minimum(products[2], products[3]))
        high = np.maximum(np.maximum(products[0], products[1]), np.maximum(products[2], products[3]))
        same = ((a.low >= 0) & (b.low >= 0)) | ((a.high <= 0) & (b.high <= 0))
        opposite = ((a.low >= 0) & (b.high <= 0)) | ((a.high <= 0) & (b.low >= 0))
        is_zero = ((a.low == 0) & (a.high == 0)) | ((b.low == 0) & (b.high == 0))
        found = _keep_sign(_outward(low, high, _ROUNDING), same | is_zero, opposite | is_zero)
        return _undefined_where(found, _is_undefined(a, b))

    def scale(self, a: Interval, factor: float) -> Interval:
        """Return a times a number."""
        if factor == -1.0:
            return Interval(-a.high, -a.low)
        return self.mul(a, self.constant(factor, a))

    def div(self, a: Interval, b: Interval) -> Interval:
        """Return a / b; undefined where b may be 0."""
        return self.mul(a, self._inverse(b, is_open=False))

    def div_slope(self, a: Interval, b: Interval) -> Interval:
        """Return a / b, where 0 may be an end of b: a slope that is infinite only at the border of its box."""
        return self.mul(a, self._inverse(b, is_open=True))

    def _inverse(self, b: Interval, *, is_open: bool) -> Interval:
        has_zero = (b.low <= 0) & (b.high >= 0)
        is_border = has_zero & ((b.low == 0) ^ (b.high == 0))
        low = np.where(b.high == 0, -np.inf, 1.0 / b.high)
        high = np.where(b.low == 0, np.inf, 1.0 / b.low)
        found = _keep_sign(_outward(low, high, _ROUNDING), b.low >= 0, b.high <= 0)
        if not is_open:
            return _undefined_where(found, has_zero)
        inside = whole(b.low)
        is_inside = has_zero & ~is_border
        return Interval(np.where(is_inside, inside.low, found.low), np.where(is_inside, inside.high, found.high))

    def power(self, a: Interval, exponent: int) -> Interval:
        """Return a to a whole power."""
        if exponent == 0:
            return self.constant(1.0, a)
        if exponent < 0:
            return self._inverse(self.power(a, -exponent), is_open=False)
        low, high = a.low**exponent, a.high**exponent
        rounding = (exponent + 1) * _EPS
        if exponent % 2:
            return _keep_sign(_outward(low, high, rounding), a.low >= 0, a.high <= 0)
        has_zero = (a.low <= 0) & (a.high >= 0)
        least = np.where(has_zero, 0.0, np.minimum(low, high))
        found = _outward(least, np.maximum(low, high), rounding)
        return _keep_sign(found, ~_is_undefined(a), np.zeros(a.low.shape, bool))

    def pow(self, a: Interval, b: Interval) -> Interval:
        """Return a**b: a whole power, or exp(b * log(a)) for positive a; undefined elsewhere."""
        if b.low.size and np.all(b.low == b.high) and np.all(b.low == b.low.flat[0]):
            exponent = float(b.low.flat[0])
            if exponent == round(exponent) and abs(exponent) <= tk.POWER_OFFSET:
                return self.power(a, int(exponent))
        logarithm = _outward(np.log(np.maximum(a.low, 0.0)), np.log(np.maximum(a.high, 0.0)), _FUNCTION_ROUNDING)
        found = self.apply(tk.EXP, self.mul(b, logarithm))
        is_sound = (a.low > 0) | ((a.low == 0) & (b.low > 0))
        return _undefined_where(found, ~is_sound | _is_undefined(a, b))

    def least(self, a: Interval, b: Interval) -> Interval:
        """Return the lower of two."""
        return Interval(np.minimum(a.low, b.low), np.minimum(a.high, b.high))

    def greatest(self, a: Interval, b: Interval) -> Interval:
        """Return the higher of two."""
        return Interval(np.maximum(a.low, b.low), np.maximum(a.high, b.high))

    def pick(self, a: Interval, b: Interval, of_a: Interval, of_b: Interval) -> Interval:
        """Return the slope of the lower of a and b; both, where either may be lower."""
        is_a, is_b = a.high < b.low, b.high < a.low
        both = Interval(np.minimum(of_a.low, of_b.low), np.maximum(of_a.high, of_b.high))
        return Interval(
            np.where(is_a, of_a.low, np.where(is_b, of_b.low, both.low)),
            np.where(is_a, of_a.high, np.where(is_b, of_b.high, both.high)),
        )

    def at_kink(self, a: Interval, value: Interval) -> Interval:
        """Return a derivative that jumps where a is 0: nothing is known there."""
        may_jump = ~((a.low > 0) | (a.high < 0))
        unknown = whole(a.low)
        return Interval(np.where(may_jump, unknown.low, value.low), np.where(may_jump, unknown.high, value.high))

    def apply(self, opcode: int, a: Interval) -> Interval:
        """Return a function of one argument."""
        match opcode:
            case tk.ABS:
                is_across = (a.low < 0) & (a.high > 0)
                ends = np.abs(a.low), np.abs(a.high)
                return Interval(np.where(is_across, 0.0, np.minimum(*ends)), np.maximum(*ends))
            case tk.SIGN:
                return Interval(np.sign(a.low), np.sign(a.high))
            case tk.SIN:
                return _wave(np.sin, a, peak=0.25)
            case tk.COS:
                return _wave(np.cos, a, peak=0.0)
            case tk.TAN:
                return _tangent(a)
            case tk.COSH:
                size = self.apply(tk.ABS, a)
                found = _increasing(np.cosh, size)
                return Interval(np.maximum(found.low, 1.0), found.high)
            case tk.ACOS:
                turned = _increasing(np.arccos, Interval(a.high, a.low))
                return _undefined_where(turned, ~((a.low >= -1) & (a.high <= 1)))
        found = _increasing(_INCREASING[opcode], a)
        is_odd = opcode in _SAME_SIGN
        positive = (a.low >= 0) if is_odd else np.full(a.low.shape, opcode in (tk.EXP, tk.SQRT))
        negative = (a.high <= 0) if is_odd else np.zeros(a.low.shape, bool)
        found = _keep_sign(found, positive & ~_is_undefined(a), negative)
        if opcode == tk.LOG:
            return _undefined_where(found, ~(a.low > 0))
        if opcode == tk.SQRT:
            return _undefined_where(found, ~(a.low >= 0))
        if opcode == tk.ASIN:
            return _undefined_where(found, ~((a.low >= -1) & (a.high <= 1)))
        return found

    def own(self, operator: Operator, place: int, arguments: list[Interval]) -> Interval:
        """Return a function of the user, of which nothing is known over an interval; it may be undefined there."""
        return _undefined_where(arguments[0], np.ones(arguments[0].low.shape, bool))

    def unknown(self, like: Interval) -> Interval:
        """Return intervals of which nothing is known."""
        return whole(like.low)


def _is_undefined(*intervals: Interval) -> NDArray[np.bool_]:
    return np.asarray(np.any([np.isnan(each.low) | np.isnan(each.high) for each in intervals], axis=0))


def _product(x: Numbers, y: Numbers) -> Numbers:
    """Return x * y, where 0 times infinity is 0: infinity stands for all large numbers, none of which is infinite."""
    return np.where((x == 0) | (y == 0), 0.0, x * y)


def _wave(function: np.ufunc, a: Interval, peak: float) -> Interval:
    """Return the sine or cosine of intervals; `peak` is where it is highest, in turns."""
    turns_low, turns_high = a.low / (2 * np.pi), a.high / (2 * np.pi)
    margin = 1e-6  # of a turn: where a peak may lie just inside, it does

    def meets(place: float) -> NDArray[np.bool_]:
        return np.floor(turns_high - place + margin) >= np.ceil(turns_low - place - margin)

    ends = np.asarray(function(a.low)), np.asarray(function(a.high))
    low = np.where(meets(peak + 0.5), -1.0, np.minimum(*ends) - _FUNCTION_ROUNDING)
    high = np.where(meets(peak), 1.0, np.maximum(*ends) + _FUNCTION_ROUNDING)
    is_vague = ~((np.abs(a.low) < _LARGEST_ANGLE) & (np.abs(a.high) < _LARGEST_ANGLE))
    found = Interval(
        np.where(is_vague, -1.0, np.maximum(low, -1.0)),
        np.where(is_vague, 1.0, np.minimum(high, 1.0)),
    )
    return _undefined_where(found, _is_undefined(a))


def _tangent(a: Interval) -> Interval:
    half_turns = [(each / np.pi) - 0.5 for each in a]
    has_pole = np.floor(half_turns[1] + 1e-6) >= np.ceil(half_turns[0] - 1e-6)
    is_vague = ~((np.abs(a.low) < _LARGEST_ANGLE) & (np.abs(a.high) < _LARGEST_ANGLE))
    return _undefined_where(_increasing(np.tan, a), has_pole | is_vague | _is_undefined(a))


_INCREASING: Final[dict[int, np.ufunc]] = {
    tk.SQRT: np.sqrt,
    tk.CBRT: np.cbrt,
    tk.EXP: np.exp,
    tk.LOG: np.log,
    tk.ASIN: np.arcsin,
    tk.ATAN: np.arctan,
    tk.SINH: np.sinh,
    tk.TANH: np.tanh,
}
_SAME_SIGN: Final = frozenset({tk.CBRT, tk.ASIN, tk.ATAN, tk.SINH, tk.TANH})  # f(x) has the sign of x
