"""Which formulas are the equations of a system: those that can be followed along the measured trajectories.

Tried are the formulas of the fronts and sums of simple terms, from simple to costly. Terms are added where a score test on the
trajectories shows that they would help, and dropped where they do not. What counts is the length of a description.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import SystemBudget
from spl.dynamics.held_out import HeldOut
from spl.dynamics.refine import find_standard_errors, refine
from spl.dynamics.rows import Plan, SystemRows
from spl.dynamics.score_test import term_gains
from spl.dynamics.shooting import Refined
from spl.dynamics.system_packing import evaluate_slopes
from spl.dynamics.term_library import Library, Term
from spl.dynamics.trials import Choice, SystemTrials
from spl.formulas.constant_slots import constants_to_numbers, literals_to_constants, numbers_to_constants
from spl.formulas.edits import drop_one_function, drop_one_term
from spl.formulas.grammar import Grammar
from spl.formulas.printed_numbers import number_positions
from spl.formulas.program import Program
from spl.formulas.system import System
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.notation.terms import add_term, multiply_out
from spl.regression.candidate import Candidate
from spl.regression.fit import POLISH_EFFORT, evaluate, fit
from spl.regression.front import Front
from spl.regression.round_constants import simple_numbers_near
from spl.regression.simplify import simplify

Numbers = NDArray[np.float64]

HOPELESS = 0.5  # of its spread left unexplained is too far from the derivative to be tried
MAX_COST = 45  # of a formula that is tried
SAME_LOSS = 1e-6  # relative: formulas whose losses differ by less are one formula written in two ways
NEAR_FRONT = (
    1.3  # times the loss of the front at its cost is what a proposal may have: smoothing makes others look better
)
PATIENCE = 4  # formulas costlier than the one at hand that do not help, before the rest are left
N_SCORED = 48  # terms whose gain along the trajectories is looked at
N_TRIED = 4  # of these are tried
FIRST_FIT = 0.7  # of the time that is left is for the fit before numbers are made simple
SURE = 2.0  # standard errors within which a number may be another
MEANINGFUL = 0.25  # of the distance between simple numbers: nearer to one is no chance
MOST_USED = 0.8  # of the segments must be followed for a fit to count
MOST_RISE = 1.3  # times the error of the trials is allowed for a fit to count
SECOND_FIT = 1.0  # seconds that a fit may take when the time is up


@dataclass(frozen=True, slots=True, eq=False)
class ChosenSystem:
    """The equations of a system, and how well their numbers are known."""

    system: System  # numbers are simple where the data does not tell them from such
    standard_errors: tuple[
        Numbers, ...
    ]  # of the numbers of each equation, as `number_positions` has them; NaN: not known
    chosen: tuple[int, ...]  # the formula of each front that the equation came from
    refined: Refined | None  # None if the equations could not be followed along the data
    notes: tuple[str, ...]  # for people


Change = Callable[[Choice], Choice]  # to a system that is worth more, if there is one


@dataclass(frozen=True, slots=True, eq=False)
class Proposals:
    """What an equation may be: the front of its search, other formulas that come near, and terms that may be added."""

    front: Front
    others: tuple[Candidate, ...]
    library: Library


class _Freedom:
    """What a grammar lets be done to the numbers and terms of a formula."""

    def __init__(self, grammar: Grammar) -> None:
        start = tk.SYMBOL << tk.KIND_SHIFT
        self.numbers = grammar.vocabulary.literals
        self.has_factors = grammar.derives_template((tk.MUL, CONSTANT_TOKEN, start), 0) or grammar.derives_template(
            (tk.MUL, start, CONSTANT_TOKEN), 0
        )
        self.has_sums = grammar.derives_template((tk.ADD, start, start), 0)


class SystemChooser:
    """Chooses among formulas by following the equations along the measured trajectories."""

    def __init__(
        self,
        data: Trajectories,
        rows: SystemRows,
        plan: Plan,
        grammars: Sequence[Grammar],
        proposals: Sequence[Proposals],
        budget: SystemBudget,
    ) -> None:
        self._data, self._rows, self._proposals, self._budget = data, rows, proposals, budget
        self._trials = SystemTrials(data, rows, plan, budget)
        self._freedoms = [_Freedom(grammar.bind(rows.names)) for grammar in grammars]
        self._data_of = [rows.dataset(state) for state in range(len(proposals))]

    def take(self, chosen: tuple[int, ...]) -> ChosenSystem:
        """Return formulas of the fronts as the searches left them."""
        system = self._trials.make([each.front[k].program for each, k in zip(self._proposals, chosen, strict=True)])
        unknown = tuple(np.full(len(number_positions(program)), np.nan) for program in system.programs)
        return ChosenSystem(system, unknown, chosen, None, ())

    def choose(self, starts: Sequence[tuple[int, ...]]) -> ChosenSystem | None:
        """Try formulas while that shortens the description, then fit the constants as exactly as the data allows.

        It begins with the best of several choices of formulas from the fronts; None if none can be followed along the data.
        """
        best = min(map(self._begin, dict.fromkeys(starts)), key=_worth)
        if not np.isfinite(best.worth):
            return None
        best = self._repeat(best, [self._grow, self._shrink])
        best = self._repeat(best, [self._scan, self._grow, self._shrink])
        return self._finish(self._validate(best))

    def _begin(self, chosen: tuple[int, ...]) -> Choice:
        """Return the system of formulas of the fronts."""
        formulas = [self._proposals[state].front[k].program for state, k in enumerate(chosen)]
        return self._trials.try_programs([self._free(state, formula) for state, formula in enumerate(formulas)], chosen)

    # ---- changes ---------------------------------------------------------------------------------

    def _repeat(self, best: Choice, changes: Sequence[Change]) -> Choice:
        """Try changes of each equation in turn, along segments as long as the system can be followed, until none helps."""
        before = None
        while best is not before and self._budget.may_try():
            before = best
            best = self._trials.lengthen(best)
            for change in changes:
                best = change(best)
        return best

    def _scan(self, best: Choice) -> Choice:
        """Try other formulas in place of each equation."""
        for state in range(len(self._proposals)):
            best = self._scan_one(best, state)
        return best

    def _scan_one(self, best: Choice, state: int) -> Choice:
        """Try other formulas in place of the equation of a state, from simple to costly, until several did not help."""
        n_in_vain = 0
        cost = best.system.programs[state].cost
        for k, candidate in self._candidates(state):
            if n_in_vain == PATIENCE or not self._budget.may_try():
                break
            program = self._free(state, candidate.program)
            if not can_be_fitted(program):
                continue
            trial = self._try(best, state, program, k)
            n_in_vain = 0 if trial.worth < best.worth else n_in_vain + (candidate.cost > cost)
            best = min(best, trial, key=_worth)
        return best

    def _candidates(self, state: int) -> Iterator[tuple[int, Candidate]]:
        """Yield formulas that come near the derivative, in the order of their cost, with the last row of the front before them."""
        front = self._proposals[state].front
        every = sorted([*front, *self._proposals[state].others], key=lambda candidate: (candidate.cost, candidate.loss))
        k, last = 0, np.nan
        for candidate in every:
            if abs(candidate.loss - last) <= SAME_LOSS * last:
                continue
            last = candidate.loss
            k = max(k, *(row for row, member in enumerate(front) if member.cost <= candidate.cost), 0)
            is_near = candidate.loss <= min(HOPELESS * self._data_of[state].spread, NEAR_FRONT * front[k].loss)
            if candidate.cost <= MAX_COST and (candidate is front[k] or is_near):
                yield k, candidate

    def _grow(self, best: Choice) -> Choice:
        """Add terms, one at a time, as long as that is worth it: smoothed derivatives hide small terms."""
        while self._budget.may_try():
            longer = next((trial for trial in self._longer(best) if trial.worth < best.worth), None)
            if longer is None:
                break
            best = longer
        return best

    def _longer(self, best: Choice) -> Iterator[Choice]:
        """Yield the system with one more term in an equation, first those that promise most along the trajectories."""
        promises = [promise for state in range(len(self._proposals)) for promise in self._promises(best, state)]
        for _, state, program in sorted(promises, key=lambda promise: -promise[0])[:N_TRIED]:
            if self._budget.may_try():
                yield self._try(best, state, program, best.chosen[state], is_near=True)

    def _promises(self, best: Choice, state: int) -> Iterator[tuple[float, int, Program]]:
        """Yield longer equations for a state that promise to shorten the description, and by how much."""
        program = best.system.programs[state]
        terms = self._terms_for(program, state)
        gains = term_gains(best.fitted, self._rows.starts, state, terms) / (
            2 * max(best.error, self._trials.exact_error)
        )
        for term, gain in zip(terms, gains, strict=True):
            longer = add_term(program, term)
            promise = float(gain) + self._trials.price(program) - self._trials.price(longer)
            if promise > 0 and can_be_fitted(longer):
                yield promise, state, longer

    def _terms_for(self, program: Program, state: int) -> list[Term]:
        """Return the terms that explain most of what a formula leaves of the derivative."""
        library = self._proposals[state].library
        if not library.terms or not self._freedoms[state].has_factors:
            return []
        left = self._data_of[state].target - evaluate(program, self._data_of[state].columns)
        explained = np.abs(left @ library.values) / np.linalg.norm(library.values, axis=0)
        return [library.terms[k] for k in np.argsort(-explained)[:N_SCORED]]

    def _shrink(self, best: Choice) -> Choice:
        """Leave out terms and functions of equations while the system is worth more without them."""
        for state in range(len(self._proposals)):
            shorter: Choice | None = best
            while shorter is not None and self._budget.may_try():
                best = shorter
                shorter = next((trial for trial in self._shorter(best, state) if trial.worth < best.worth), None)
        return best

    def _shorter(self, best: Choice, state: int) -> Iterator[Choice]:
        """Yield the system with one term or function less in the equation of a state."""
        program, freedom = best.system.programs[state], self._freedoms[state]
        if not freedom.has_sums:
            return
        for shorter in chain(drop_one_function(program), drop_one_term(program), drop_one_term(multiply_out(program))):
            if not can_be_fitted(shorter) or not self._budget.may_try():
                continue
            refitted = fit(self._free(state, shorter), self._data_of[state], effort=POLISH_EFFORT)
            if refitted.loss <= HOPELESS * self._data_of[state].spread:
                yield self._try(best, state, refitted.program, best.chosen[state])

    def _validate(self, best: Choice) -> Choice:
        """Leave out terms without which the error is no larger on data that the constants were not fitted to."""
        for state in range(len(self._proposals)):
            error = self._held_out_error(best)
            for shorter in self._shorter(best, state):
                if self._held_out_error(shorter) <= error:
                    return self._validate(shorter)
        return best

    def _held_out_error(self, choice: Choice) -> float:
        held_out = HeldOut(self._data, self._trials.states, self._rows.noise)
        return held_out.error(choice.system, self._trials.length, self._budget.begin_fit())

    def _try(self, best: Choice, state: int, program: Program, k: int, *, is_near: bool = False) -> Choice:
        """Return the system with another equation for one state, which came from formula k of its front."""
        programs, chosen = list(best.system.programs), list(best.chosen)
        programs[state], chosen[state] = program, k
        return self._trials.try_programs(programs, tuple(chosen), near=best if is_near else None, to_beat=best.worth)

    # ---- formulas --------------------------------------------------------------------------------

    def _free(self, state: int, program: Program) -> Program:
        """Return a formula with all of its numbers free."""
        grammar = self._freedoms[state]
        return numbers_to_constants(program, kept=grammar.numbers, has_factors=grammar.has_factors)

    def _simplify(self, state: int, program: Program) -> Program:
        def agree(program: Program, simpler: Program) -> bool:
            values, others = (evaluate(p, self._data_of[state].columns) for p in (program, simpler))
            return bool(np.allclose(values, others, rtol=1e-6, atol=1e-9 * self._data_of[state].spread))

        return simplify(program, agree)

    # ---- the end ---------------------------------------------------------------------------------

    def _finish(self, best: Choice) -> ChosenSystem:
        """Fit the constants along segments as long as possible, and make those simple that the data does not tell from such."""
        refined = self._fit_to_all(best, best.system, FIRST_FIT * self._budget.seconds_left())
        fitted = next(filter(None, (self._fit_simpler(best, refined, each) for each in _simpler(refined))), refined)
        errors = tuple(self._standard_errors(fitted))
        return ChosenSystem(fitted.system, errors, best.chosen, fitted, fitted.notes)

    def _fit_simpler(self, best: Choice, refined: Refined, system: System) -> Refined | None:
        """Return a system with simpler numbers, spelled simply and fitted again; None if it is not about as good."""
        spelled = replace(system, programs=tuple(map(self._simplify, range(len(system.programs)), system.programs)))
        if not np.all(np.isfinite(evaluate_slopes(spelled, np.ascontiguousarray(self._rows.table.T)))):
            return None
        if spelled.n_constants == system.n_constants == refined.system.n_constants:
            fitted = replace(refined, system=spelled)
        else:
            fitted = self._fit_to_all(best, spelled, self._budget.seconds_left())
        limit = MOST_RISE * max(refined.error, self._trials.exact_error)
        return fitted if fitted.is_used.any() and fitted.error <= limit else None

    def _standard_errors(self, fitted: Refined) -> Iterator[Numbers]:
        """Yield the standard errors of all numbers of each equation, in its own form; NaN for those that the grammar gives.

        A number that was made simple gets the one that it would have if it were fitted along with the others.
        """
        system = fitted.system
        kept = [grammar.numbers for grammar in self._freedoms]
        freed = replace(system, programs=tuple(map(literals_to_constants, system.programs, kept)))
        of_fitted = iter(self._errors_of(system, fitted))
        can_free = all(map(can_be_fitted, freed.programs))
        of_all = iter(self._errors_of(freed, fitted) if can_free else np.empty(0))
        for program, free in zip(system.programs, freed.programs, strict=True):
            errors = []
            for position in number_positions(program):
                error = next(of_all, np.nan) if free.tokens[position] == CONSTANT_TOKEN else np.nan
                if program.tokens[position] == CONSTANT_TOKEN:
                    error = next(of_fitted)
                elif not np.isfinite(error):
                    error = np.nan
                errors.append(error)
            yield np.array(errors)

    def _errors_of(self, system: System, fitted: Refined) -> Numbers:
        return find_standard_errors(system, fitted, self._data.runs, self._trials.states, self._rows.noise)

    def _fit_to_all(self, best: Choice, system: System, seconds: float) -> Refined:
        """Fit to segments as long as the system can be followed; where that fails, to the segments of the trials."""
        runs, states, noise = self._data.runs, self._trials.states, self._rows.noise
        refined = refine(system, runs, states, noise, max_seconds=max(seconds, 0.0))
        if refined.is_used.mean() >= MOST_USED and refined.chi2 <= MOST_RISE * max(
            best.error, self._trials.exact_error
        ):
            return refined
        return refine(system, runs, states, noise, before=best.fitted, max_seconds=max(seconds, SECOND_FIT))


def _worth(choice: Choice) -> float:
    return choice.worth


def can_be_fitted(program: Program) -> bool:
    """Tell whether a program is short enough for the kernels."""
    return len(program) <= tk.MAX_LENGTH and program.n_constants <= tk.MAX_CONSTANTS


def _simpler(refined: Refined) -> Iterator[System]:
    """Yield the system with simple numbers, and as it was fitted."""
    yield _clean_system(refined)
    yield refined.system


def _clean_system(refined: Refined) -> System:
    """Return the system with simple numbers in place of constants that are near one, and known so well that this means something."""
    programs = []
    errors = iter(refined.standard_errors)
    for program in refined.system.programs:
        numbers = [_simple_number(value, SURE * next(errors)) for value in program.constants]
        programs.append(constants_to_numbers(program, numbers))
    return replace(refined.system, programs=tuple(programs))


def _simple_number(value: float, limit: float) -> float | None:
    """Return a simple number within the limit of a value; None if there is none, or if one would be there by chance."""
    near = (n for n, gap in simple_numbers_near(value) if abs(n - value) <= limit and limit <= MEANINGFUL * gap)
    return next(near, None)
