"""Checks whether a formula found under noise is the law except for the exact values of its numbers."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spl.bench.trials import is_recovered, relative_error
from spl.data.dataset import Dataset
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.edits import drop_one_term
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN, make_token
from spl.kernels.programs import tokens as tk
from spl.regression.fit import POLISH_EFFORT, evaluate, fit


def has_structure_of_law(program: Program, table: NDArray[np.float64], truth: NDArray[np.float64]) -> bool:
    """Return whether a formula is the law once its numbers are fitted to exact values, without anything superfluous.

    All numbers, including those rounded to whole numbers or fractions, are fitted to half of the rows of X [N, D], starting from
    their values. The formula must then equal the truth [N] to 1e-6 on the other half, and must no longer do so if any term of a sum
    is left out or any number is set to 0, and the other numbers are fitted again.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> x = np.linspace(1.0, 2.0, 50)
        >>> found = ("2*sin(x)", "2*sin(x) + 0.001", "2*x")
        >>> programs = [parse_expression(text, Vocabulary(("x",))) for text in found]
        >>> [has_structure_of_law(program, x[:, np.newaxis], 2.1 * np.sin(x)) for program in programs]
        [True, False, False]
    """
    free = literals_to_constants(program)
    if free.n_constants > tk.MAX_CONSTANTS or len(free) > tk.MAX_PROGRAM_LENGTH:
        return False
    check = _HalfAndHalf(free.vocabulary.variables, table, truth)
    refitted = check.refit(free)
    if not check.agrees(refitted):
        return False
    shorter = (*drop_one_term(refitted), *set_each_to_zero(refitted))
    return not any(check.agrees(check.refit(other)) for other in shorter)


class _HalfAndHalf:
    """Fits formulas to every second row of a table, and compares them with the truth on the others."""

    def __init__(self, names: tuple[str, ...], table: NDArray[np.float64], truth: NDArray[np.float64]) -> None:
        self._fitted = Dataset.from_arrays(table[::2], truth[::2], names=names)
        self._columns = np.ascontiguousarray(table[1::2].T)
        self._truth = truth[1::2]

    def refit(self, program: Program) -> Program:
        return fit(program, self._fitted, effort=POLISH_EFFORT).program

    def agrees(self, program: Program) -> bool:
        return is_recovered(relative_error(evaluate(program, self._columns), self._truth))


def set_each_to_zero(program: Program) -> Iterator[Program]:
    """Yield the program with one constant after another fixed at 0."""
    words = program.vocabulary.with_literal(0.0)
    zero = make_token(tk.LITERAL, words.literals.index(0.0))
    positions = [position for position, token in enumerate(program.tokens) if token == CONSTANT_TOKEN]
    for number, position in enumerate(positions):
        tokens = (*program.tokens[:position], zero, *program.tokens[position + 1 :])
        yield Program(tokens, words, program.constants[:number] + program.constants[number + 1 :])
