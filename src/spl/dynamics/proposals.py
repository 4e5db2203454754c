"""What the equation of a state may be: formulas to try in its place, and terms to add to it.

Formulas come from the front of its search and from sums of simple terms, which are fitted to the derivative before the search begins.
Terms come from the library of these sums.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile

import numpy as np

from spl.data.dataset import Dataset
from spl.dynamics.budget import Deadline
from spl.dynamics.product_terms import ProductTerms
from spl.dynamics.pure_terms import PureTable
from spl.dynamics.simple_terms import Term
from spl.dynamics.term_library import TermLibrary
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate
from spl.regression.fit import POLISH_EFFORT, evaluate, fit
from spl.regression.front import Front
from spl.regression.prune import Derives, respect_all
from spl.regression.tidy_front import tidy_candidate
from spl.units.table_units import TableUnits

LIBRARY_SHARE = 0.5  # of the time for sums may go into terms of the library; the rest is for products by exchange
EXACT_ROOM = 1.5  # times the error of the derivatives: the error is only an estimate
MAX_SHORT = 7  # constants: sums with more may come close to anything
UNRELATED_SHARE = 0.5  # a formula that leaves more of the spread of the derivative unexplained is not tried
MAX_TRIED_COST = 64  # of a formula: the acceleration of a double pendulum costs 53
SAME_PROPOSAL_LOSS = 1e-6  # relative: formulas whose losses differ by less are the same formula written in two ways
NEAR_FRONT = 1.3  # times the loss of the front at its cost is allowed: smoothing makes wrong formulas look better
NEAR_ROW = 1.2  # times the loss of a costlier formula is allowed for a simple one in its place
N_SCORED_TERMS = 48  # terms whose gain along the trajectories is estimated
SIMPLE_SHARE = 0.2  # of the spread of the derivative may be left unexplained by the formula to start with
CLEAN_SHARE = 1e-4  # the same for data without noise
NEAR_BEST = (1.6, 1.3, 1.1)  # times the least loss of a front: formulas to start with, where noise allows no small loss


@dataclass(frozen=True, slots=True, eq=False)
class TermSums:
    """Sums of simple terms fitted to the derivative of a state, and the library they are made from."""

    library: TermLibrary
    candidates: tuple[Candidate, ...]

    def join(self, front: Front, data: Dataset, floor: float, respects: Derives = respect_all) -> Front:
        """Return a front with the sums that belong in it, in spellings that are allowed."""
        own = Front.from_candidates(self.candidates, floor, data.n_rows)
        tidied = [tidy_candidate(candidate, data, respects) for candidate in own]
        return Front.from_candidates([*front, *tidied], floor, data.n_rows)

    def are_exact(self, target_error: float) -> bool:
        """Return whether a short one is about as accurate as the derivatives, whose error is given; 0 if that is not known."""
        limit = EXACT_ROOM * target_error
        return any(each.loss <= limit and each.program.n_constants <= MAX_SHORT for each in self.candidates)


def fit_sums(
    data: Dataset,
    grammar: Grammar,
    max_seconds: float | None = None,
    seed: int = 0,
    units: TableUnits | None = None,
) -> TermSums:
    """Fit sums of simple terms that are close to the target, as many as there is time for; `grammar` is bound to the columns.

    With units, all of them have the unit of the target.
    """
    deadline = Deadline.after(max_seconds)
    half_time = Deadline.after(None if max_seconds is None else LIBRARY_SHARE * max_seconds)
    pure = None if units is None else PureTable.of(grammar, data, units)
    table, rules = (data, grammar) if pure is None else (pure.data, pure.grammar)
    library = TermLibrary.build(rules, table, units if pure is None else None)
    from_library = takewhile(lambda _: not half_time.is_over, library.propose(table.target))
    by_exchange = takewhile(lambda _: not deadline.is_over, _propose_products(table, rules, seed, deadline))
    proposed = chain(from_library, by_exchange)
    if pure is not None:
        proposed = chain.from_iterable(filter(None, [pure.write(program)]) for program in proposed)
        library = pure.write_library(library, data)
    programs = {
        program.tokens: program
        for program in proposed
        if can_be_fitted(program) and (units is None or units.allow(program))
    }
    return TermSums(library, tuple(fit(program, data, effort=POLISH_EFFORT) for program in programs.values()))


def _propose_products(data: Dataset, grammar: Grammar, seed: int, deadline: Deadline) -> Iterator[Program]:
    if deadline.is_over:
        return
    products = ProductTerms.build(grammar, data)
    yield from products.propose(data.target, np.random.default_rng(seed), lambda: deadline.is_over)


def can_be_fitted(program: Program) -> bool:
    """Return whether a program is short enough for the kernels."""
    return len(program) <= tk.MAX_PROGRAM_LENGTH and program.n_constants <= tk.MAX_CONSTANTS


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """What the equation of a state may be."""

    data: Dataset  # the target is the derivative of the state
    front: Front  # of the search, joined with the sums
    sums: TermSums

    def simplest_row(self, near_best: float, *, is_clean: bool) -> int:
        """Return the row of the simplest formula of the front that explains most of the derivative.

        Where noise allows none, it is the simplest with at most `near_best` times the loss of the best.
        """
        best = self.front[-1].loss
        limit = max(SIMPLE_SHARE * self.data.spread, near_best * best)
        if is_clean and best <= CLEAN_SHARE * self.data.spread:
            limit = CLEAN_SHARE * self.data.spread
        return next(row for row, candidate in enumerate(self.front) if candidate.loss <= limit)

    def keep_simple(self, simple: int, costlier: int) -> int:
        """Return the first of two rows of the front, unless the formula in the second is much closer to the derivative."""
        return simple if self.front[simple].loss <= NEAR_ROW * self.front[costlier].loss else costlier

    def row_of(self, program: Program) -> int:
        """Return the last row of the front whose formula costs no more than a program."""
        return max((row for row, each in enumerate(self.front) if each.cost <= program.cost), default=0)

    def formulas(self) -> Iterator[tuple[int, Candidate]]:
        """Yield distinct formulas that fit well, by increasing cost, each with the last row of the front that costs no more."""
        every = sorted([*self.front, *self.sums.candidates], key=lambda candidate: (candidate.cost, candidate.loss))
        row, last = 0, np.nan
        for candidate in every:
            if abs(candidate.loss - last) <= SAME_PROPOSAL_LOSS * last:
                continue
            last = candidate.loss
            row = max(row, *(k for k, member in enumerate(self.front) if member.cost <= candidate.cost), 0)
            most = min(UNRELATED_SHARE * self.data.spread, NEAR_FRONT * self.front[row].loss)
            if candidate.cost <= MAX_TRIED_COST and (candidate is self.front[row] or candidate.loss <= most):
                yield row, candidate

    def terms_for(self, program: Program) -> list[Term]:
        """Return the terms that explain most of what a formula leaves of the derivative."""
        library = self.sums.library
        if not library.terms:
            return []
        left = self.data.target - evaluate(program, self.data.columns)
        explained = np.abs(left @ library.values) / np.linalg.norm(library.values, axis=0)
        return [library.terms[k] for k in np.argsort(-explained)[:N_SCORED_TERMS]]


def find_simple_starts(proposals: Sequence[Proposals], *, is_clean: bool) -> list[tuple[int, ...]]:
    """Return rows of the fronts to start with, simple formulas: costlier ones may only describe errors of the derivatives."""
    return [tuple(each.simplest_row(near, is_clean=is_clean) for each in proposals) for near in NEAR_BEST]
