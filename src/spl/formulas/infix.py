"""Infix notation: joins pieces of a formula with as few brackets as the order of operations allows.

The names of leaves and functions are left to the callers: `formulas/text` for our own text, `notation/source_code` for languages.
"""

from typing import NamedTuple

from spl.formulas.operators import Binding


class Piece(NamedTuple):
    """The text of a subtree, how tightly it binds, and its negative where that is shorter (`2*x` for `-2*x`)."""

    text: str
    binding: Binding
    negative: "Piece | None" = None

    def within(self, binding: Binding) -> str:
        """Return the text, in brackets if its place needs something that binds more tightly."""
        return self.text if self.binding >= binding else f"({self.text})"


def write_sum(is_added: bool, left: Piece, right: Piece) -> Piece:
    """Return `a + b` or `a - b`; adding a negative is written as a subtraction, and vice versa."""
    if right.negative is not None:
        is_added, right = not is_added, right.negative
    return Piece(f"{left.within(Binding.SUM)} {'+' if is_added else '-'} {right.within(Binding.PRODUCT)}", Binding.SUM)


def write_product(sign: str, left: Piece, right: Piece) -> Piece:
    """Return a product or quotient, whichever the sign says.

    Examples:
        >>> a, b, c = (Piece(name, Binding.ATOM) for name in "abc")
        >>> write_product(" * ", a, write_sum(True, b, c)).text
        'a * (b + c)'
    """
    factor = right.within(Binding.POWER)
    negative = None if left.negative is None else write_product(sign, left.negative, right)
    return Piece(f"{left.within(Binding.PRODUCT)}{sign}{factor}", Binding.PRODUCT, negative)
