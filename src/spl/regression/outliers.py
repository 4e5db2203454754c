"""Outliers: rows that lie much farther from a formula than most."""

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.noise.first_weights import robust_deviation
from spl.regression.fit import evaluate

OUTLIER_DEVIATIONS = 5.0  # robust standard deviations: one normal error in two million is larger


def find_outliers(program: Program, data: Dataset) -> tuple[int, ...]:
    """Return the rows whose targets are too far from a formula for normal noise of the size that most rows show.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> x = np.arange(20.0)
        >>> y = 2 * x + 0.1 * np.cos(9 * x)
        >>> y[3] = 40.0
        >>> data = Dataset.from_arrays(x[:, np.newaxis], y, names=["x"])
        >>> find_outliers(parse_expression("2*x", Vocabulary(("x",))), data)
        (3,)
    """
    unit = np.sqrt(data.weights) if data.sigma is None else 1.0 / data.sigma
    with np.errstate(all="ignore"):
        residual = (data.target - evaluate(program, data.columns)) * unit
    known = np.isfinite(residual) & (data.weights > 0)
    deviation = max(robust_deviation(residual[known]), data.floor * float(np.median(unit)))
    return tuple(int(row) for row in np.flatnonzero(known & (np.abs(residual) > OUTLIER_DEVIATIONS * deviation)))
