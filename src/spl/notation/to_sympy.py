"""Programs as sympy expressions; `from_sympy` does the reverse.

sympy takes 0.4 s to import, so functions import it only when called.
"""

import keyword
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from spl.errors import ExpressionError
from spl.formulas.nice_numbers import MAX_EXACT, find_nice_number
from spl.formulas.operators import BUILT_IN, Operator
from spl.formulas.program import Program
from spl.formulas.text import exponent_of, to_text
from spl.kernels.programs import tokens as tk

if TYPE_CHECKING:
    import sympy

HYPERBOLIC = (
    tk.SINH,
    tk.COSH,
    tk.TANH,
)  # sympy looks for poles in their arguments: minutes, if they are nested a few times
MAX_MAGNITUDE = 1e300  # larger numbers, or smaller than its inverse, are about to leave the range of floats


def to_sympy(program: Program, real: bool = False, *, exact: bool = True, opaque: bool = False) -> "sympy.Expr":
    """Return the formula as a sympy expression, with automatic evaluation: x + x becomes 2*x, but 2*(x + 1) stays.

    Parts without variables that are not real, such as log(-1), become nan; those that overflow become oo.

    Args:
        program: the formula; its constants become numbers.
        real: whether symbols are assumed real, so that sqrt(x**2) is Abs(x).
        exact: whether a constant that equals a simple fraction or multiple of pi becomes one, as a literal always does;
            otherwise it becomes a Float.
        opaque: whether a user's own operators and nested hyperbolic functions stay undefined functions even if they have a form
            in sympy.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> words = Vocabulary(variables=("flow rate", "x"), literals=(0.5,))
        >>> to_sympy(Program((tk.MUL, words.literal_token(0.5), words.variable_token("flow rate")), words))
        flow rate/2
    """
    import sympy

    if any(math.isnan(constant) for constant in program.constants):
        raise ExpressionError(f"`{to_text(program)}` has constants without a value. Fit them first.")
    words = program.vocabulary
    constants = list(program.constants)
    stack: list[Any] = []
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(sympy.Symbol(words.variables[payload], real=True if real else None))
        elif kind == tk.LITERAL:
            stack.append(sympy_number(words.literals[payload]))
        elif kind == tk.CONSTANT:
            value = constants.pop()
            stack.append(sympy_number(value) if exact or value.is_integer() else sympy.Float(value))
        elif kind == tk.POWER:
            stack.append(_apply(BUILT_IN["pow"], (stack.pop(), sympy.Integer(payload - tk.POWER_OFFSET)), real, opaque))
        elif kind == tk.OPERATOR:
            operator = words.operator_of(token)
            stack.append(_apply(operator, tuple(stack.pop() for _ in range(operator.arity)), real, opaque))
        else:
            raise ExpressionError("The program still has an open symbol of its grammar. Complete it first.")
    return stack.pop()


def _apply(operator: Operator, arguments: tuple[Any, ...], real: bool, opaque: bool) -> Any:
    """Return the operator applied in sympy; anything that is not real becomes nan."""
    import sympy

    if sympy.nan in arguments:
        return sympy.nan
    if all(is_plain_number(argument) for argument in arguments):
        return _apply_to_numbers(operator, arguments, opaque)
    try:
        return _apply_form(operator, arguments, real, opaque)
    except ValueError as error:  # from Min and Max of complex arguments
        if isinstance(error, ExpressionError):
            raise
        return sympy.nan


def _apply_to_numbers(operator: Operator, arguments: tuple[Any, ...], opaque: bool) -> Any:
    """Return an exact number if it is small, otherwise a float: sympy would write out towers of powers in full."""
    import sympy

    with np.errstate(all="ignore"):
        value = float(operator.function(*(np.float64(to_float(argument)) for argument in arguments)))
    if math.isnan(value):
        return sympy.nan
    if value and not 1 / MAX_MAGNITUDE < abs(value) < MAX_MAGNITUDE:
        return sympy_number(value) if math.isinf(value) else sympy.Float(value)
    if value == 0:
        return sympy.Integer(0)
    result = _apply_form(operator, arguments, True, opaque)
    if result.is_Rational and max(abs(result.p), result.q) > MAX_EXACT:
        return sympy.Float(value)
    return result


def _apply_form(operator: Operator, arguments: tuple[Any, ...], real: bool, opaque: bool) -> Any:
    import sympy

    if operator.opcode == tk.MUL:
        return _multiply(*arguments)
    if operator.opcode == tk.DIV:
        return _multiply(arguments[0], 1 / arguments[1]) if arguments[1] != 0 else sympy.nan
    if operator.opcode == tk.SUB:
        return arguments[0] + _multiply(sympy.Integer(-1), arguments[1])
    if operator.opcode == tk.POW:
        _check_power(*arguments)
    elif (exponent := exponent_of(operator.opcode)) is not None:
        _check_power(arguments[0], sympy_number(exponent))
    is_nested = operator.opcode in HYPERBOLIC and arguments[0].has(sympy.sinh, sympy.cosh, sympy.tanh)
    if operator.sympy is None or (opaque and (operator.opcode < 0 or is_nested)):
        return sympy.Function(operator.name, real=True if real else None)(*arguments)
    if is_nested:
        with sympy.evaluate(False):
            return operator.sympy(*arguments)
    return operator.sympy(*arguments)


def _multiply(a: Any, b: Any) -> Any:
    """Return the product, but keep a number before a sum: sympy would expand 2*(x + y), at a higher cost."""
    import sympy

    number, other = (a, b) if a.is_Number else (b, a)
    if not number.is_Number or not number.is_finite or number == 0:
        return a * b
    coefficient, rest = other.as_coeff_Mul()
    if not rest.is_Add:
        return a * b
    coefficient *= number
    return coefficient * rest if coefficient in (1, -1) else sympy.Mul(coefficient, rest, evaluate=False)


def _check_power(base: Any, exponent: Any) -> None:
    """Raise if a power takes a coefficient out of the range of floats: sympy would write it out in full."""
    coefficient, _ = base.as_coeff_Mul()
    if coefficient == 0 or not is_plain_number(exponent) or not coefficient.is_finite:
        return
    if abs(math.log(abs(float(coefficient)))) * abs(to_float(exponent)) > math.log(MAX_MAGNITUDE):
        raise ExpressionError(f"({base})**{exponent} has a coefficient beyond floating point. Scale the formula first.")


# ---- text ----------------------------------------------------------------------------------------


def sympy_text(expression: "sympy.Expr") -> str:
    """Return text that `sympy.sympify` reads back as the same expression, with all digits of its numbers.

    Names that Python or sympy would read differently are written as `Symbol(...)` or `Function(...)`.

    Examples:
        >>> import sympy
        >>> x, rate, beta = map(sympy.Symbol, ("x", "flow rate", "beta"))
        >>> sympy_text(0.1 * x + rate / 3 - beta)
        "-Symbol('beta') + Symbol('flow rate')/3 + 0.1*x"
    """
    import sympy
    from sympy.core.function import AppliedUndef
    from sympy.printing.str import StrPrinter

    def is_plain(name: str) -> bool:
        return name.isidentifier() and not keyword.iskeyword(name) and not hasattr(sympy, name)

    class Printer(StrPrinter):  # its methods are named after sympy's classes
        def _print_Float(self, number: Any) -> str:  # noqa: N802
            return repr(float(number))

        def _print_Symbol(self, symbol: Any) -> str:  # noqa: N802
            return symbol.name if is_plain(symbol.name) else f"Symbol({symbol.name!r})"

        def _print_Function(self, call: Any) -> str:  # noqa: N802
            if not isinstance(call, AppliedUndef) or is_plain(call.func.__name__):
                return str(super()._print_Function(call))
            return f"Function({call.func.__name__!r})({self.stringify(call.args, ', ')})"

    return str(Printer().doprint(expression))


# ---- numbers -------------------------------------------------------------------------------------


def sympy_number(value: float, *, ulps: int = 0) -> "sympy.Expr":
    """Return a float as a sympy integer, fraction or multiple of pi if it is one, otherwise as a Float.

    Examples:
        >>> [sympy_number(value) for value in (2.0, 0.5, 2 * np.pi, 0.1)]
        [2, 1/2, 2*pi, 1/10]
        >>> sympy_number(9.8)
        9.80000000000000
    """
    import sympy

    nice = find_nice_number(value, ulps=ulps)
    if nice is None:
        return (
            sympy.Float(value)
            if math.isfinite(value)
            else sympy.nan
            if math.isnan(value)
            else math.copysign(1, value) * sympy.oo
        )
    return sympy.Rational(nice.numerator, nice.denominator) * (sympy.pi if nice.of_pi else 1)


def is_plain_number(expression: Any) -> bool:
    """Return whether a sympy expression has neither variables nor undefined functions."""
    from sympy.core.function import AppliedUndef

    return bool(expression.is_number) and not expression.has(AppliedUndef)


def to_float(number: Any) -> float:
    """Return a sympy number as a float; nan if it is not real.

    Examples:
        >>> import sympy
        >>> to_float(sympy.sqrt(2) * sympy.pi) == math.sqrt(2) * math.pi
        True
        >>> to_float(sympy.log(-1))
        nan
    """
    try:
        return float(number if number.is_Number else number.evalf(20))
    except TypeError:
        return math.nan
