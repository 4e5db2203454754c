"""Formulas in LaTeX, in the order of the program.

Unlike `formula_layout`, this keeps every sign where the program has it: `x*(-y)` stays a product with a negative factor.
"""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from spl.formulas.nice_numbers import find_nice_number
from spl.formulas.operators import Binding, Operator
from spl.formulas.primes import PRIME, count_primes, without_primes
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk

TEMPLATES = {
    tk.INV: (r"\frac{1}{%s}", Binding.PRODUCT),
    tk.SQRT: (r"\sqrt{%s}", Binding.ATOM),
    tk.CBRT: (r"\sqrt[3]{%s}", Binding.ATOM),
    tk.EXP: (r"e^{%s}", Binding.POWER),
    tk.ABS: (r"\left|%s\right|", Binding.ATOM),
}
FUNCTION_COMMANDS = frozenset("arccos arcsin arctan cos cosh coth exp ln max min sin sinh tan tanh".split())  # noqa: SIM905
GREEK_COMMANDS = frozenset(
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
    binding: Binding


def to_latex(program: Program, *, digits: int = 6) -> str:
    r"""Return the formula in LaTeX for math mode, in the order of the program.

    Args:
        program: the formula.
        digits: significant digits of a number; simple fractions and multiples of pi are written as such.

    Examples:
        >>> from spl.formulas.program import Vocabulary
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
            stack.append(_Piece(latex_name(words.variables[payload]), Binding.ATOM))
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
    r"""Return a table of cost, loss and equation in LaTeX, which needs the package booktabs.

    Args:
        rows: cost, loss and formula per line.
        target: the left-hand side; left out, equations have none.
        digits: as in `to_latex`; losses always have three.

    Examples:
        >>> from spl.formulas.program import Vocabulary
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


def latex_number(value: float, digits: int = 6) -> str:
    r"""Return a decimal number for math mode.

    Examples:
        >>> latex_number(1.5e-7)
        '1.5 \\cdot 10^{-7}'
    """
    return _latex_decimal(value, digits).text


def latex_name(name: str) -> str:
    r"""Return a column's name for math mode: a letter or Greek letter with its subscript and primes, anything else upright.

    Examples:
        >>> [latex_name(name) for name in ("x", "omega", "x12", "v_max", "mass", "50 % [m/s]", "q2''")]
        ['x', '\\omega', 'x_{12}', 'v_{\\mathrm{max}}', '\\mathrm{mass}', '\\mathrm{50\\ \\%\\ [m/s]}', "q_{2}''"]
    """
    if n_primes := count_primes(name):
        return latex_name(without_primes(name)) + PRIME * n_primes
    match = re.fullmatch(r"([A-Za-z]+)(?:_?([0-9]+)|_([A-Za-z0-9_]*[A-Za-z0-9]))?", name)
    if match is None:
        escaped = "".join(ESCAPES.get(sign, sign) for sign in name)
        return name if len(name) == 1 and name.isalpha() else rf"\mathrm{{{escaped}}}"
    word, number, label = match.groups()
    below = ",".join(_latex_word(part) for part in (number or label or "").split("_") if part)
    return _latex_word(word) + (f"_{{{below}}}" if below else "")


def _latex_word(word: str) -> str:
    if word in GREEK_COMMANDS:
        return f"\\{word}"
    return word if len(word) == 1 or word.isdigit() else rf"\mathrm{{{word}}}"


def _latex_number(value: float, digits: int) -> _Piece:
    if math.isnan(value):  # a constant that has not been fitted yet
        return _Piece("C", Binding.ATOM)
    nice = find_nice_number(value)
    if nice is None or (nice.denominator == 1 and not nice.of_pi):
        return _latex_decimal(value, digits)
    above, below = abs(nice.numerator), nice.denominator
    text = f"{above}" if not nice.of_pi else r"\pi" if above == 1 else rf"{above} \pi"
    text = text if below == 1 else rf"\frac{{{text}}}{{{below}}}"
    return (
        _Piece("-" + text, Binding.SIGNED)
        if value < 0
        else _Piece(text, Binding.ATOM if text == r"\pi" else Binding.PRODUCT)
    )


def _latex_decimal(value: float, digits: int) -> _Piece:
    if math.isnan(value):
        return _Piece(r"\mathrm{nan}", Binding.ATOM)
    if math.isinf(value):
        return _Piece(r"-\infty", Binding.SIGNED) if value < 0 else _Piece(r"\infty", Binding.ATOM)
    whole = float(value).is_integer() and abs(value) < 10 ** max(digits, 6)
    mantissa, _, exponent = (f"{value:.0f}" if whole else f"{value:.{digits}g}").partition("e")
    text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa
    return _Piece(text, Binding.SIGNED if value < 0 else Binding.PRODUCT if exponent else Binding.ATOM)


def _wrap(piece: _Piece, least: Binding) -> str:
    """Return the text, in brackets if it binds less tightly than `least`."""
    return piece.text if piece.binding >= least else rf"\left({piece.text}\right)"


def _latex_power(base: _Piece, exponent: str) -> _Piece:
    return _Piece(f"{_wrap(base, Binding.ATOM)}^{{{exponent}}}", Binding.POWER)


def _latex_unary(operator: Operator, inner: _Piece) -> _Piece:
    if operator.opcode == tk.NEG:
        return _Piece("-" + _wrap(inner, Binding.PRODUCT), Binding.SIGNED)
    if operator.opcode in (tk.SQUARE, tk.CUBE):
        return _latex_power(inner, "2" if operator.opcode == tk.SQUARE else "3")
    if operator.opcode in TEMPLATES:
        template, binding = TEMPLATES[operator.opcode]
        return _Piece(template % inner.text, binding)
    return _latex_call(operator, inner.text)


def _latex_binary(operator: Operator, left: _Piece, right: _Piece) -> _Piece:
    if operator.opcode == tk.ADD:
        text = f"{left.text} - {right.text[1:]}" if right.text.startswith("-") else f"{left.text} + {right.text}"
        return _Piece(text, Binding.SUM)
    if operator.opcode == tk.SUB and right.binding == Binding.SIGNED:
        return _Piece(f"{left.text} + {right.text[1:]}", Binding.SUM)
    if operator.opcode == tk.SUB:
        return _Piece(f"{left.text} - {_wrap(right, Binding.PRODUCT)}", Binding.SUM)
    if operator.opcode == tk.DIV:
        return _Piece(rf"\frac{{{left.text}}}{{{right.text}}}", Binding.PRODUCT)
    if operator.opcode == tk.POW:
        return _latex_power(left, right.text)
    if operator.opcode != tk.MUL:
        return _latex_call(operator, f"{left.text}, {right.text}")
    first, second = _wrap(left, Binding.SIGNED), _wrap(right, Binding.PRODUCT)
    return _Piece(
        first + _latex_times(first, second) + second,
        Binding.PRODUCT if left.binding == Binding.SUM else min(left.binding, Binding.PRODUCT),
    )


def _latex_call(operator: Operator, arguments: str) -> _Piece:
    name = operator.traits.written or operator.name
    has_command = operator.opcode >= 0 and name in FUNCTION_COMMANDS
    escaped = name.replace("_", r"\_")
    command = rf"\{name}" if has_command else rf"\operatorname{{{escaped}}}"
    return _Piece(rf"{command}\left({arguments}\right)", Binding.ATOM)


def _latex_times(left: str, right: str) -> str:
    """Return the sign between two factors: a dot before a number, a gap next to a word, nothing otherwise."""
    if re.match(r"\d|\\frac\{\d", right):
        return r" \cdot "
    return r" \, " if right.startswith(r"\mathrm") or re.search(r"\\mathrm\{[^{}]*\}$", left) else " "
