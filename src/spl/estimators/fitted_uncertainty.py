"""How sure a fitted `SPLRegressor` is of its numbers: standard errors, intervals, correlations; and checks of its residuals.

Predictions are in `regressor`. What needs the kernels is imported inside methods, because they are slow to import.
"""

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.errors import SettingError, show_value
from spl.estimators.fitted_front import FittedFront
from spl.noise.models import check_noise
from spl.noise.own_loss import Loss
from spl.settings import check_number

if TYPE_CHECKING:
    from spl.regression.fit_rows import FitRows

NOT_WITH_GROUPS = "{what} is not available for a model with groups. Fit the rows of one group, or fit without `groups`."
METHODS = ("curvature", "profile")
KINDS = ("mean", "new")


class Evidence(NamedTuple):
    """What a front was fitted to."""

    data: Dataset
    noise: str | Loss  # as asked for
    given: tuple[float, ...]  # numbers of the grammar, which are exact
    groupings: tuple[Grouping, ...] = ()  # of the rows


def check_level(level: float) -> None:
    """Raise a clear error unless the value is a level of confidence."""
    check_number("level", level, above=0.0)
    if not level < 1:
        raise SettingError(f"`level` must be less than 1, such as 0.95; got {level}.")


def check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    """Raise a clear error unless the value is one of the known ones."""
    if not isinstance(value, str) or value not in known:
        raise SettingError(f"`{name}` must be {' or '.join(map(repr, known))}; got {show_value(value)}.")


class FittedUncertainty(FittedFront):
    """The part of an estimator that says how well its numbers are known; `_keep_evidence` fills it.

    Examples:
        >>> import numpy as np
        >>> from spl import SPLRegressor
        >>> x = np.linspace(1, 3, 40)
        >>> y = 3.3 * x**2 + 0.1 * np.cos(50 * x)
        >>> model = SPLRegressor(operators=("+", "*"), random_state=0).fit(x.reshape(-1, 1), y)
        >>> model.constants_[["value", "standard_error", "term"]].round(4)
            value  standard_error           term
        0  3.3...          0.00...  [3.3...]*x0**2
    """

    _evidence: Evidence

    def _keep_evidence(
        self, data: Dataset, noise: str | Loss, given: tuple[float, ...], groupings: tuple[Grouping, ...] = ()
    ) -> None:
        """Keep all rows of the fit: standard errors depend on each of them."""
        self._evidence = Evidence(data, noise, given, groupings)

    @property
    def groupings_(self) -> tuple[Grouping, ...]:
        """The groupings of the rows of the fit: their names, and the labels of their groups; none without groups."""
        check_is_fitted(self)
        evidence: Evidence | None = getattr(self, "_evidence", None)
        return () if evidence is None else evidence.groupings

    def _refuse_groups(self, what: str) -> None:
        """Raise a clear error if the model has groups."""
        if self.groupings_:
            raise SettingError(NOT_WITH_GROUPS.format(what=what))

    def _losses_on_other_rows(self) -> dict[str, Sequence[float]]:
        from spl.regression.cross_validation import cross_losses

        evidence: Evidence | None = getattr(self, "_evidence", None)
        programs = [candidate.program for candidate in self.discovery_.front]
        if evidence is None:  # a model without data
            return {"cv_loss": [math.nan] * len(programs), **super()._losses_on_other_rows()}
        losses = cross_losses(programs, self._rows_of_fit(), evidence.given, getattr(self, "_judge", None))
        return {"cv_loss": losses, **super()._losses_on_other_rows()}

    @property
    def constants_(self) -> pd.DataFrame:
        """The numbers of the chosen equation as they are printed, with standard errors and 95 % intervals: a DataFrame.

        With units, it has the unit of each number, "1" for pure numbers.
        """
        from spl.regression.uncertainty import KnownNumber, know_numbers

        evidence = self._check_evidence()
        numbers = know_numbers(self._program(None), self._rows_of_fit(), evidence.given, units=self.units_)
        table = pd.DataFrame(numbers, columns=[field.name for field in fields(KnownNumber)])
        return table.drop(columns="unit") if self.units_ is None else table

    def intervals(self, level: float = 0.95, method: str = "curvature", index: int | None = None) -> pd.DataFrame:
        """Return the interval of each number of an equation: value, lower, upper, term.

        Args:
            level: the chance that an interval holds the number.
            method: "curvature" (of the likelihood at the equation: symmetric) or "profile" (from the likelihood with the other numbers
                fitted again: slower, and right for numbers that may be far off on one side).
            index: a row of `equations_`; by default, the chosen equation.
        """
        from spl.formulas.printed_numbers import PrintedNumber
        from spl.regression.profile_intervals import find_profile_interval
        from spl.regression.uncertainty import place_numbers

        check_level(level)
        check_choice("method", method, METHODS)
        evidence, program, rows = self._check_evidence(), self._program(index), self._rows_of_fit()
        found = []
        for place in place_numbers(program, rows, evidence.given):
            if isinstance(place, PrintedNumber):
                found.append((place.value, place.value, place.value, place.term))
                continue
            if method == "profile":
                ends = find_profile_interval(place, rows, level)
            else:
                ends = place.curvature.interval(place.place, level)
            found.append((place.printed.value, *place.turn(ends), place.printed.term))
        return pd.DataFrame(found, columns=["value", "lower", "upper", "term"])

    def correlations(self, index: int | None = None) -> pd.DataFrame:
        """Return how the errors of the fitted numbers of an equation are correlated: a square DataFrame, labelled by their terms.

        Near 1 or -1, the data determines a combination of two numbers far better than each of them.

        Args:
            index: a row of `equations_`; by default, the chosen equation.
        """
        from spl.regression.uncertainty import correlate_numbers

        self._check_evidence()
        numbers, correlations = correlate_numbers(self._program(index), self._rows_of_fit())
        terms = [number.term for number in numbers]
        return pd.DataFrame(correlations, index=terms, columns=terms)

    def residual_checks(self, index: int | None = None) -> pd.DataFrame:
        """Return checks of what an equation leaves over: check, column, chance, doubtful, words.

        If the equation is the law, its residuals are noise. Each row of the table gives the `chance` that noise looks as doubtful, and
        says in `words` what a doubtful one means. The checks: "normality"; "order", whether residuals of rows that follow each other
        are alike; "spread", whether their size depends on the predicted value; "column", whether they depend on a column. The table is
        empty with fewer than ten rows, and for an equation that fits to rounding error or has no value on some rows.

        Args:
            index: a row of `equations_`; by default, the chosen equation.
        """
        from spl.regression.residual_checks import check_residuals

        self._check_evidence()
        checks = check_residuals(self._program(index), self._rows_of_fit())
        rows = [(check.name, check.column, check.chance, check.is_doubtful, check.words) for check in checks]
        return pd.DataFrame(rows, columns=["check", "column", "chance", "doubtful", "words"])

    def _rows_of_fit(self) -> Dataset:
        """Return the rows that the front was fitted to, with their noise model."""
        return self._fit_rows().rows

    def _fit_rows(self) -> "FitRows":
        """Return what the front was fitted to."""
        from spl.regression.fit_rows import FitRows

        evidence = self._check_evidence()
        return FitRows.of(
            evidence.data, self.discovery_.noise, check_noise(evidence.noise), evidence.given, self.units_
        )

    def _check_evidence(self) -> Evidence:
        check_is_fitted(self)
        evidence: Evidence | None = getattr(self, "_evidence", None)
        if evidence is None:
            raise SettingError("Nothing can be said about errors: the model has no data. Fit it again.")
        return evidence
