"""Formulas as sums of products of powers, for `tidy`: adding and multiplying collects equal parts and merges numbers.

A number knows whether it was fitted; whatever a fitted number is merged into is fitted too. `algebra_spelling` writes the result
as tokens.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from spl.formulas.operators import BUILT_IN, BY_OPCODE
from spl.kernels.programs import tokens as tk

MERGING_ULPS = 4  # units in the last place that rounding may move a merged number away from a short decimal
_NEVER_NEGATIVE = frozenset(
    row.opcode for row in BUILT_IN.values() if row.traits.is_never_negative and not row.traits.is_power
)


class Number(NamedTuple):
    """A number of a formula: a fitted constant or a literal."""

    value: float
    is_fitted: bool = False
    is_divisor: bool = False  # a literal that was a divisor: x/9.81 stays x/9.81


ONE, ZERO, MINUS_ONE = Number(1.0), Number(0.0), Number(-1.0)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column."""

    token: int


@dataclass(frozen=True, slots=True)
class Call:
    """An operator that is not taken apart: a function, or arithmetic that is best left as it was found."""

    token: int
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A number times powers of different bases; without any, the number alone. The order of the factors does not matter."""

    number: Number
    factors: tuple["Factor", ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return False
        return self.number == other.number and set(self.factors) == set(other.factors)

    def __hash__(self) -> int:
        return hash((self.number, frozenset(self.factors)))


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """A sum of two or more terms with different factors, a number last. The order of the others matters only to the reader."""

    terms: tuple[Term, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Total) and set(self.terms) == set(other.terms)

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))

    @property
    def number(self) -> Number:
        """The number among the terms; 0 if there is none."""
        return self.terms[-1].number if not self.terms[-1].factors else ZERO

    @property
    def others(self) -> tuple[Term, ...]:
        """The terms that are not the number."""
        return self.terms if self.terms[-1].factors else self.terms[:-1]


Node = Leaf | Call | Term | Total
Factor = tuple[Node, Number]  # a base and its exponent


# ---- numbers -------------------------------------------------------------------------------------


def snap(value: float, scale: float = 0.0) -> float:
    """Return the short decimal that a number was before rounding, or 0 if it is no more than the rounding error of `scale`.

    Examples:
        >>> snap(0.1 + 0.2), snap(0.1 + 0.2 - 0.3, scale=0.3)
        (0.3, 0.0)
    """
    if abs(value) <= MERGING_ULPS * np.finfo(float).eps * scale:
        return 0.0
    short = float(f"{value:.12g}")
    return short if abs(short - value) <= MERGING_ULPS * math.ulp(value) else value


def add_numbers(a: Number, b: Number) -> Number:
    """Return the sum of two numbers."""
    if 0.0 in (a.value, b.value):
        return b if a.value == 0 else a
    return Number(snap(a.value + b.value, max(abs(a.value), abs(b.value))), a.is_fitted or b.is_fitted)


def multiply_numbers(a: Number, b: Number) -> Number:
    """Return the product of two numbers."""
    for one, other in ((a, b), (b, a)):
        if abs(one.value) == 1:
            return other._replace(value=one.value * other.value)
    return Number(snap(a.value * b.value), a.is_fitted or b.is_fitted, a.is_divisor and b.is_divisor)


def raise_number(number: Number, exponent: Number) -> Number | None:
    """Return the power of a number, or None if it is not an ordinary number."""
    try:
        value = number.value**exponent.value
    except (ZeroDivisionError, OverflowError):
        return None
    if isinstance(value, complex) or not is_ordinary(value):
        return None
    is_fitted = number.is_fitted or (exponent.is_fitted and number.value != 1)
    is_divisor = exponent.value == -1 and not is_fitted and number.value != 1
    return Number(snap(value), is_fitted, is_divisor and not number.is_divisor)


def is_ordinary(value: float) -> bool:
    """Return whether a number is well inside the range of floating point."""
    return value == 0 or 1e-100 < abs(value) < 1e100


def is_whole(value: float) -> bool:
    """Return whether a number is an integer."""
    return value == int(value)


# ---- from one kind of node to another ------------------------------------------------------------


def as_term(node: Node) -> Term:
    """Return a node as a product."""
    return node if isinstance(node, Term) else Term(ONE, ((node, ONE),))


def simplest_node(term: Term) -> Node:
    """Return a product as the simplest possible node; a minus sign before a sum is moved into it."""
    if len(term.factors) == 1 and term.factors[0][1].value == 1:
        base = term.factors[0][0]
        if term.number.value == 1:
            return base
        if term.number.value == -1 and isinstance(base, Total):
            return scale_sum(base, MINUS_ONE)
    return term


def number_of(node: Node) -> Number | None:
    """Return the number that a node is, or None."""
    return node.number if isinstance(node, Term) and not node.factors else None


# ---- arithmetic ----------------------------------------------------------------------------------


def add(nodes: Iterable[Node]) -> Node:
    """Return a sum with equal terms collected."""
    numbers: dict[Term, Number] = {}
    for node in nodes:
        for term in node.terms if isinstance(node, Total) else (as_term(node),):
            key = replace(term, number=ONE)
            numbers[key] = add_numbers(numbers.get(key, ZERO), term.number)
    terms = [Term(number, key.factors) for key, number in numbers.items() if number.value != 0]
    terms.sort(key=lambda term: not term.factors)
    if len(terms) > 1:
        return Total(tuple(terms))
    return simplest_node(terms[0]) if terms else Term(ZERO)


def scale_sum(total: Total, number: Number) -> Total:
    """Return a sum with each of its terms times a number that is not 0."""
    return Total(tuple(replace(term, number=multiply_numbers(number, term.number)) for term in total.terms))


def negate(node: Node) -> Node:
    """Return a node with the other sign."""
    return multiply((Term(MINUS_ONE), node))


def multiply(nodes: Iterable[Node]) -> Node:
    """Return a product with powers of equal bases collected."""
    number = ONE
    factors: dict[Node, Number] = {}
    waiting = [as_term(node) for node in nodes]
    while waiting:
        term = waiting.pop(0)
        number = multiply_numbers(number, term.number)
        for base, exponent in term.factors:
            total = add_numbers(factors.pop(base, ZERO), exponent)
            unfolded = _unfold(base, total)
            if unfolded is None:
                factors[base] = total
            else:
                waiting.append(unfolded)
    kept = tuple((base, exponent) for base, exponent in factors.items() if exponent.value != 0)
    return Term(ZERO) if number.value == 0 else simplest_node(Term(number, kept))


def _unfold(base: Node, exponent: Number) -> Term | None:
    """Return a power as a product of other bases if it can be multiplied out: sqrt(x*y)**2, abs(x)**2, cbrt(x)**3."""
    value = exponent.value
    if isinstance(base, Term) and abs(value) == 1:
        number = raise_number(base.number, exponent)
        return None if number is None else Term(number, _raise_factors(base.factors, exponent))
    if isinstance(base, Call) and value != 0 and is_whole(value):
        if base.token == tk.CBRT and value % 3 == 0:
            return as_term(raise_to(base.arguments[0], exponent._replace(value=value / 3)))
        if base.token == tk.ABS and value % 2 == 0:
            return as_term(raise_to(base.arguments[0], exponent))
    return None


def _raise_factors(factors: Sequence[Factor], exponent: Number) -> tuple[Factor, ...]:
    return tuple((base, multiply_numbers(inner, exponent)) for base, inner in factors)


def raise_to(node: Node, exponent: Number) -> Node:
    """Return a power. Numbers are taken out of whole powers; they stay inside others, where they may be simpler."""
    if exponent.value == 0:
        return Term(ONE)
    if exponent.value == 1:
        return node
    term = as_term(node)
    if is_whole(exponent.value) or not term.factors:
        number = raise_number(term.number, exponent)
        if number is None:
            return Call(tk.POW, (node, Term(exponent)))
        exponent = exponent._replace(is_fitted=False)
        if len(term.factors) <= 1 or exponent.value == -1:
            return multiply((Term(number, _raise_factors(term.factors, exponent)),))
        return Term(number, ((Term(ONE, term.factors), exponent),))
    if term.number.value == 1 and len(term.factors) == 1:
        return _raise_power(*term.factors[0], exponent)
    return Term(ONE, ((node, exponent),))


def raise_each_factor(node: Node, exponent: Number) -> Node:
    """Return a whole power of a product as a product of powers."""
    term = as_term(node)
    powers = [raise_to(simplest_node(Term(ONE, (factor,))), exponent) for factor in term.factors]
    return multiply((raise_to(Term(term.number), exponent), *powers))


def _raise_power(base: Node, inner: Number, outer: Number) -> Node:
    """Return a fractional power of a power: sqrt(x**2) is abs(x), sqrt(x**4) is x**2, sqrt(x**3) is x**1.5."""
    product = multiply_numbers(inner, outer)
    if not (is_whole(inner.value) and inner.value % 2 == 0):
        return multiply((Term(ONE, ((base, product),)),))
    if not is_whole(product.value):
        return Term(ONE, ((simplest_node(Term(ONE, ((base, inner),))), outer),))
    root = base if product.value % 2 == 0 else absolute_value(base)
    return raise_to(root, product)


def absolute_value(node: Node) -> Node:
    """Return the absolute value, with factors that are never negative outside of it."""
    term = as_term(node)
    number = term.number._replace(value=abs(term.number.value))
    outside = tuple(factor for factor in term.factors if _is_never_negative(*factor))
    inside = tuple(factor for factor in term.factors if factor not in outside)
    rest = simplest_node(Term(ONE, inside))
    parts: list[Node] = [Term(number, outside)]
    if inside:
        parts.append(Call(tk.ABS, (rest,)))
    return multiply(parts)


def _is_never_negative(base: Node, exponent: Number) -> bool:
    if not is_whole(exponent.value) or exponent.value % 2 == 0:
        return True
    return isinstance(base, Call) and base.token in _NEVER_NEGATIVE


def fold_numbers(token: int, numbers: Sequence[Number]) -> Number | None:
    """Return the value of an operator applied to numbers, or None if it has none."""
    with np.errstate(all="ignore"):
        value = float(BY_OPCODE[token].function(*(np.float64(number.value) for number in numbers)))
    return Number(snap(value), any(number.is_fitted for number in numbers)) if is_ordinary(value) else None
