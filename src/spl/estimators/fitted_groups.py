"""What a fitted `SPLRegressor` knows about groups: the numbers that each group has for itself, and what needs them.

What needs the kernels is imported inside methods, because they are slow to import.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.errors import DataError, SettingError
from spl.estimators.fitted_uncertainty import METHODS, FittedUncertainty, check_choice, check_level
from spl.estimators.group_inputs import make_groupings, read_groups
from spl.estimators.inputs import Rows, warn_of_repairs
from spl.formulas.own_numbers import own_columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spl.groups.rows import GroupedRows
    from spl.groups.uncertainty import JointCurvature

Codes = list[NDArray[np.intp]]  # of the groups of each own number


class FittedGroups(FittedUncertainty):
    """The part of an estimator that holds numbers of groups; without groups, nothing changes.

    Examples:
        >>> from spl import SPLRegressor
        >>> x = np.tile(np.linspace(0.0, 3.0, 12), 3)
        >>> wood = np.repeat(["oak", "ash", "fir"], 12)
        >>> height = np.repeat([1.2, 2.0, 3.5], 12)
        >>> model = SPLRegressor(operators=("+", "*", "exp"), random_state=0).fit(x[:, np.newaxis], height * np.exp(-x), groups=wood)
        >>> model.get_best()["equation"]
        'k1/exp(x0)'
        >>> model.own_numbers_.k1.round(6).to_dict()
        {'oak': 1.2, 'ash': 2.0, 'fir': 3.5}
        >>> model.predict([[0.0]], groups=["fir"]).round(6)
        array([3.5])
    """

    @property
    def own_numbers_(self) -> pd.DataFrame:
        """The numbers that each group has for itself in the chosen equation: a DataFrame with one row per group, one column each.

        With two groupings, rows are labelled by grouping and group, and a number is NaN where it belongs to the other grouping.
        """
        own = self._own_numbers(None)
        groupings = self.groupings_
        if len(groupings) < 2:
            name = groupings[0].name if groupings else None
            labels = list(groupings[0].labels) if groupings else []
            return pd.DataFrame({each.name: each.values for each in own}, index=pd.Index(labels, name=name))
        index = pd.MultiIndex.from_tuples(
            [(grouping.name, label) for grouping in groupings for label in grouping.labels], names=["grouping", "group"]
        )
        table = pd.DataFrame(math.nan, index=index, columns=[each.name for each in own])
        for each in own:
            for label, value in zip(each.labels, each.values, strict=True):
                table.loc[(each.grouping, label), each.name] = value
        return table

    @property
    def constants_(self) -> pd.DataFrame:
        """The numbers of the chosen equation, with standard errors and 95 % intervals: a DataFrame.

        With groups, it has one row per shared number, and one per group for numbers that groups have for themselves: `name` and
        `group` say which.
        """
        if not self.groupings_:
            return super().constants_
        from spl.groups.numbers import know_joint_numbers

        fitted, freed = self._joint_curvature(None, is_freed=False), self._joint_curvature(None)
        return pd.DataFrame(know_joint_numbers(fitted, freed))

    def intervals(self, level: float = 0.95, method: str = "curvature", index: int | None = None) -> pd.DataFrame:
        """Return the interval of each number of an equation: value, lower, upper, term; with groups, also name and group.

        Args:
            level: the chance that an interval holds the number.
            method: "curvature" (of the likelihood at the equation: symmetric) or "profile" (from the likelihood with the other numbers
                fitted again: slower, and right for numbers that may be far off on one side).
            index: a row of `equations_`; by default, the chosen equation.
        """
        if not self.groupings_:
            return super().intervals(level, method, index)
        from spl.groups.numbers import know_joint_numbers
        from spl.groups.profile_intervals import JointProfile

        check_level(level)
        check_choice("method", method, METHODS)
        fitted, freed = self._joint_curvature(index, is_freed=False), self._joint_curvature(index)
        rows = self._grouped_rows()
        places = {each.name: place for place, each in enumerate(rows.groupings)}
        profile = JointProfile(rows, tuple(places[each.grouping] for each in self._own_numbers(index)), level)
        find_ends = profile.find_ends if method == "profile" else None
        table = pd.DataFrame(know_joint_numbers(fitted, freed, level, find_ends))
        return table[["name", "grouping", "group", "value", "lower", "upper", "term"]]

    def correlations(self, index: int | None = None) -> pd.DataFrame:
        """Return how the errors of the fitted numbers of an equation are correlated: a square DataFrame, labelled by their terms.

        Near 1 or -1, the data determines a combination of two numbers far better than each of them. Numbers of groups are labelled by
        name and group, such as `k1 of oak`.

        Args:
            index: a row of `equations_`; by default, the chosen equation.
        """
        if not self.groupings_:
            return super().correlations(index)
        from spl.groups.numbers import correlate_joint_numbers

        names, correlations = correlate_joint_numbers(self._joint_curvature(index, is_freed=False))
        return pd.DataFrame(correlations, index=names, columns=names)

    def _losses_on_other_rows(self) -> dict[str, Sequence[float]]:
        if not self.groupings_:
            return super()._losses_on_other_rows()
        from spl.groups.cross_validation import grouped_cross_losses

        formulas = [(each.program, getattr(each, "own", ())) for each in self.discovery_.front]
        return {"cv_loss": grouped_cross_losses(formulas, self._grouped_rows())}

    def _grouped_rows(self) -> "GroupedRows":
        """Return the rows of the fit that count, with their groups."""
        from spl.groups.rows import GroupedRows

        evidence = self._check_evidence()
        counts = np.flatnonzero(evidence.data.weights > 0)
        return GroupedRows(self._rows_of_fit(), tuple(each.take(counts) for each in evidence.groupings))

    def _read_groups(self, groups: Any, rows: Rows, validation: Any) -> tuple[Grouping, ...]:
        """Return the groupings of the complete rows of the fit; notes join those of the rows."""
        if groups is None:
            return ()
        if validation is not None:
            raise SettingError("`validation` is not available with `groups` yet. Leave one of them out.")
        columns = read_groups(groups, rows.n_all)
        groupings, notes = make_groupings(columns, rows.places)
        rows.notes.extend(notes)
        warn_of_repairs(notes, stacklevel=4)
        return groupings

    def _with_own_numbers(
        self, columns: NDArray[np.float64], groups: Any, index: int | None, read: Rows | None = None
    ) -> tuple[NDArray[np.float64], Codes]:
        """Return columns [D, N] with the own numbers of each row, and the codes of its groups for each of these numbers.

        `read` are the rows if incomplete ones were left out.
        """
        own = self._own_numbers(index)
        if groups is None:
            if own:
                names = ", ".join(dict.fromkeys(f"'{each.grouping}'" for each in own))
                raise DataError(f"The equation has numbers of groups ({names}): pass `groups`, one label per row.")
            return columns, []
        if not self.groupings_:
            raise DataError("The model was fitted without groups. Leave `groups` out.")
        codes = self._find_codes(groups, columns.shape[1] if read is None else read.n_all)
        if read is not None:
            codes = {name: each[read.places] for name, each in codes.items()}
        if not own:
            return columns, []
        return np.ascontiguousarray(np.vstack([columns, own_columns(own, codes)])), [
            codes[each.grouping] for each in own
        ]

    def _find_codes(self, groups: Any, n_rows: int) -> dict[str, NDArray[np.intp]]:
        """Return the groups of rows, for each grouping of the fit."""
        given = read_groups(groups, n_rows)
        known = self.groupings_
        if len(known) == 1 and len(given) == 1:
            given = {known[0].name: next(iter(given.values()))}
        missing = [each.name for each in known if each.name not in given]
        if missing and len(given) == len(known) and not any(each.name in given for each in known):
            given = dict(zip((each.name for each in known), given.values(), strict=True))
            missing = []
        if missing:
            raise DataError(f"`groups` must have the columns of the fit; '{missing[0]}' is missing.")
        return {each.name: each.find_codes(given[each.name]) for each in known}

    def _extended_rows(self, index: int | None) -> tuple[Dataset, Codes]:
        """Return the rows of the fit that count, with own numbers as further columns, and the codes of these numbers."""
        rows, own = self._grouped_rows(), self._own_numbers(index)
        places = {each.name: place for place, each in enumerate(rows.groupings)}
        scopes = tuple(places[each.grouping] for each in own)
        values, names = tuple(np.array(each.values) for each in own), tuple(each.name for each in own)
        return rows.extend(scopes, values, names), [rows.groupings[scope].codes for scope in scopes]

    def _with_groups(self, sample: Dataset) -> Dataset:
        return self._extended_rows(None)[0] if self.groupings_ else sample

    def _plot_groups(self, X: Any, index: int | None) -> "Figure":
        """Return a figure with one panel per group."""
        from spl.plots.groups import plot_groups

        if X is not None:
            raise SettingError("With groups, `plot` draws the rows of the fit: leave `X` and `y` out.")
        rows = self._grouped_rows()
        target = getattr(self, "target_name_", "y")
        return plot_groups(self._program(index), self._own_numbers(index), rows.data, rows.groupings, target=target)

    def _joint_curvature(self, index: int | None, *, is_freed: bool = True) -> "JointCurvature":
        """Return the likelihood near the numbers of an equation; if freed, rounded numbers count as if they were fitted."""
        from spl.groups.uncertainty import measure_joint_curvature
        from spl.regression.uncertainty import free_numbers

        rows, codes = self._extended_rows(index)
        own, program = self._own_numbers(index), self._program(index)
        if is_freed:
            program = free_numbers(program, self._check_evidence().given)
        return measure_joint_curvature(program, own, rows, codes, len(rows.names) - len(own))

    def _grouped_errors(self, rows: NDArray[np.float64], codes: Codes, index: int | None) -> NDArray[np.float64]:
        """Return the standard errors of values; NaN where there is none."""
        from spl.regression.fit import evaluate

        errors = self._joint_curvature(index).value_errors(rows, codes)
        return np.where(np.isfinite(evaluate(self._program(index), rows)), errors, np.nan)

    def _grouped_limits(
        self, rows: NDArray[np.float64], codes: Codes, index: int | None, level: float, *, is_new: bool
    ) -> NDArray[np.float64]:
        """Return lower and upper limits of values, or of new measurements [N, 2]."""
        from spl.groups.numbers import limit_values

        fitted, _ = self._extended_rows(index)
        return limit_values(self._joint_curvature(index), fitted, rows, codes, level, is_new=is_new)
