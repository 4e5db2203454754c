"""Pieces of formulas in infix notation, joined with as few brackets as keep the order of the operations.

What a leaf or a function is called is left to the notations: `expression` for our own text, `source_code` for languages.
"""

from typing import NamedTuple

from spl.formulas.operators import Binding


class Piece(NamedTuple):
    """The text of a subtree, how tightly it binds, and its negative where that is shorter (`2*x` for `-2*x`)."""

    text: str
    binding: Binding
    negative: "Piece | None" = None

    def within(self, binding: Binding) -> str:
        """Return the text, in brackets if the place asks for something that binds more tightly."""
        return self.text if self.binding >= binding else f"({self.text})"


def write_sum(is_added: bool, left: Piece, right: Piece) -> Piece:
    """Write `a + b` or `a - b`; adding a negative is written as taking its positive away, and the other way round."""
    if right.negative is not None:
        is_added, right = not is_added, right.negative
    return Piece(f"{left.within(Binding.SUM)} {'+' if is_added else '-'} {right.within(Binding.PRODUCT)}", Binding.SUM)


def write_product(sign: str, left: Piece, right: Piece) -> Piece:
    """Write a product or quotient, with the sign of either.

    Examples:
        >>> a, b, c = (Piece(name, Binding.ATOM) for name in "abc")
        >>> write_product(" * ", a, write_sum(True, b, c)).text
        'a * (b + c)'
    """
    factor = right.within(Binding.POWER)
    negative = None if left.negative is None else write_product(sign, left.negative, right)
    return Piece(f"{left.within(Binding.PRODUCT)}{sign}{factor}", Binding.PRODUCT, negative)
