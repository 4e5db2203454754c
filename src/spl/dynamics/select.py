"""Which formulas are the equations of a system: those that can be followed along the measured trajectories.

The choice starts from formulas of the fronts. Moves replace, lengthen and shorten one equation at a time; a move is kept if it
shortens the description of the measurements.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.budget import SystemBudget
from spl.dynamics.elimination import FullEquation, propose_by_elimination
from spl.dynamics.final_fit import FinalFit
from spl.dynamics.implicit import solvable_rows
from spl.dynamics.moves import Move, SystemMoves
from spl.dynamics.proposals import Proposals
from spl.dynamics.refine import Refined
from spl.dynamics.rows import SystemRows
from spl.dynamics.trials import SystemTrials, Trial
from spl.formulas.grammar import Grammar
from spl.formulas.printed_numbers import number_positions
from spl.formulas.rates import can_be_solved
from spl.formulas.system import System
from spl.units.system_units import SystemUnits

Numbers = NDArray[np.float64]

SIMPLE_STARTS_SHARE = 0.6  # of the budget may go into growing simple formulas before costlier ones are looked at
CHANGES_SHARE = 0.8  # of the budget may go into moves; the rest is for terms that held-out data does not support
WORTH_A_TERM = 1.0  # nats of held-out data that a term must save
MAX_DROPPED_RISE = 1.5  # of the squared error along all data without a term that held-out data does not support
FAR_SHARE = 0.5  # of the error of simple formulas: only if costlier ones leave less, they are started with
MAX_FAILED_FORMULAS = 4  # costlier than the present equation, one after the other, before the rest are skipped


@dataclass(frozen=True, slots=True, eq=False)
class ChosenSystem:
    """The equations of a system, and how well their numbers are known."""

    system: System  # with simple numbers where the data does not distinguish them from the fitted ones
    standard_errors: tuple[
        Numbers, ...
    ]  # of the numbers of each equation, in the order of `number_positions`; NaN: unknown
    chosen: tuple[int, ...]  # the row of each front that the equation came from
    refined: Refined | None  # None if the equations could not be followed along the data
    notes: tuple[str, ...]  # for people
    own_errors: tuple[tuple[float, ...], ...] = ()  # standard errors of each own number, one per run


Step = Callable[[Trial], Trial]  # returns a better system, or the same one


class SystemChooser:
    """Chooses among formulas by following the equations along the measured trajectories."""

    def __init__(
        self,
        rows: SystemRows,
        trials: SystemTrials,
        grammars: Sequence[Grammar],
        proposals: Sequence[Proposals],
        budget: SystemBudget,
        units: SystemUnits | None = None,
    ) -> None:
        bound = [grammar.bind(rows.variables) for grammar in grammars]
        self._rows, self._trials, self._proposals, self._budget = rows, trials, proposals, budget
        self._share = 1.0  # of the budget that the present steps may use
        self._moves = SystemMoves(rows, trials, bound, proposals, units)
        self._final_fit = FinalFit(trials, budget, [each.data for each in proposals], bound, units)

    def take(self, chosen: tuple[int, ...]) -> ChosenSystem:
        """Return formulas of the fronts as the searches left them."""
        programs = [each.front[row].program for each, row in zip(self._proposals, chosen, strict=True)]
        unknown = tuple(np.full(len(number_positions(program)), np.nan) for program in programs)
        return ChosenSystem(self._trials.make_system(programs), unknown, chosen, None, ())

    def make_solvable(self, chosen: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Return rows of the fronts that can be solved for the rates together, these ones if they can; and notes about others."""
        fronts = [each.front for each in self._proposals]
        return solvable_rows(chosen, fronts, self.take(chosen).system, self._rows)

    def choose(
        self,
        starts: Sequence[tuple[int, ...]],
        costlier: tuple[int, ...] | None = None,
        before: Trial | None = None,
    ) -> Trial | None:
        """Make moves while they shorten the description, and return the system that they lead to.

        Each start is a row of each front; the best start is taken. If it does not come as far as the costlier one already is, that is
        taken instead: at once if the others are far from the data. None if no start can be followed along the data.

        Args:
            starts: rows to start with.
            costlier: rows with formulas that are closer to the derivatives.
            before: a system that was chosen earlier, from other fronts; it is one of the starts.
        """
        best = self._begin(starts, costlier, before)
        if not np.isfinite(best.length_nats):
            return None
        best = self._grow_and_shrink(best, costlier)
        return self._repeat(best, [self._replace, self._grow, self._shrink], CHANGES_SHARE)

    def finish(self, best: Trial) -> ChosenSystem:
        """Drop terms that held-out data does not support, and fit the constants as precisely as the data allows."""
        best = self._drop_unsupported(best)
        fitted = self._final_fit.fit(best)
        errors = tuple(self._final_fit.standard_errors(fitted))
        return ChosenSystem(fitted.system, errors, best.chosen, fitted, fitted.notes)

    # ---- steps -----------------------------------------------------------------------------------

    def _begin(
        self, starts: Sequence[tuple[int, ...]], costlier: tuple[int, ...] | None, before: Trial | None
    ) -> Trial:
        """Return the system to begin with."""
        best = min((self._start(chosen) for chosen in dict.fromkeys(starts)), key=_length)
        if before is not None:
            best = min(best, self._start_again(before), key=_length)
        elif not self._rows.is_clean and not self._rows.rates:
            best = min([best, *self._start_by_elimination()], key=_length)
        if costlier is None:
            return best
        other = self._start(costlier)
        is_far = not np.isfinite(best.length_nats) or other.error < FAR_SHARE * best.error
        return other if is_far and np.isfinite(other.length_nats) else best

    def _start_again(self, before: Trial) -> Trial:
        programs = before.system.programs
        rows = tuple(each.row_of(program) for each, program in zip(self._proposals, programs, strict=True))
        return self._trials.try_programs(programs, rows)

    def _start_by_elimination(self) -> Iterator[Trial]:
        """Yield systems that contain only the simple terms that the samples need."""
        equations = [FullEquation.of(each.sums.library) for each in self._proposals]
        for programs in propose_by_elimination(equations, self._trials):
            rows = tuple(each.row_of(program) for each, program in zip(self._proposals, programs, strict=True))
            yield self._trials.try_programs(programs, rows)

    def _start(self, chosen: tuple[int, ...]) -> Trial:
        return self._trials.try_programs(self._moves.start(chosen), chosen)

    def _grow_and_shrink(self, best: Trial, costlier: tuple[int, ...] | None) -> Trial:
        """Add and leave out terms until that no longer helps; go on from the costlier start if that is better after a while."""
        steps = [self._grow, self._shrink]
        if costlier is None:
            return self._repeat(best, steps, CHANGES_SHARE)
        grown = self._repeat(best, steps, SIMPLE_STARTS_SHARE)
        is_cut_off = not self._budget.may_try(SIMPLE_STARTS_SHARE)
        better = min(grown, self._start(costlier), key=_length) if self._budget.may_try() else grown
        return self._repeat(better, steps, CHANGES_SHARE) if is_cut_off or better is not grown else grown

    def _repeat(self, best: Trial, steps: Sequence[Step], share: float) -> Trial:
        """Repeat steps, along segments as long as the system can be followed, until none helps or the share of the budget is used.

        As long as segments become longer, terms are only added: what can be left out, long segments show best.
        """
        before, self._share = None, share
        while best is not before and self._may_try():
            before, length = best, self._trials.length
            best = self._trials.lengthen(best)
            for step in steps if self._trials.length == length else [self._grow]:
                best = step(best)
        self._share = 1.0
        return best

    def _may_try(self) -> bool:
        return self._budget.may_try(self._share)

    def _replace(self, best: Trial) -> Trial:
        """Replace each equation by another formula that is better."""
        for state in range(len(self._proposals)):
            n_failed = 0
            for move in self._within_budget(self._moves.replacements(best, state)):
                better = self._trials.compare(best, self._try(best, move))
                n_failed = 0 if better is not best else n_failed + move.is_costlier
                best = better
                if n_failed == MAX_FAILED_FORMULAS:
                    break
        return best

    def _grow(self, best: Trial) -> Trial:
        """Add terms, one at a time, as long as that helps."""
        while (longer := self._first_better(best, self._moves.additions(best))) is not None:
            best = longer
        return best

    def _shrink(self, best: Trial) -> Trial:
        """Leave out terms and functions of each equation in turn, one at a time, as long as that helps."""
        for state in range(len(self._proposals)):
            shorter: Trial | None = best
            while shorter is not None and self._may_try():
                best = shorter
                shorter = self._first_better(best, self._moves.omissions(best, state))
        return best

    def _first_better(self, best: Trial, moves: Iterator[Move]) -> Trial | None:
        trials = (self._trials.compare(best, self._try(best, move)) for move in self._within_budget(moves))
        return next((trial for trial in trials if trial is not best), None)

    def _drop_unsupported(self, best: Trial) -> Trial:
        """Leave out terms without which the description of held-out data is hardly longer."""
        for state in range(len(self._proposals)):
            nats = self._trials.held_out_nats(best)
            for move in self._within_budget(self._moves.omissions(best, state)):
                shorter = self._try(best, move)
                is_near = (
                    shorter.error <= MAX_DROPPED_RISE * best.error
                )  # what is held out may be all that shows a term
                if is_near and self._trials.held_out_nats(shorter) <= nats + WORTH_A_TERM:
                    return self._drop_unsupported(shorter)
        return best

    def _within_budget(self, moves: Iterator[Move]) -> Iterator[Move]:
        """Yield moves as long as another one may be tried."""
        while self._may_try() and (move := next(moves, None)) is not None:
            yield move

    def _try(self, best: Trial, move: Move) -> Trial:
        """Return the system after a move."""
        programs, chosen = list(best.system.programs), list(best.chosen)
        programs[move.state], chosen[move.state] = move.program, move.front_row
        if not can_be_solved(self._trials.make_system(programs)):
            return replace(best, length_nats=np.inf)
        near = best if move.promise > 0 else None
        return self._trials.try_programs(
            programs, tuple(chosen), near=near, promise=move.promise, to_beat=best.length_nats
        )


def _length(trial: Trial) -> float:
    return trial.length_nats
