"""Moves: how one equation of a system may change. Which moves are tried, and for how long, is up to `select`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain

from spl.dynamics.proposals import UNRELATED_SHARE, Proposals, can_be_fitted
from spl.dynamics.rows import SystemRows
from spl.dynamics.score_test import estimate_term_gains
from spl.dynamics.simple_terms import START_TOKEN, Term
from spl.dynamics.trials import SystemTrials, Trial
from spl.formulas.constant_slots import constants_to_numbers, numbers_to_constants
from spl.formulas.edits import drop_one_function, drop_one_term
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.formulas.rates import can_be_solved, is_linear_in_rates, split_rates
from spl.formulas.text import CONSTANT_TOKEN, to_text
from spl.kernels.programs import tokens as tk
from spl.notation.terms import add_term, multiply_out
from spl.regression.fit import POLISH_EFFORT, fit
from spl.units.system_units import SystemUnits, holds

CLEAN_LOSS_SHARE = 1e-2  # of the spread of a derivative: if an equation is exact, one with a larger error is not
MOST_RISE = 10.0  # times the loss of an equation on the derivatives: more without a term needs no trial
NOISY_RISE = (
    2.0  # times the same loss is always allowed: under strong noise, right equations are far off the derivatives too
)
N_TERMS_TRIED = 4  # of those that promise to shorten the description


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """Another equation for one state."""

    state: int
    program: Program
    front_row: int  # of the formula that the equation came from
    promise: float = 0.0  # nats that the description should save, if the constants and states stay nearly the same
    is_costlier: bool = False  # than the equation it replaces


class Permissions:
    """What a grammar allows to be done to the numbers and terms of a formula."""

    def __init__(self, grammar: Grammar) -> None:
        self.derives = grammar.derives
        self.literals = grammar.vocabulary.literals
        self.has_factors = grammar.derives_template(
            (tk.MUL, CONSTANT_TOKEN, START_TOKEN), 0
        ) or grammar.derives_template((tk.MUL, START_TOKEN, CONSTANT_TOKEN), 0)
        self.has_sums = grammar.derives_template((tk.ADD, START_TOKEN, START_TOKEN), 0)


class SystemMoves:
    """Generates moves from the proposals for each state, within its grammar."""

    def __init__(
        self,
        rows: SystemRows,
        trials: SystemTrials,
        grammars: Sequence[Grammar],
        proposals: Sequence[Proposals],
        units: SystemUnits | None = None,
    ) -> None:
        """Take grammars that are bound to the columns of the rows, and the units of these."""
        self._rows, self._trials, self._proposals, self._units = rows, trials, proposals, units
        self._permissions = [Permissions(grammar) for grammar in grammars]

    def start(self, chosen: tuple[int, ...]) -> list[Program]:
        """Return the formulas in the chosen rows of the fronts, with all numbers free."""
        formulas = [each.front[row].program for each, row in zip(self._proposals, chosen, strict=True)]
        return [self._free(state, formula) for state, formula in enumerate(formulas)]

    def replacements(self, trial: Trial, state: int) -> Iterator[Move]:
        """Yield other formulas for a state, from simple to costly."""
        cost = trial.system.programs[state].cost
        for row, candidate in self._proposals[state].formulas():
            program = self._free(state, candidate.program)
            is_close = candidate.loss <= self._most_loss(trial, state)
            if is_close and self._can_be_tried(program) and holds(self._units, state, program):
                yield Move(state, program, row, is_costlier=candidate.cost > cost)

    def additions(self, trial: Trial) -> Iterator[Move]:
        """Yield equations with one more term, the most promising first: smoothed derivatives hide small terms."""
        promising = [pair for state in range(len(self._proposals)) for pair in self._promising(trial, state)]
        for _, move in sorted(promising, key=lambda pair: -pair[0])[:N_TERMS_TRIED]:
            yield move

    def omissions(self, trial: Trial, state: int) -> Iterator[Move]:
        """Yield the equation of a state with one term or function less, its constants fitted to the derivative."""
        if not self._permissions[state].has_sums:
            return
        program, data = trial.system.programs[state], self._proposals[state].data
        loss = fit(program, data, effort=POLISH_EFFORT).loss
        most = min(max(self._most_loss(trial, state), NOISY_RISE * loss), MOST_RISE * loss)
        for shorter in chain(drop_one_function(program), drop_one_term(program), drop_one_term(multiply_out(program))):
            if not self._can_be_tried(shorter):
                continue
            freed = self._free(state, shorter)
            if not holds(self._units, state, freed):
                continue
            fitted = fit(freed, data, effort=POLISH_EFFORT)
            if fitted.loss <= most:
                yield Move(state, fitted.program, trial.chosen[state])

    def _most_loss(self, trial: Trial, state: int) -> float:
        """Return the largest error of the derivative with which a formula for a state is worth trying."""
        is_exact = self._rows.is_clean and trial.error <= self._trials.exact_error
        return (CLEAN_LOSS_SHARE if is_exact else UNRELATED_SHARE) * self._proposals[state].data.spread

    def _promising(self, trial: Trial, state: int) -> Iterator[tuple[float, Move]]:
        """Yield longer equations that should shorten the description, and by how many nats."""
        if not self._permissions[state].has_factors:
            return
        program = trial.system.programs[state]
        terms = self._solvable_terms(trial, state, self._proposals[state].terms_for(program))
        gains = estimate_term_gains(trial.fitted, self._rows.starts, state, terms) / (
            2 * max(trial.error, self._trials.exact_error)
        )
        for term, gain in zip(terms, gains, strict=True):
            longer = add_term(program, term)
            promise = float(gain) + self._trials.price(program) - self._trials.price(longer)
            if promise > 0 and can_be_fitted(longer) and holds(self._units, state, longer):
                yield promise, Move(state, longer, trial.chosen[state], promise=promise)

    def _can_be_tried(self, program: Program) -> bool:
        return can_be_fitted(program) and (not self._rows.rates or is_linear_in_rates(program, len(self._rows.names)))

    def _solvable_terms(self, trial: Trial, state: int, terms: list[Term]) -> list[Term]:
        """Return terms with which the system can still be solved for its rates: all that are linear, or those without rates."""
        if not self._rows.rates:
            return terms
        program, n_columns = trial.system.programs[state], len(self._rows.names)
        parts = {term: split_rates(Program(term, program.vocabulary), n_columns) if term else None for term in terms}
        linear = [term for term in terms if not term or parts[term] is not None]
        longer = reduce(add_term, linear, program)
        programs = (*trial.system.programs[:state], longer, *trial.system.programs[state + 1 :])
        if can_be_solved(replace(trial.system, programs=programs)):
            return linear
        return [term for term in linear if (form := parts[term]) is None or not form.factors]

    def _free(self, state: int, program: Program) -> Program:
        """Return a formula with all of its numbers free, as far as the grammar allows; factors of 1 are numbers too."""
        allowed = self._permissions[state]
        with_factors = numbers_to_constants(program, kept=allowed.literals, has_factors=True)
        is_derived = allowed.has_factors or allowed.derives(to_text(with_factors))  # the text: minus signs change trees
        if is_derived and holds(self._units, state, with_factors):
            return with_factors
        freed = numbers_to_constants(program, kept=allowed.literals, has_factors=False)
        if holds(self._units, state, freed):
            return freed
        return constants_to_numbers(program, program.constants, keeps_ones=True)  # an exponent that must stay as it is
