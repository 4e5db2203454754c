"""The derivatives of the values of a formula by its constants, row by row, from central differences.

The kernels of the fit have exact derivatives, but only their sums over rows. Here each row is needed, for a few formulas only, and
another kernel would have to be compiled.
"""

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.regression.fit import evaluate

Numbers = NDArray[np.float64]

CHANGE = 1e-5  # of the values by a step, relative to their size: about the cube root of their rounding error
LONGEST_STEP = 1e-2  # relative to the constant
MAX_TRIALS = 6  # of the length of a step


def slopes_by_constants(program: Program, columns: Numbers) -> Numbers:
    """Return the derivative of a formula by each of its constants [C, N] on columns [D, N]; NaN where it has none.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> wave = parse_expression("C*sin(C*x)", Vocabulary(("x",))).with_constants([2.0, 3.0])
        >>> slopes_by_constants(wave, np.array([[0.0, 1.0]])).round(6)
        array([[ 0.      ,  0.14112 ],
               [ 0.      , -1.979985]])
    """
    with np.errstate(all="ignore"):
        values = evaluate(program, columns)
        slopes = [_slope_by(program, place, columns, values) for place in range(program.n_constants)]
    return np.array(slopes).reshape(program.n_constants, columns.shape[1])


def _slope_by(program: Program, place: int, columns: Numbers, values: Numbers) -> Numbers:
    constant = program.constants[place]
    step = _find_step(program, place, columns, values)
    above, below = (evaluate(_move(program, place, sign * step), columns) for sign in (1.0, -1.0))
    width = (constant + step) - (constant - step)
    slopes = (above - below) / width
    at_edge = ~np.isfinite(slopes)  # of the domain: one side may have values
    one_sided = np.where(np.isfinite(above), (above - values) / step, (values - below) / step)
    return np.where(at_edge, np.where(np.isfinite(one_sided), one_sided, np.nan), slopes)


def _find_step(program: Program, place: int, columns: Numbers, values: Numbers) -> float:
    """Return a step of a constant that changes the values by a small share of their size, however they depend on it."""
    size = float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values))) or 1.0
    longest = LONGEST_STEP * abs(program.constants[place]) or 1.0
    step = CHANGE * longest / LONGEST_STEP
    for _ in range(MAX_TRIALS):
        change = np.abs(evaluate(_move(program, place, step), columns) - values)
        largest = float(np.max(change, initial=0.0, where=np.isfinite(change))) / size
        if 0.1 * CHANGE <= largest <= 10 * CHANGE or (largest < CHANGE and step == longest):
            break
        step = min(longest, step * (CHANGE / largest if largest > 0 else 100.0))
    return step


def _move(program: Program, place: int, step: float) -> Program:
    constants = np.array(program.constants)
    constants[place] += step
    return program.with_constants(constants)
