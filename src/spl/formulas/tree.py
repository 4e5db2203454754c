"""A formula as a tree, for rewriting: each part with its arguments."""

import math
from typing import NamedTuple

from spl.formulas.text import CONSTANT_TOKEN


class Tree(NamedTuple):
    """A formula, or a part of one; a constant has its number.

    Examples:
        >>> from spl.kernels.programs import tokens as tk
        >>> tree = Tree(tk.MUL, (constant_tree(2.0), constant_tree(3.0)))
        >>> len(tree.tokens()), tree.numbers()
        (3, (2.0, 3.0))
    """

    token: int
    arguments: tuple["Tree", ...] = ()
    number: float = math.nan

    def tokens(self) -> tuple[int, ...]:
        """Return its tokens, root first."""
        return (self.token, *(token for tree in self.arguments for token in tree.tokens()))

    def numbers(self) -> tuple[float, ...]:
        """Return its constants, in the order of the tokens."""
        if self.token == CONSTANT_TOKEN:
            return (self.number,)
        return tuple(number for tree in self.arguments for number in tree.numbers())


def constant_tree(number: float) -> Tree:
    """Return a constant with this number."""
    return Tree(CONSTANT_TOKEN, number=number)
