"""Formulas in characters, for terminals: fractions, superscripts, roots and tall brackets."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.notation.formula_layout import MINUS_SIGN, NO_SIGN, TIMES_SIGN, write_formula

MAX_HEIGHT = 9  # lines; a taller formula is written on one line
_SUPERSCRIPTS = dict(zip("0123456789+−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", strict=True))
_ROOTS = {2: "√", 3: "∛"}
_LEFT_BRACKET, _RIGHT_BRACKET = "⎛⎜⎝", "⎞⎟⎠"


@dataclass(frozen=True, slots=True)
class Box:
    """Lines of equal width, and the index of the baseline."""

    lines: tuple[str, ...]
    middle: int = 0

    @property
    def width(self) -> int:
        """The width in terminal cells."""
        return cell_len(self.lines[0])

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.lines)


def typeset(
    program: Program, *, left: str = "", digits: int = 6, width: int = 100, height: int = MAX_HEIGHT
) -> list[str]:
    """Return a formula as lines for a terminal; if it does not fit, as one line of plain text.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("sqrt(x) + 3*x**2/(1 + y)", Vocabulary(("x", "y")))
        >>> print("\\n".join(typeset(program, left="y")))  # doctest: -NORMALIZE_WHITESPACE
                 3·x²
        y = √x + ─────
                 1 + y
    """
    box = write_formula(program, TerminalNotation(), digits)
    box = _side_by_side([Box((f"{left} = ",)), box]) if left else box
    if box.width > width or box.height > height:
        text = to_text(program, digits)
        return [f"{left} = {text}" if left else text]
    return [line.rstrip() for line in box.lines]


class TerminalNotation:
    """The parts of a formula as boxes of characters."""

    def name(self, name: str) -> Box:
        """Return the name of a column."""
        return Box(("".join(letter if letter.isprintable() else " " for letter in name) or " ",))

    def word(self, text: str) -> Box:
        """Return a number without its sign, or a letter with a fixed meaning."""
        return Box((text.replace(MINUS_SIGN, "-"),))

    def row(self, parts: Sequence[Box | str]) -> Box:
        """Return parts side by side; text among them is a sign."""
        return _side_by_side(
            [self._sign(part, place) if isinstance(part, str) else part for place, part in enumerate(parts)]
        )

    def fraction(self, above: Box, below: Box) -> Box:
        """Return a fraction."""
        is_nested = above.height > 1 or below.height > 1
        width = max(above.width, below.width) + (
            2 if is_nested else 0
        )  # so that the outermost fraction has the longest line
        lines = (*_centre(above, width), "─" * width, *_centre(below, width))
        return Box(lines, above.height)

    def power(self, base: Box, exponent: Box) -> Box:
        """Return a power: with superscript characters if they exist, otherwise with the exponent on a line above."""
        raised = [_SUPERSCRIPTS.get(sign.replace("-", MINUS_SIGN)) for sign in exponent.lines[0]]
        if exponent.height == 1 and all(raised):
            small = "".join(sign or "" for sign in raised)
            lines = [line + (small if place == 0 else " " * len(small)) for place, line in enumerate(base.lines)]
            return Box(tuple(lines), base.middle)
        above = [" " * base.width + line for line in exponent.lines]
        below = [line + " " * exponent.width for line in base.lines]
        return Box((*above, *below), exponent.height + base.middle)

    def root(self, inner: Box, degree: int) -> Box:
        """Return a square or a cube root."""
        is_simple = inner.height == 1 and inner.lines[0].isalnum()
        return _side_by_side([Box((_ROOTS[degree],)), inner if is_simple else self.bracket(inner)])

    def bracket(self, inner: Box) -> Box:
        """Return a part in brackets of the same height."""
        if inner.height == 1:
            return Box((f"({inner.lines[0]})",))
        return self._enclose(inner, _LEFT_BRACKET, _RIGHT_BRACKET)

    def bars(self, inner: Box) -> Box:
        """Return an absolute value."""
        return Box((f"|{inner.lines[0]}|",)) if inner.height == 1 else self._enclose(inner, "│││", "│││")

    def call(self, name: str, arguments: Sequence[Box]) -> Box:
        """Return a function of arguments."""
        parts = [part for argument in arguments for part in (Box((", ",)), argument)][1:]
        return _side_by_side([Box((name,)), self.bracket(_side_by_side(parts))])

    def _sign(self, sign: str, place: int) -> Box:
        if sign in (TIMES_SIGN, NO_SIGN):
            return Box((TIMES_SIGN,))
        typed = sign.replace(MINUS_SIGN, "-")
        return Box((typed if place == 0 else f" {typed} ",))

    def _enclose(self, inner: Box, left: str, right: str) -> Box:
        last = inner.height - 1
        kinds = [0 if place == 0 else 2 if place == last else 1 for place in range(inner.height)]
        lines = (f"{left[kind]}{line}{right[kind]}" for kind, line in zip(kinds, inner.lines, strict=True))
        return Box(tuple(lines), inner.middle)


def _side_by_side(boxes: Sequence[Box]) -> Box:
    """Return boxes in a row with a common baseline."""
    above = max(box.middle for box in boxes)
    below = max(box.height - box.middle for box in boxes)
    columns = []
    for box in boxes:
        empty = " " * box.width
        columns.append([empty] * (above - box.middle) + list(box.lines) + [empty] * (below - box.height + box.middle))
    return Box(tuple("".join(parts) for parts in zip(*columns, strict=True)), above)


def _centre(box: Box, width: int) -> list[str]:
    room = width - box.width
    return [" " * (room // 2) + line + " " * (room - room // 2) for line in box.lines]
