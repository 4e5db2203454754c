"""A formula in the words of others: sympy, both ways, and LaTeX, one way.

Plain text is the subject of `expression`, values that of `kernels`. sympy takes 0.4 s to import, so only what needs it
imports it, when called. LaTeX is written from the tokens, in the order in which the formula was found.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spl.errors import ExpressionError, suggest_name
from spl.expression import power_token, to_text
from spl.kernels import tokens as tk
from spl.operators import BUILT_IN, Operator
from spl.program import Program, Vocabulary

if TYPE_CHECKING:
    import sympy

MAX_DENOMINATOR = 12  # 1/12 reads better than 0.0833333; nobody recognises 7/13
MAX_SHORT_NUMERATOR = 12  # 12/5 is written as a fraction, 49/5 as 9.8 ...
MAX_LONG_NUMERATOR = 1000  # ... and 100/3 as a fraction again, because its decimals do not end
MAX_EXACT = 2**53  # whole numbers up to here are exact in floating point
MAX_MAGNITUDE = 1e300  # numbers beyond, or below its inverse, are on their way out of floating point


# ---- numbers -------------------------------------------------------------------------------------


class NiceNumber(NamedTuple):
    """A number as people write it: a fraction, or a fraction of pi."""

    numerator: int
    denominator: int
    of_pi: bool


def find_nice_number(value: float, *, ulps: int = 0) -> NiceNumber | None:
    """Return the whole number, simple fraction or simple multiple of pi that a float is, or None.

    Args:
        value: any float.
        ulps: how many units in the last place it may be off; 0 asks for the very float that the fraction gives.

    Examples:
        >>> find_nice_number(0.75)
        NiceNumber(numerator=3, denominator=4, of_pi=False)
        >>> find_nice_number(0.48) is None
        True
    """
    if not math.isfinite(value) or abs(value) > MAX_EXACT:
        return None
    slack = ulps * math.ulp(value)
    if abs(round(value) - value) <= slack:
        return NiceNumber(round(value), 1, of_pi=False)
    for of_pi, unit in ((False, 1.0), (True, math.pi)):
        for denominator in range(1, MAX_DENOMINATOR + 1):
            numerator = round(value / unit * denominator)
            if not 0 < abs(numerator) <= MAX_LONG_NUMERATOR:
                continue
            spellings = (
                numerator * unit / denominator,
                numerator * (unit / denominator),
                numerator / denominator * unit,
            )
            if min(abs(spelling - value) for spelling in spellings) > slack:
                continue
            ends = not of_pi and 10**3 % denominator == 0
            if not ends or abs(numerator) <= MAX_SHORT_NUMERATOR:
                return NiceNumber(numerator, denominator, of_pi)
    return None


def nice_number(value: float, *, ulps: int = 0) -> "sympy.Expr":
    """Return a float as sympy's whole number, fraction or multiple of pi where it is one, else as a Float.

    Examples:
        >>> [nice_number(value) for value in (2.0, 0.5, 2 * np.pi, 0.1)]
        [2, 1/2, 2*pi, 1/10]
        >>> nice_number(9.8)
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


# ---- program -> sympy ----------------------------------------------------------------------------


def to_sympy(program: Program, real: bool = False, *, exact: bool = True, opaque: bool = False) -> "sympy.Expr":
    """Return the formula in sympy, with sympy's automatic evaluation: x + x becomes 2*x, but 2*(x + 1) stays.

    Parts without variables that leave the real numbers, such as log(-1), are sympy's nan; those that overflow are oo.

    Args:
        program: the formula; its constants stand in it as numbers.
        real: whether the symbols are known to be real, so that sqrt(x**2) is Abs(x).
        exact: whether a constant that is exactly a simple fraction or multiple of pi becomes one, as a literal always
            does; if not, it is a Float.
        opaque: whether operators of the user's own stay functions of their name even where they have a form in sympy.

    Examples:
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
            stack.append(nice_number(words.literals[payload]))
        elif kind == tk.CONSTANT:
            value = constants.pop()
            stack.append(nice_number(value) if exact or value.is_integer() else sympy.Float(value))
        elif kind == tk.POWER:
            stack.append(_apply(BUILT_IN["pow"], (stack.pop(), sympy.Integer(payload - tk.POWER_OFFSET)), real, opaque))
        elif kind == tk.OPERATOR:
            operator = words.operator_of(token)
            stack.append(_apply(operator, tuple(stack.pop() for _ in range(operator.arity)), real, opaque))
        else:
            raise ExpressionError("The program still has an open symbol of its grammar. Complete it first.")
    return stack.pop()


def _apply(operator: Operator, arguments: tuple[Any, ...], real: bool, opaque: bool) -> Any:
    """Return the operator applied in sympy; what is not a real number is nan."""
    import sympy

    if sympy.nan in arguments:
        return sympy.nan
    if all(is_plain_number(argument) for argument in arguments):
        return _apply_to_numbers(operator, arguments, opaque)
    try:
        return _apply_form(operator, arguments, real, opaque)
    except ValueError as error:  # Min and Max of what sympy finds to be complex
        if isinstance(error, ExpressionError):
            raise
        return sympy.nan


def _apply_to_numbers(operator: Operator, arguments: tuple[Any, ...], opaque: bool) -> Any:
    """Return an exact number while it stays small, else a float: sympy would write towers of powers out in full."""
    import sympy

    with np.errstate(all="ignore"):
        value = float(operator.function(*(np.float64(to_float(argument)) for argument in arguments)))
    if math.isnan(value):
        return sympy.nan
    if value and not 1 / MAX_MAGNITUDE < abs(value) < MAX_MAGNITUDE:
        return nice_number(value) if math.isinf(value) else sympy.Float(value)
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
    if operator.opcode in (tk.POW, tk.SQUARE, tk.CUBE, tk.INV):
        _check_power(operator, arguments)
    if operator.sympy is None or (opaque and operator.opcode < 0):
        return sympy.Function(operator.name, real=True if real else None)(*arguments)
    return operator.sympy(*arguments)


def _multiply(a: Any, b: Any) -> Any:
    """Return the product, but leave a number before a sum: sympy would spread 2*(x + y), at a higher cost."""
    import sympy

    number, other = (a, b) if a.is_Number else (b, a)
    if not number.is_Number or not number.is_finite or number == 0:
        return a * b
    coefficient, rest = other.as_coeff_Mul()
    if not rest.is_Add:
        return a * b
    coefficient *= number
    return coefficient * rest if coefficient in (1, -1) else sympy.Mul(coefficient, rest, evaluate=False)


def _check_power(operator: Operator, arguments: tuple[Any, ...]) -> None:
    """Raise if the power would drag a coefficient out of the range of floats, which sympy would write out in full."""
    import sympy

    exponents = {tk.SQUARE: 2, tk.CUBE: 3, tk.INV: -1}
    coefficient, _ = arguments[0].as_coeff_Mul()
    exponent = arguments[1] if operator.opcode == tk.POW else sympy.Integer(exponents[operator.opcode])
    if coefficient == 0 or not is_plain_number(exponent) or not coefficient.is_finite:
        return
    if abs(math.log(abs(float(coefficient)))) * abs(to_float(exponent)) > math.log(MAX_MAGNITUDE):
        raise ExpressionError(
            f"({arguments[0]})**{exponent} has a coefficient beyond floating point. Scale the formula first."
        )


def is_plain_number(expression: Any) -> bool:
    """Tell whether a sympy expression has neither variables nor functions that only we know."""
    from sympy.core.function import AppliedUndef

    return bool(expression.is_number) and not expression.has(AppliedUndef)


def to_float(number: Any) -> float:
    """Return a sympy number as a float; what is not real is nan.

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


# ---- sympy -> program ----------------------------------------------------------------------------


class _Leaf(NamedTuple):
    """A number on its way into a program."""

    value: float
    is_fitted: bool


_Prefix = list[int | _Leaf]

MAX_DIVISOR = 100  # x/7 is written for x*(1/7) up to here
RECIPROCALS = {"cot": "tan", "sec": "cos", "csc": "sin", "coth": "tanh", "sech": "cosh", "csch": "sinh"}
REAL_PARTS = ("re", "conjugate")  # columns are real: sympy writes these for plain symbols


def from_sympy(expression: "sympy.Expr", vocabulary: Vocabulary, *, fitted: bool = False) -> Program:
    """Return the program of a sympy expression, with powers, roots, differences and quotients as the parser has them.

    Args:
        expression: made of the vocabulary's columns, by name, of numbers and of known operators.
        vocabulary: the words; literals that are missing are added to the program's own copy.
        fitted: whether numbers known only as floats become constants with that value; those that are exact, and
            those the vocabulary has already, are literals all the same.

    Examples:
        >>> import sympy
        >>> x = sympy.Symbol("x")
        >>> to_text(from_sympy(1 / x - 2 * x**2, Vocabulary(variables=("x",))))
        '1/x - 2*x**2'
    """
    import sympy

    prefix = _write(sympy.sympify(expression), vocabulary)
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
            hint = suggest_name(expression.name, words.variables) or f" Known are: {', '.join(words.variables)}."
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
        raise ExpressionError(f"{number} is not a real number: a formula cannot hold it.")
    return _Leaf(value + 0.0, bool(number.has(sympy.Float)))


def _write_sum(expression: Any, words: Vocabulary) -> _Prefix:
    """Return a left-deep sum, positive terms first, so that negative ones are subtracted."""
    number = sum(term for term in expression.args if is_plain_number(term))
    parts = [term.as_coeff_Mul() for term in expression.as_ordered_terms() if not is_plain_number(term)]
    if number != 0:
        parts.append((number, None))
    is_negative = [to_float(coefficient) < 0 for coefficient, _ in parts]
    if all(is_negative):  # a number can take the first sign for free
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
    """Return the factors with sign(u)**k * Abs(u)**(k/3), which is how sympy writes a real cube root, as cbrt(u)**k."""
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
    """Return a function of any name: the user's own, ours, or one that ours can express."""
    import sympy

    name = expression.func.__name__
    ordered = expression.args
    if isinstance(
        expression, sympy.Min | sympy.Max
    ):  # sympy keeps them as a set, in an order that changes with each run
        ordered = sorted(ordered, key=lambda argument: (argument.is_number, sympy.default_sort_key(argument)))
    arguments = [_write(argument, words) for argument in ordered]
    if name in REAL_PARTS:
        return arguments[0]
    if name in RECIPROCALS:
        return [tk.INV, BUILT_IN[RECIPROCALS[name]].opcode, *arguments[0]]
    known = {operator.name: operator for operator in words.own}
    operator = known.get(name) or BUILT_IN.get(name.lower())
    if operator is None or len(arguments) < operator.arity or (operator.arity == 1 and len(arguments) > 1):
        hint = suggest_name(name, [*known, *BUILT_IN]) or " Give it as an operator of your own."
        raise ExpressionError(f"There is no operator '{name}' with {len(arguments)} argument(s).{hint}")
    token = words.operator_token(operator)
    return [token, *arguments[0]] if operator.arity == 1 else _chain(token, arguments)


# ---- program -> LaTeX ----------------------------------------------------------------------------

SUM, SIGNED, PRODUCT, POWER, ATOM = range(5)  # how tightly a piece of LaTeX binds; SIGNED is a product behind a minus
TEMPLATES = {
    tk.INV: (r"\frac{1}{%s}", PRODUCT),
    tk.SQRT: (r"\sqrt{%s}", ATOM),
    tk.CBRT: (r"\sqrt[3]{%s}", ATOM),
    tk.EXP: (r"e^{%s}", POWER),
    tk.ABS: (r"\left|%s\right|", ATOM),
}
NAMED = {"asin": r"\arcsin", "acos": r"\arccos", "atan": r"\arctan", "log": r"\ln"}
NAMED |= {name: rf"\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "min", "max")}
GREEK = frozenset(
    """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon vartheta varphi
    """.split()  # noqa: SIM905
)
ESCAPES = {"\\": r"\backslash ", "^": r"\hat{\ }", "~": r"\sim ", " ": r"\ "} | {
    sign: rf"\{sign}" for sign in "&%$#_{}"
}


class _Piece(NamedTuple):
    """A part of a formula in LaTeX, and how tightly it binds."""

    text: str
    binding: int


def to_latex(program: Program, *, digits: int = 6) -> str:
    r"""Return the formula in LaTeX, for math mode, in the order in which it stands.

    Args:
        program: the formula.
        digits: how many significant digits a number has; simple fractions and multiples of pi are written as such.

    Examples:
        >>> words = Vocabulary(variables=("theta_1", "flow rate"), literals=(2.0,))
        >>> theta, rate = (words.variable_token(name) for name in words.variables)
        >>> print(to_latex(Program((tk.DIV, tk.SIN, theta, tk.SQUARE, rate), words)))
        \frac{\sin\left(\theta_{1}\right)}{\mathrm{flow\ rate}^{2}}
    """
    words = program.vocabulary
    constants = list(program.constants)
    stack: list[_Piece] = []
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(_Piece(latex_name(words.variables[payload]), ATOM))
        elif kind == tk.LITERAL:
            stack.append(_latex_number(words.literals[payload], digits))
        elif kind == tk.CONSTANT:
            stack.append(_latex_number(constants.pop(), digits))
        elif kind == tk.POWER:
            stack.append(_latex_power(stack.pop(), str(payload - tk.POWER_OFFSET)))
        elif words.arity_of(token) == 1:
            stack.append(_latex_unary(words.operator_of(token), stack.pop()))
        else:
            stack.append(_latex_binary(words.operator_of(token), stack.pop(), stack.pop()))
    return stack.pop().text


def latex_table(rows: Iterable[tuple[int, float, Program]], *, target: str = "", digits: int = 6) -> str:
    r"""Return a table of cost, loss and equation, for LaTeX with the package booktabs.

    Args:
        rows: cost, loss and formula of each line.
        target: the name of what the formulas give; left out, they have no left-hand side.
        digits: as in `to_latex`; losses have three.

    Examples:
        >>> words = Vocabulary(variables=("x",))
        >>> print(latex_table([(1, 0.25, Program((words.variable_token("x"),), words))], target="y"))
        \begin{tabular}{rrl}
        \toprule
        Cost & Loss & Equation \\
        \midrule
        1 & $0.25$ & $y = x$ \\
        \bottomrule
        \end{tabular}
    """
    left = f"{latex_name(target)} = " if target else ""
    lines = [
        f"{cost} & ${_latex_decimal(loss, 3).text}$ & ${left}{to_latex(program, digits=digits)}$ \\\\"
        for cost, loss, program in rows
    ]
    head = [r"\begin{tabular}{rrl}", r"\toprule", r"Cost & Loss & Equation \\", r"\midrule"]
    return "\n".join([*head, *lines, r"\bottomrule", r"\end{tabular}"])


def latex_name(name: str) -> str:
    r"""Return a column's name for math mode: a letter or Greek word with its subscript, anything else upright.

    Examples:
        >>> [latex_name(name) for name in ("x", "omega", "x12", "v_max", "mass", "50 % [m/s]")]
        ['x', '\\omega', 'x_{12}', 'v_{\\mathrm{max}}', '\\mathrm{mass}', '\\mathrm{50\\ \\%\\ [m/s]}']
    """
    match = re.fullmatch(r"([A-Za-z]+)(?:_?([0-9]+)|_([A-Za-z0-9_]*[A-Za-z0-9]))?", name)
    if match is None:
        escaped = "".join(ESCAPES.get(sign, sign) for sign in name)
        return name if len(name) == 1 and name.isalpha() else rf"\mathrm{{{escaped}}}"
    word, number, label = match.groups()
    below = ",".join(_latex_word(part) for part in (number or label or "").split("_") if part)
    return _latex_word(word) + (f"_{{{below}}}" if below else "")


def _latex_word(word: str) -> str:
    if word in GREEK:
        return f"\\{word}"
    return word if len(word) == 1 or word.isdigit() else rf"\mathrm{{{word}}}"


def _latex_number(value: float, digits: int) -> _Piece:
    if math.isnan(value):  # a constant that has not been fitted yet
        return _Piece("C", ATOM)
    nice = find_nice_number(value)
    if nice is None or (nice.denominator == 1 and not nice.of_pi):
        return _latex_decimal(value, digits)
    above, below = abs(nice.numerator), nice.denominator
    text = f"{above}" if not nice.of_pi else r"\pi" if above == 1 else rf"{above} \pi"
    text = text if below == 1 else rf"\frac{{{text}}}{{{below}}}"
    return _Piece("-" + text, SIGNED) if value < 0 else _Piece(text, ATOM if text == r"\pi" else PRODUCT)


def _latex_decimal(value: float, digits: int) -> _Piece:
    if math.isnan(value):
        return _Piece(r"\mathrm{nan}", ATOM)
    if math.isinf(value):
        return _Piece(r"-\infty", SIGNED) if value < 0 else _Piece(r"\infty", ATOM)
    whole = float(value).is_integer() and abs(value) < 10 ** max(digits, 6)
    mantissa, _, exponent = (f"{value:.0f}" if whole else f"{value:.{digits}g}").partition("e")
    text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
    return _Piece(text, SIGNED if value < 0 else PRODUCT if exponent else ATOM)


def _wrap(piece: _Piece, least: int) -> str:
    """Return the text, in brackets if it binds less tightly than it must."""
    return piece.text if piece.binding >= least else rf"\left({piece.text}\right)"


def _latex_power(base: _Piece, exponent: str) -> _Piece:
    return _Piece(f"{_wrap(base, ATOM)}^{{{exponent}}}", POWER)


def _latex_unary(operator: Operator, inner: _Piece) -> _Piece:
    if operator.opcode == tk.NEG:
        return _Piece("-" + _wrap(inner, PRODUCT), SIGNED)
    if operator.opcode in (tk.SQUARE, tk.CUBE):
        return _latex_power(inner, "2" if operator.opcode == tk.SQUARE else "3")
    if operator.opcode in TEMPLATES:
        template, binding = TEMPLATES[operator.opcode]
        return _Piece(template % inner.text, binding)
    return _latex_call(operator, inner.text)


def _latex_binary(operator: Operator, left: _Piece, right: _Piece) -> _Piece:
    if operator.opcode == tk.ADD:
        text = f"{left.text} - {right.text[1:]}" if right.text.startswith("-") else f"{left.text} + {right.text}"
        return _Piece(text, SUM)
    if operator.opcode == tk.SUB and right.binding == SIGNED:
        return _Piece(f"{left.text} + {right.text[1:]}", SUM)
    if operator.opcode == tk.SUB:
        return _Piece(f"{left.text} - {_wrap(right, PRODUCT)}", SUM)
    if operator.opcode == tk.DIV:
        return _Piece(rf"\frac{{{left.text}}}{{{right.text}}}", PRODUCT)
    if operator.opcode == tk.POW:
        return _latex_power(left, right.text)
    if operator.opcode != tk.MUL:
        return _latex_call(operator, f"{left.text}, {right.text}")
    first, second = _wrap(left, SIGNED), _wrap(right, PRODUCT)
    return _Piece(first + _latex_times(first, second) + second, min(left.binding, PRODUCT) if left.binding else PRODUCT)


def _latex_call(operator: Operator, arguments: str) -> _Piece:
    is_ours = operator.opcode >= 0 and operator.name in NAMED
    escaped = operator.name.replace("_", r"\_")
    name = NAMED[operator.name] if is_ours else rf"\operatorname{{{escaped}}}"
    return _Piece(rf"{name}\left({arguments}\right)", ATOM)


def _latex_times(left: str, right: str) -> str:
    """Return the sign between two factors: a dot before a number, a gap beside a word, nothing elsewhere."""
    if re.match(r"\d|\\frac\{\d", right):
        return r" \cdot "
    return r" \, " if right.startswith(r"\mathrm") or re.search(r"\\mathrm\{[^{}]*\}$", left) else " "
