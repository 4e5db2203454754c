"""Fitting and evaluating single programs on a whole dataset."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.candidate import Candidate
from spl.data import Dataset
from spl.kernels.compiler import make_scratch
from spl.kernels.evaluate import BLOCK, evaluate_all
from spl.kernels.fit import Effort, fit_program
from spl.kernels.normal_equations import FIT_WORK
from spl.packing import pack_alphabet, pack_program, pack_table
from spl.program import Program

REFIT_EFFORT = Effort(n_starts=1, n_scans=0, max_iterations=20, tolerance=1e-9)
POLISH_EFFORT = Effort(n_starts=1, n_scans=0, max_iterations=100, tolerance=1e-14)
LAST_EFFORT = Effort(n_starts=1, n_scans=0, max_iterations=3, tolerance=1e-9)  # on all rows, from a fit to many of them
SMALLEST_SPREAD = 1e-100  # of a target whose squared errors are numbers; beyond it, constants stay as they are


def evaluate(program: Program, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a program on columns [D, N]; NaN where it leaves its domain.

    Examples:
        >>> from spl.expression import parse_expression
        >>> from spl.program import Vocabulary
        >>> evaluate(parse_expression("x**2 + 1", Vocabulary(("x",))), np.array([[1.0, 2.0]]))
        array([2., 5.])
    """
    out = np.empty(columns.shape[1])
    tokens = np.array(program.tokens, np.int32)
    constants = np.array(program.constants or (0.0,), np.float64)
    stack = np.empty((tokens.size + 1) // 2 * BLOCK)
    evaluate_all(
        tokens, tokens.size, constants, pack_alphabet(program.vocabulary), np.ascontiguousarray(columns), out, stack
    )
    return out


def root_mean_square_error(program: Program, dataset: Dataset) -> float:
    """Return the weighted error of a program as it is; infinity if it leaves its domain on any row that counts."""
    counts = dataset.weights > 0
    with np.errstate(over="ignore", invalid="ignore"):
        residual = (dataset.target - evaluate(program, dataset.columns))[counts]
        largest = float(np.max(np.abs(residual)))
    if not 0 < largest < np.inf:
        return 0.0 if largest == 0 else np.inf
    unit = 2.0 ** (math.frexp(largest)[1] - 1)  # squares of the residuals in their own unit are numbers
    square = np.mean(dataset.weights[counts] * (residual / unit) ** 2) * counts.sum() / dataset.n_rows
    return unit * float(np.sqrt(square))


def fit(
    program: Program, dataset: Dataset, *, effort: Effort = REFIT_EFFORT, seed: int = 0, reward: float = 0.0
) -> Candidate:
    """Fit the constants of a program, starting from those it has; never raises the loss.

    Examples:
        >>> from spl.expression import parse_expression
        >>> from spl.program import Vocabulary
        >>> line = parse_expression("C * x", Vocabulary(("x",)))
        >>> fit(line, Dataset.from_arrays([[1.0], [2.0]], [3.0, 6.0], names=["x"])).program.constants
        (3.0,)
    """
    before = root_mean_square_error(program, dataset) if np.all(np.isfinite(program.constants)) else np.inf
    if not program.constants or not SMALLEST_SPREAD < dataset.spread < 1 / SMALLEST_SPREAD:
        return Candidate(program, before, reward)
    error, constants = _run_kernel(program, dataset, effort, seed)
    loss = float(np.sqrt(error / dataset.n_rows))
    if not loss < before:
        return Candidate(program, before, reward)
    return Candidate(program.with_constants(constants), loss, reward)


def _run_kernel(program: Program, dataset: Dataset, effort: Effort, seed: int) -> tuple[float, NDArray[np.float64]]:
    work = make_scratch(FIT_WORK)
    random: NDArray[Any] = np.array([seed], np.uint64)
    alphabet = pack_alphabet(program.vocabulary)
    error = fit_program(pack_program(program), alphabet, pack_table(dataset), effort, work, random)
    return float(error), work.best[: program.n_constants].copy()
