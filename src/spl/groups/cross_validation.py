"""Cross-validation of formulas with own numbers: each group loses a part of its rows in turn."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Program
from spl.groups.fit import fit_jointly
from spl.groups.formula import GroupedFormula
from spl.groups.rows import GroupedRows
from spl.regression.cross_validation import MAX_CROSS_ROWS, N_FOLDS
from spl.regression.fit import evaluate, loss_of_values


def grouped_cross_losses(formulas: Iterable[tuple[Program, tuple[OwnNumber, ...]]], rows: GroupedRows) -> list[float]:
    """Return the cross-validated loss of each formula; NaN if a group has a single row, which would predict itself.

    Args:
        formulas: programs with their own numbers, fitted.
        rows: that they were fitted to, with their noise model.
    """
    rows = _sample(rows)
    parts = _divide(rows)
    return [_cross_loss(program, own, rows, parts) for program, own in formulas]


def _sample(rows: GroupedRows) -> GroupedRows:
    """Return up to MAX_CROSS_ROWS rows: whole groups, and of the last one as many as there is room for, unless these are too few."""
    if rows.data.n_rows <= MAX_CROSS_ROWS:
        return rows
    grouping = rows.groupings[0]
    order = np.argsort(grouping.codes, kind="stable")[:MAX_CROSS_ROWS]
    last = grouping.codes[order[-1]]
    n_last = int((grouping.codes[order] == last).sum())
    if n_last < min(N_FOLDS, grouping.count_rows()[last]):  # a single row would predict itself
        order = order[:-n_last]
    return rows.take(np.sort(order))


def _divide(rows: GroupedRows) -> NDArray[np.intp]:
    """Return the part of each row: the rows of a group are spread over the parts."""
    random = np.random.default_rng(0)
    order = np.lexsort((random.permutation(rows.data.n_rows), rows.groupings[0].codes))
    parts = np.empty(rows.data.n_rows, np.intp)
    parts[order] = np.arange(rows.data.n_rows) % min(N_FOLDS, rows.data.n_rows)
    return parts


def _cross_loss(program: Program, own: tuple[OwnNumber, ...], rows: GroupedRows, parts: NDArray[np.intp]) -> float:
    names = [each.name for each in rows.groupings]
    scopes = tuple(names.index(each.grouping) for each in own)
    given = tuple(np.nan_to_num(np.array(each.values), nan=1.0) for each in own)
    formula = GroupedFormula(program, scopes, given, len(rows.data.names))
    labels = tuple(each.name for each in own)
    values = np.full(rows.data.n_rows, np.nan)
    for part in range(int(parts.max()) + 1):
        inside, outside = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
        fitted = fit_jointly(formula, rows.take(inside))
        if fitted is None:
            return math.inf
        known = tuple(
            np.where(rows.groupings[scope].take(inside).count_rows() > 0, each, np.nan)
            for scope, each in zip(scopes, fitted.formula.values, strict=True)
        )
        left_out = rows.take(outside).extend(scopes, known, labels)
        values[outside] = evaluate(fitted.formula.program, left_out.columns)
    if np.isnan(values).any():
        return math.nan
    return loss_of_values(values, replace(rows.data, sigma_columns=None), None)
