"""The arithmetic of plain numbers: what `jets` needs to follow values and derivatives of a program at many points."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from spl.formulas.operators import Operator
from spl.kernels.programs import tokens as tk

Numbers = NDArray[np.float64]

_UNARY: Final[dict[int, Callable[[Numbers], Any]]] = {
    tk.SQRT: np.sqrt,
    tk.CBRT: np.cbrt,
    tk.EXP: np.exp,
    tk.LOG: np.log,
    tk.SIN: np.sin,
    tk.COS: np.cos,
    tk.TAN: np.tan,
    tk.ASIN: np.arcsin,
    tk.ACOS: np.arccos,
    tk.ATAN: np.arctan,
    tk.SINH: np.sinh,
    tk.COSH: np.cosh,
    tk.TANH: np.tanh,
    tk.ABS: np.abs,
    tk.SIGN: np.sign,
}


class NumbersArithmetic:
    """Operations on arrays [M] of numbers. What is undefined is NaN or infinite: call them with numpy's warnings off.

    Examples:
        >>> arithmetic = NumbersArithmetic()
        >>> arithmetic.apply(tk.SQRT, np.array([4.0, 9.0]))
        array([2., 3.])
    """

    def constant(self, value: float, like: Numbers) -> Numbers:
        """Return a number as often as there are points."""
        return np.full(like.shape, value)

    def add(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a + b."""
        return a + b

    def sub(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a - b."""
        return a - b

    def mul(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a * b."""
        return a * b

    def scale(self, a: Numbers, factor: float) -> Numbers:
        """Return a times a number."""
        return factor * a

    def div(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a / b."""
        return a / b

    def div_slope(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a / b, where b may be 0 at an end of an interval; the same for numbers."""
        return a / b

    def power(self, a: Numbers, exponent: int) -> Numbers:
        """Return a to a whole power."""
        return a**exponent if exponent >= 0 else 1.0 / a**-exponent

    def pow(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a**b."""
        return np.asarray(np.power(a, b))

    def least(self, a: Numbers, b: Numbers) -> Numbers:
        """Return the lower of two."""
        return np.minimum(a, b)

    def greatest(self, a: Numbers, b: Numbers) -> Numbers:
        """Return the higher of two."""
        return np.maximum(a, b)

    def pick(self, a: Numbers, b: Numbers, of_a: Numbers, of_b: Numbers) -> Numbers:
        """Return the slope of the lower of a and b."""
        return np.where(a <= b, of_a, of_b)

    def at_kink(self, a: Numbers, value: Numbers) -> Numbers:
        """Return a derivative that jumps where a is 0; numbers hardly ever meet that place."""
        return value

    def apply(self, opcode: int, a: Numbers) -> Numbers:
        """Return a function of one argument."""
        return np.asarray(_UNARY[opcode](a))

    def own(self, operator: Operator, place: int, arguments: list[Numbers]) -> Numbers:
        """Return a function of the user (place 0), or its derivative by an argument (places 1 and 2)."""
        from spl.formulas.elementwise import call_compiled  # both import numba, which is slow
        from spl.formulas.user_operators import compile_operator

        first = np.ascontiguousarray(arguments[0])
        second = np.ascontiguousarray(arguments[-1])
        return call_compiled(compile_operator(operator)[place], first, second)

    def unknown(self, like: Numbers) -> Numbers:
        """Return values that are not known."""
        return np.full(like.shape, np.nan)
