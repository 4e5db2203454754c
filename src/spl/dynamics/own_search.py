"""The search for equations whose numbers differ between runs: what each equation may be, and moves from system to system.

Formulas come from sums of simple terms, fitted to the derivatives of each run, and from searches in single runs, whose equations have
the same structure. The trajectories of all runs decide.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.moves import N_TERMS_TRIED, Permissions
from spl.dynamics.own_trials import OwnTrial, OwnTrials, RunEquation
from spl.dynamics.proposals import MAX_TRIED_COST, N_SCORED_TERMS, NEAR_BEST, UNRELATED_SHARE, can_be_fitted
from spl.dynamics.run_terms import RunTable
from spl.dynamics.score_test import estimate_term_gains
from spl.dynamics.simple_terms import Term, write_sum
from spl.dynamics.term_library import TermLibrary
from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.edits import drop_one_function, drop_one_term
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.notation.terms import add_term, multiply_out
from spl.regression.description_length import equation_nats
from spl.regression.fit import POLISH_EFFORT, evaluate, fit

Numbers = NDArray[np.float64]

NOISY_STARTS = (0.2, 0.05, 0.0)  # of the spread of the derivatives may be left unexplained by equations to start with
CLEAN_STARTS = (1e-2, 1e-4, 0.0)  # the same for data without noise
MAX_FAILED = 4  # equations costlier than the present one, one after the other, before the rest are skipped
TINY_SHARE = 1e-6  # of the spread of a derivative: smaller errors count alike


class EquationBook:
    """The equations that a state may have, each fitted to the derivatives of all runs."""

    def __init__(self, state: int, grammar: Grammar, trials: OwnTrials) -> None:
        self._trials, self._state = trials, state
        self._datasets = trials.rows.datasets[state]
        self._allowed = Permissions(grammar)
        self._grammar = grammar
        self._library: TermLibrary | None = None
        self._found: dict[tuple[int, ...], RunEquation | None] = {}

    def add(self, programs: Iterable[Program]) -> list[RunEquation]:
        """Fit formulas with all their numbers free, as many as there is time for; return those that could be fitted."""
        found: list[RunEquation] = []
        for program in programs:
            if found and not self._trials.may_try():
                break
            equation = self._fit(program)
            found.extend([] if equation is None else [equation])
        return found

    def propose_sums(self) -> list[RunEquation]:
        """Add sums of simple terms that explain the derivatives of all runs."""
        joined, codes = self._trials.rows.join(self._state)
        library = TermLibrary.build(self._grammar, joined)
        if not library.terms:
            return []
        self._library = library
        table = RunTable.split(library.values, joined.target, codes)
        sets = dict.fromkeys(tuple(sorted(chosen)) for chosen in table.propose(library.n_polynomial))
        return self.add(write_sum(library.vocabulary, [(library.terms[k], 1.0) for k in chosen]) for chosen in sets)

    def simplest(self, share: float) -> RunEquation | None:
        """Return the simplest equation that leaves at most a share of the derivatives unexplained; None if there are no equations.

        If noise allows no loss that small, it is the simplest whose loss is close to the lowest.
        """
        limit = max(share * self._spread, NEAR_BEST[0] * self._least_loss())
        return min((each for each in self._all() if each.loss <= limit), key=_simplicity, default=None)

    def others(self, present: RunEquation) -> Iterator[RunEquation]:
        """Yield other equations that are close to the derivatives, from simple to costly."""
        limit = max(UNRELATED_SHARE * self._spread, present.loss)
        yield from sorted((each for each in self._all() if each.loss <= limit), key=_simplicity)

    def longer(self, trial: OwnTrial) -> Iterator[RunEquation]:
        """Yield the equation of a trial with one term more, the most promising first."""
        program = trial.equations[self._state].program
        if self._library is None or not self._library.terms or not self._allowed.has_factors:
            return
        terms = self._terms_for(trial.equations[self._state], self._library)
        gains = estimate_term_gains(trial.fitted, self._trials.rows.starts, self._state, terms)
        scale = 2 * max(trial.error, self._trials.exact_error)
        n_observations = self._trials.n_observations
        promising = []
        for term, gain in zip(terms, gains.tolist(), strict=True):
            longer = add_term(program, term)
            price = equation_nats(longer, n_observations) - equation_nats(program, n_observations)
            promising.append((gain / scale - price, longer))
        best = sorted((each for each in promising if each[0] > 0), key=lambda each: -each[0])[:N_TERMS_TRIED]
        yield from self.add(longer for _, longer in best)

    def shorter(self, equation: RunEquation) -> Iterator[RunEquation]:
        """Yield an equation with one term or function less."""
        if not self._allowed.has_sums:
            return
        program = equation.program
        others = chain(drop_one_function(program), drop_one_term(program), drop_one_term(multiply_out(program)))
        yield from self.add(each for each in others if each.tokens != program.tokens)

    def _all(self) -> list[RunEquation]:
        return [equation for equation in self._found.values() if equation is not None]

    @property
    def _spread(self) -> float:
        """The spread of the derivative, as a geometric mean over all runs like losses."""
        counts = np.array([data.n_rows for data in self._datasets])
        spreads = np.array([max(data.spread, np.finfo(float).tiny) for data in self._datasets])
        return float(np.exp(counts @ np.log(spreads) / counts.sum()))

    def _least_loss(self) -> float:
        return min((each.loss for each in self._all()), default=0.0)

    def _terms_for(self, equation: RunEquation, library: TermLibrary) -> list[Term]:
        """Return the terms that explain most of what an equation leaves of the derivatives."""
        left = [
            data.target - evaluate(equation.program.with_constants(values), data.columns)
            for data, values in zip(self._datasets, equation.values, strict=True)
        ]
        explained = np.abs(np.concatenate(left) @ library.values) / np.linalg.norm(library.values, axis=0)
        return [library.terms[k] for k in np.argsort(-explained)[:N_SCORED_TERMS]]

    def _fit(self, program: Program) -> RunEquation | None:
        free = numbers_to_constants(program, kept=self._allowed.literals, has_factors=self._allowed.has_factors)
        if free.tokens not in self._found:
            self._found[free.tokens] = self._fit_to_runs(free)
        return self._found[free.tokens]

    def _fit_to_runs(self, program: Program) -> RunEquation | None:
        if not can_be_fitted(program) or program.cost > MAX_TRIED_COST or self._trials.is_too_fast(program):
            return None
        candidates = [fit(program, data, effort=POLISH_EFFORT) for data in self._datasets]
        losses = np.array([candidate.loss for candidate in candidates])
        if not np.isfinite(losses).all():
            return None
        floors = np.array([max(TINY_SHARE * data.spread, np.finfo(float).tiny) for data in self._datasets])
        counts = np.array([data.n_rows for data in self._datasets])
        loss = float(np.exp(counts @ np.log(np.maximum(losses, floors)) / counts.sum()))
        values = np.array([candidate.program.constants for candidate in candidates]).reshape(len(counts), -1)
        return RunEquation(program.with_constants(np.median(values, axis=0)), values, loss)


def _simplicity(equation: RunEquation) -> tuple[int, int, float]:
    return equation.program.n_constants, equation.program.cost, equation.loss


class OwnSearch:
    """Finds the system with the shortest description of the trajectories of all runs, move by move."""

    def __init__(self, trials: OwnTrials, grammars: Sequence[Grammar]) -> None:
        self._trials = trials
        self._books = [EquationBook(state, grammar, trials) for state, grammar in enumerate(grammars)]

    def begin(self) -> OwnTrial | None:
        """Return the best of a few systems of simple sums; None if there are no sums, or none can be followed."""
        for book in self._books:
            book.propose_sums()
        best = None
        for share in CLEAN_STARTS if self._trials.rows.is_clean else NOISY_STARTS:
            start = [equation for book in self._books if (equation := book.simplest(share)) is not None]
            if len(start) == len(self._books):
                best = self._better(best, start)
        return best

    def start_from(self, programs: Sequence[Program], best: OwnTrial | None) -> OwnTrial | None:
        """Return the better of the best system so far and one that was found in a single run, whose equations are kept."""
        found = [book.add([program]) for book, program in zip(self._books, programs, strict=True)]
        return self._better(best, [each[0] for each in found]) if all(found) else best

    def improve(self, best: OwnTrial, share: float = 1.0) -> OwnTrial:
        """Change equations, one at a time, while that helps and a share of the budget is left."""
        before = None
        while best is not before and self._trials.may_try(share):
            before = best
            for state, book in enumerate(self._books):
                best = self._try_all(best, state, book.longer(best), share)
                best = self._try_all(best, state, book.shorter(best.equations[state]), share)
                best = self._try_all(best, state, book.others(best.equations[state]), share)
        return best

    def _try_all(self, best: OwnTrial, state: int, equations: Iterable[RunEquation], share: float) -> OwnTrial:
        """Return the best system with one of these equations for a state; costlier ones that fail, one after the other, end it."""
        n_failed = 0
        for equation in equations:
            if not self._trials.may_try(share) or n_failed == MAX_FAILED:
                break
            is_costlier = equation.program.cost > best.equations[state].program.cost
            changed = (*best.equations[:state], equation, *best.equations[state + 1 :])
            better = self._better(best, changed)
            n_failed = 0 if better is not best else n_failed + is_costlier
            best = better or best
        return best

    def _better(self, best: OwnTrial | None, equations: Sequence[RunEquation]) -> OwnTrial | None:
        to_beat = np.inf if best is None else best.length_nats
        trial = self._trials.try_equations(equations, to_beat)
        return trial if trial.length_nats < to_beat else best
