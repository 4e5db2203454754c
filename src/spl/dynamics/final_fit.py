"""The final fit of a system: constants along segments as long as possible, simple numbers where the data allows, standard errors."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.dynamics.budget import SystemBudget
from spl.dynamics.proposals import can_be_fitted
from spl.dynamics.refine import Refined
from spl.dynamics.system_packing import evaluate_slopes
from spl.dynamics.trials import SystemTrials, Trial
from spl.formulas.constant_slots import constants_to_numbers, literals_to_constants
from spl.formulas.edits import drop_one_term
from spl.formulas.grammar import Grammar
from spl.formulas.printed_numbers import number_positions
from spl.formulas.program import Program
from spl.formulas.system import System
from spl.formulas.text import CONSTANT_TOKEN, to_text
from spl.regression.fit import evaluate
from spl.regression.prune import Derives
from spl.regression.round_constants import simple_number_within
from spl.regression.simplify import Agree, simplify
from spl.units.system_units import SystemUnits, holds

Numbers = NDArray[np.float64]

FIRST_FIT_SHARE = 0.7  # of the time that is left is for the fit before numbers are made simple
SECOND_FIT_SECONDS = 1.0  # that a fit may take when the time is up
ONLY_SHORT = "The equations could be followed along short segments only; their numbers are those of that fit."
MIN_USED_SHARE = 0.8  # of the segments must be followed for a fit to count
MAX_ERROR_RISE = 1.3  # times the error of the trials is allowed for a fit to count
SIMPLE_WITHIN_ERRORS = 2.0  # standard errors within which a constant may be replaced by a simple number
LEAST_PRECISION = (
    5e-6  # relative: the integration makes constants no more precise than this, whatever their standard errors
)


@dataclass(frozen=True, slots=True, eq=False)
class FinalFit:
    """Fits the system that the trials chose."""

    trials: SystemTrials
    budget: SystemBudget
    datasets: Sequence[Dataset]  # per state, with its derivative as the target
    grammars: Sequence[Grammar]  # per state, bound to the columns
    units: SystemUnits | None = None

    def fit(self, best: Trial) -> Refined:
        """Fit the constants, and replace those by simple numbers that the data does not distinguish from them."""
        refined = self._fit_to_all(best, best.system, FIRST_FIT_SHARE * self.budget.seconds_left())
        if not refined.is_used.any():  # lost where the trials could follow it: their numbers are better than none
            refined = replace(best.fitted, notes=(*best.fitted.notes, ONLY_SHORT))
        candidates = (_with_simple_numbers(refined, self.units), refined.system)
        return next(filter(None, (self._fit_simpler(best, refined, system) for system in candidates)), refined)

    def standard_errors(self, fitted: Refined) -> Iterator[Numbers]:
        """Yield the standard errors of all numbers of each equation; NaN for those that the grammar gives.

        A number that was made simple gets the error that it would have if it were fitted along with the others.
        """
        system = fitted.system
        given = [grammar.vocabulary.literals for grammar in self.grammars]
        freed = replace(system, programs=tuple(map(literals_to_constants, system.programs, given)))
        of_fitted = iter(self.trials.find_standard_errors(system, fitted))
        can_free = all(map(can_be_fitted, freed.programs))
        of_all = iter(self.trials.find_standard_errors(freed, fitted) if can_free else np.empty(0))
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

    def _fit_to_all(self, best: Trial, system: System, seconds: float) -> Refined:
        """Fit to segments as long as the system can be followed; where that fails, to the segments of the trials."""
        refined = self.trials.refine(system, max_seconds=max(seconds, 0.0))
        most = MAX_ERROR_RISE * max(best.error, self.trials.exact_error)
        if refined.is_used.mean() >= MIN_USED_SHARE and refined.chi2 <= most:
            return refined
        return self.trials.refine(system, before=best.fitted, max_seconds=max(seconds, SECOND_FIT_SECONDS))

    def _fit_simpler(self, best: Trial, refined: Refined, system: System) -> Refined | None:
        """Return a system in its simplest form, fitted again if it has other constants; None if it is clearly worse."""
        names = [number.name for number in system.own]
        respects = [partial(holds, self.units, state) for state in range(len(system.programs))]
        parts = zip(system.programs, self.datasets, self.grammars, respects, strict=True)
        simple = replace(system, programs=tuple(_simplify(*part, names) for part in parts))
        columns = self.datasets[0].columns[: len(simple.columns)]
        if not np.all(np.isfinite(evaluate_slopes(simple, columns))):
            return None
        if simple.n_constants == system.n_constants == refined.system.n_constants:
            fitted = replace(refined, system=simple)
        else:
            fitted = self._fit_to_all(best, simple, self.budget.seconds_left())
        most = MAX_ERROR_RISE * max(refined.error, self.trials.exact_error)
        return fitted if fitted.is_used.any() and fitted.error <= most else None


def _simplify(program: Program, data: Dataset, grammar: Grammar, respects: Derives, own: Sequence[str]) -> Program:
    def agree(program: Program, simpler: Program) -> bool:
        values, others = (evaluate(each, data.columns) for each in (program, simpler))
        return bool(np.allclose(values, others, rtol=1e-6, atol=1e-9 * data.spread)) and respects(simpler)

    def is_negligible(program: Program, shorter: Program) -> bool:
        text = re.sub(rf"\b({'|'.join(own)})\b", "C", to_text(shorter)) if own else to_text(shorter)
        return agree(program, shorter) and grammar.derives(text)  # own numbers are constants of the grammar

    return simplify(_drop_terms(program, is_negligible), agree)


def _drop_terms(program: Program, is_negligible: Agree) -> Program:
    """Return the program without terms that change nothing: x/(z - 1e9) is a multiple of x in disguise."""
    shorter = next((shorter for shorter in drop_one_term(program) if is_negligible(program, shorter)), None)
    return program if shorter is None else _drop_terms(shorter, is_negligible)


def _with_simple_numbers(refined: Refined, units: SystemUnits | None) -> System:
    """Return the system with simple numbers in place of constants that are close to one and known precisely enough."""
    programs = []
    errors = iter(refined.standard_errors)
    for state, program in enumerate(refined.system.programs):
        numbers = [simple_number_within(value, _uncertainty(value, next(errors))) for value in program.constants]
        rounded = (constants_to_numbers(program, numbers, keeps_ones=keeps) for keeps in (False, True))
        programs.append(next((each for each in rounded if holds(units, state, each)), program))
    return replace(refined.system, programs=tuple(programs))


def _uncertainty(value: float, standard_error: float) -> float:
    """Return how far a constant may be off."""
    return max(SIMPLE_WITHIN_ERRORS * standard_error, LEAST_PRECISION * abs(value))
