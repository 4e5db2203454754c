"""Rules for single functions: roots for inverse functions, powers for logarithms, small phases."""

import math
from collections.abc import Sequence

from spl.formulas.operators import BUILT_IN, BY_OPCODE, EVEN_FUNCTIONS
from spl.formulas.tidying.algebra import (
    ONE,
    Call,
    Node,
    Number,
    Term,
    Total,
    absolute_value,
    add,
    as_term,
    fold_numbers,
    is_ordinary,
    is_whole,
    multiply,
    negate,
    number_of,
    raise_each_factor,
    raise_to,
    simplest_node,
    snap,
)
from spl.kernels.programs import tokens as tk

TWO, HALF, MINUS_HALF = Number(2.0), Number(0.5), Number(-0.5)
PERIODS = {tk.SIN: 2 * math.pi, tk.COS: 2 * math.pi, tk.TAN: math.pi}
ON_AXIS = 4e-16  # relative: a phase this close to a quarter turn is one


def apply_function(token: int, arguments: Sequence[Node]) -> Node:
    """Return a function of arguments in its simplest form."""
    if token < tk.N_OPCODES:
        numbers = [number for number in map(number_of, arguments) if number is not None]
        folded = fold_numbers(token, numbers) if len(numbers) == len(arguments) else None
        if folded is not None:
            return Term(folded)
    match token, arguments:
        case tk.ABS, [inner]:
            return absolute_value(inner)
        case ((tk.MIN | tk.MAX), [left, right]) if left == right:
            return left
        case ((tk.SIN | tk.COS | tk.TAN), [inner]):
            return _wave(token, inner)
        case tk.LOG, [inner]:
            return _logarithm(inner)
        case tk.EXP, [inner]:
            return _exponential(inner)
        case _, [inner] if token in EVEN_FUNCTIONS:
            return Call(token, (_without_sign(inner),))
    return Call(token, tuple(arguments))


def undo_inverse(token: int, inner: Node) -> Node | None:
    """Return a function of an inverse function as a root, sqrt(1 - x**2) for cos(asin(x)); None for anything else.

    Roots are easier to read, so they are used although they cost a little more.
    """
    if not (isinstance(inner, Call) and len(inner.arguments) == 1):
        return None
    argument = inner.arguments[0]
    if token in PERIODS and inner.token == BUILT_IN[BY_OPCODE[token].traits.inverse].opcode:
        return argument
    match token, inner.token:
        case (tk.COS, tk.ASIN) | (tk.SIN, tk.ACOS):
            return raise_to(add((Term(ONE), negate(raise_each_factor(argument, TWO)))), HALF)
        case tk.COS, tk.ATAN:
            return raise_to(add((Term(ONE), raise_each_factor(argument, TWO))), MINUS_HALF)
    return None


def _exponential(inner: Node) -> Node:
    """Return exp(inner), with logarithms turned into powers: x**2.5*exp(y) for exp(2.5*log(x) + y)."""
    powers: list[Node] = []
    rest: list[Node] = []
    for term in inner.terms if isinstance(inner, Total) else (as_term(inner),):
        logarithm = find_only(term, tk.LOG)
        if logarithm is None:
            rest.append(term)
        else:
            powers.append(raise_to(logarithm.arguments[0], term.number))
    if not powers:
        return Call(tk.EXP, (inner,))
    return multiply((*powers, apply_function(tk.EXP, (add(rest),)))) if rest else multiply(powers)


def _logarithm(inner: Node) -> Node:
    """Return log(inner), without the logarithm of an exponential: y + 0.8 for log(2.2*exp(y))."""
    term = as_term(inner)
    number = fold_numbers(tk.LOG, (term.number,))
    if number is None or len(term.factors) != 1:
        return Call(tk.LOG, (inner,))
    base, exponent = term.factors[0]
    is_kept_clean = number.value == 0 or number.is_fitted  # the logarithm of a clean number is not clean
    if is_kept_clean and isinstance(base, Call) and base.token == tk.EXP:
        return add((multiply((Term(exponent), base.arguments[0])), Term(number)))
    return Call(tk.LOG, (inner,))


def find_only(term: Term, token: int) -> Call | None:
    """Return the function that is the only factor of a term besides its number, or None."""
    if len(term.factors) != 1 or term.factors[0][1].value != 1:
        return None
    base = term.factors[0][0]
    return base if isinstance(base, Call) and base.token == token else None


def _without_sign(inner: Node) -> Node:
    """Return the argument of an even function without its sign or absolute value."""
    if isinstance(inner, Call) and inner.token == tk.ABS:
        return inner.arguments[0]
    term = as_term(inner)
    return negate(inner) if term.number.value < 0 or _is_mostly_negative(inner) else inner


def _is_mostly_negative(node: Node) -> bool:
    return isinstance(node, Total) and all(term.number.value < 0 for term in node.others)


def _wave(token: int, inner: Node) -> Node:
    """Return sin, cos or tan of an argument with its phase reduced."""
    if token == tk.COS:
        inner = _without_sign(inner)
    shifted, _ = _reduce_phase(inner, PERIODS[token])  # whole periods change nothing
    return _on_axis(token, shifted)


def _on_axis(token: int, inner: Node) -> Node:
    """Return a sine as a cosine if its phase is a quarter turn, and vice versa."""
    if not isinstance(inner, Total) or token == tk.TAN:
        return Call(token, (inner,))
    phase, rest = inner.number.value, add(inner.others)
    if abs(abs(phase) - math.pi) <= ON_AXIS * math.pi:
        return negate(Call(token, (rest,)))
    if abs(abs(phase) - math.pi / 2) <= ON_AXIS * math.pi:
        if token == tk.SIN:
            wave: Node = Call(tk.COS, (_without_sign(rest),))
            return wave if phase > 0 else negate(wave)
        return negate(Call(tk.SIN, (rest,))) if phase > 0 else Call(tk.SIN, (rest,))
    return Call(token, (inner,))


def _reduce_phase(inner: Node, period: float) -> tuple[Node, int]:
    """Return an argument with its number made as small as whole periods allow, and how many were taken off."""
    term = as_term(inner)
    total = term.factors[0][0] if len(term.factors) == 1 and term.factors[0][1].value == 1 else None
    if not isinstance(total, Total):
        return inner, 0
    period = period / abs(term.number.value)
    number = total.number
    turns = round(number.value / period) if is_ordinary(period) and math.isfinite(number.value / period) else 0
    if turns == 0 or (not number.is_fitted and abs(number.value) <= period):  # a literal stays as it is
        return inner, 0
    moved = number._replace(value=snap(number.value - turns * period, abs(number.value)))
    reduced = add((*total.others, Term(moved)))
    return multiply((Term(term.number), reduced)), turns


# ---- phases within products and sums ---------------------------------------------------------------


def reduce_phases(node: Node) -> Node:
    """Return a product or sum with the phases of its waves reduced to a quarter turn, where the sign costs nothing."""
    if isinstance(node, Total):
        return _reduce_phases_of_total(node)
    if isinstance(node, Term) and abs(node.number.value) != 1:
        return _reduce_phases_of_term(node)
    if isinstance(node, Term) and node.number.value == -1:
        turned = _reduce_phases_of_term(node)
        return turned if as_term(turned).number.value == 1 else node
    return node


def _reduce_phases_of_total(total: Total) -> Node:
    """Return a sum with reduced phases. A term without a coefficient must stay positive, or a leading sign adds to the cost."""
    terms: list[Node] = []
    for place, term in enumerate(total.terms):
        turned = _reduce_phases_of_term(term)
        others = [*map(as_term, terms), *total.terms[place + 1 :]]
        is_free = abs(term.number.value) != 1 or any(other.number.value > 0 for other in others)
        terms.append(turned if is_free or as_term(turned).number.value > 0 else term)
    return add(terms)


def _reduce_phases_of_term(term: Term) -> Node:
    """Return a product with -sin(u - 0.1) for sin(u + 3.04), for all whole powers of sines and cosines in it."""
    parts: list[Node] = [Term(term.number)]
    for base, exponent in term.factors:
        turned: Node = simplest_node(Term(ONE, ((base, exponent),)))
        if isinstance(base, Call) and base.token in (tk.SIN, tk.COS) and is_whole(exponent.value):
            inner, turns = _reduce_phase(base.arguments[0], math.pi)
            wave = apply_function(base.token, (inner,)) if turns else base
            turned = raise_to(negate(wave) if turns % 2 else wave, exponent)
        parts.append(turned)
    return multiply(parts)
