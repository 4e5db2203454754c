"""The candidate: a program with its fit to the data. The module: a program that serves as a rule of the grammar."""

from dataclasses import dataclass

from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk


@dataclass(frozen=True, slots=True)
class Candidate:
    """A formula and how well it fits: `loss` is the weighted root mean square error on the rows it was assessed on.

    `reward` is that of the paper, eta**rules / (1 + loss), for the derivation that led to it. `number_nats` is the price of its
    numbers, each to the precision that the data gives it; None if it is not known.
    """

    program: Program
    loss: float
    reward: float = 0.0
    number_nats: float | None = None

    @property
    def cost(self) -> int:
        """The cost of its program; 0 for a number, so that every other formula has to fit better than the best constant."""
        return cost_of(self.program)


def cost_of(program: Program) -> int:
    """Return the cost of a formula; 0 for a number."""
    is_number = len(program) == 1 and program.tokens[0] >> tk.KIND_SHIFT in (tk.CONSTANT, tk.LITERAL)
    return 0 if is_number else program.cost


@dataclass(frozen=True, slots=True)
class Module:
    """A complete tree that serves as one rule of the start symbol."""

    program: Program
    size: int  # rules of its derivation
    loss: float  # on the rows of the search
    reward: float


@dataclass(frozen=True, slots=True)
class Rough:
    """A candidate of a tree, with the rough length of its description, which tells it only from others of the same rows."""

    candidate: Candidate
    length: float
