"""Intervals of shared and own numbers by profile: a number is moved, all others of all groups are fitted again, until it is unlikely.

A shared number that is moved becomes a literal. An own number keeps one for its group alone: in its place stands the literal plus a
number that each group has for itself, times a column that is 0 in this group and 1 in the others.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import SettingError
from spl.formulas.program import Program
from spl.formulas.text import make_token
from spl.groups.fit import LAST_JOINT_EFFORT, JointFit, can_be_fitted, fit_jointly
from spl.groups.formula import GroupedFormula
from spl.groups.numbers import JointPlace
from spl.groups.rows import GroupedRows
from spl.groups.uncertainty import JointCurvature
from spl.kernels.programs import tokens as tk
from spl.noise.models import NORMAL
from spl.regression.fit import find_scatter
from spl.regression.profile_intervals import MOST_NATS, find_end, rise_at_ends
from spl.regression.round_constants import fix_constant

OTHER_GROUPS = "other groups"  # the column that is 0 in one group; no name of a formula


@dataclass(frozen=True, slots=True, eq=False)
class JointProfile:
    """The likelihood of a formula with one of its numbers moved, and all others at their best.

    Args:
        rows: that the formula was fitted to, with their noise model; all must count.
        scopes: of the own numbers of the formula: the place of their grouping.
        level: the chance that an interval holds its number.
    """

    rows: GroupedRows
    scopes: tuple[int, ...]
    level: float

    def find_ends(self, curvature: JointCurvature, place: JointPlace) -> tuple[float, float]:
        """Return the ends of the interval of a number."""
        values = tuple(np.array(own.values) for own in curvature.own)
        formula = GroupedFormula(curvature.program, self.scopes, values, curvature.n_columns)
        if place.is_shared:
            at = curvature.program.count_constants(place.position)
            centre, error = curvature.program.constants[at], float(curvature.shared_errors[at])
        else:
            centre = float(values[place.own][place.group])
            error = float(curvature.own_errors(place.own)[place.group])
        half = curvature.quantile(self.level) * error
        best = fit_jointly(formula, self.rows, LAST_JOINT_EFFORT)
        if best is None or find_scatter(formula.program, _extend(formula, self.rows)).is_exact:
            return centre - half, centre + half  # what is left is rounding error, which has no likelihood
        least = _nats(best, self.rows)
        limit = rise_at_ends(curvature.quantile(self.level), curvature.degrees, self.rows.data.n_rows)
        fix = (
            _fix_shared(best.formula, self.rows, place) if place.is_shared else _fix_own(best.formula, self.rows, place)
        )

        def excess(value: float) -> float:
            moved, rows = fix(value)
            found = fit_jointly(moved, rows, LAST_JOINT_EFFORT)
            nats = math.inf if found is None else _nats(found, rows)
            return min(2 * (nats - least), MOST_NATS) - limit

        low, high = (find_end(excess, centre, sign * half) for sign in (-1, 1))
        return low, high


Fix = Callable[[float], tuple[GroupedFormula, GroupedRows]]  # from a value to a formula that has it, and its rows


def _fix_shared(formula: GroupedFormula, rows: GroupedRows, place: JointPlace) -> Fix:
    at = formula.program.count_constants(place.position)
    return lambda value: (replace(formula, program=fix_constant(formula.program, place.position, at, value)), rows)


def _fix_own(formula: GroupedFormula, rows: GroupedRows, place: JointPlace) -> Fix:
    n, words = formula.n_columns, formula.program.vocabulary
    is_other = (rows.groupings[formula.scopes[place.own]].codes != place.group).astype(np.float64)
    columns = np.vstack([rows.data.columns, is_other])
    bars = rows.data.sigma_columns
    if bars is not None:
        bars = np.vstack([bars, np.zeros_like(is_other)])
    data = replace(rows.data, names=(*rows.data.names, OTHER_GROUPS), columns=columns, sigma_columns=bars)
    extended = rows.with_data(data)
    variables = (*words.variables[:n], OTHER_GROUPS, *words.variables[n:])

    def fix(value: float) -> tuple[GroupedFormula, GroupedRows]:
        vocabulary = replace(words, variables=variables).with_literal(value)
        moved = _shift(formula.program, n)
        own = make_token(tk.VARIABLE, n + 1 + place.own)
        instead = (
            tk.ADD,
            vocabulary.literal_token(value),
            tk.MUL,
            make_token(tk.VARIABLE, n),
            own,
        )
        tokens = [part for token in moved for part in (instead if token == own else (token,))]
        values = list(formula.values)
        values[place.own] = np.where(np.arange(values[place.own].size) == place.group, 0.0, values[place.own] - value)
        program = Program(tuple(tokens), vocabulary, formula.program.constants)
        fixed = GroupedFormula(program, formula.scopes, tuple(values), n + 1)
        if not can_be_fitted(fixed):
            raise SettingError("The equation is too long for `method='profile'`. Use `method='curvature'`.")
        return fixed, extended

    return fix


def _shift(program: Program, n_columns: int) -> list[int]:
    """Return the tokens of a program with own numbers one place further, after one column more."""
    is_own = [
        token >> tk.KIND_SHIFT == tk.VARIABLE and token & tk.PAYLOAD_MASK >= n_columns for token in program.tokens
    ]
    return [token + 1 if own else token for token, own in zip(program.tokens, is_own, strict=True)]


def _extend(formula: GroupedFormula, rows: GroupedRows) -> Dataset:
    """Return the rows with own numbers as further columns, and a noise model."""
    names = formula.program.vocabulary.variables[formula.n_columns :]
    extended = rows.extend(formula.scopes, formula.values, names)
    return replace(extended, noise=extended.noise or NORMAL)


def _nats(fit: JointFit, rows: GroupedRows) -> float:
    return find_scatter(fit.formula.program, _extend(fit.formula, rows)).nats
