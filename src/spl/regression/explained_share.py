"""R2, the share of the target's variance that a formula explains, from its values on the rows.

A loss cannot stand in for it: only with normal noise of one size is the loss the root mean square error.
"""

from collections.abc import Sequence

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.regression.fit import evaluate


def share_explained(program: Program, data: Dataset, outliers: Sequence[int] = ()) -> float | None:
    """Return R2 of a formula on the rows that are not outliers.

    None if their target is constant, or the formula has no value on one of them.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[1.0], [2.0], [3.0], [4.0]], [2.0, 4.0, 6.0, 80.0], names=["x"])
        >>> double = parse_expression("2*x", Vocabulary(("x",)))
        >>> round(share_explained(double, data), 2), share_explained(double, data, outliers=[3])
        (-0.19, 1.0)
    """
    if len(outliers):
        rows = np.delete(np.arange(data.n_rows), outliers)
        if not data.weights[rows].any():
            return None
        data = data.take(rows)
    if not data.square > 0:
        return None
    with np.errstate(all="ignore"):
        residual = np.where(data.weights > 0, data.target - evaluate(program, data.columns), 0.0)
        share = 1.0 - float(np.sum(data.weights * residual**2)) / data.square
    return share if np.isfinite(share) else None
