"""Sums and products of `algebra` as tokens: numbers first, positive terms first, one fraction bar."""

from collections.abc import Sequence
from typing import NamedTuple

from spl.formulas.nice_numbers import MAX_DIVISOR
from spl.formulas.operators import ODD_FUNCTIONS
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, power_token
from spl.formulas.tidying.algebra import Call, Factor, Leaf, Node, Number, Term, Total, is_whole, snap
from spl.kernels.programs import tokens as tk

Prefix = tuple[int | Number, ...]

_LAST = (float("inf"), 0.0)
DECIMALS = 1000  # divisors of this give short decimals: 0.25*x is not written as x/4


def to_program(node: Node, vocabulary: Vocabulary) -> Program:
    """Return the program of a node. Missing literals are added to its copy of the vocabulary."""
    tokens: list[int] = []
    constants: list[float] = []
    for item in spell(node):
        if isinstance(item, int):
            tokens.append(item)
        elif item.is_fitted:
            tokens.append(CONSTANT_TOKEN)
            constants.append(item.value)
        else:
            vocabulary = vocabulary.with_literal(item.value)
            tokens.append(vocabulary.literal_token(item.value))
    return Program(tuple(tokens), vocabulary, tuple(constants))


def spell(node: Node) -> Prefix:
    """Return the tokens of a node, with its numbers in their places."""
    match node:
        case Leaf(token):
            return (token,)
        case Call(token, arguments):
            return (token, *(item for argument in arguments for item in spell(argument)))
        case Term():
            return _spell_term(node)
        case Total():
            return _spell_total(node)


def _spell_total(total: Total) -> Prefix:
    """Return a sum from left to right: a positive term first, so that negative terms are subtracted, and a number last."""
    terms = [*sorted(total.others, key=_place_of_term), *total.terms[len(total.others) :]]
    positive = (term for term in terms if term.number.value > 0)
    with_number = (
        term for term in terms if abs(term.number.value) != 1
    )  # its number can take the leading sign at no cost
    first = next(positive, None) or next(with_number, terms[0])
    result = spell(first)
    for term in terms:
        if term is not first:
            is_negative = term.number.value < 0
            spelled = spell(_negative(term)) if is_negative else spell(term)
            result = (tk.SUB if is_negative else tk.ADD, *result, *spelled)
    return result


def _place_of_term(term: Term) -> tuple[tuple[float, float], ...]:
    """Return the sort key of a term: powers of columns in order, the highest first, then all other terms."""
    powers = [(base.token, -exponent.value) for base, exponent in term.factors if isinstance(base, Leaf)]
    return (*sorted(powers), _LAST) if len(powers) == len(term.factors) else (_LAST, _LAST)


def _negative(term: Term) -> Term:
    return Term(term.number._replace(value=-term.number.value), term.factors)


def _spell_term(term: Term) -> Prefix:
    """Return number * factors over factors."""
    number = term.number
    if not term.factors:
        return (number,)
    ordered = sorted(term.factors, key=_place)
    above = [_spell_power(base, exponent) for base, exponent in ordered if exponent.value > 0]
    below = [
        _spell_power(base, exponent._replace(value=-exponent.value)) for base, exponent in ordered if exponent.value < 0
    ]
    if not above:
        if number.value != 1:
            return (tk.DIV, number, *_chain(below))
        return _spell_inverse(ordered, below)
    if number.value == -1:
        return (tk.NEG, *_spell_quotient(above, below))
    divisor = _find_divisor(number)
    if divisor is not None:
        below.insert(0, (divisor,))
    elif number.value != 1:
        above.insert(0, (number,))
    return _spell_quotient(above, below)


def _place(factor: Factor) -> int:
    """Return the sort key of a factor: columns in order, then all other factors."""
    base, _ = factor
    return base.token - (1 << 62) if isinstance(base, Leaf) else 0


def _spell_inverse(factors: Sequence[Factor], below: Sequence[Prefix]) -> Prefix:
    """Return 1 over factors; a single power is shorter with a negative exponent, x**-2."""
    if len(factors) == 1:
        base, exponent = factors[0]
        token = power_token(exponent.value)
        if token is not None:
            return (token, *spell(base))
        if not is_whole(exponent.value) and exponent.value != -0.5:
            return (tk.POW, *spell(base), exponent)
    return (tk.INV, *_chain(below))


def _spell_quotient(above: Sequence[Prefix], below: Sequence[Prefix]) -> Prefix:
    return (tk.DIV, *_chain(above), *_chain(below)) if below else _chain(above)


def _chain(parts: Sequence[Prefix]) -> Prefix:
    """Return a product from left to right."""
    return (*[tk.MUL] * (len(parts) - 1), *(item for part in parts for item in part))


def _spell_power(base: Node, exponent: Number) -> Prefix:
    if exponent.value == 1:
        return spell(base)
    token = power_token(exponent.value)
    return (tk.POW, *spell(base), exponent) if token is None else (token, *spell(base))


def _find_divisor(number: Number) -> Number | None:
    """Return the divisor that a positive literal is better written as, or None."""
    if number.is_fitted or number.value <= 0:
        return None
    divisor = snap(1 / number.value)
    is_short = is_whole(divisor) and 1 < divisor <= MAX_DIVISOR and DECIMALS % int(divisor) != 0
    return Number(divisor) if is_short or number.is_divisor else None


# ---- effort of reading ---------------------------------------------------------------------------


class ReadingEffort(NamedTuple):
    """How hard a spelling is to read, most important first; less is better."""

    cost: int
    n_fitted: int
    n_numbers: int
    n_negative: int  # negative numbers, minus signs, and odd functions of a number minus something
    n_brackets: int  # after a fitted number: 2.1*x + 3.5 is easier than 2.1*(x + 1.67)
    minus_places: int  # sum of their positions: a minus outside is easier to read, -sin(x) than sin(-x)


def measure_effort(prefix: Prefix, cost: int) -> ReadingEffort:
    """Return the effort of reading a spelling."""
    numbers = [item for item in prefix if isinstance(item, Number)]
    minus_places = [at for at in range(len(prefix)) if _is_minus(prefix, at)]
    return ReadingEffort(
        cost=cost,
        n_fitted=sum(number.is_fitted for number in numbers),
        n_numbers=len(numbers),
        n_negative=len(minus_places),
        n_brackets=sum(_is_bracket(prefix, at) for at in range(len(prefix) - 2)),
        minus_places=sum(minus_places),
    )


def _is_minus(prefix: Prefix, at: int) -> bool:
    item = prefix[at]
    if isinstance(item, Number):
        return item.value < 0
    return item == tk.NEG or (item in ODD_FUNCTIONS and prefix[at + 1] == tk.SUB and isinstance(prefix[at + 2], Number))


def _is_bracket(prefix: Prefix, at: int) -> bool:
    number = prefix[at + 1]
    is_fitted = isinstance(number, Number) and number.is_fitted
    return is_fitted and prefix[at] == tk.MUL and prefix[at + 2] in (tk.ADD, tk.SUB)
