"""A formula along one column, with the other columns at their medians: the curve, and the rows beside it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.regression.fit import evaluate
from spl.regression.same_structure import columns_of

Numbers = NDArray[np.float64]
Rows = NDArray[np.intp]

N_POINTS = 400  # of a curve
MARGIN = 0.02  # of the range of the column, on both sides


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """A formula along one column.

    The other columns of a row are not at their medians, so its measured value lies off the curve even if the formula is exact. The
    point of a row is therefore the value of the curve there, plus measured minus predicted.
    """

    program: Program
    column: int
    is_whole: bool  # whether the formula has no other column, so that the points are the measured values
    columns: Numbers  # [D, M], along the curve
    points: Numbers  # [N], one for each row that is drawn

    @property
    def x(self) -> Numbers:
        """The column along the curve [M]."""
        return np.asarray(self.columns[self.column])

    @property
    def values(self) -> Numbers:
        """The values of the formula [M]; NaN where it has none."""
        return evaluate(self.program, self.columns)


def columns_to_cut(program: Program, data: Dataset) -> list[int]:
    """Return the columns of a formula that vary in the data; named constants, for example, do not.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[1.0, 9.8], [2.0, 9.8]], [4.9, 9.8], names=["m", "g"])
        >>> columns_to_cut(parse_expression("m*g", Vocabulary(("m", "g"))), data)
        [0]
    """
    return [column for column in sorted(columns_of(program)) if np.ptp(data.columns[column]) > 0.0]


def cut_slice(program: Program, data: Dataset, column: int, drawn: Rows | None = None) -> Slice:
    """Return a formula along one column of the data, which it need not depend on.

    Args:
        program: the formula.
        data: the rows; they say how far the curve goes, and where the other columns are.
        column: the column.
        drawn: the rows whose points are wanted; by default, all.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], [0.0, 4.0, 4.0], names=["a", "b"])
        >>> cut = cut_slice(parse_expression("a*b", Vocabulary(("a", "b"))), data, 0)
        >>> cut.points, cut.is_whole
        (array([0., 3., 4.]), False)
    """
    others = sorted(columns_of(program) - {column})
    middle = np.zeros((len(data.names), 1))
    middle[others, 0] = [np.median(data.columns[other]) for other in others]
    low, high = data.columns[column].min(), data.columns[column].max()
    room = MARGIN * (high - low) or 0.05 * abs(high) or 1.0
    rows = data if drawn is None else data.take(drawn)
    points = rows.target
    if others:
        on_curve = evaluate(program, _along(middle, column, rows.columns[column]))
        points = on_curve + points - evaluate(program, rows.columns)
    curve = _along(middle, column, np.linspace(low - room, high + room, N_POINTS))
    return Slice(program, column, not others, curve, points)


def _along(middle: Numbers, column: int, x: Numbers) -> Numbers:
    """Return all columns [D, M] along one of them; the others stay where they are."""
    columns = np.repeat(middle, x.size, axis=1)
    columns[column] = x
    return columns
