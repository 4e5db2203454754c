"""What a fitted `SPLRegressor` knows of the shape of its formula: which statements are proved, and which are only checked."""

import math
from typing import TYPE_CHECKING

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from spl.data.dataset import Dataset
from spl.estimators.fitted_front import FittedFront
from spl.knowledge.knowledge import Judge, Knowledge

if TYPE_CHECKING:
    from spl.knowledge.knowledge import Verdict

SHAPE_COLUMNS = ("statement", "status", "margin", "where")


class FittedShapes(FittedFront):
    """The part of an estimator that says whether its formula keeps what is known; `_keep_knowledge` fills it.

    Examples:
        >>> import numpy as np
        >>> from spl import SPLRegressor
        >>> x = np.linspace(1, 3, 20).reshape(-1, 1)
        >>> model = SPLRegressor(operators=("+", "*"), random_state=0, knowledge=["increasing in x0", "f > 0"])
        >>> model.fit(x, 3 * x[:, 0] ** 2).shapes_[["statement", "status"]].to_numpy().tolist()
        [['increasing in x0', 'proved'], ['f > 0', 'proved']]
    """

    _judge: Judge | None

    def _keep_knowledge(self, knowledge: Knowledge | None, data: Dataset) -> None:
        """Keep the judge of the statements."""
        self._judge = None if knowledge is None else Judge(knowledge, data)

    @property
    def shapes_(self) -> pd.DataFrame:
        """What is known of the law, for the chosen equation: statement, status, margin, where.

        The status is "proved" (everywhere in the box, by interval arithmetic or algebra) or "checked" (at many points). The margin is
        how far the equation stays from breaking the statement, where that is least: a value, a slope or a curvature; for an equality,
        0 or the negative of how far it is off.
        """
        return self.shapes()

    def shapes(self, index: int | None = None) -> pd.DataFrame:
        """Return what is known of the law, for an equation, as `shapes_` does.

        Args:
            index: a row of `equations_`; by default, the chosen equation.
        """
        check_is_fitted(self)
        judge: Judge | None = getattr(self, "_judge", None)
        verdicts: tuple[Verdict, ...] = () if judge is None else judge.judge(self._program(index))
        rows = [(each.statement, each.status, each.margin, dict(each.where)) for each in verdicts]
        table = pd.DataFrame(rows, columns=list(SHAPE_COLUMNS))
        return table.astype({"margin": float}) if rows else table.fillna(math.nan)
