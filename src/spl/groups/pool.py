"""The pool of a grouped search: every structure that was proposed, fitted jointly as far as it is promising.

A structure is a formula with a constant for each number. It is first fitted to a few groups by themselves, which bounds what any
choice of shared numbers can reach; only promising ones get the choice of shared numbers.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.edits import drop_one_number, drop_one_term, replace_one_function_by_powers
from spl.formulas.program import Program, Vocabulary
from spl.groups.fit import JointFit, number_constants
from spl.groups.formula import GroupedFormula
from spl.groups.rows import GroupedRows
from spl.groups.sharing import Sharing, length_of
from spl.groups.starts import fit_each_group, group_tables, table_of
from spl.groups.variations import vary_one_part
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.fit import FitEffort
from spl.kernels.programs.normal_equations import FitTable
from spl.regression.description_length import formula_nats
from spl.regression.fit import run_kernel
from spl.regression.front import Front

MAX_STRUCTURE_NUMBERS = 8  # of a structure: more can only be an overfit
MAX_BOUNDED = 60  # structures of one proposal; of more, the best by a glance at a few groups
N_GLANCED_GROUPS = 3
N_QUICK_GROUPS = 5  # groups of the first, quick fit
QUICK_EFFORT = FitEffort(n_starts=3, n_scans=24, max_iterations=20, tolerance=1e-5)
QUICK_HARD_EFFORT = FitEffort(n_starts=6, n_scans=48, max_iterations=20, tolerance=1e-5)  # of a group that fits worse
MIN_ROWS_OF_BOTH = 60  # of groups of both groupings at once, to judge structures by them; each has only a few
QUICK_NATS = 30.0  # by which the bound of a structure may exceed the best description: the bound is rough
N_VARIED = 3  # best structures that are varied
N_VARIED_PER_COLUMNS = 2  # of those with the same columns
MOST_VARIED = 12
MOST_VARIATIONS_SHARED = 12  # of them that get the choice of shared numbers
MAX_KEPT_FITS = 400

Tokens = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Pool:
    """What a grouped search knows."""

    rows: GroupedRows  # of the search
    allows: Callable[[GroupedFormula], bool]  # whether the grammar has a formula with these own numbers
    derives: Callable[[Program], bool]  # whether the grammar has a formula, whatever is shared
    given: tuple[float, ...]  # numbers of the grammar, which stay as they are
    must_stop: Callable[[], bool]
    fits: dict[tuple[Tokens, Tokens], JointFit] = field(default_factory=dict)
    n_evaluations: int = 0  # structures and joint fits
    _seen: set[Tokens] = field(default_factory=set)
    _shared: set[Tokens] = field(default_factory=set)  # those that got the choice of shared numbers
    _leaders: dict[frozenset[int], list[tuple[float, int, Program]]] = field(default_factory=dict)  # by columns
    _varied: set[Tokens] = field(default_factory=set)
    _tables: list[list[FitTable | None]] = field(default_factory=list)
    _quick: list[list[FitTable]] = field(default_factory=list)  # a few groups of each grouping
    _both: list[FitTable] = field(default_factory=list)  # some rows that share their groups of both groupings

    def __post_init__(self) -> None:
        self._tables = [group_tables(self.rows, place) for place in range(len(self.rows.groupings))]
        self._quick = [_largest(tables) for tables in self._tables]
        if len(self._tables) > 1:
            tables = [table_of(self.rows.data, taken) for taken in _rows_of_both(self.rows)]
            n_rows = np.cumsum([table.target.size for table in tables])
            self._both = tables[: max(int(np.searchsorted(n_rows, MIN_ROWS_OF_BOTH)) + 1, N_QUICK_GROUPS)]

    @property
    def best(self) -> JointFit | None:
        """The fit with the shortest description."""
        return min(self.fits.values(), key=self.length, default=None)

    def length(self, fit: JointFit | None) -> float:
        """Return the nats of a fit."""
        return length_of(fit, self.rows)

    @property
    def is_exact(self) -> bool:
        """Whether the best formula is off by no more than rounding."""
        best = self.best
        return best is not None and best.loss <= self.rows.data.floor

    def add(self, programs: Iterable[Program], most: int, *, tries_again: bool = False) -> None:
        """Take up structures: those whose bound is lowest get the choice of shared numbers, up to `most`.

        With `tries_again`, structures that were seen without being chosen have another chance, from the numbers they come with.
        """
        structures = self._take_new(programs, self._shared if tries_again else self._seen)
        if len(structures) > MAX_BOUNDED:
            glanced = [(self._glance(each), k, each) for k, each in enumerate(structures) if not self.must_stop()]
            structures = [each for _, _, each in sorted(glanced)[:MAX_BOUNDED]]
        bounded = [(self._bound(each), k, each) for k, each in enumerate(structures) if not self.must_stop()]
        self._keep_leaders(bounded)
        for bound, _, structure in sorted(bounded)[:most]:
            if self.must_stop() or bound > self.length(self.best) + QUICK_NATS:
                break
            self._share(structure)

    def _keep_leaders(self, bounded: list[tuple[float, int, Program]]) -> None:
        """Keep the best structures of each choice of columns, also those that lack a column and so have no chance yet."""
        for bound, _, structure in bounded:
            columns = frozenset(token for token in structure.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE)
            both = [*self._leaders.get(columns, []), (bound, len(self._seen), structure)]
            self._leaders[columns] = sorted(both, key=lambda each: each[:2])[:N_VARIED_PER_COLUMNS]

    def _take_new(self, programs: Iterable[Program], known: set[Tokens]) -> list[Program]:
        """Return the structures of formulas that are not known."""
        found: dict[Tokens, Program] = {}
        for program in programs:
            structure = numbers_to_constants(program, kept=self.given, has_factors=False)
            if structure.tokens not in known and structure.n_constants <= MAX_STRUCTURE_NUMBERS:
                found.setdefault(structure.tokens, structure)
        self._seen.update(found)
        return list(found.values())

    def _glance(self, structure: Program) -> float:
        """Return a rough length, from two of three groups, of the grouping that suits the structure best."""
        self.n_evaluations += 1
        loss = min(
            self._glance_within(structure, quick[:N_GLANCED_GROUPS]) for quick in self._groups_to_judge(structure)
        )
        data = self.rows.data
        return data.n_rows * float(np.log(max(loss, data.floor))) + formula_nats(structure) + structure.n_constants

    def _glance_within(self, structure: Program, quick: list[FitTable]) -> float:
        variances = []
        for table in quick:
            square, _ = run_kernel(structure, table, QUICK_EFFORT, 0)
            left = max(table.target.size - structure.n_constants, 0.25 * table.target.size)
            variances.append(float(square) / left)
        kept = sorted(variances)[: max(len(variances) - 1, 1)]  # one may be a poor fit
        return float(np.sqrt(np.mean(kept)))

    def _bound(self, structure: Program) -> float:
        """Return about how short the description of a structure can get, from a few groups by themselves.

        With two groupings, its numbers may differ with either: the one that suits it best counts.
        """
        self.n_evaluations += 1
        return min(self._bound_within(structure, quick) for quick in self._groups_to_judge(structure))

    def _groups_to_judge(self, structure: Program) -> list[list[FitTable]]:
        """Return lists of groups: of each grouping, and of both at once, as far as these have more rows than the structure numbers."""
        both = [table for table in self._both if table.target.size > structure.n_constants]
        return [*self._quick, both] if len(both) >= N_QUICK_GROUPS else self._quick

    def _bound_within(self, structure: Program, quick: list[FitTable]) -> float:
        n = structure.n_constants
        starts = fit_each_group(structure, quick, QUICK_EFFORT, QUICK_HARD_EFFORT)
        if starts is None:
            return np.inf
        kept = np.argsort(starts.losses, kind="stable")[: max(len(quick) - 1, 1)]  # one may be a poor fit
        squares, n_rows = starts.losses[kept] ** 2 * starts.n_rows[kept], starts.n_rows[kept]
        left = max(n_rows.sum() - n * kept.size, 0.25 * n_rows.sum())
        data = self.rows.data
        loss = max(float(np.sqrt(squares.sum() / left)), data.floor)
        return data.n_rows * float(np.log(loss)) + formula_nats(structure) + n

    def _share(self, structure: Program) -> JointFit | None:
        self._shared.add(structure.tokens)
        sharing = Sharing(structure, self.rows, self.allows, self._tables)
        best = sharing.choose()
        for fit in sharing.fits:
            self.n_evaluations += 1
            known = self.fits.get(fit.formula.key)
            if known is None or fit.loss < known.loss:
                self.fits[fit.formula.key] = fit
        if len(self.fits) > MAX_KEPT_FITS:
            kept = [*sorted(self.fits.values(), key=self.length)[: MAX_KEPT_FITS // 2], *self.front_fits()]
            self.fits = {fit.formula.key: fit for fit in kept}
        return best

    def front_fits(self) -> list[JointFit]:
        """Return the fits of the front."""
        fits = {fit.candidate(self.rows): fit for fit in self.fits.values()}
        front = Front.from_candidates(fits, self.rows.data.floor, self.rows.data.n_rows)
        return [fit for candidate, fit in fits.items() if candidate in front.candidates]

    def prune(self) -> None:
        """Leave numbers, terms and functions out of the best formula, as long as that makes the description shorter."""
        while not self.must_stop():
            best = self.best
            if best is None:
                return
            structure = unshare(best.formula)
            shorter = [
                *drop_one_number(structure),
                *filter(self.derives, drop_one_term(structure)),
                *filter(self.derives, replace_one_function_by_powers(structure)),
            ]
            self.add(shorter, most=len(shorter), tries_again=True)
            if self.best is best:
                return

    def grow(self, has_budget: Callable[[], bool] = lambda: True) -> None:
        """Try variations of the best structures, as long as that makes the description shorter, and prune what is found."""
        while has_budget() and not self.must_stop():
            best = self.best
            if best is None or self.is_exact:
                return
            varied: list[Program] = []
            for structure in self._best_structures():
                if structure.tokens not in self._varied:
                    self._varied.add(structure.tokens)
                    varied += filter(self.derives, vary_one_part(structure))
            self.add(varied, most=MOST_VARIATIONS_SHARED)
            if self.best is best:
                return
            self.prune()

    def _best_structures(self) -> list[Program]:
        """Return the structures of the shortest descriptions, and of the lowest bounds for each choice of columns."""
        found: dict[Tokens, Program] = {}
        for fit in sorted(self.fits.values(), key=self.length):
            structure = unshare(fit.formula)
            found.setdefault(structure.tokens, structure)
            if len(found) == N_VARIED:
                break
        leaders = sorted((each for leaders in self._leaders.values() for each in leaders), key=lambda each: each[:2])
        for _, _, structure in leaders[:MOST_VARIED]:
            found.setdefault(structure.tokens, structure)
        return list(found.values())


def unshare(formula: GroupedFormula) -> Program:
    """Return the structure of a formula: a constant for each number, with typical values."""
    tokens, number_of = number_constants(formula)
    typical = [*formula.program.constants, *(float(np.median(values)) for values in formula.values)]
    words = formula.program.vocabulary
    return Program(
        tuple(int(token) for token in tokens),
        _without_own(words, formula.n_columns),
        tuple(typical[number] for number in number_of),
    )


def _without_own(words: Vocabulary, n_columns: int) -> Vocabulary:
    return replace(words, variables=words.variables[:n_columns])


def _largest(tables: Iterable[FitTable | None]) -> list[FitTable]:
    """Return the tables of the groups with the most rows."""
    there = [table for table in tables if table is not None]
    return sorted(there, key=lambda table: -table.target.size)[:N_QUICK_GROUPS]


def _rows_of_both(rows: GroupedRows) -> list[NDArray[np.intp]]:
    """Return the rows that share their groups of both groupings, the most first."""
    first, second = rows.groupings
    _, pairs = np.unique(first.codes * second.n_groups + second.codes, return_inverse=True)
    return sorted((np.flatnonzero(pairs == pair) for pair in range(pairs.max() + 1)), key=lambda taken: -taken.size)


def search_rows(rows: GroupedRows, max_groups: int, max_rows: int, random: np.random.Generator) -> GroupedRows:
    """Return rows of a few groups, the largest ones, for a search: with all their rows, as far as there is room."""
    codes = rows.groupings[0].codes
    counts = rows.groupings[0].count_rows()
    n_groups = max(min(max_groups, int((counts > 0).sum())), 1)
    chosen = np.argsort(-counts, kind="stable")[:n_groups]
    per_group = max(max_rows // n_groups, 2)
    kept: list[NDArray[np.intp]] = []
    for group in np.sort(chosen):
        own = np.flatnonzero(codes == group)
        kept.append(own if own.size <= per_group else np.sort(random.choice(own, per_group, replace=False)))
    taken = np.concatenate(kept)
    return rows if taken.size == rows.data.n_rows else rows.take(taken)
