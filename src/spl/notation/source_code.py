"""Formulas as expressions in other languages, with everything a function around them needs.

Operations keep the order of the program, so that values agree to rounding error. Parts without columns are computed here. Column
names become identifiers; the original names appear only in comments, in quotes, so they can never become code.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spl.errors import ExpressionError
from spl.formulas.infix import Piece, write_product, write_sum
from spl.formulas.operators import Binding, Operator
from spl.formulas.program import Program
from spl.formulas.text import exponent_of, to_text
from spl.kernels.programs import tokens as tk
from spl.notation.identifiers import make_identifiers
from spl.notation.languages import Language
from spl.notation.operator_tracing import ARGUMENTS, trace_operator

COMMENT_DIGITS = 6  # significant digits in comments; numbers in the code have all


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in one language."""

    text: str
    has_columns: bool  # whether it depends on any column


@dataclass(frozen=True, slots=True)
class Code:
    """Formulas over the same columns in one language, and what they need around them."""

    columns: tuple[str, ...]  # identifiers of all columns, in order
    used: frozenset[str]  # those that the formulas need
    formulas: tuple[Formula, ...]
    helpers: tuple[str, ...]  # functions that the formulas call
    comments: tuple[str, ...]


Define = Callable[[str, Sequence[str], str], str]  # writes a function with a name and arguments that returns a formula


def write_code(programs: Sequence[Program], left_sides: Sequence[str], language: Language, define: Define) -> Code:
    """Return the code of formulas over the same columns.

    Args:
        programs: the formulas.
        left_sides: the left-hand side of each formula, for the comments.
        language: the spellings of the language.
        define: writes a function in the language, for the user's own operators.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.notation.languages import LANGUAGES
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("2 * sin('flow rate')**2", Vocabulary(("flow rate",)))
        >>> code = write_code([program], ["y"], LANGUAGES["c"], lambda name, arguments, value: "")
        >>> code.formulas[0].text, code.comments
        ('2.0 * pow(sin(flow_rate), 2)', ("y = 2*sin('flow rate')**2", "flow_rate is 'flow rate'"))
    """
    for program in programs:
        if not all(map(math.isfinite, program.constants)):
            raise ExpressionError(f"`{to_text(program)}` has constants without a value. Fit them first.")
    own = list(dict.fromkeys(operator for program in programs for operator in _own_operators(program)))
    functions = make_identifiers([operator.name for operator in own], language.reserved)
    names = programs[0].vocabulary.variables
    columns = make_identifiers(names, language.reserved.union(functions))
    calls = dict(zip(own, functions, strict=True))
    formulas = tuple(_write(program, columns, language, calls) for program in programs)
    words = _words_of([formula.text for formula in formulas])
    definitions = [
        define(name, ARGUMENTS[: operator.arity], _write(trace_operator(operator), ARGUMENTS, language, calls).text)
        for operator, name in calls.items()
        if name in words  # otherwise it was in a part without columns, which is a number now
    ]
    return Code(
        columns=tuple(columns),
        used=frozenset(words.intersection(columns)),
        formulas=formulas,
        helpers=(*_find_helpers(words | _words_of(definitions), language), *definitions),
        comments=_write_comments(programs, left_sides, columns),
    )


def _own_operators(program: Program) -> list[Operator]:
    return [
        program.vocabulary.operator_of(token)
        for token in program.tokens
        if token >> tk.KIND_SHIFT == tk.OPERATOR and token >= tk.USER_UNARY
    ]


def _words_of(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"\w+", text)}


def _find_helpers(words: set[str], language: Language) -> list[str]:
    return [source for name, source in language.helpers.items() if name in words]


def _write_comments(programs: Sequence[Program], left_sides: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Return the formulas in plain text, and the original name of each column that was renamed."""
    texts = [to_text(program, COMMENT_DIGITS) for program in programs]
    names = programs[0].vocabulary.variables
    renamed = [f"{word} is {name!r}" for word, name in zip(columns, names, strict=True) if word != name]
    return (*(f"{left} = {text}" for left, text in zip(left_sides, texts, strict=True)), *renamed)


# ---- one formula ---------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A subtree: its text, and its value if it has no columns."""

    piece: Piece
    number: float | None


def _write(program: Program, columns: Sequence[str], language: Language, own: Mapping[Operator, str]) -> Formula:
    words = program.vocabulary
    constants = list(program.constants)
    stack: list[_Part] = []
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(_Part(Piece(columns[payload], Binding.ATOM), None))
        elif kind == tk.LITERAL:
            stack.append(_write_number(words.literals[payload], language))
        elif kind == tk.CONSTANT:
            stack.append(_write_number(constants.pop(), language))
        elif kind in (tk.OPERATOR, tk.POWER):
            parts = [stack.pop() for _ in range(words.arity_of(token))]
            stack.append(_write_operator(token, parts, program, language, own))
        else:
            raise ExpressionError("The program still has an open symbol of its grammar. Complete it first.")
    part = stack.pop()
    return Formula(part.piece.text, part.number is None)


def _write_number(value: float, language: Language) -> _Part:
    """Return a number with all its digits; a number that is not finite becomes the language's NaN."""
    if not math.isfinite(value):
        return _Part(Piece(language.nan, Binding.ATOM), math.nan)
    positive = Piece(repr(abs(value)), Binding.ATOM)
    is_negative = math.copysign(1, value) < 0
    return _Part(Piece(f"-{positive.text}", Binding.MINUS, positive) if is_negative else positive, value)


def _write_operator(
    token: int, parts: Sequence[_Part], program: Program, language: Language, own: Mapping[Operator, str]
) -> _Part:
    numbers = [part.number for part in parts if part.number is not None]
    if len(numbers) == len(parts):
        return _write_number(_compute(token, numbers, program), language)
    pieces = [part.piece for part in parts]
    exponent = exponent_of(token)
    if exponent is not None and token not in (tk.SQRT, tk.INV):
        whole = Piece(str(int(exponent)), Binding.ATOM if exponent > 0 else Binding.MINUS)
        return _Part(_write_power(pieces[0], whole, language), None)
    operator = program.vocabulary.operator_of(token)
    if operator in own:
        return _Part(Piece(f"{own[operator]}({', '.join(piece.text for piece in pieces)})", Binding.ATOM), None)
    if numbers and operator.name in language.with_number:
        texts = [part.piece.text for part in sorted(parts, key=lambda part: part.number is not None)]
        return _Part(Piece(language.with_number[operator.name].format(*texts), Binding.ATOM), None)
    return _Part(_write_built_in(operator, pieces, language), None)


def _compute(token: int, numbers: Sequence[float], program: Program) -> float:
    with np.errstate(all="ignore"):
        if token >> tk.KIND_SHIFT == tk.POWER:
            return float(np.power(numbers[0], float((token & tk.PAYLOAD_MASK) - tk.POWER_OFFSET)))
        return float(program.vocabulary.operator_of(token).function(*map(np.float64, numbers)))


def _write_built_in(operator: Operator, pieces: Sequence[Piece], language: Language) -> Piece:
    match operator.opcode, pieces:
        case ((tk.ADD | tk.SUB), [left, right]):
            return write_sum(operator.opcode == tk.ADD, left, right)
        case tk.MUL, [left, right]:
            return write_product(language.times, left, right)
        case tk.DIV, [left, right]:
            return write_product(language.over, left, right)
        case tk.INV, [only]:
            return Piece(f"1.0{language.over}{only.within(Binding.POWER)}", Binding.PRODUCT)
        case tk.NEG, [only]:
            return Piece(f"-{only.within(Binding.POWER)}", Binding.MINUS, only._replace(negative=None))
        case tk.POW, [base, exponent]:
            return _write_power(base, exponent, language, is_general=True)
    return Piece(language.calls[operator.name].format(*(piece.text for piece in pieces)), Binding.ATOM)


def _write_power(base: Piece, exponent: Piece, language: Language, *, is_general: bool = False) -> Piece:
    """Return a power, with the language's sign for a whole exponent, or with its function if it has one."""
    if "pow" in language.calls and (is_general or not language.power):
        return Piece(language.calls["pow"].format(base.text, exponent.text), Binding.ATOM)
    return Piece(f"{base.within(Binding.ATOM)}{language.power}{exponent.within(Binding.ATOM)}", Binding.POWER)
