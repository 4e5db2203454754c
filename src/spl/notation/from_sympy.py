"""Programs from sympy expressions, in the same form as the parser gives."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from spl.errors import ExpressionError, suggest_name
from spl.formulas.nice_numbers import MAX_DIVISOR
from spl.formulas.operators import BUILT_IN
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import power_token
from spl.kernels.programs import tokens as tk
from spl.notation.to_sympy import is_plain_number, to_float

if TYPE_CHECKING:
    import sympy


class _Leaf(NamedTuple):
    """A number on its way into a program."""

    value: float
    is_fitted: bool


_Prefix = list[int | _Leaf]

RECIPROCALS = {"cot": "tan", "sec": "cos", "csc": "sin", "coth": "tanh", "sech": "cosh", "csch": "sinh"}
REAL_PARTS = ("re", "conjugate")  # columns are real, but sympy writes these for plain symbols


def from_sympy(expression: "sympy.Expr", vocabulary: Vocabulary, *, fitted: bool = False) -> Program:
    """Return the program of a sympy expression, with powers, roots, differences and quotients as the parser gives them.

    Args:
        expression: an expression of the vocabulary's columns, numbers and known operators.
        vocabulary: columns, literals and operators; missing literals are added to the program's copy.
        fitted: whether floats become constants with that value; exact numbers, and numbers that are already in the
            vocabulary, are always literals.

    Examples:
        >>> import sympy
        >>> from spl.formulas.text import to_text
        >>> x = sympy.Symbol("x")
        >>> to_text(from_sympy(1 / x - 2 * x**2, Vocabulary(variables=("x",))))
        '1/x - 2*x**2'
    """
    import sympy

    try:
        parsed = sympy.sympify(expression, strict=True)  # otherwise text would be evaluated as code
    except sympy.SympifyError:
        raise ExpressionError(
            f"A sympy expression is needed; this is {type(expression).__name__}. Read text with `parse_expression`."
        ) from None
    prefix = _write(parsed, vocabulary)
    literals = dict.fromkeys(vocabulary.literals)
    tokens: list[int] = []
    constants: list[float] = []
    for item in prefix:
        if isinstance(item, int):
            tokens.append(item)
        elif fitted and item.is_fitted and item.value not in vocabulary.literals:
            tokens.append(tk.CONSTANT << tk.KIND_SHIFT)
            constants.append(item.value)
        else:
            literals.setdefault(item.value)
            tokens.append(tk.LITERAL << tk.KIND_SHIFT | list(literals).index(item.value))
    words = Vocabulary(vocabulary.variables, tuple(literals), vocabulary.own)
    return Program(tuple(tokens), words, tuple(constants))


def _write(expression: Any, words: Vocabulary) -> _Prefix:
    """Return the prefix form of any sympy expression."""
    import sympy

    if is_plain_number(expression):
        return [_to_leaf(expression)]
    if expression.is_Symbol:
        if expression.name not in words.variables:
            hint = suggest_name(expression.name, words.variables) or f" Known columns: {', '.join(words.variables)}."
            raise ExpressionError(f"There is no column '{expression.name}'.{hint}")
        return [words.variable_token(expression.name)]
    if expression.is_Add:
        return _write_sum(expression, words)
    if expression.is_Mul:
        coefficient, rest = expression.as_coeff_Mul()
        return _write_product(coefficient, rest, words)
    if isinstance(expression, sympy.exp):
        return [tk.EXP, *_write(expression.args[0], words)]
    if expression.is_Pow:
        return _write_power(expression.base, expression.exp, words)
    return _write_function(expression, words)


def _to_leaf(number: Any) -> _Leaf:
    import sympy

    value = to_float(number)
    if not math.isfinite(value):
        raise ExpressionError(f"{number} is not a real number, so a formula cannot contain it.")
    return _Leaf(value + 0.0, bool(number.has(sympy.Float)))


def _write_sum(expression: Any, words: Vocabulary) -> _Prefix:
    """Return a left-deep sum with positive terms first, so that negative terms are subtracted."""
    number = sum(term for term in expression.args if is_plain_number(term))
    parts = [term.as_coeff_Mul() for term in expression.as_ordered_terms() if not is_plain_number(term)]
    if number != 0:
        parts.append((number, None))
    is_negative = [to_float(coefficient) < 0 for coefficient, _ in parts]
    if all(is_negative):  # a number can take the leading sign at no cost
        first = next((at for at, (coefficient, _) in enumerate(parts) if coefficient != -1), 0)
        is_negative[first] = False
    order = sorted(range(len(parts)), key=lambda at: is_negative[at])
    result: _Prefix = []
    for at in order:
        coefficient, rest = parts[at]
        coefficient = -coefficient if is_negative[at] else coefficient
        term: _Prefix = [_to_leaf(coefficient)] if rest is None else _write_product(coefficient, rest, words)
        result = [tk.SUB if is_negative[at] else tk.ADD, *result, *term] if result else term
    return result


def _write_product(coefficient: Any, rest: Any, words: Vocabulary) -> _Prefix:
    """Return coefficient * rest as a left-deep product over a left-deep product."""
    above: list[_Prefix] = []
    below: list[_Prefix] = []
    for factor in _join_cube_roots(rest.as_ordered_factors() if rest.is_Mul else [rest]):
        if is_plain_number(factor):
            coefficient *= factor
        elif (inverse := _find_inverse(factor)) is not None:
            below.append(_write(inverse, words))
        else:
            above.append(_write(factor, words))
    if not above and below and coefficient == 1:
        return [tk.INV, *_chain(tk.MUL, below)]
    if above and coefficient == -1:
        return [tk.NEG, *_write_quotient(above, below)]
    divisor = 1 / coefficient
    if above and divisor.is_Integer and 1 < divisor <= MAX_DIVISOR:
        below.insert(0, [_to_leaf(divisor)])
    elif coefficient != 1:
        above.insert(0, [_to_leaf(coefficient)])
    return _write_quotient(above, below)


def _write_quotient(above: Sequence[_Prefix], below: Sequence[_Prefix]) -> _Prefix:
    return [tk.DIV, *_chain(tk.MUL, above), *_chain(tk.MUL, below)] if below else _chain(tk.MUL, above)


def _chain(opcode: int, parts: Sequence[_Prefix]) -> _Prefix:
    """Return the parts joined by a binary operator, left to right."""
    return [opcode] * (len(parts) - 1) + [item for part in parts for item in part]


def _find_inverse(factor: Any) -> Any:
    """Return what a factor divides by, or None if it multiplies: 1/x and exp(-x) divide, exp(-2*x) does not."""
    import sympy

    base, exponent = (None, factor.args[0]) if isinstance(factor, sympy.exp) else factor.as_base_exp()
    if is_plain_number(exponent):
        return None if to_float(exponent) >= 0 else base**-exponent
    if exponent.as_coeff_Mul()[0] != -1:
        return None
    return sympy.exp(-exponent) if base is None else base**-exponent


def _join_cube_roots(factors: Sequence[Any]) -> list[Any]:
    """Return the factors with cbrt(u)**k for sign(u)**k * Abs(u)**(k/3), which is sympy's form of a real cube root."""
    import sympy

    powers = {(factor.as_base_exp()): factor for factor in factors}
    joined: list[Any] = []
    for (base, exponent), factor in list(powers.items()):
        if not isinstance(base, sympy.sign) or not exponent.is_Integer:
            continue
        inner = base.args[0]
        if inner.is_Pow and inner.exp.is_odd:  # it has the sign of its base
            inner = inner.base
        for power, root in ((exponent / 3, sympy.Function("cbrt")(inner)), (exponent, inner)):
            if (sympy.Abs(inner), power) in powers:
                del powers[base, exponent], powers[sympy.Abs(inner), power]
                joined.append(root**exponent)
                break
        else:
            powers[base, exponent] = factor
    return [*powers.values(), *joined]


def _write_power(base: Any, exponent: Any, words: Vocabulary) -> _Prefix:
    """Return a power in its shortest form."""
    inner = _write(base, words)
    value = to_float(exponent) if is_plain_number(exponent) else math.nan
    if abs(value) == 1 / 3 and base.is_nonnegative:
        return [tk.CBRT, *inner] if value > 0 else [tk.INV, tk.CBRT, *inner]
    if value == -0.5:
        return [tk.INV, tk.SQRT, *inner]
    token = None if math.isnan(value) else power_token(value)
    if token is not None:
        return [token, *inner]
    return [tk.POW, *inner, *_write(exponent, words)]


def _write_function(expression: Any, words: Vocabulary) -> _Prefix:
    """Return a function by name: the user's own, ours, or one that ours can express."""
    import sympy
    from sympy.core.function import AppliedUndef

    name = expression.func.__name__
    ordered = expression.args
    if isinstance(expression, sympy.Min | sympy.Max):  # sympy keeps them as a set, in a different order on each run
        ordered = sorted(ordered, key=lambda argument: (argument.is_number, sympy.default_sort_key(argument)))
    arguments = [_write(argument, words) for argument in ordered]
    known = {operator.name: operator for operator in words.own}
    operator = known.get(name)
    if operator is None or not isinstance(expression, AppliedUndef):  # sympy's `Abs` is never the user's
        if name in REAL_PARTS:
            return arguments[0]
        if name in RECIPROCALS:
            return [tk.INV, BUILT_IN[RECIPROCALS[name]].opcode, *arguments[0]]
        operator = BUILT_IN.get(name.lower()) or operator
    if operator is None or len(arguments) < operator.arity or (operator.arity == 1 and len(arguments) > 1):
        hint = suggest_name(name, [*known, *BUILT_IN]) or " Give it as an operator of your own."
        raise ExpressionError(f"There is no operator '{name}' with {len(arguments)} argument(s).{hint}")
    token = words.operator_token(operator)
    return [token, *arguments[0]] if operator.arity == 1 else _chain(token, arguments)
