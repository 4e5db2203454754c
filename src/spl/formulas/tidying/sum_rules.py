"""Other forms of a sum or product for `tidy` to choose from: numbers and shared factors taken out, waves and logarithms joined."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from spl.formulas.operators import EVEN_FUNCTIONS, ODD_FUNCTIONS
from spl.formulas.tidying.algebra import (
    MINUS_ONE,
    ONE,
    Call,
    Factor,
    Node,
    Number,
    Term,
    Total,
    add,
    add_numbers,
    fold_numbers,
    is_ordinary,
    is_whole,
    multiply,
    multiply_numbers,
    negate,
    number_of,
    raise_each_factor,
    raise_number,
    raise_to,
    scale_sum,
    simplest_node,
    snap,
)
from spl.formulas.tidying.function_rules import apply_function, find_only
from spl.kernels.programs import tokens as tk


def find_other_forms(node: Node) -> Iterator[Node]:
    """Yield forms with the same values, in no particular order; some are longer."""
    match node:
        case Term():
            yield from _rewrite_term(node)
        case Total():
            yield from _rewrite_total(node)
        case Call(token, (inner,)) if token in EVEN_FUNCTIONS:
            yield Call(token, (_change_sign(inner),))
        case Call(token, (inner,)) if token in ODD_FUNCTIONS:
            yield negate(_change_sign(node))


def _change_sign(node: Node) -> Node:
    """Return a node with the other sign, moved into odd functions."""
    if isinstance(node, Call) and node.token in ODD_FUNCTIONS:
        return Call(node.token, (_change_sign(node.arguments[0]),))
    return negate(node)


def _replace_factor(term: Term, factor: Factor, node: Node) -> Node:
    """Return a product with a node in place of one of its factors."""
    rest = tuple(other for other in term.factors if other is not factor)
    return multiply((Term(term.number, rest), node))


def _rewrite_term(term: Term) -> Iterator[Node]:
    if len(term.factors) == 1 and isinstance(term.factors[0][0], Total) and term.factors[0][1].value == 1:
        yield scale_sum(term.factors[0][0], term.number)
    for factor in term.factors:
        for other in _rewrite_factor(*factor):
            yield _replace_factor(term, factor, other)
    yield from _join_exponentials(term)
    yield from _join_roots(term)
    yield from _join_tangents(term)


def _rewrite_factor(base: Node, exponent: Number) -> Iterator[Node]:
    """Yield other forms of a power: a number or a sign taken out, a product taken apart."""
    match base:
        case Total() if is_whole(exponent.value):
            sign = ONE if exponent.value % 2 == 0 else MINUS_ONE
            yield Term(sign, ((scale_sum(base, MINUS_ONE), exponent),))
            for leading in {term.number for term in base.terms if abs(term.number.value) not in (0.0, 1.0)}:
                inverse, power = raise_number(leading, MINUS_ONE), raise_number(leading, exponent)
                if inverse is not None and power is not None and _is_kept_clean(base, leading):
                    yield multiply((Term(power), raise_to(scale_sum(base, inverse), exponent)))
            for other in _take_out_factor(base):
                yield raise_each_factor(other, exponent)
        case Term() if is_whole(exponent.value):
            yield raise_each_factor(base, exponent)
            for other in _rewrite_term(base):
                yield raise_to(other, exponent)
        case Term() if base.number.value > 0 and base.number.value != 1:
            number = raise_number(base.number, exponent)
            if number is not None:
                yield multiply((Term(number), raise_to(simplest_node(replace(base, number=ONE)), exponent)))
        case Call(tk.EXP, (inner,)):
            yield apply_function(tk.EXP, (multiply((Term(exponent), inner)),))
            if isinstance(inner, Total) and inner.number.value != 0:
                outside = fold_numbers(tk.EXP, (multiply_numbers(inner.number, exponent),))
                if outside is not None and outside.value > 0:
                    yield multiply((Term(outside), raise_to(apply_function(tk.EXP, (add(inner.others),)), exponent)))
        case Call(tk.LOG, (Term() as inner,)) if exponent.value == 1:
            if inner.number.value == 1 and len(inner.factors) == 1 and inner.factors[0][1].value % 2 != 0:
                root, power = inner.factors[0]
                yield multiply((Term(power), apply_function(tk.LOG, (root,))))
        case Call(token) if token in ODD_FUNCTIONS and is_whole(exponent.value):
            yield raise_to(negate(_change_sign(base)), exponent)


def _is_kept_clean(total: Total, leading: Number) -> bool:
    """Return whether taking a number out of a sum leaves its literals whole; fitted numbers do not matter."""
    if leading.is_fitted:
        return True
    literals = (term.number for term in total.terms if not term.number.is_fitted)
    return all(is_whole(snap(number.value / leading.value)) for number in literals)


def _join_exponentials(term: Term) -> Iterator[Node]:
    """Yield a product with one exponential for several."""
    found = [(base, e) for base, e in term.factors if isinstance(base, Call) and base.token == tk.EXP]
    if len(found) < 2:
        return
    rest = Term(term.number, tuple(factor for factor in term.factors if factor not in found))
    inner = add(multiply((Term(exponent), base.arguments[0])) for base, exponent in found)
    yield multiply((rest, apply_function(tk.EXP, (inner,))))


def _join_roots(term: Term) -> Iterator[Node]:
    """Yield a product with one root for several: sqrt(x*y) for sqrt(x)*sqrt(y)."""
    sizes = {abs(exponent.value) for _, exponent in term.factors if not is_whole(exponent.value)}
    for size in sizes:
        found = [factor for factor in term.factors if abs(factor[1].value) == size]
        if len(found) < 2:
            continue
        rest = Term(term.number, tuple(factor for factor in term.factors if factor not in found))
        inner = multiply(raise_to(base, Number(math.copysign(1.0, exponent.value))) for base, exponent in found)
        outer = Number(size, any(exponent.is_fitted for _, exponent in found))
        yield multiply((rest, raise_to(inner, outer)))


def _join_tangents(term: Term) -> Iterator[Node]:
    """Yield a product with tan(u) for sin(u)/cos(u)."""
    powers = {base: exponent for base, exponent in term.factors if isinstance(base, Call) and is_whole(exponent.value)}
    for base, exponent in powers.items():
        other = Call(tk.COS, base.arguments)
        if base.token == tk.SIN and other in powers and powers[other].value == -exponent.value:
            rest = Term(term.number, tuple(factor for factor in term.factors if factor[0] not in (base, other)))
            yield multiply((rest, raise_to(Call(tk.TAN, base.arguments), exponent)))


def _rewrite_total(total: Total) -> Iterator[Node]:
    for place, term in enumerate(total.terms):
        for other in _rewrite_term(term):
            yield add((*total.terms[:place], other, *total.terms[place + 1 :]))
        for other in (*_split_logarithm(term), *_multiply_out(term)):
            yield add((*total.terms[:place], other, *total.terms[place + 1 :]))
    yield from _take_out_number(total)
    yield from _take_out_factor(total)
    for first, second in combinations(total.others, 2):
        for joined in (_join_waves(first, second), _join_logarithms(first, second)):
            if joined is not None:
                rest = [other for other in total.terms if other is not second]
                yield add(joined if other is first else other for other in rest)


def _multiply_out(term: Term) -> Iterator[Node]:
    """Yield x*y + 2*x for x*(y + 2): if the sum has another multiple of x, this may be shorter."""
    for factor in term.factors:
        base, exponent = factor
        if isinstance(base, Total) and exponent.value == 1:
            yield add(_replace_factor(term, factor, inner) for inner in base.terms)


def _split_logarithm(term: Term) -> Iterator[Node]:
    """Yield log(x) + log(2) for log(2*x)."""
    logarithm = find_only(term, tk.LOG)
    inner = None if logarithm is None else logarithm.arguments[0]
    if isinstance(inner, Term) and inner.number.value > 0 and inner.number.value != 1:
        outside = fold_numbers(tk.LOG, (inner.number,))
        if outside is not None:
            inside = apply_function(tk.LOG, (simplest_node(replace(inner, number=ONE)),))
            yield add((multiply((Term(term.number), inside)), Term(multiply_numbers(term.number, outside))))


def _take_out_number(total: Total) -> Iterator[Node]:
    """Yield 0.7*(x + y + 2) for 0.7*x + 0.7*y + 1.4."""
    for leading in {term.number for term in total.others if abs(term.number.value) != 1}:
        inverse = raise_number(leading, MINUS_ONE)
        if inverse is not None and _is_kept_clean(total, leading):
            yield Term(leading, ((scale_sum(total, inverse), ONE),))


def _take_out_factor(total: Total) -> Iterator[Node]:
    """Yield x*(y + z) for x*y + x*z."""
    first, *others = total.terms
    for base, _ in first.factors:
        exponents = [dict(term.factors).get(base) for term in total.terms]
        shared = [exponent for exponent in exponents if exponent is not None]
        is_shared = len(shared) == len(others) + 1 and len({exponent.value > 0 for exponent in shared}) == 1
        if not is_shared or not all(is_whole(exponent.value) for exponent in shared):
            continue
        common = min(shared, key=lambda exponent: abs(exponent.value))
        inverse = Term(ONE, ((base, multiply_numbers(MINUS_ONE, common)),))
        inner = add(multiply((term, inverse)) for term in total.terms)
        yield multiply((Term(ONE, ((base, common),)), inner))


def _join_waves(first: Term, second: Term) -> Node | None:
    """Return a*cos(u) + b*sin(u) as one sine with a phase; None for other terms, or if a number is not fitted."""
    for base, exponent in first.factors:
        for other, other_exponent in second.factors:
            if exponent.value != 1 or other_exponent.value != 1:
                continue
            phases = _find_phases(base, other)
            rests = [
                Term(ONE, tuple(factor for factor in term.factors if factor[0] != wave))
                for term, wave in ((first, base), (second, other))
            ]
            if phases is not None and rests[0] == rests[1]:
                wave = _add_waves((first.number, second.number), phases)
                return None if wave is None else multiply((rests[0], wave))
    return None


Phases = tuple[Node, tuple[Number, Number]]  # the common argument of two waves, and the phase of each as a sine


def _find_phases(first: Node, second: Node) -> Phases | None:
    parts = []
    for wave in (first, second):
        if not (isinstance(wave, Call) and wave.token in (tk.SIN, tk.COS)):
            return None
        inner = wave.arguments[0]
        number = inner.number if isinstance(inner, Total) else Number(0.0)
        quarter = Number(math.pi / 2 if wave.token == tk.COS else 0.0)
        parts.append((add(inner.others) if isinstance(inner, Total) else inner, add_numbers(number, quarter)))
    (rest, phase), (other, other_phase) = parts
    return (rest, (phase, other_phase)) if rest == other and number_of(rest) is None else None


def _add_waves(amplitudes: tuple[Number, Number], phases: Phases) -> Node | None:
    rest, shifts = phases
    if not all(amplitude.is_fitted for amplitude in amplitudes):
        return None
    pairs = [(amplitude.value, shift.value) for amplitude, shift in zip(amplitudes, shifts, strict=True)]
    along = sum(amplitude * math.cos(shift) for amplitude, shift in pairs)
    across = sum(amplitude * math.sin(shift) for amplitude, shift in pairs)
    size, phase = math.hypot(along, across), math.atan2(across, along)
    wave = apply_function(tk.SIN, (add((rest, Term(Number(phase, is_fitted=True)))),))
    return multiply((Term(Number(size, is_fitted=True)), wave)) if is_ordinary(size) else None


def _join_logarithms(first: Term, second: Term) -> Node | None:
    """Return log(x*y) for log(x) + log(y); None for other terms."""
    inner = []
    for term in (first, second):
        logarithm = find_only(term, tk.LOG)
        if logarithm is None or abs(term.number.value) != abs(first.number.value):
            return None
        sign = math.copysign(1.0, term.number.value * first.number.value)
        inner.append(raise_to(logarithm.arguments[0], Number(sign)))
    return multiply((Term(first.number), apply_function(tk.LOG, (multiply(inner),))))
