"""Own numbers: constants of a formula that each group of rows has for itself.

In a program, an own number is a variable that is no column: it comes after the columns in the vocabulary, and its value in a row is
that of the row's group. So all that prints, differentiates, simplifies and exports programs knows own numbers as variables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk

OWN_NAME = "K"  # an own number in the rules of a grammar
BY_RUN = "run"  # the grouping of own numbers that the runs of a system have
PREFIX = "k"  # own numbers are k1, k2, ..., unless columns have these names


@dataclass(frozen=True, slots=True)
class OwnNumber:
    """A number that each group of a grouping has for itself.

    Examples:
        >>> OwnNumber("k1", "wood", ("oak", "ash"), (0.7, 0.65)).value_of("ash")
        0.65
    """

    name: str  # of the variable in the program
    grouping: str
    labels: tuple[str, ...]  # of the groups
    values: tuple[float, ...]  # one per group; NaN if a group has no rows to determine it

    def __post_init__(self) -> None:
        assert len(self.labels) == len(self.values), "an own number has one value per group"

    def value_of(self, label: str) -> float:
        """Return the value for a group."""
        return self.values[self.labels.index(label)]

    def with_values(self, values: NDArray[np.float64]) -> "OwnNumber":
        """Return the number with other values, one per group."""
        return OwnNumber(self.name, self.grouping, self.labels, tuple(float(value) for value in values))


def name_own_numbers(count: int, taken: Sequence[str]) -> tuple[str, ...]:
    """Return names for own numbers that no column has.

    Examples:
        >>> name_own_numbers(2, ("x", "k1"))
        ('k2', 'k3')
    """
    names: list[str] = []
    number = 0
    while len(names) < count:
        number += 1
        if f"{PREFIX}{number}" not in taken:
            names.append(f"{PREFIX}{number}")
    return tuple(names)


def write_own_table(own: Sequence[OwnNumber], digits: int) -> list[str]:
    """Return the values of own numbers for people, one line per number.

    Examples:
        >>> write_own_table([OwnNumber("k1", "wood", ("oak", "ash"), (0.7, 0.65))], 4)
        ['k1 by wood: oak 0.7, ash 0.65']
    """
    return [
        f"{number.name} by {number.grouping}: "
        + ", ".join(f"{label} {value:.{digits}g}" for label, value in zip(number.labels, number.values, strict=True))
        for number in own
    ]


def own_columns(own: Sequence[OwnNumber], codes: Mapping[str, NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the values of own numbers in each row [K, N].

    Args:
        own: the numbers.
        codes: for each grouping, the place of each row's group among its labels [N].

    Examples:
        >>> height = OwnNumber("k1", "wood", ("oak", "ash"), (0.7, 0.65))
        >>> own_columns([height], {"wood": np.array([1, 0, 1])})
        array([[0.65, 0.7 , 0.65]])
    """
    return np.array([np.asarray(number.values)[codes[number.grouping]] for number in own])


def fill_in_values(program: Program, values: Mapping[str, float]) -> Program:
    """Return a program with constants in place of own numbers, which are its last variables.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> fill_in_values(parse_expression("k1*x + 2", Vocabulary(("x", "k1"))), {"k1": 0.5})
        Program('0.5*x + 2')
    """
    words = program.vocabulary
    tokens: list[int] = []
    constants: list[float] = []
    old = iter(program.constants)
    for token in program.tokens:
        kind, place = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE and words.variables[place] in values:
            tokens.append(CONSTANT_TOKEN)
            constants.append(values[words.variables[place]])
            continue
        tokens.append(token)
        if kind == tk.CONSTANT:
            constants.append(next(old))
    kept = tuple(name for name in words.variables if name not in values)
    return Program(tuple(tokens), replace(words, variables=kept), tuple(constants))
