"""Systems on trial: their constants fitted along segments of the trajectories, and how long a description that gives.

The description has four parts, in nats: the equations, their numbers, the first states of all segments, and what is left of the
measurements. Segments are as long as the best system so far can be followed: long ones say more. Where one trajectory does not fit
as well as two, a segment stays cut, and the description pays for another first state. So a system that can be followed longer wins,
and a single segment that a fit loses does not decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories
from spl.dynamics.aliasing import SampleSequence
from spl.dynamics.budget import Deadline, SystemBudget
from spl.dynamics.held_out import HeldOut
from spl.dynamics.refine import (
    EXACT_TRAJECTORY,
    SMALLEST_ERROR,
    Refined,
    find_standard_errors,
    noise_to_weigh,
    refine,
    refine_joined,
)
from spl.dynamics.rows import FLOW_METHOD, Plan, SystemRows
from spl.dynamics.run_differences import find_different_runs
from spl.dynamics.segments import MIN_COARSE_LENGTH, MIN_LENGTH, choose_length, spread_samples
from spl.dynamics.soft_fit import SoftSystem, SoftTerms
from spl.formulas.program import Program
from spl.formulas.system import System
from spl.regression.description_length import equation_nats, typical_number_nats

Numbers = NDArray[np.float64]

KEPT_PROMISE = 0.5  # of the nats that a further term promises: a fit that saves less may be stuck
CLEARLY_WORSE = 30.0  # nats, about two cuts of a segment: where segments are cut is partly luck
MAX_SEGMENT_LENGTH = 512  # samples
MAX_SOFT_SAMPLES = 10_000  # of all runs: more take memory and time, and add little


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A system that was tried."""

    fitted: Refined
    chosen: tuple[int, ...]  # the row of each front that the equation came from
    length_nats: float  # of the description; infinite if the system cannot be followed

    @property
    def system(self) -> System:
        """The equations, with constants fitted to the trajectories."""
        return self.fitted.system

    @property
    def error(self) -> float:
        """The mean squared residual in units of the noise."""
        return self.fitted.error


class SystemTrials:
    """Fits systems to the trajectories, each set of equations once per length of segments."""

    def __init__(self, data: Trajectories, rows: SystemRows, plan: Plan, budget: SystemBudget) -> None:
        self._data, self._rows, self._plan, self._budget = data, rows, plan, budget
        self._samples = SampleSequence.of(data, rows, is_discrete=plan.is_discrete)
        shortest = MIN_COARSE_LENGTH if rows.method == FLOW_METHOD else MIN_LENGTH
        self.shortest = self.length = 2 * choose_length(data.runs, rows.starts, rows.noise, shortest)
        self._longest = min(MAX_SEGMENT_LENGTH, max(run.n_samples for run in data.runs) // 2)
        self.states: Sequence[Numbers] = rows.starts  # as the best system so far has them
        self.exact_error = self._exact_error()
        self._tried: dict[tuple[tuple[int, ...], ...], Trial] = {}
        self._levels: dict[
            int, float
        ] = {}  # nats of the best system so far by length of segments, before they were lengthened

    @property
    def n_observations(self) -> int:
        """How many numbers were measured."""
        return self._data.n_samples * len(self._data.states)

    def make_system(self, programs: Sequence[Program]) -> System:
        """Return the system with these equations, one per state."""
        data, plan = self._data, self._plan
        return System(data.states, data.inputs, tuple(programs), plan.order, plan.is_discrete, plan.is_implicit)

    def try_programs(
        self,
        programs: Sequence[Program],
        chosen: tuple[int, ...],
        *,
        near: Trial | None = None,
        promise: float = 0.0,
        to_beat: float = np.inf,
    ) -> Trial:
        """Fit a system and return its description length, or a lower bound if that is already no better than `to_beat`.

        The fit starts along short segments, unless it starts from a trial with nearly the same constants, compared with which it
        promises to save some nats. If it does not keep that promise, it is tried along short segments too.
        """
        key = _key(programs)
        if key not in self._tried:
            system = self.make_system(programs)
            trial = None if near is None else self._fit_near(system, chosen, near)
            if near is None or trial is None or near.length_nats - trial.length_nats < KEPT_PROMISE * promise:
                climbed = self._climb(system, chosen, to_beat)
                trial = climbed if trial is None else min(trial, climbed, key=_length)
            self._tried[key] = trial
        return self._tried[key]

    def may_try(self) -> bool:
        """Return whether another system may be tried."""
        return self._budget.may_try()

    @property
    def deadline(self) -> Deadline:
        """When trying systems must end."""
        return self._budget.deadline

    def begin_soft(self, terms: SoftTerms) -> SoftSystem:
        """Return a system of which states and factors can be fitted together; see `spl.dynamics.soft_fit`."""
        runs, states = spread_samples(self._data.runs, self.states, most=MAX_SOFT_SAMPLES)
        return SoftSystem.begin(terms, runs, states, self._noise(), is_discrete=self._plan.is_discrete)

    def start_from(self, states: Sequence[Numbers]) -> None:
        """Let fits start with these states [N, S], one array per run, unless they are only some of all samples."""
        if [len(each) for each in states] == [run.n_samples for run in self._data.runs]:
            self.states = states

    def compare(self, best: Trial, challenger: Trial) -> Trial:
        """Return the better of two systems.

        Where segments are cut is partly luck. So a system that would lose to one with other segments is first fitted along these.
        """
        if challenger.length_nats >= best.length_nats:
            return best
        if challenger.fitted.segments.n_segments < best.fitted.segments.n_segments:
            again = self._fit_near(best.system, best.chosen, challenger)
            best = min(best, again, key=_length)
            self._tried[_key(best.system.programs)] = best
        return min(best, challenger, key=_length)

    def lengthen(self, best: Trial) -> Trial:
        """Change to segments twice as long if the system can be followed along them: they say more.

        From then on, fits start with the states that the system has along its segments: smoothed ones are not as close.
        """
        if 2 * self.length <= self._longest and self._budget.may_try():
            longer = self._fit_joined(best)
            if longer.length_nats < best.length_nats:
                self._levels[self.length] = best.length_nats
                self.length *= 2
                self._tried.clear()
                best = longer
        self.states = best.fitted.fitted_states(self._rows.starts)
        return best

    def price(self, program: Program) -> float:
        """Return what an equation adds to a description, in nats."""
        return equation_nats(program, self.n_observations)

    def held_out_nats(self, trial: Trial) -> float:
        """Return the description length of data that the constants are not fitted to, without that of the equations."""
        held_out = HeldOut(self._data, self.states, self._rows.noise, self.exact_error)
        seconds = self._budget.begin_fit()
        return self._describe(held_out.fit(trial.system, self.shortest, self.length, max_seconds=seconds))

    def refine(
        self, system: System, *, max_seconds: float, length: int | None = None, before: Refined | None = None
    ) -> Refined:
        """Fit a system to the trajectories; see `spl.dynamics.refine`."""
        runs, noise = self._data.runs, self._rows.noise
        return refine(system, runs, self.states, noise, length=length, max_seconds=max_seconds, before=before)

    def find_standard_errors(self, system: System, fitted: Refined) -> Numbers:
        """Return the standard errors of the constants of a fitted system, which may be written in another form."""
        return find_standard_errors(system, fitted, self._data.runs, self.states, self._rows.noise)

    def find_different_runs(self, fitted: Refined) -> str:
        """Return a doubt if the runs seem to have different numbers; "" otherwise."""
        return find_different_runs(fitted, self._data.runs, self.states, self._rows.noise, self.exact_error)

    def _climb(self, system: System, chosen: tuple[int, ...], to_beat: float) -> Trial:
        """Fit along ever longer segments, and stop early if the system cannot win.

        Two short segments always fit at least as well as one twice as long, so only their first states can be saved. A system that
        is clearly worse than the best one was along segments as short is not followed along longer ones.
        """
        length = self.shortest
        fitted = self.refine(system, length=length, max_seconds=self._budget.begin_fit())
        trial = self._make_trial(fitted, chosen)
        while length < self.length:
            least = trial.length_nats - self._most_saved(trial, length)
            if least >= to_beat or trial.length_nats > self._levels.get(length, np.inf) + CLEARLY_WORSE:
                break
            length *= 2
            trial = self._fit_joined(trial)
        return trial

    def _most_saved(self, trial: Trial, length: int) -> float:
        """Return by how many nats a description becomes shorter if all its segments of a length can be joined."""
        return self._price_first_states(trial.fitted) * (1 - length / self.length)

    def _fit_near(self, system: System, chosen: tuple[int, ...], near: Trial) -> Trial:
        """Fit along the segments of a trial, from its states."""
        fitted = self.refine(system, before=near.fitted, max_seconds=self._budget.begin_fit())
        return self._make_trial(fitted, chosen)

    def _fit_joined(self, trial: Trial) -> Trial:
        """Fit along segments twice as long."""
        noise, seconds = self._rows.noise, self._budget.begin_fit()
        fitted = refine_joined(
            trial.fitted, self._data.runs, self.states, noise, exact_error=self.exact_error, max_seconds=seconds
        )
        return self._make_trial(fitted, trial.chosen)

    def _make_trial(self, fitted: Refined, chosen: tuple[int, ...]) -> Trial:
        if self._samples.any_too_fast(fitted.system.programs):
            return Trial(fitted, chosen, np.inf)
        return Trial(fitted, chosen, self._describe(fitted) + sum(map(self.price, fitted.system.programs)))

    def _describe(self, fitted: Refined) -> float:
        """Return the nats of the measurements along the segments of a fit; infinite if it cannot be followed."""
        if not fitted.is_used.any() or not np.isfinite(fitted.error):
            return np.inf
        n_observations = int(fitted.segments.size.sum()) * len(self._data.states)
        misfit = 0.5 * n_observations * log(max(fitted.error, self.exact_error, SMALLEST_ERROR))
        return misfit + self._price_first_states(fitted)

    def _price_first_states(self, fitted: Refined) -> float:
        return typical_number_nats(fitted.initial_states.size, self.n_observations)

    def _noise(self) -> Numbers:
        """Return the noise of each state that residuals are divided by [D]."""
        return noise_to_weigh(self._rows.noise, np.concatenate([run.x for run in self._data.runs]))

    def _exact_error(self) -> float:
        """Return the mean squared residual, in units of the noise, up to which trajectories are exact."""
        spread = np.concatenate([run.x for run in self._data.runs]).std(axis=0)
        return float(np.mean((EXACT_TRAJECTORY * spread / self._noise()) ** 2))


def _key(programs: Sequence[Program]) -> tuple[tuple[int, ...], ...]:
    return tuple(program.tokens for program in programs)


def _length(trial: Trial) -> float:
    return trial.length_nats
