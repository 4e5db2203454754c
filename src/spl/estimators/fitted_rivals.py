"""Which other formulas the data of a fitted `SPLRegressor` allows, and what to measure next to decide.

What needs the kernels is imported inside methods, because they are slow to import.
"""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spl.errors import DoubtfulResult, Extrapolation, RunFileError
from spl.estimators.fitted_front import EQUATION_DIGITS
from spl.estimators.fitted_uncertainty import FittedUncertainty
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.settings import check_count, check_number

if TYPE_CHECKING:
    from spl.regression.rivals import Rival


class FittedRivals(FittedUncertainty):
    """The part of an estimator that says which other formulas describe its data as well.

    Examples:
        >>> x = np.linspace(1, 3, 12)
        >>> y = 3.3 * x**2 + np.cos(50 * x)
        >>> from spl import SPLRegressor
        >>> model = SPLRegressor(operators=("+", "*"), random_state=0, max_evaluations=2000).fit(x.reshape(-1, 1), y)
        >>> list(model.rivals().columns)
        ['nats', 'weight', 'equation', 'loss', 'x0', 'difference']
        >>> model.suggest(n=3).shape
        (3, 1)
    """

    def rivals(self, within: float = 6.0) -> pd.DataFrame:
        """Return the formulas that the data cannot tell from the chosen equation, the most likely first; an empty table if none.

        The columns: `nats`, by which the description of the formula, its numbers and its errors is longer than that of the chosen
        equation; `weight`, exp(-nats), such that the weights of all rows and of the chosen equation add up to 1; `equation`; `loss`;
        the columns of the data, which give the point between the rows where the two differ most; `difference`, by how much they
        differ there, in standard deviations of the noise.

        Nats below 0 mean that the data favours the rival: if there are few rows, the choice is more careful with fitted numbers.
        A run file has no rivals before the search has ended: an error says so.

        Args:
            within: how many nats longer a description may be, up to 12. The data favours the chosen equation by exp(nats) to 1.
        """
        found = self._find_rivals(within)
        names = self._check_evidence().data.names
        heads = ("nats", "weight", "equation", "loss")
        table = pd.DataFrame(
            [
                (each.nats, each.weight, to_text(each.candidate.program, EQUATION_DIGITS), each.candidate.loss)
                for each in found
            ],
            columns=list(heads),
        )
        places = pd.DataFrame(
            np.array([each.place for each in found]).reshape(len(found), len(names)), columns=list(names)
        )
        clashing = {name: f"{name} (column)" for name in names if name in (*heads, "difference")}
        differences = pd.Series([each.difference for each in found], name="difference", dtype=float)
        places = places[self._without_known(names)]
        return pd.concat([table, places.rename(columns=clashing), differences], axis=1)

    def suggest(
        self, n: int = 5, bounds: Mapping[str, tuple[float, float]] | None = None, within: float = 6.0
    ) -> pd.DataFrame:
        """Return points to measure next, the most useful first: a DataFrame with the columns of `X`.

        They separate the chosen equation and its `rivals` from each other as well as n measurements can, given the noise. Without
        rivals, a warning says so, and the points are those that determine the numbers of the equation best.

        Args:
            n: how many points.
            bounds: the lowest and highest value of columns, such as `{"x": (0, 5)}`, seconds for dates; by default, the range of the
                data.
            within: how many nats longer the description of a rival may be.
        """
        from spl.regression.next_points import MAX_POINTS, check_bounds, suggest_points

        self._refuse_groups("`suggest`")
        check_count("n", n, at_least=1, at_most=MAX_POINTS)
        rows = self._rows_of_fit()
        found = suggest_points(
            self._program(None),
            self._find_rivals(within),
            rows,
            n,
            check_bounds(bounds, tuple(self._without_known(rows.names))),
        )
        if found.note:
            warnings.warn(found.note, DoubtfulResult, stacklevel=2)
        points = pd.DataFrame(found.points, columns=list(rows.names))[self._without_known(rows.names)]
        return points.apply(self._as_dates)

    def _as_dates(self, column: "pd.Series[Any]") -> "pd.Series[Any]":
        """Return a column of points as dates, if it held dates in the fit."""
        origin = getattr(self, "time_origins_", {}).get(str(column.name))
        return column if origin is None else pd.to_datetime(origin + (1e9 * column).round().astype("int64"))

    def _find_rivals(self, within: float) -> "list[Rival]":
        from spl.regression.rival_collection import KEPT_NATS
        from spl.regression.rivals import NOT_KEPT, find_rivals

        self._refuse_groups("A comparison of rivals")
        check_number("within", within, at_least=0.0, at_most=KEPT_NATS)
        rows = self._rows_of_fit()
        if not self.discovery_.rivals:
            raise RunFileError(NOT_KEPT)
        return find_rivals(self.discovery_, self.best_index_, rows, within)

    def _warn_of_extrapolation(self, program: Program, rows: NDArray[np.float64]) -> None:
        """Warn about rows [D, N] outside of the data, and of rivals that differ there."""
        from spl.regression.prediction_errors import explain_extrapolation, is_outside
        from spl.regression.rivals import WITHIN_NATS, explain_disagreement

        data = self._check_evidence().data
        words = explain_extrapolation(program, rows, data)
        if words:
            outside = np.ascontiguousarray(rows[:, is_outside(program, rows, data)])
            rivals = self._find_rivals(WITHIN_NATS) if self.discovery_.rivals else []
            disagreement = explain_disagreement(program, rivals, self._rows_of_fit(), outside)
            warnings.warn(" ".join(filter(None, [words, disagreement])), Extrapolation, stacklevel=3)
