"""Values of formulas computed with numpy only, so that the truth does not come from the engine under test."""

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk


def exact_values(program: Program, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values [N] of a program at the rows of a table [N, D].

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> exact_values(parse_expression("x**2 + 1", Vocabulary(("x",))), np.array([[1.0], [2.0]]))
        array([2., 5.])
    """
    return values_of_parts(program, table)[0]


def values_of_parts(program: Program, table: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the values [N] of every part of a program, indexed by its first token."""
    values: list[NDArray[np.float64]] = [np.empty(0)] * len(program)
    stack: list[NDArray[np.float64]] = []
    constants = list(program.constants)
    for position in reversed(range(len(program))):
        token = program.tokens[position]
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(table[:, payload])
        elif kind == tk.LITERAL:
            stack.append(np.full(len(table), program.vocabulary.literals[payload]))
        elif kind == tk.CONSTANT:
            stack.append(np.full(len(table), constants.pop()))
        elif kind == tk.POWER:
            stack.append(stack.pop() ** (payload - tk.POWER_OFFSET))
        else:
            arguments = [stack.pop() for _ in range(program.vocabulary.arity_of(token))]
            stack.append(program.vocabulary.operator_of(token).function(*arguments))
        values[position] = stack[-1]
    return values
