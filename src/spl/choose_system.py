"""Which formulas of the fronts are the equations of a system: those that can be followed along the measured trajectories.

Each trial fits the constants of the whole system to segments of the trajectories. It is judged on stretches held out, by a description
length that weighs the error against the length of the equations. Formulas are tried from simple to costly; terms that do not help are
dropped.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations_with_replacement
from math import log

import numpy as np
from numpy.typing import NDArray

from spl.ablate import add_term, drop_one_term
from spl.clean import simple_numbers_near
from spl.expression import CONSTANT_TOKEN
from spl.fit import POLISH_EFFORT, evaluate, fit
from spl.free import fix_constants, free_numbers
from spl.front import TOKEN_NATS, Front
from spl.grammar import Grammar
from spl.kernels import tokens as tk
from spl.program import Program
from spl.refine import Refined, judge, refine
from spl.segments import choose_length
from spl.simplify import simplify
from spl.system import System
from spl.system_rows import Plan, SystemRows
from spl.terms import multiply_out
from spl.trajectories import Trajectories, Trajectory

Numbers = NDArray[np.float64]

N_BLOCKS = 8  # stretches of a run, of which every fourth is held out
HELD_OUT = 4
MIN_BLOCK = 24  # samples of a stretch
FOLLOWED = 1.3  # times the error on segments half as long is allowed on longer ones
MAX_LENGTH = 512  # samples of a segment
HOPELESS = 0.5  # of its spread left unexplained is too far from the derivative to be tried
MAX_COST = 45  # of a formula that is tried
PATIENCE = 4  # formulas costlier than the one at hand that do not help, before the rest of a front is left
FIRST_FIT = 0.7  # of the time that is left is for the fit before numbers are made simple
SURE = 2.0  # standard errors within which a number may be another
MEANINGFUL = 0.25  # of the distance between simple numbers: nearer to one is no chance
MAX_TERMS = 24  # that are added to an equation on trial
MOST_USED = 0.8  # of the segments must be followed for a fit to count
SECOND_FIT = 1.0  # seconds that a fit may take when the time is up
MOVE_SHARE = 0.75  # of the time after the searches may go into trying other formulas


@dataclass(frozen=True, slots=True, eq=False)
class ChosenSystem:
    """The equations of a system, and how well their numbers are known."""

    system: System  # numbers are simple where the data does not tell them from such
    free: System  # the same before that: every number is a constant
    standard_errors: Numbers  # [C], of the constants of `free`; NaN if they were not fitted to the trajectories
    chosen: tuple[int, ...]  # the formula of each front that the equation came from
    refined: Refined | None  # None if the equations could not be followed along the data
    notes: tuple[str, ...]  # for people


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """A system under trial: its programs, the formulas of the fronts they came from, and what it is worth; less is better."""

    system: System
    chosen: tuple[int, ...]
    error: float  # mean squared residual on data held out, in units of the noise
    worth: float


Change = Callable[[_Choice, int], _Choice]  # of the equation of a state, if that is worth more


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """Stretches of the runs: those that constants are fitted to, and those that are held out."""

    runs: list[Trajectory]
    starts: list[Numbers]
    held_runs: list[Trajectory]
    held_starts: list[Numbers]


class _Freedom:
    """What a grammar lets a formula be changed to: every change keeps to the rules, but for the spelling."""

    def __init__(self, grammar: Grammar) -> None:
        start = tk.SYMBOL << tk.KIND_SHIFT
        names = range(len(grammar.vocabulary.variables))
        variables = [(tk.VARIABLE << tk.KIND_SHIFT | k,) for k in names]
        products = [(tk.MUL, *a, *b) for a, b in combinations_with_replacement(variables, 2)]
        self.numbers = grammar.vocabulary.literals
        self.has_factors = grammar.derives_template((tk.MUL, CONSTANT_TOKEN, start), 0) or grammar.derives_template(
            (tk.MUL, start, CONSTANT_TOKEN), 0
        )
        self.has_sums = grammar.derives_template((tk.ADD, start, start), 0)
        terms = [*variables, *products] if self.has_factors and self.has_sums else []
        self.terms = [term for term in terms if grammar.derives_template(term, 0)][:MAX_TERMS]


class SystemChooser:
    """Chooses among the formulas of the fronts by following the equations along the measured trajectories."""

    def __init__(
        self,
        data: Trajectories,
        rows: SystemRows,
        plan: Plan,
        grammars: Sequence[Grammar],
        fronts: Sequence[Front],
        deadline: float | None,
        must_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._data, self._rows, self._plan, self._fronts, self._deadline = data, rows, plan, fronts, deadline
        self._must_stop = must_stop
        self._began = time.monotonic()
        self._split = _split_runs(data.runs, rows.starts)
        self._shortest = self._length = 2 * choose_length(data.runs, rows.starts, rows.noise)
        self._longest = min(MAX_LENGTH, max(run.n_samples for run in self._split.runs) // 2)
        self._freedoms = [_Freedom(grammar.bind(rows.names)) for grammar in grammars]
        self._data_of = [rows.dataset(state) for state in range(len(fronts))]
        self._tried: dict[tuple[tuple[int, ...], ...], _Choice] = {}

    def take(self, chosen: tuple[int, ...], note: str = "") -> ChosenSystem:
        """Return formulas of the fronts as the searches left them."""
        system = self._system([front[k].program for front, k in zip(self._fronts, chosen, strict=True)])
        return ChosenSystem(system, system, np.full(system.n_constants, np.nan), chosen, None, (note,) if note else ())

    def choose(self, chosen: tuple[int, ...]) -> ChosenSystem | None:
        """Try formulas while that helps on data held out, then fit the constants to all of the data.

        It begins with the formulas `chosen`; None if these cannot be followed along the data.
        """
        best = self._try_programs([self._prepare(state, k) for state, k in enumerate(chosen)], chosen)
        if not np.isfinite(best.worth):
            return None
        best = self._repeat(best, [self._add_terms, self._drop_terms])
        best = self._repeat(best, [self._scan_front, self._add_terms, self._drop_terms])
        return self._finish(best)

    def _repeat(self, best: _Choice, changes: Sequence[Change]) -> _Choice:
        """Try changes of each equation in turn, along segments as long as the system can be followed, until none helps."""
        before = None
        while best is not before and self._seconds_left(MOVE_SHARE) > 0:
            before = best = self._lengthen(best)
            for change in changes:
                for state in range(len(self._fronts)):
                    best = change(best, state)
        return best

    def _scan_front(self, best: _Choice, state: int) -> _Choice:
        """Try the formulas of a front in place of the equation of its state, from simple to costly, until several did not help."""
        front = self._fronts[state]
        n_in_vain = 0
        for k, candidate in enumerate(front):
            if candidate.loss > HOPELESS * self._data_of[state].spread or candidate.cost > MAX_COST:
                continue
            if n_in_vain == PATIENCE or self._seconds_left(MOVE_SHARE) <= 0:
                break
            program = self._prepare(state, k)
            if not _can_be_fitted(program):
                continue
            trial = self._try(best, state, program, k)
            n_in_vain = 0 if trial.worth < best.worth else n_in_vain + (k > best.chosen[state])
            best = min(best, trial, key=lambda choice: choice.worth)
        return best

    def _add_terms(self, best: _Choice, state: int) -> _Choice:
        """Give an equation each simple term that it may have and is worth more with: smoothed derivatives hide small terms."""
        for term in self._freedoms[state].terms:
            if self._seconds_left(MOVE_SHARE) <= 0:
                break
            longer = add_term(best.system.programs[state], term)
            if longer is None:
                break
            refitted = fit(longer, self._data_of[state], effort=POLISH_EFFORT).program
            best = min(best, self._try(best, state, refitted, best.chosen[state]), key=lambda choice: choice.worth)
        return best

    def _drop_terms(self, best: _Choice, state: int) -> _Choice:
        """Leave out terms of an equation while it is worth more without them."""
        is_better = self._freedoms[state].has_sums
        while is_better:
            is_better = False
            program = best.system.programs[state]
            for shorter in chain(drop_one_term(program), drop_one_term(multiply_out(program))):
                if not _can_be_fitted(shorter):
                    continue
                refitted = fit(self._free(state, shorter), self._data_of[state], effort=POLISH_EFFORT)
                if refitted.loss > HOPELESS * self._data_of[state].spread or self._seconds_left(MOVE_SHARE) <= 0:
                    continue
                trial = self._try(best, state, refitted.program, best.chosen[state])
                if trial.worth < best.worth:
                    best, is_better = trial, True
                    break
        return best

    def _try(self, best: _Choice, state: int, program: Program, k: int) -> _Choice:
        """Return the system with another equation for one state, which came from formula k of its front."""
        programs, chosen = list(best.system.programs), list(best.chosen)
        programs[state], chosen[state] = program, k
        return self._try_programs(programs, tuple(chosen))

    def _prepare(self, state: int, k: int) -> Program:
        """Return a formula of a front in its simplest spelling, with all of its numbers free."""
        return self._free(state, self._simplify(state, self._fronts[state][k].program))

    def _free(self, state: int, program: Program) -> Program:
        grammar = self._freedoms[state]
        return free_numbers(program, kept=grammar.numbers, has_factors=grammar.has_factors)

    def _simplify(self, state: int, program: Program) -> Program:
        def agree(program: Program, simpler: Program) -> bool:
            values, others = (evaluate(p, self._data_of[state].columns) for p in (program, simpler))
            return bool(np.allclose(values, others, rtol=1e-6, atol=1e-9 * self._data_of[state].spread))

        return simplify(program, agree)

    def _lengthen(self, best: _Choice) -> _Choice:
        """Go over to segments twice as long while the system can be followed along them: they tell more."""
        while 2 * self._length <= self._longest and self._seconds_left(MOVE_SHARE) > 0:
            longer = self._fit(best.system.programs, best.chosen, 2 * self._length)
            if not longer.error <= FOLLOWED * best.error:
                break
            self._length *= 2
            self._tried.clear()
            best = longer
        return best

    def _try_programs(self, programs: Sequence[Program], chosen: tuple[int, ...]) -> _Choice:
        """Return what a system is worth, tried once."""
        key = tuple(program.tokens for program in programs)
        if key not in self._tried:
            self._tried[key] = self._fit(programs, chosen, self._length)
        return self._tried[key]

    def _fit(self, programs: Sequence[Program], chosen: tuple[int, ...], length: int) -> _Choice:
        """Fit the constants of a system to a part of the data, first along short segments, and judge it on the rest."""
        system, split, noise = self._system(programs), self._split, self._rows.noise
        for each in (self._shortest, length) if length > self._shortest else (length,):
            seconds = max(self._seconds_left(1.0) / 4, 0.0)
            fitted = refine(system, split.runs, split.starts, noise, length=each, max_seconds=seconds)
            system = fitted.system
        if not fitted.is_used.any():
            return _Choice(system, chosen, np.inf, np.inf)
        error = judge(system, split.held_runs, noise, split.held_starts, length=length)
        return _Choice(system, chosen, error, self._describe(system, error))

    def _describe(self, system: System, error: float) -> float:
        """Return the length of a description in nats: equations, their numbers, and what is left of the measurements."""
        n_observations = self._data.n_samples * len(self._data.states)
        structure = TOKEN_NATS * sum(program.cost for program in system.programs)
        numbers = 0.5 * system.n_constants * log(n_observations)
        return 0.5 * n_observations * log(max(error, 1e-300)) + structure + numbers

    def _finish(self, best: _Choice) -> ChosenSystem:
        """Fit the constants to all of the data, and make those simple numbers that the data does not tell from one."""
        refined = self._fit_to_all(best, best.system, FIRST_FIT * self._seconds_left(1.0))
        cleaned = _clean_system(refined)
        system = replace(cleaned, programs=tuple(map(self._simplify, range(len(cleaned.programs)), cleaned.programs)))
        if not np.all(np.isfinite(system.slopes(np.ascontiguousarray(self._rows.table.T)))):
            system = refined.system  # a number that may be 0 must not be
        if 0 < system.n_constants < refined.system.n_constants:
            system = self._fit_to_all(best, system, self._seconds_left(1.0)).system
        return ChosenSystem(system, refined.system, refined.standard_errors, best.chosen, refined, refined.notes)

    def _fit_to_all(self, best: _Choice, system: System, seconds: float) -> Refined:
        """Fit to segments as long as the system can be followed; where that fails, to segments of the length of the trials."""
        runs, starts, noise = self._data.runs, self._rows.starts, self._rows.noise
        refined = refine(system, runs, starts, noise, max_seconds=max(seconds, 0.0))
        if refined.is_used.mean() >= MOST_USED and refined.chi2 <= FOLLOWED * best.error:
            return refined
        return refine(system, runs, starts, noise, length=self._length, max_seconds=max(seconds, SECOND_FIT))

    def _system(self, programs: Sequence[Program]) -> System:
        return System(self._data.states, self._data.inputs, tuple(programs), self._plan.order, self._plan.is_discrete)

    def _seconds_left(self, share: float) -> float:
        """Return the seconds until a share of the time after the searches is used up; none if it must stop."""
        if self._must_stop():
            return 0.0
        if self._deadline is None:
            return np.inf
        return self._began + share * (self._deadline - self._began) - time.monotonic()


def _can_be_fitted(program: Program) -> bool:
    return len(program) <= tk.MAX_LENGTH and program.n_constants <= tk.MAX_CONSTANTS


def _clean_system(refined: Refined) -> System:
    """Return the system with simple numbers in place of constants that are near one, and known so well that this means something.

    Those that may as well be 0 are.
    """
    programs = []
    errors = iter(refined.standard_errors)
    for program in refined.system.programs:
        numbers = [_simple_number(value, SURE * next(errors)) for value in program.constants]
        programs.append(fix_constants(program, numbers))
    return replace(refined.system, programs=tuple(programs))


def _simple_number(value: float, limit: float) -> float | None:
    """Return a simple number within the limit of a value; None if there is none, or if one would be there by chance."""
    if abs(value) <= limit < np.inf:
        return 0.0
    near = (n for n, gap in simple_numbers_near(value) if abs(n - value) <= limit and limit <= MEANINGFUL * gap)
    return next(near, None)


def _split_runs(runs: Sequence[Trajectory], starts: Sequence[Numbers]) -> _Split:
    """Cut runs into stretches and hold every fourth out; of few samples all are used for both."""
    pieces = [
        (_cut(run, first, end), states[first:end])
        for run, states in zip(runs, starts, strict=True)
        for first, end in _stretches(run.n_samples)
    ]
    kept = [piece for k, piece in enumerate(pieces) if k % HELD_OUT != HELD_OUT - 1]
    held = pieces[HELD_OUT - 1 :: HELD_OUT] or kept
    return _Split([run for run, _ in kept], [s for _, s in kept], [run for run, _ in held], [s for _, s in held])


def _stretches(n_samples: int) -> Iterator[tuple[int, int]]:
    n_blocks = max(1, min(N_BLOCKS, n_samples // MIN_BLOCK))
    edges = np.linspace(0, n_samples, n_blocks + 1).astype(int)
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def _cut(run: Trajectory, first: int, end: int) -> Trajectory:
    x_dot = None if run.x_dot is None else run.x_dot[first:end]
    return Trajectory(run.t[first:end], run.x[first:end], run.u[first:end], x_dot)
