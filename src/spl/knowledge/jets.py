"""Values and first and second derivatives of a program by one of its columns, in any arithmetic: at points, or over intervals.

The derivatives are exact: they pass from the arguments of an operator to its value by the rules of calculus.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from spl.formulas.operators import Operator
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk

T = TypeVar("T")


class Arithmetic(Protocol[T]):
    """Operations on values of some kind, each an array: `NumbersArithmetic` or `IntervalArithmetic`."""

    def constant(self, value: float, like: T) -> T: ...  # noqa: D102
    def add(self, a: T, b: T) -> T: ...  # noqa: D102
    def sub(self, a: T, b: T) -> T: ...  # noqa: D102
    def mul(self, a: T, b: T) -> T: ...  # noqa: D102
    def scale(self, a: T, factor: float) -> T: ...  # noqa: D102
    def div(self, a: T, b: T) -> T: ...  # noqa: D102
    def div_slope(self, a: T, b: T) -> T: ...  # noqa: D102
    def power(self, a: T, exponent: int) -> T: ...  # noqa: D102
    def pow(self, a: T, b: T) -> T: ...  # noqa: D102
    def least(self, a: T, b: T) -> T: ...  # noqa: D102
    def greatest(self, a: T, b: T) -> T: ...  # noqa: D102
    def pick(self, a: T, b: T, of_a: T, of_b: T) -> T: ...  # noqa: D102
    def at_kink(self, a: T, value: T) -> T: ...  # noqa: D102
    def apply(self, opcode: int, a: T) -> T: ...  # noqa: D102
    def own(self, operator: Operator, place: int, arguments: list[T]) -> T: ...  # noqa: D102
    def unknown(self, like: T) -> T: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Jet(Generic[T]):
    """A value with its first and second derivative; None where a derivative is 0 or was not asked for."""

    value: T
    slope: T | None = None
    bend: T | None = None


def follow(
    program: Program, columns: Sequence[T], arithmetic: Arithmetic[T], by: int | None = None, order: int = 0
) -> Jet[T]:
    """Return the values of a program and its derivatives up to an order by one column.

    Examples:
        >>> import numpy as np
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> from spl.knowledge.numbers_arithmetic import NumbersArithmetic
        >>> cubed = parse_expression("x**3", Vocabulary(("x",)))
        >>> jet = follow(cubed, [np.array([2.0])], NumbersArithmetic(), by=0, order=2)
        >>> float(jet.value[0]), float(jet.slope[0]), float(jet.bend[0])
        (8.0, 12.0, 12.0)
    """
    words, constants = program.vocabulary, list(program.constants)
    like = columns[0]
    stack: list[Jet[T]] = []
    calculus = _Calculus(arithmetic, order)
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            slope = arithmetic.constant(1.0, like) if payload == by and order else None
            stack.append(Jet(columns[payload], slope))
        elif kind == tk.CONSTANT:
            stack.append(Jet(arithmetic.constant(constants.pop(), like)))
        elif kind == tk.LITERAL:
            stack.append(Jet(arithmetic.constant(words.literals[payload], like)))
        elif kind == tk.POWER:
            stack.append(calculus.power(stack.pop(), payload - tk.POWER_OFFSET))
        elif token in (tk.SQUARE, tk.CUBE, tk.INV):
            stack.append(calculus.power(stack.pop(), {tk.SQUARE: 2, tk.CUBE: 3, tk.INV: -1}[token]))
        elif words.arity_of(token) == 2:
            first, second = stack.pop(), stack.pop()
            if token >= tk.USER_BINARY:
                stack.append(calculus.own(words.operator_of(token), [first, second]))
            else:
                stack.append(calculus.binary(token, first, second))
        elif token >= tk.USER_UNARY:
            stack.append(calculus.own(words.operator_of(token), [stack.pop()]))
        else:
            stack.append(calculus.unary(token, stack.pop()))
    [result] = stack
    return result


class _Calculus(Generic[T]):
    """The rules by which derivatives pass from arguments to values."""

    def __init__(self, arithmetic: Arithmetic[T], order: int) -> None:
        self._a, self._order = arithmetic, order

    # ---- sums of derivatives, of which some are 0 ------------------------------------------------

    def _plus(self, a: T | None, b: T | None) -> T | None:
        if a is None or b is None:
            return b if a is None else a
        return self._a.add(a, b)

    def _minus(self, a: T | None, b: T | None) -> T | None:
        return a if b is None else self._a.scale(b, -1.0) if a is None else self._a.sub(a, b)

    def _times(self, a: T | None, b: T | None) -> T | None:
        return None if a is None or b is None else self._a.mul(a, b)

    # ---- two arguments ---------------------------------------------------------------------------

    def binary(self, token: int, a: Jet[T], b: Jet[T]) -> Jet[T]:
        """Return a built-in operator of two arguments."""
        match token:
            case tk.ADD:
                return Jet(self._a.add(a.value, b.value), self._plus(a.slope, b.slope), self._plus(a.bend, b.bend))
            case tk.SUB:
                return Jet(self._a.sub(a.value, b.value), self._minus(a.slope, b.slope), self._minus(a.bend, b.bend))
            case tk.MUL:
                return self._product(a, b)
            case tk.DIV:
                return self._quotient(a, b)
            case tk.POW:
                return self._general_power(a, b)
        return self._extreme(token, a, b)

    def _product(self, a: Jet[T], b: Jet[T]) -> Jet[T]:
        slope = self._plus(self._times(a.slope, b.value), self._times(a.value, b.slope))
        bend = self._plus(self._times(a.bend, b.value), self._times(a.value, b.bend))
        mixed = self._times(a.slope, b.slope)
        if mixed is not None and self._order == 2:
            bend = self._plus(bend, self._a.scale(mixed, 2.0))
        return Jet(self._a.mul(a.value, b.value), slope, bend)

    def _quotient(self, a: Jet[T], b: Jet[T]) -> Jet[T]:
        value = self._a.div(a.value, b.value)
        if b.slope is None and b.bend is None:
            over = [None if each is None else self._a.div(each, b.value) for each in (a.slope, a.bend)]
            return Jet(value, *over)
        below = self._power_slopes(b, -1)
        product = self._product(a, below)
        return Jet(value, product.slope, product.bend)

    def _general_power(self, a: Jet[T], b: Jet[T]) -> Jet[T]:
        value = self._a.pow(a.value, b.value)
        if a.slope is None and b.slope is None:
            return Jet(value)
        one = self._a.constant(1.0, a.value)
        if b.slope is None:
            less = self._a.sub(b.value, one)
            first = self._a.mul(b.value, self._a.pow(a.value, less))
            factor = self._a.mul(b.value, less)
            second = self._a.mul(factor, self._a.pow(a.value, self._a.sub(less, one))) if self._order == 2 else None
            return self._chain(value, first, second, a)
        # ln f = b ln a, so f' = f q with q = (b ln a)', and f'' = f (q**2 + q')
        exponent = self._product(b, self.unary(tk.LOG, a))
        slope = self._times(value, exponent.slope)
        if self._order < 2 or exponent.slope is None:
            return Jet(value, slope)
        return Jet(value, slope, self._times(value, self._plus(self._a.power(exponent.slope, 2), exponent.bend)))

    def _extreme(self, token: int, a: Jet[T], b: Jet[T]) -> Jet[T]:
        """Return the lower or the higher of two; its slope jumps where they are equal."""
        value = self._a.least(a.value, b.value) if token == tk.MIN else self._a.greatest(a.value, b.value)
        if not self._order:
            return Jet(value)
        zero = self._a.constant(0.0, a.value)
        slopes = [zero if each.slope is None else each.slope for each in (a, b)]
        bends = [zero if each.bend is None else each.bend for each in (a, b)]
        low, high = (a.value, b.value) if token == tk.MIN else (b.value, a.value)  # where low <= high, it is a
        slope, bend = self._a.pick(low, high, *slopes), self._a.pick(low, high, *bends)
        return Jet(value, slope, self._a.at_kink(self._a.sub(a.value, b.value), bend))

    # ---- one argument ----------------------------------------------------------------------------

    def power(self, a: Jet[T], exponent: int) -> Jet[T]:
        """Return a whole power."""
        if a.slope is None and a.bend is None:
            return Jet(self._a.power(a.value, exponent))
        return self._power_slopes(a, exponent)

    def _power_slopes(self, a: Jet[T], exponent: int) -> Jet[T]:
        def term(factor: float, power: int) -> T | None:
            if factor == 0:
                return None
            one = self._a.constant(factor, a.value)
            return one if power == 0 else self._a.scale(self._a.power(a.value, power), factor)

        first = term(exponent, exponent - 1)
        second = term(exponent * (exponent - 1), exponent - 2) if self._order == 2 else None
        return self._chain(self._a.power(a.value, exponent), first, second, a)

    def _chain(self, value: T, first: T | None, second: T | None, a: Jet[T]) -> Jet[T]:
        """Return f(a) from f, f' and f'' at the value of a."""
        slope = self._times(first, a.slope)
        if self._order < 2 or a.slope is None:
            return Jet(value, slope)
        bend = self._plus(self._times(second, self._a.power(a.slope, 2)), self._times(first, a.bend))
        return Jet(value, slope, bend)

    def unary(self, token: int, a: Jet[T]) -> Jet[T]:
        """Return a built-in operator of one argument."""
        if token == tk.NEG:
            return Jet(*(None if each is None else self._a.scale(each, -1.0) for each in (a.value, a.slope, a.bend)))  # type: ignore[arg-type]  # the value is never None
        value = self._a.apply(token, a.value)
        if a.slope is None and a.bend is None:
            return Jet(value)
        if token == tk.SIGN:
            zero = self._a.constant(0.0, value)
            return Jet(value, self._a.at_kink(a.value, zero), self._a.at_kink(a.value, zero))
        if token == tk.ABS:
            turned = self._chain(value, self._a.apply(tk.SIGN, a.value), None, a)
            bend = self._a.constant(0.0, value) if turned.bend is None else turned.bend
            return Jet(value, turned.slope, self._a.at_kink(a.value, bend))
        return self._chain(value, *_SLOPES[token](self._a, a.value, value), a)

    def own(self, operator: Operator, arguments: list[Jet[T]]) -> Jet[T]:
        """Return an operator of the user; its second derivatives are not known."""
        values = [each.value for each in arguments]
        value = self._a.own(operator, 0, values)
        slope: T | None = None
        for place, argument in enumerate(arguments):
            if argument.slope is not None:
                slope = self._plus(slope, self._times(self._a.own(operator, 1 + place, values), argument.slope))
        return Jet(value, slope, None if slope is None else self._a.unknown(value))


# ---- first and second derivative of each function, from its argument x and its value v -------------


def _root(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    first = A.div_slope(A.constant(0.5, x), v)
    return first, A.div_slope(A.scale(first, -0.5), x)


def _cube_root(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    first = A.div_slope(A.constant(1 / 3, x), A.power(v, 2))
    return first, A.scale(A.div_slope(A.constant(1.0, x), A.power(v, 5)), -2 / 9)


def _exponential(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    return v, v


def _logarithm(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    one = A.constant(1.0, x)
    return A.div_slope(one, x), A.scale(A.div_slope(one, A.power(x, 2)), -1.0)


def _sine(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    return A.apply(tk.COS, x), A.scale(v, -1.0)


def _cosine(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    return A.scale(A.apply(tk.SIN, x), -1.0), A.scale(v, -1.0)


def _tangent(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    first = A.add(A.constant(1.0, x), A.power(v, 2))
    return first, A.scale(A.mul(v, first), 2.0)


def _arcsine(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    one = A.constant(1.0, x)
    inside = A.sub(one, A.power(x, 2))
    root = A.apply(tk.SQRT, inside)
    return A.div_slope(one, root), A.div_slope(x, A.mul(inside, root))


def _arccosine(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    first, second = _arcsine(A, x, v)
    return A.scale(first, -1.0), A.scale(second, -1.0)


def _arctangent(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    one = A.constant(1.0, x)
    below = A.add(one, A.power(x, 2))
    return A.div(one, below), A.scale(A.div(x, A.power(below, 2)), -2.0)


def _hyperbolic_sine(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    return A.apply(tk.COSH, x), v


def _hyperbolic_cosine(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    return A.apply(tk.SINH, x), v


def _hyperbolic_tangent(A: Arithmetic[T], x: T, v: T) -> tuple[T, T]:
    first = A.power(A.apply(tk.COSH, x), -2)
    return first, A.scale(A.mul(v, first), -2.0)


_SLOPES: Final[dict[int, Callable[..., tuple[Any, Any]]]] = {
    tk.SQRT: _root,
    tk.CBRT: _cube_root,
    tk.EXP: _exponential,
    tk.LOG: _logarithm,
    tk.SIN: _sine,
    tk.COS: _cosine,
    tk.TAN: _tangent,
    tk.ASIN: _arcsine,
    tk.ACOS: _arccosine,
    tk.ATAN: _arctangent,
    tk.SINH: _hyperbolic_sine,
    tk.COSH: _hyperbolic_cosine,
    tk.TANH: _hyperbolic_tangent,
}
