"""Formulas with own numbers: programs in which variables after the columns are numbers that each group has for itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.formulas.own_numbers import OwnNumber, name_own_numbers
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, make_token
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate, cost_of

OWN_NUMBER_COST = (
    1  # that an own number adds to the cost of a formula: it comes after the same formula with a shared one
)

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GroupedCandidate(Candidate):
    """A candidate some of whose numbers each group has for itself: variables of its program, after the columns."""

    own: tuple[OwnNumber, ...] = ()

    @property
    def cost(self) -> int:
        """The cost of its program, and of having own numbers."""
        return cost_of(self.program) + OWN_NUMBER_COST * len(self.own)


@dataclass(frozen=True, slots=True, eq=False)
class GroupedFormula:
    """A formula with values for all its numbers. Constants are shared; variables after the columns are own numbers."""

    program: Program
    scopes: tuple[int, ...]  # of the own numbers: the place of their grouping
    values: tuple[Numbers, ...]  # of the own numbers, one per group
    n_columns: int

    @property
    def key(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What tells formulas apart, whatever their numbers."""
        return self.program.tokens, self.scopes

    @property
    def is_plain(self) -> bool:
        """Whether all its numbers are shared."""
        return not self.scopes

    def without_unused(self) -> "GroupedFormula":
        """Return the formula without own numbers that its program does not have, and with the others numbered by appearance."""
        places = [
            (token & tk.PAYLOAD_MASK) - self.n_columns
            for token in self.program.tokens
            if token >> tk.KIND_SHIFT == tk.VARIABLE
        ]
        used = list(dict.fromkeys(place for place in places if place >= 0))
        if used == list(range(len(self.scopes))):
            return self
        new = {own_token(self.n_columns, old): own_token(self.n_columns, place) for place, old in enumerate(used)}
        words = self.program.vocabulary
        vocabulary = name_variables(words, words.variables[: self.n_columns], len(used))
        program = Program(
            tuple(new.get(token, token) for token in self.program.tokens), vocabulary, self.program.constants
        )
        return GroupedFormula(
            program, tuple(self.scopes[k] for k in used), tuple(self.values[k] for k in used), self.n_columns
        )


def own_token(n_columns: int, place: int) -> int:
    """Return the token of an own number."""
    return make_token(tk.VARIABLE, n_columns + place)


def name_variables(vocabulary: Vocabulary, columns: Sequence[str], n_own: int) -> Vocabulary:
    """Return a vocabulary with columns and own numbers as its variables."""
    return replace(vocabulary, variables=(*columns, *name_own_numbers(n_own, columns)))


def plain_formula(program: Program) -> GroupedFormula:
    """Return a formula of columns alone as one without own numbers."""
    return GroupedFormula(program, (), (), len(program.vocabulary.variables))


def make_own(formula: GroupedFormula, place: int, scope: int, values: Numbers) -> GroupedFormula:
    """Return the formula with one of its constants as an own number of a grouping, with these values.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> line = parse_expression("C*x + C", Vocabulary(("x",))).with_constants([2.0, 3.0])
        >>> to_text(make_own(plain_formula(line), 1, 0, np.array([1.0, 4.0])).program)
        '2*x + k1'
    """
    program = formula.program
    positions = [at for at, token in enumerate(program.tokens) if token == CONSTANT_TOKEN]
    tokens = list(program.tokens)
    tokens[positions[place]] = own_token(formula.n_columns, len(formula.scopes))
    words = name_variables(
        program.vocabulary, program.vocabulary.variables[: formula.n_columns], len(formula.scopes) + 1
    )
    constants = program.constants[:place] + program.constants[place + 1 :]
    made = GroupedFormula(
        Program(tuple(tokens), words, constants), (*formula.scopes, scope), (*formula.values, values), formula.n_columns
    )
    return made.without_unused()


def to_candidate(
    formula: GroupedFormula, loss: float, nats: float | None, groupings: Sequence[tuple[str, tuple[str, ...]]]
) -> GroupedCandidate:
    """Return the formula as a candidate; `groupings` are names and labels."""
    names = formula.program.vocabulary.variables[formula.n_columns :]
    own = tuple(
        OwnNumber(name, *groupings[scope], tuple(map(float, values)))
        for name, scope, values in zip(names, formula.scopes, formula.values, strict=True)
    )
    return GroupedCandidate(formula.program, loss, 0.0, nats, own)
