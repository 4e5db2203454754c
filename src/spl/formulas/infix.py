"""Pieces of formulas in infix notation, joined with as few brackets as keep the order of the operations.

What a leaf or a function is called is left to the notations: `expression` for our own text, `source_code` for languages.
"""

from typing import NamedTuple

SUM, PRODUCT, MINUS, POWER, ATOM = range(1, 6)  # how tightly a printed piece binds, as in Python


class Piece(NamedTuple):
    """The text of a subtree, how tightly it binds, and its negative where that is shorter (`2*x` for `-2*x`)."""

    text: str
    binding: int
    negative: "Piece | None" = None

    def within(self, binding: int) -> str:
        """Return the text, in brackets if the place asks for something that binds more tightly."""
        return self.text if self.binding >= binding else f"({self.text})"


def write_sum(is_added: bool, left: Piece, right: Piece) -> Piece:
    """Write `a + b` or `a - b`; adding a negative is written as taking its positive away, and the other way round."""
    if right.negative is not None:
        is_added, right = not is_added, right.negative
    return Piece(f"{left.within(SUM)} {'+' if is_added else '-'} {right.within(PRODUCT)}", SUM)


def write_product(sign: str, left: Piece, right: Piece) -> Piece:
    """Write a product or quotient, with the sign of either.

    Examples:
        >>> write_product(" * ", Piece("a", ATOM), write_sum(True, Piece("b", ATOM), Piece("c", ATOM))).text
        'a * (b + c)'
    """
    factor = right.within(POWER)
    negative = None if left.negative is None else write_product(sign, left.negative, right)
    return Piece(f"{left.within(PRODUCT)}{sign}{factor}", PRODUCT, negative)
