"""Cross-validation: the loss of a formula on rows that its numbers were not fitted to.

The rows are divided into parts. Each is predicted by the formula with its numbers fitted to the others, and the loss is that of all
predictions together. The structure of the formula is kept, although all rows had a say in it: so this loss tells how well the rows
determine the numbers, and is a lower bound for that on new rows.
"""

import math
from collections.abc import Collection, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.knowledge.knowledge import Judge
from spl.regression.fit import evaluate, find_input_variance, loss_of_values
from spl.regression.known_fit import KnownFit
from spl.regression.uncertainty import free_numbers

N_FOLDS = 5
MAX_CROSS_ROWS = 2_000  # more are sampled: by then, loss and cross-validated loss hardly differ


def cross_losses(
    programs: Iterable[Program], data: Dataset, given: Collection[float] = (), judge: Judge | None = None
) -> list[float]:
    """Return the cross-validated loss of each formula; NaN with fewer than two rows, infinite if it has no value on a row.

    The parts depend on the values of the rows, not on their order.

    Args:
        programs: the formulas, fitted.
        data: the rows that they were fitted to, with their noise model; all must count.
        given: numbers that come from the grammar: these are exact. All others are fitted again, rounded ones as well.
        judge: what is known of the law; the numbers are fitted within it, where that is possible.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> x = np.linspace(-1.0, 1.0, 20)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 2 * x + 0.1 * np.cos(50 * x), names=["x"])
        >>> programs = [parse_expression(text, Vocabulary(("x",))) for text in ("2*x", "0.1")]
        >>> [round(loss, 2) for loss in cross_losses(programs, data)]
        [0.09, 1.25]
    """
    random = np.random.default_rng(0)
    rows = data.sort() if data.n_rows <= MAX_CROSS_ROWS else data.sample(MAX_CROSS_ROWS, random)
    if rows.n_rows < 2:
        return [math.nan for _ in programs]
    parts = random.permutation(rows.n_rows) % min(N_FOLDS, rows.n_rows)
    known = KnownFit(judge)
    return [_cross_loss(_free(program, given), rows, parts, known) for program in programs]


def _free(program: Program, given: Collection[float]) -> Program:
    """Return the formula with all its numbers as constants, if there is room for them."""
    free = free_numbers(program, given)
    return program if free.n_constants > tk.MAX_CONSTANTS else free


def _cross_loss(program: Program, rows: Dataset, parts: NDArray[np.intp], known: KnownFit) -> float:
    values = np.empty(rows.n_rows)
    variance = None if rows.sigma_columns is None else np.empty(rows.n_rows)
    for inside, outside in _splits(parts):
        left_out = rows.take(outside)
        known.allow(1)
        fitted = known.fit(program, rows.take(inside)).program
        values[outside] = evaluate(fitted, left_out.columns)
        if variance is not None:
            variance[outside] = find_input_variance(fitted, left_out)
    return loss_of_values(values, rows, variance)


def _splits(parts: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the rows to fit to and the rows to predict, part by part."""
    for part in range(int(parts.max()) + 1):
        yield np.flatnonzero(parts != part), np.flatnonzero(parts == part)
