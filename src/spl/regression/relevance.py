"""Relevance: what each column brings to a formula."""

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

RELEVANCE_ROWS = 256  # every value of a column is tried in each of these rows


def measure_relevance(program: Program, data: Dataset) -> NDArray[np.float64]:
    """Return the share of the formula's variance that each column brings, by itself and together with others [D].

    The share is half the mean squared change of the formula when the column takes the value of another row, averaged over all pairs of
    rows, relative to the variance of the formula (Sobol's total index, estimated as by Jansen, 1999). It is 0 for columns that are
    not in the formula. Columns that act together share what they bring, so the sum may exceed 1. Rows in which the
    formula leaves its domain do not count. Of many rows, some are used, evenly spread over the values of the formula.

    Args:
        program: a formula of the columns, with its constants.
        data: the table, with weights; its target does not matter.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> table = [[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (1.0, 2.0)]
        >>> data = Dataset.from_arrays(table, np.zeros(8), names=["a", "b", "c"])
        >>> measure_relevance(parse_expression("2*a + b", Vocabulary(data.names)), data).round(6).tolist()
        [0.8, 0.2, 0.0]
        >>> measure_relevance(parse_expression("a*b", Vocabulary(data.names)), data).round(6).tolist()
        [1.0, 1.0, 0.0]
    """
    relevance = np.zeros(len(data.names))
    values = evaluate(program, data.columns)
    rows = _choose_rows(values, data.weights)
    if rows.size == 0:
        return relevance
    values, columns, shares = values[rows], data.columns[:, rows], data.weights[rows] / data.weights[rows].sum()
    unit = np.max(np.abs(values)) or 1.0  # so that squares stay finite
    mean = float(shares @ (values / unit))
    variance = float(shares @ (values / unit - mean) ** 2)
    if variance <= np.finfo(float).eps ** 2:
        return relevance
    for column in {token & tk.PAYLOAD_MASK for token in program.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE}:
        changed = _try_all_values(program, columns, column) / unit
        pairs = np.where(np.isfinite(changed), np.outer(shares, shares), 0.0)
        with np.errstate(over="ignore"):
            change = np.where(np.isfinite(changed), changed - values / unit, 0.0) ** 2
        relevance[column] = 0.5 * np.sum(pairs * change) / np.sum(pairs) / variance
    return relevance


def _choose_rows(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return rows that count, sorted by value; if there are many, evenly spread over the values."""
    rows = np.flatnonzero(np.isfinite(values) & (weights > 0))
    rows = rows[np.argsort(values[rows], kind="stable")]
    if rows.size > RELEVANCE_ROWS:
        rows = rows[np.linspace(0, rows.size - 1, RELEVANCE_ROWS).round().astype(int)]
    return rows


def _try_all_values(program: Program, columns: NDArray[np.float64], column: int) -> NDArray[np.float64]:
    """Return the formula with the value of each row k in the column, in each row i: [k, i]."""
    n_rows = columns.shape[1]
    tried = columns.copy()
    values = np.empty((n_rows, n_rows))
    for k, value in enumerate(columns[column]):
        tried[column] = value
        values[k] = evaluate(program, tried)
    return values
