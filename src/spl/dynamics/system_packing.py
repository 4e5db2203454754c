"""Systems as arrays for the kernels, and their slopes.

The kernels know explicit equations only. An implicit system is solved for its rates here; constants of the solved equations that are
the same constant of the system become the same column.
"""

import functools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.errors import DataError
from spl.formulas.rates import solve_rates
from spl.formulas.shared_vocabulary import merge_vocabularies, translate
from spl.formulas.system import System
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.evaluate import BLOCK, evaluate_all
from spl.kernels.programs.integrate import Equations, IntegrateWork
from spl.regression.packing import pack_alphabet


def evaluate_slopes(system: System, rows: ArrayLike) -> NDArray[np.float64]:
    """Return the slopes at rows [columns, M], as [D, M]; NaN outside the domain.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> decay = System(("x",), (), (parse_expression("-2 * x", Vocabulary(("x",))),))
        >>> evaluate_slopes(decay, [[1.0, 5.0]]).tolist()
        [[-2.0, -10.0]]
    """
    columns = np.ascontiguousarray(rows, dtype=np.float64)
    if columns.ndim != 2 or len(columns) != len(system.columns):
        raise DataError(f"There must be one row for each of {', '.join(system.columns)}; the shape is {columns.shape}.")
    equations = pack_system(system)
    out = np.empty((len(system.programs), columns.shape[1]))
    stack = make_stack(equations)
    for p, (tokens, length) in enumerate(zip(equations.tokens, equations.lengths, strict=True)):
        evaluate_all(tokens, length, equations.constants[p], equations.alphabet, columns, out[p], stack)
    return out


@functools.lru_cache(maxsize=64)
def pack_system(system: System) -> Equations:
    """Return a system as arrays for the kernels; not to be changed.

    Programs may have different literals and user operators; the arrays have one table of each for all programs.
    """
    programs = solve_rates(system).system.programs
    words = merge_vocabularies([program.vocabulary for program in programs])
    shape = (len(programs), max(len(program) for program in programs))
    tokens = np.zeros(shape, np.int32)
    for row, program in zip(tokens, programs, strict=True):
        row[: len(program)] = translate(program, words).tokens
    lengths = np.array([len(program) for program in programs], np.int64)
    constants = np.zeros((shape[0], 1 + max(len(program.constants) for program in programs)))
    for numbers, program in zip(constants, programs, strict=True):
        numbers[: len(program.constants)] = program.constants
    return Equations(tokens, lengths, constants, pack_alphabet(words))


def constants_as_columns(system: System) -> Equations:
    """Return a system whose constants are additional columns, so that they can differ between rows."""
    equations = pack_system(system)
    tokens = equations.tokens.copy()
    n_columns = len(system.columns)
    is_constant = (tokens >> tk.KIND_SHIFT == tk.CONSTANT) & (
        np.arange(tokens.shape[1]) < equations.lengths[:, np.newaxis]
    )
    numbers = np.concatenate(solve_rates(system).constant_numbers)
    tokens[is_constant] = (tk.VARIABLE << tk.KIND_SHIFT) + n_columns + numbers
    return equations._replace(tokens=tokens)


def make_stack(equations: Equations) -> NDArray[np.float64]:
    """Return the scratch space for evaluating any of the programs."""
    return np.empty((equations.tokens.shape[1] + 1) // 2 * BLOCK)


def make_integrate_work(system: System) -> IntegrateWork:
    """Return the scratch space for integrating the system, also with its constants as columns."""
    n_states = len(system.first_order_states)
    start, slope, total = np.empty((3, n_states, BLOCK))
    columns = np.empty((len(system.columns) + system.n_constants, BLOCK))
    return IntegrateWork(columns, start, slope, total, np.empty(BLOCK), make_stack(pack_system(system)))
