"""Whether a formula with own numbers is the law: the same except for the values of its numbers, with the right ones shared.

Many formulas are one law, so spelling plays no part: values decide, on rows that the search never saw. Sharing is right if the formula
has as many own numbers of each grouping as the law: with fewer it cannot follow the groups, with more it has some that all share.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from spl.bench.structure import set_each_to_zero
from spl.bench.trials import is_recovered, relative_error
from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.datasets.grouped_laws import GroupedLaw
from spl.datasets.grouped_tables import N_SECOND_GROUPS, GroupedTable
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.edits import drop_one_term
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Program
from spl.groups.fit import LAST_JOINT_EFFORT, fit_jointly
from spl.groups.formula import GroupedFormula
from spl.groups.rows import GroupedRows
from spl.regression.fit import evaluate

GROUPS_RULE = (
    "Recovered, without noise: equal to the truth to 1e-6 on 50 unseen rows of each group. With noise: equal on half of these rows "
    "once all numbers, own and shared, are fitted to the exact values of the other half, and no longer equal if any term is left out "
    "or any shared number is set to 0. In both cases there must be as many own numbers of each grouping as in the law."
)


def has_right_sharing(own: Sequence[OwnNumber], law: GroupedLaw) -> bool:
    """Return whether there are as many own numbers of each grouping as in a law.

    Examples:
        >>> from spl.datasets import load_grouped_law
        >>> rate = OwnNumber("k1", "cup", ("cup 1",), (0.1,))
        >>> [has_right_sharing(own, load_grouped_law("cooling")) for own in ((), (rate,), (rate, rate))]
        [False, True, False]
    """
    return Counter(number.grouping for number in own) == Counter(number.grouping for number in law.own)


def is_grouped_law(
    program: Program,
    own: Sequence[OwnNumber],
    predicted: NDArray[np.float64],
    law: GroupedLaw,
    unseen: GroupedTable,
    *,
    is_noisy: bool,
) -> bool:
    """Return whether a formula found in exact or noisy data counts as the law, by exact rows of all groups that the search never saw.

    Args:
        program: the formula; own numbers are variables after the columns.
        own: its own numbers.
        predicted: its values at the unseen rows.
        law: the law.
        unseen: the unseen rows, group by group.
        is_noisy: whether the formula was found in noisy data, so that its numbers cannot be exact.
    """
    if not has_right_sharing(own, law):
        return False
    if not is_noisy:
        return is_recovered(relative_error(predicted, unseen.exact))
    return has_grouped_structure(program, own, unseen)


def has_grouped_structure(program: Program, own: Sequence[OwnNumber], unseen: GroupedTable) -> bool:
    """Return whether a formula is the law once its numbers are fitted to exact values, without anything superfluous."""
    check = _HalfAndHalf(program, own, unseen)
    free = literals_to_constants(program)
    refitted = check.refit(free)
    if refitted is None or not check.agrees(refitted):
        return False
    return not any(check.agrees(check.refit(shorter)) for shorter in _shorten(refitted.program))


class _HalfAndHalf:
    """Fits formulas to half of the rows of each group, and compares them with the truth on the others."""

    def __init__(self, program: Program, own: Sequence[OwnNumber], unseen: GroupedTable) -> None:
        names = tuple(dict.fromkeys(number.grouping for number in own))
        groupings = [Grouping.from_labels(unseen.labels[name], name) for name in names]
        n_columns = unseen.table.shape[1]
        data = Dataset.from_arrays(unseen.table, unseen.exact, names=program.vocabulary.variables[:n_columns])
        is_fitted = (
            np.arange(data.n_rows) // N_SECOND_GROUPS % 2 == 0
        )  # half of the rows of each group of each grouping
        all_rows = GroupedRows(data, tuple(groupings))
        self._fitted, self._others = all_rows.take(np.flatnonzero(is_fitted)), all_rows.take(np.flatnonzero(~is_fitted))
        self._scopes = tuple(names.index(number.grouping) for number in own)
        self._values = tuple(
            np.array([number.value_of(label) for label in groupings[scope].labels])
            for number, scope in zip(own, self._scopes, strict=True)
        )
        self._n_columns = n_columns

    def refit(self, program: Program) -> GroupedFormula | None:
        formula = GroupedFormula(program, self._scopes, self._values, self._n_columns).without_unused()
        found = fit_jointly(formula, self._fitted, LAST_JOINT_EFFORT)
        return None if found is None else found.formula

    def agrees(self, formula: GroupedFormula | None) -> bool:
        if formula is None:
            return False
        names = formula.program.vocabulary.variables[self._n_columns :]
        data = self._others.extend(formula.scopes, formula.values, names)
        return is_recovered(relative_error(evaluate(formula.program, data.columns), data.target))


def _shorten(program: Program) -> Iterator[Program]:
    """Yield the formula without one of its terms, and with one of its shared numbers at 0."""
    yield from drop_one_term(program)
    yield from set_each_to_zero(program)
