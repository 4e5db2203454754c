"""Values and derivatives of a program at points, in plain numbers, and programs whose columns are exchanged or turned round."""

import numpy as np
from numpy.typing import NDArray

from spl.formulas.operators import BY_OPCODE
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.knowledge.jets import Jet, follow
from spl.knowledge.numbers_arithmetic import NumbersArithmetic

Numbers = NDArray[np.float64]

_ARITHMETIC = NumbersArithmetic()


def values_at(program: Program, columns: Numbers) -> Numbers:
    """Return the values of a program at points [D, M]; NaN where it has none, also where they are infinite.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> values_at(parse_expression("1/x", Vocabulary(("x",))), np.array([[2.0, 0.0]]))
        array([0.5, nan])
    """
    with np.errstate(all="ignore"):
        values = follow(program, list(columns), _ARITHMETIC).value
        return np.where(np.isfinite(values), values, np.nan)


def derivatives_at(program: Program, columns: Numbers, by: int, order: int) -> Numbers:
    """Return the first or second derivative of a program by a column at points [D, M]; NaN where it has none.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> derivatives_at(parse_expression("x**3", Vocabulary(("x",))), np.array([[1.0, 2.0]]), by=0, order=2)
        array([ 6., 12.])
    """
    with np.errstate(all="ignore"):
        jet: Jet[Numbers] = follow(program, list(columns), _ARITHMETIC, by, order)
        found = jet.slope if order == 1 else jet.bend
        if found is None:
            return np.zeros(columns.shape[1])
        return np.where(np.isfinite(found), found, np.nan)


def is_smooth(program: Program) -> bool:
    """Return whether derivatives say everything: no operator jumps or has a kink, none is the user's own, and none has poles.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> [is_smooth(parse_expression(text, Vocabulary(("x",)))) for text in ("x**2", "abs(x)", "1/x")]
        [True, False, False]
    """
    for token in program.tokens:
        kind = token >> tk.KIND_SHIFT
        if kind == tk.POWER and (token & tk.PAYLOAD_MASK) < tk.POWER_OFFSET:
            return False
        if kind == tk.OPERATOR:
            row = BY_OPCODE.get(token)
            if row is None or not row.traits.is_smooth or token in (tk.DIV, tk.INV, tk.POW, tk.TAN):
                return False
    return True


def has_own_operators(program: Program) -> bool:
    """Return whether a program has operators of the user."""
    return any(token >> tk.KIND_SHIFT == tk.OPERATOR and token >= tk.USER_UNARY for token in program.tokens)


def uses_column(program: Program, column: int) -> bool:
    """Return whether a column appears in a program."""
    return tk.VARIABLE << tk.KIND_SHIFT | column in program.tokens


def exchange_columns(program: Program, one: int, other: int) -> Program:
    """Return a program with two columns exchanged."""
    first, second = (tk.VARIABLE << tk.KIND_SHIFT | column for column in (one, other))
    swap = {first: second, second: first}
    return Program(tuple(swap.get(token, token) for token in program.tokens), program.vocabulary, program.constants)


def turn_column(program: Program, column: int) -> Program:
    """Return a program with the negative of a column in its place."""
    variable = tk.VARIABLE << tk.KIND_SHIFT | column
    tokens = [part for token in program.tokens for part in ((tk.NEG, token) if token == variable else (token,))]
    return Program(tuple(tokens), program.vocabulary, program.constants)
