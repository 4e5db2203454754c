"""Whether two formulas are the same by the rules of algebra that hold everywhere: order of terms and factors, and signs.

It proves symmetries: `f(-x)` is `f(x)` if it can be written in the same way.
"""

from typing import Any

from spl.formulas.program import Program
from spl.formulas.text import exponent_of
from spl.kernels.programs import tokens as tk

_Form = tuple[Any, ...]
_Signed = tuple[int, _Form]  # a sign, and a form without one

_ODD_POWERS_AND_FUNCTIONS = frozenset({tk.CBRT, tk.SIN, tk.TAN, tk.ASIN, tk.ATAN, tk.SINH, tk.TANH, tk.SIGN})
_EVEN_FUNCTIONS = frozenset({tk.COS, tk.COSH, tk.ABS})


def compare_forms(program: Program, other: Program) -> int:
    """Return 1 if two formulas are the same, -1 if one is the negative of the other, 0 if neither is seen.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> a, b, c = (parse_expression(text, Vocabulary(("x", "y"))) for text in ("x*(y - x)", "(x - y)*x", "x*(y - 2)"))
        >>> compare_forms(a, a), compare_forms(a, b), compare_forms(a, c)
        (1, -1, 0)
    """
    (sign, form), (other_sign, other_form) = normal_form(program), normal_form(other)
    return sign * other_sign if form == other_form else 0


def normal_form(program: Program) -> _Signed:
    """Return a formula as a sign and nested tuples, in which terms and factors are sorted."""
    constants = list(program.constants)
    stack: list[_Signed] = []
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append((1, ("variable", payload)))
        elif kind == tk.CONSTANT:
            stack.append(_number(constants.pop()))
        elif kind == tk.LITERAL:
            stack.append(_number(program.vocabulary.literals[payload]))
        elif program.vocabulary.arity_of(token) == 2:
            stack.append(_of_two(token, stack.pop(), stack.pop()))
        else:
            stack.append(_of_one(token, stack.pop()))
    [form] = stack
    return form


def _number(value: float) -> _Signed:
    return (-1 if value < 0 else 1), ("number", abs(value))


def _of_two(token: int, a: _Signed, b: _Signed) -> _Signed:
    match token:
        case tk.ADD:
            return _sum(a, b)
        case tk.SUB:
            return _sum(a, (-b[0], b[1]))
        case tk.MUL:
            return _product(a, b)
        case tk.DIV:
            return _product(a, _power(b, -1))
        case tk.MIN | tk.MAX:
            return 1, (token, *sorted((a, b), key=repr))
    return 1, (token, a, b)


def _of_one(token: int, a: _Signed) -> _Signed:
    sign, form = a
    if token == tk.NEG:
        return -sign, form
    exponent = exponent_of(token)
    if exponent is not None and exponent == round(exponent):
        return _power(a, int(exponent))
    if token in _EVEN_FUNCTIONS:
        return 1, (token, form)
    if token in _ODD_POWERS_AND_FUNCTIONS:
        return sign, (token, form)
    return 1, (token, a)


def _sum(a: _Signed, b: _Signed) -> _Signed:
    """Return a sum: its terms in order, the first of them with a plus sign."""
    terms = sorted((*_terms(a), *_terms(b)), key=lambda term: (repr(term[1]), term[0]))
    sign = terms[0][0]
    return sign, ("sum", *((sign * each, form) for each, form in terms))


def _terms(signed: _Signed) -> list[_Signed]:
    sign, form = signed
    return [(sign * each, part) for each, part in form[1:]] if form[0] == "sum" else [signed]


def _product(a: _Signed, b: _Signed) -> _Signed:
    """Return a product: its factors in order, each with an exponent, and numbers multiplied."""
    factors: dict[str, tuple[_Form, int]] = {}
    number = 1.0
    for form in (a[1], b[1]):
        for factor, exponent in _factors(form):
            if factor[0] == "number":
                number *= factor[1] ** exponent if factor[1] else 0.0
                continue
            before = factors.get(repr(factor), (factor, 0))[1]
            factors[repr(factor)] = (factor, before + exponent)
    kept = [factors[name] for name in sorted(factors)]
    if number != 1.0 or not kept:
        kept = [(("number", number), 1), *kept]
    is_single = len(kept) == 1 and kept[0][1] == 1
    return a[0] * b[0], kept[0][0] if is_single else ("product", *kept)


def _factors(form: _Form) -> list[tuple[_Form, int]]:
    return list(form[1:]) if form[0] == "product" else [(form, 1)]


def _power(a: _Signed, exponent: int) -> _Signed:
    sign, form = a
    factors = [(factor, power * exponent) for factor, power in _factors(form)]
    return (sign if exponent % 2 else 1), ("product", *factors)
