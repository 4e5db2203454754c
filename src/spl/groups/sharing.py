"""Which numbers of a formula are shared and which each group has for itself: the shortest description decides.

The choice starts from all numbers own and from all numbers shared, and moves one number at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.groups.fit import JointFit, fit_jointly
from spl.groups.formula import GroupedFormula, name_variables, own_token
from spl.groups.rows import GroupedRows
from spl.groups.starts import FIRST_EFFORT, GroupStarts, fit_each_group, group_tables
from spl.kernels.programs.normal_equations import FitTable
from spl.regression.candidate import Candidate
from spl.regression.description_length import description_length
from spl.regression.fit import run_kernel
from spl.regression.packing import pack_table

SHARED = -1  # the scope of a shared number
Scopes = tuple[int, ...]  # of each constant of a program: SHARED or the place of its grouping
Array = NDArray[np.float64]
MIN_GAIN_NATS = 1e-6  # a move must shorten the description by more than rounding


def length_of(fit: JointFit | None, rows: GroupedRows) -> float:
    """Return the nats of a joint fit: the formula, its numbers and its errors; infinity without a fit."""
    if fit is None:
        return np.inf
    program = fit.formula.program
    candidate = Candidate(program, fit.loss, 0.0, fit.number_nats)
    return description_length(candidate, rows.data.n_rows, rows.data.floor)


@dataclass(slots=True, eq=False)
class Sharing:
    """The choice of shared numbers of one formula. `program` has a constant for each number."""

    program: Program
    rows: GroupedRows
    allows: Callable[[GroupedFormula], bool] = lambda formula: True
    tables: Sequence[Sequence[FitTable | None]] | None = None  # of each grouping
    _starts: list[GroupStarts | None] = field(default_factory=list)
    _known: dict[Scopes, JointFit | None] = field(default_factory=dict)

    def choose(self) -> JointFit | None:
        """Return the joint fit with the shortest description."""
        tables = self.tables or [group_tables(self.rows, place) for place in range(len(self.rows.groupings))]
        self._starts = [fit_each_group(self.program, each) for each in tables]
        n = self.program.n_constants
        ends = []
        for scope, starts in enumerate(self._starts):
            if starts is not None and n and np.median(starts.n_rows[starts.n_rows > 0]) > n:
                ends.append(self._descend((scope,) * n, self._values_of(starts, (scope,) * n)))
        ends.append(self._descend((SHARED,) * n, self._first_shared()))
        return min(ends, key=self._length)

    @property
    def fits(self) -> list[JointFit]:
        """All fits that were tried, the shortest description first."""
        return sorted((fit for fit in self._known.values() if fit is not None), key=self._length)

    def _length(self, fit: JointFit | None) -> float:
        return length_of(fit, self.rows)

    def _first_shared(self) -> list[Array]:
        table = pack_table(self.rows.data)
        starts = [self.program, *(self.program.with_constants(s.typical) for s in self._starts if s is not None)]
        found = [run_kernel(start, table, FIRST_EFFORT, 0) for start in starts]
        _, constants = min(found, key=lambda each: each[0])
        return [np.array([value]) for value in constants]

    def _values_of(self, starts: GroupStarts, scopes: Scopes) -> list[Array]:
        return [
            starts.values[:, k].copy() if scope != SHARED else starts.typical[k : k + 1]
            for k, scope in enumerate(scopes)
        ]

    def _descend(self, scopes: Scopes, values: list[Array]) -> JointFit | None:
        """Return the fit that no move of one number makes shorter."""
        fit = self._fit(scopes, [values])
        while True:
            length = self._length(fit)
            best, best_scopes = fit, scopes
            for moved in _neighbours(scopes, len(self.rows.groupings)):
                found = self._fit(moved, self._starts_for(scopes, fit, moved))
                if self._length(found) < min(length, self._length(best)) - MIN_GAIN_NATS:
                    best, best_scopes = found, moved
            if best is fit:
                return fit
            fit, scopes = best, best_scopes

    def _starts_for(self, scopes: Scopes, fit: JointFit | None, moved: Scopes) -> Iterator[list[Array]]:
        """Yield starting values after a move, from the fit before it and from the groups by themselves."""
        [k] = [k for k in range(len(scopes)) if scopes[k] != moved[k]]
        if fit is not None:
            before = self._read(fit, scopes)
            if moved[k] == SHARED:
                for value in _centres(before[k], self.rows.groupings[scopes[k]].count_rows()):
                    yield [np.array([value]) if j == k else each for j, each in enumerate(before)]
                return
            n_groups = self.rows.groupings[moved[k]].n_groups
            yield [np.full(n_groups, np.median(each)) if j == k else each for j, each in enumerate(before)]
        starts = self._starts[moved[k]]
        if starts is not None:
            centre = starts.typical
            yield [
                starts.values[:, j].copy()
                if scope == moved[k]
                else np.full(self.rows.groupings[scope].n_groups, centre[j])
                if scope != SHARED
                else centre[j : j + 1].copy()
                for j, scope in enumerate(moved)
            ]

    def _read(self, fit: JointFit, scopes: Scopes) -> list[Array]:
        """Return the values of all constants of the program in a fit."""
        own = iter(fit.formula.values)
        shared = iter(fit.formula.program.constants)
        return [np.array([next(shared)]) if scope == SHARED else next(own) for scope in scopes]

    def _fit(self, scopes: Scopes, starts: "Iterator[list[Array]] | list[list[Array]]") -> JointFit | None:
        if scopes not in self._known:
            best: JointFit | None = None
            for values in starts:
                formula = share(self.program, scopes, values)
                if not self.allows(formula):
                    break
                found = fit_jointly(formula, self.rows)
                if found is not None and (best is None or found.loss < best.loss):
                    best = found
            self._known[scopes] = best
        return self._known[scopes]


def _neighbours(scopes: Scopes, n_groupings: int) -> Iterator[Scopes]:
    for k, scope in enumerate(scopes):
        for other in range(SHARED, n_groupings):
            if other != scope:
                yield (*scopes[:k], other, *scopes[k + 1 :])


def _centres(values: Array, n_rows: NDArray[np.intp]) -> Iterator[float]:
    """Yield values that a number might have if it is shared: the mean and the median of the groups."""
    known = values[n_rows > 0]
    yield float(np.average(known, weights=n_rows[n_rows > 0]))
    yield float(np.sort(known)[known.size // 2])


def share(program: Program, scopes: Scopes, values: Sequence[Array]) -> GroupedFormula:
    """Return a formula with some constants of a program as own numbers.

    Args:
        program: the formula, with a constant for each number.
        scopes: of each constant, SHARED or the place of its grouping.
        values: of each constant: one, or one per group.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression, to_text
        >>> line = parse_expression("C*x + C", Vocabulary(("x",))).with_constants([1.0, 1.0])
        >>> to_text(share(line, (0, SHARED), [np.array([1.0, 2.0]), np.array([3.0])]).program)
        'k1*x + 3'
    """
    n_columns = len(program.vocabulary.variables)
    tokens, place = list(program.tokens), 0
    kept: list[float] = []
    own: list[int] = []
    for at, token in enumerate(program.tokens):
        if token != CONSTANT_TOKEN:
            continue
        if scopes[place] == SHARED:
            kept.append(float(values[place][0]))
        else:
            tokens[at] = own_token(n_columns, len(own))
            own.append(place)
        place += 1
    words = name_variables(program.vocabulary, program.vocabulary.variables, len(own))
    shared = Program(tuple(tokens), words, tuple(kept))
    return GroupedFormula(shared, tuple(scopes[k] for k in own), tuple(values[k] for k in own), n_columns)
