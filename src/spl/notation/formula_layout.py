"""The layout of a formula on paper: fractions, roots, powers, signs, and brackets where they are needed.

`write_formula` decides on the layout; a `Notation` spells each part, in MathML or for a terminal.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from spl.formulas.nice_numbers import find_nice_number
from spl.formulas.operators import Binding, Operator
from spl.formulas.program import Program
from spl.formulas.text import exponent_of
from spl.kernels.programs import tokens as tk

Part = TypeVar("Part")

PLUS_SIGN, MINUS_SIGN, TIMES_SIGN = "+", "−", "·"
NO_SIGN = ""  # of a product of letters
LARGEST_WHOLE = 6  # whole numbers of up to this many digits are always written out


class Notation(Protocol[Part]):
    """How the parts of a formula are spelled."""

    def name(self, name: str) -> Part:
        """Return the name of a column."""

    def word(self, text: str) -> Part:
        """Return a number without its sign, or a letter with a fixed meaning."""

    def row(self, parts: Sequence[Part | str]) -> Part:
        """Return parts side by side; a string among them is a sign."""

    def fraction(self, above: Part, below: Part) -> Part:
        """Return a fraction."""

    def power(self, base: Part, exponent: Part) -> Part:
        """Return a power; the base has its brackets already."""

    def root(self, inner: Part, degree: int) -> Part:
        """Return a square or a cube root."""

    def bracket(self, inner: Part) -> Part:
        """Return a part in brackets."""

    def bars(self, inner: Part) -> Part:
        """Return an absolute value."""

    def call(self, name: str, arguments: Sequence[Part]) -> Part:
        """Return a function of arguments."""


@dataclass(frozen=True, slots=True)
class _Piece(Generic[Part]):
    """A part without its sign, how tightly it binds, and what it begins and ends with."""

    part: Part
    binding: Binding
    is_negative: bool = False
    begins_with_number: bool = False
    has_word_at_end: bool = False  # a column name of several letters: the next factor must not touch it
    begins_with_word: bool = False


def write_formula(program: Program, notation: Notation[Part], digits: int = 6) -> Part:
    """Return a formula in a notation, with numbers of `digits` significant digits."""
    return _Writer(notation, digits).write(program)


class _Writer(Generic[Part]):
    """Builds the parts of one formula from its leaves up."""

    def __init__(self, notation: Notation[Part], digits: int) -> None:
        self._notation = notation
        self._digits = digits

    def write(self, program: Program) -> Part:
        words = program.vocabulary
        constants = list(program.constants)
        stack: list[_Piece[Part]] = []
        for token in reversed(program.tokens):
            kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
            if kind == tk.VARIABLE:
                name = words.variables[payload]
                is_word = len(name) > 1
                stack.append(
                    _Piece(self._notation.name(name), Binding.ATOM, has_word_at_end=is_word, begins_with_word=is_word)
                )
            elif kind in (tk.LITERAL, tk.CONSTANT):
                stack.append(self._number(words.literals[payload] if kind == tk.LITERAL else constants.pop()))
            elif words.arity_of(token) == 1:
                stack.append(self._unary(token, None if kind == tk.POWER else words.operator_of(token), stack.pop()))
            else:
                stack.append(self._binary(words.operator_of(token), stack.pop(), stack.pop()))
        return self._signed(stack.pop())

    # ---- numbers ---------------------------------------------------------------------------------

    def _number(self, value: float) -> _Piece[Part]:
        if not math.isfinite(value):  # a constant that has not been fitted yet
            return _Piece(self._notation.word("C"), Binding.ATOM)
        nice = find_nice_number(value)
        if nice is None or (nice.denominator == 1 and not nice.of_pi):
            return self._decimal(value)
        write = self._notation
        above = write.word(str(abs(nice.numerator)))
        if nice.of_pi:
            pi = write.word("π")
            above = pi if abs(nice.numerator) == 1 else write.row([above, pi])
        if nice.denominator == 1:
            return _Piece(above, Binding.PRODUCT, value < 0, begins_with_number=True)
        return _Piece(write.fraction(above, write.word(str(nice.denominator))), Binding.PRODUCT, value < 0, True)

    def _decimal(self, value: float) -> _Piece[Part]:
        write, size = self._notation, abs(value)
        is_whole = size.is_integer() and size < 10 ** max(self._digits, LARGEST_WHOLE)
        mantissa, _, exponent = (f"{size:.0f}" if is_whole else f"{size:.{self._digits}g}").partition("e")
        is_negative = math.copysign(1.0, value) < 0
        if not exponent:
            return _Piece(write.word(mantissa), Binding.ATOM, is_negative, begins_with_number=True)
        power = write.power(write.word("10"), write.word(f"{int(exponent)}".replace("-", MINUS_SIGN)))
        part = power if mantissa == "1" else write.row([write.word(mantissa), TIMES_SIGN, power])
        return _Piece(part, Binding.PRODUCT, is_negative, begins_with_number=True)

    # ---- operators -------------------------------------------------------------------------------

    def _unary(self, token: int, operator: Operator | None, inner: _Piece[Part]) -> _Piece[Part]:
        write = self._notation
        if token == tk.NEG:
            return replace(inner, is_negative=not inner.is_negative)
        if token == tk.SQRT or token == tk.CBRT:
            return _Piece(write.root(self._signed(inner), 2 if token == tk.SQRT else 3), Binding.ATOM)
        if token == tk.EXP:
            return _Piece(write.power(write.word("e"), self._signed(inner)), Binding.POWER)
        if token == tk.ABS:
            return _Piece(write.bars(self._signed(inner)), Binding.ATOM)
        if token == tk.INV:
            return _Piece(
                write.fraction(write.word("1"), self._signed(inner)), Binding.PRODUCT, begins_with_number=True
            )
        exponent = exponent_of(token)
        if exponent is not None:
            return self._power(inner, write.word(f"{exponent:g}".replace("-", MINUS_SIGN)))
        assert operator is not None
        return self._call(operator, [inner])

    def _binary(self, operator: Operator, left: _Piece[Part], right: _Piece[Part]) -> _Piece[Part]:
        if operator.opcode in (tk.ADD, tk.SUB):
            return self._sum(left, right, is_minus=operator.opcode == tk.SUB)
        if operator.opcode == tk.MUL:
            return self._product(self._as_factor(left), self._as_factor(right))
        if operator.opcode == tk.DIV:
            part = self._notation.fraction(left.part, right.part)
            return _Piece(part, Binding.PRODUCT, left.is_negative != right.is_negative, left.begins_with_number)
        if operator.opcode == tk.POW:
            return self._power(left, self._signed(right))
        return self._call(operator, [left, right])

    def _sum(self, left: _Piece[Part], right: _Piece[Part], *, is_minus: bool) -> _Piece[Part]:
        is_minus = is_minus != right.is_negative
        other = self._notation.bracket(right.part) if is_minus and right.binding == Binding.SUM else right.part
        return _Piece(
            self._notation.row([self._signed(left), MINUS_SIGN if is_minus else PLUS_SIGN, other]), Binding.SUM
        )

    def _product(self, left: _Piece[Part], right: _Piece[Part]) -> _Piece[Part]:
        is_dot = right.begins_with_number or left.has_word_at_end or right.begins_with_word
        part = self._notation.row([left.part, TIMES_SIGN if is_dot else NO_SIGN, right.part])
        return _Piece(
            part,
            Binding.PRODUCT,
            left.is_negative != right.is_negative,
            begins_with_number=left.begins_with_number,
            has_word_at_end=right.has_word_at_end,
            begins_with_word=left.begins_with_word,
        )

    def _power(self, base: _Piece[Part], exponent: Part) -> _Piece[Part]:
        is_whole = base.binding == Binding.ATOM and not base.is_negative
        part = base.part if is_whole else self._notation.bracket(self._signed(base))
        begins = base if is_whole else _Piece(part, Binding.ATOM)
        return _Piece(
            self._notation.power(part, exponent),
            Binding.POWER,
            begins_with_number=begins.begins_with_number,
            begins_with_word=begins.begins_with_word,
        )

    def _call(self, operator: Operator, arguments: Sequence[_Piece[Part]]) -> _Piece[Part]:
        part = self._notation.call(
            operator.traits.written or operator.name, [self._signed(argument) for argument in arguments]
        )
        return _Piece(part, Binding.ATOM, begins_with_word=True)

    # ---- signs and brackets ----------------------------------------------------------------------

    def _signed(self, piece: _Piece[Part]) -> Part:
        if not piece.is_negative:
            return piece.part
        return self._notation.row([MINUS_SIGN, self._as_factor(piece).part])

    def _as_factor(self, piece: _Piece[Part]) -> _Piece[Part]:
        """Return a piece as a factor of a product: a sum gets brackets."""
        if piece.binding > Binding.SUM:
            return piece
        return _Piece(self._notation.bracket(piece.part), Binding.ATOM, piece.is_negative)
