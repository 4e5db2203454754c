"""What a fitted `SPLRegressor` predicts: values with errors and limits, scores and figures; and how it reads rows.

What needs the kernels is imported inside methods, because they are slow to import.
"""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from spl.data.dataset import Dataset
from spl.errors import SettingError, UndefinedError, UndefinedValues
from spl.estimators.fitted_groups import FittedGroups
from spl.estimators.fitted_rivals import FittedRivals
from spl.estimators.fitted_uncertainty import KINDS, check_choice, check_level
from spl.estimators.fitted_units import add_known
from spl.estimators.inputs import Rows, complete_rows, read_features, warn_of_repairs
from spl.formulas.program import Program
from spl.settings import check_switch

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class FittedPredictions(FittedGroups, FittedRivals):
    """The part of an estimator that predicts.

    Examples:
        >>> from spl import SPLRegressor
        >>> x = np.linspace(1, 3, 40).reshape(-1, 1)
        >>> model = SPLRegressor(operators=("+", "*"), random_state=0).fit(x, 3 * x[:, 0] ** 2 + 1)
        >>> model.predict([[2.0]])
        array([13.])
    """

    @overload
    def predict(
        self, X: ArrayLike, index: int | None = None, return_std: Literal[False] = False, groups: Any = None
    ) -> NDArray[np.float64]: ...

    @overload
    def predict(
        self, X: ArrayLike, index: int | None = None, *, return_std: Literal[True], groups: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    def predict(
        self, X: ArrayLike, index: int | None = None, return_std: bool = False, groups: Any = None
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values of an equation [N]; NaN where it has none, with a warning that says why.

        Args:
            X: rows [N, D], with the columns of the fit. Dates are counted from the same moment as in the fit.
            index: a row of `equations_`; by default, the chosen equation.
            return_std: whether to return the standard errors of the values [N] as well. They come from the errors of the numbers and
                leave out how far measurements scatter. A warning names the columns of rows outside of the data, and
                rivals that differ there.
            groups: the group of each row [N], as in the fit, if the equation has numbers of groups.
        """
        from spl.regression.fit import evaluate
        from spl.regression.prediction_errors import predict_errors

        check_switch("return_std", return_std)
        rows, program = self._check_rows(X), self._program(index)
        rows, codes = self._with_own_numbers(rows, groups, index)
        values = evaluate(program, rows)
        self._warn_of_gaps(program, rows, values)
        values = np.where(np.isfinite(values), values, np.nan)
        if not return_std:
            return values
        evidence = self._check_evidence()
        self._warn_of_extrapolation(program, rows)
        if self.groupings_:
            return values, self._grouped_errors(rows, codes, index)
        return values, predict_errors(program, self._rows_of_fit(), rows, evidence.given)

    def predict_interval(
        self, X: ArrayLike, level: float = 0.95, kind: str = "mean", index: int | None = None, groups: Any = None
    ) -> NDArray[np.float64]:
        """Return the lower and upper limit of each prediction [N, 2]; NaN where the equation has no value.

        A warning says where rows lie outside of the data: in which columns, how far, and which rivals differ there.

        Args:
            X: rows [N, D], with the columns of the fit.
            level: the chance that the limits hold what they are about.
            kind: "mean" for the value of the law, "new" for a new measurement, which scatters around it.
            index: a row of `equations_`; by default, the chosen equation.
            groups: the group of each row [N], as in the fit, if the equation has numbers of groups.
        """
        from spl.regression.fit import evaluate
        from spl.regression.prediction_errors import predict_limits

        check_level(level)
        check_choice("kind", kind, KINDS)
        rows, program, evidence = self._check_rows(X), self._program(index), self._check_evidence()
        rows, codes = self._with_own_numbers(rows, groups, index)
        self._warn_of_gaps(program, rows, evaluate(program, rows))
        self._warn_of_extrapolation(program, rows)
        if self.groupings_:
            return self._grouped_limits(rows, codes, index, level, is_new=kind == "new")
        return predict_limits(program, self._rows_of_fit(), rows, evidence.given, level=level, is_new=kind == "new")

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: Any = None) -> float:
        """Return R2 of the chosen equation: 1 if it is exact, 0 if it is no better than the mean.

        Rows with missing values are left out, with a warning. If the equation has no value on some of the others, there is no score:
        an error says where and why.

        Args:
            X: rows [N, D], with the columns of the fit.
            y: their target [N].
            sample_weight: how much each row counts [N]; by default, all alike.
            groups: the group of each row [N], as in the fit, if the equation has numbers of groups.
        """
        from sklearn.metrics import r2_score

        from spl.regression.domain import explain_undefined
        from spl.regression.fit import evaluate

        check_is_fitted(self)
        rows, _ = self._read(X, y, sample_weight, getattr(self, "time_origins_", {}))
        columns, program = self._with_known(np.ascontiguousarray(rows.X.T)), self._program(None)
        columns, _ = self._with_own_numbers(columns, groups, None, rows)
        values = evaluate(program, columns)
        if not np.isfinite(values).all():
            raise UndefinedError(f"There is no score on these rows. {explain_undefined(program, columns)}")
        return float(r2_score(rows.y, values, sample_weight=rows.weights))

    def plot(self, X: ArrayLike | None = None, y: ArrayLike | None = None, index: int | None = None) -> "Figure":
        """Return a figure: the front, the fit, residuals, and the curve or slices. Needs matplotlib, the extra `plot`.

        Curves and slices have 95 % bands: of the law, and of new measurements, which scatter around it. On the rows of the fit,
        outliers are crosses, and error bars are drawn.
        With groups, the figure has one panel per group instead, with the rows of the fit and the law with the numbers of the group.

        Args:
            X: rows to draw, with their target `y`; by default, those of the fit, or a sample if there are many.
            y: the target of these rows.
            index: a row of `equations_`; by default, the chosen equation.
        """
        from spl.plots.formulas import FrontPlace, plot_formula

        check_is_fitted(self)
        if (X is None) != (y is None):
            raise SettingError("`plot` needs both `X` and `y`, or neither for the rows of the fit.")
        if self.groupings_:
            return self._plot_groups(X, index)
        place = FrontPlace(self.discovery_.front, self._place(index), self.discovery_.floor)
        rows = self._rows_to_plot(X, y)
        is_outlier = None
        if rows is not None and X is None and rows.places is not None:
            is_outlier = np.isin(rows.places.numbers, self.outliers_)
        fit = self._fit_rows() if hasattr(self, "_evidence") else None  # a model without data has no bands
        return plot_formula(place, rows, target=self._target(), is_outlier=is_outlier, fit=fit, units=self.units_)

    def _read(self, X: Any, y: Any, weights: Any, origins: Mapping[str, int] | None) -> tuple[Rows, dict[str, int]]:
        """Return the complete rows, with a warning about the others, and the instants from which dates are counted.

        `origins` holds those instants as of the fit; None in the fit itself.
        """
        read = read_features(X, origins)
        table = validate_data(
            self,
            read.table,
            *([y] if y is None else []),  # so that a missing target gets scikit-learn's own message
            dtype=np.float64,
            ensure_all_finite=False,
            reset=origins is None,
        )
        rows = complete_rows(table, y, weights, getattr(self, "feature_names_in_", None))
        rows = rows._replace(notes=[*read.notes, *rows.notes])
        warn_of_repairs(rows.notes, stacklevel=4)
        return rows, read.origins

    def _rows_to_plot(self, X: ArrayLike | None, y: ArrayLike | None) -> Dataset | None:
        if X is None:
            return getattr(self, "sample_", None)  # a model from a run file may have no data
        rows, _ = self._read(X, y, None, getattr(self, "time_origins_", {}))
        names = self._without_known(self.discovery_.front[0].program.vocabulary.variables)
        return add_known(Dataset.from_arrays(rows.X, rows.y, names=names), self.units_)

    def _warn_of_gaps(self, program: Program, rows: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Warn about rows [D, N] on which a formula has no value."""
        from spl.regression.domain import explain_undefined

        if not np.isfinite(values).all():
            warnings.warn(explain_undefined(program, rows), UndefinedValues, stacklevel=3)

    def _check_rows(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return rows as columns [D, N]."""
        check_is_fitted(self)
        read = read_features(X, getattr(self, "time_origins_", {}))
        with np.errstate(all="ignore"):  # scikit-learn adds up numbers, and the sum may overflow
            rows: NDArray[np.float64] = validate_data(
                self, read.table, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
            )
        warn_of_repairs(read.notes, stacklevel=4)
        return self._with_known(np.ascontiguousarray(rows.T))
