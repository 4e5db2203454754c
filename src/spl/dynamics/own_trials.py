"""Systems on trial whose constants may differ between runs: each run has all for itself, then it is asked what can be shared.

The description has the parts of `trials`: equations, numbers, first states, and what is left of the measurements. How many numbers
there are depends on what the runs share, see `sharing`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.aliasing import SampleSequence
from spl.dynamics.budget import Deadline, SystemBudget
from spl.dynamics.own_system import all_own, write_own_system
from spl.dynamics.refine import (
    EXACT_TRAJECTORY,
    SMALLEST_ERROR,
    Refined,
    noise_to_weigh,
    refine_in_steps,
    refine_joined,
)
from spl.dynamics.rows import Plan
from spl.dynamics.run_differences import find_run_fits
from spl.dynamics.run_rows import RunRows
from spl.dynamics.segments import MIN_LENGTH, choose_length
from spl.dynamics.sharing import RunFits, Sharing, choose_sharing
from spl.dynamics.trials import MAX_SEGMENT_LENGTH
from spl.formulas.program import Program
from spl.formulas.system import System
from spl.regression.description_length import equation_nats, typical_number_nats

Numbers = NDArray[np.float64]

MOST_DOUBLINGS = 3  # of the shortest segments: longer ones say more, but take longer to follow


@dataclass(frozen=True, slots=True, eq=False)
class RunEquation:
    """The equation of a state, with numbers that were fitted to the derivatives of each run."""

    program: Program
    values: Numbers  # [G, C]
    loss: float  # geometric mean, over all runs, of how far it is from the derivatives

    @property
    def key(self) -> tuple[int, ...]:
        """What is the same for equations that differ in their numbers alone."""
        return self.program.tokens


@dataclass(frozen=True, slots=True, eq=False)
class OwnTrial:
    """A system that was tried."""

    equations: tuple[RunEquation, ...]
    fitted: Refined  # with all constants as own numbers
    runs: RunFits | None  # None if the system cannot be followed
    sharing: Sharing
    length_nats: float  # of the description; infinite if the system cannot be followed

    @property
    def error(self) -> float:
        """The mean squared residual in units of the noise, with nothing shared."""
        return self.fitted.error


class OwnTrials:
    """Fits systems to the trajectories of all runs, with numbers of their own for each run; each set of equations once."""

    def __init__(self, rows: RunRows, plan: Plan, budget: SystemBudget, most_own: int | None) -> None:
        self.rows, self.plan, self._budget, self._most_own = rows, plan, budget, most_own
        self.shortest = 2 * choose_length(rows.pieces, rows.starts, rows.noise, MIN_LENGTH)
        longest = min(MAX_SEGMENT_LENGTH, max(run.n_samples for run in rows.pieces))
        self.longest = max(self.shortest, min(longest, self.shortest * 2**MOST_DOUBLINGS))
        self.exact_error = self._find_exact_error()
        self._tried: dict[tuple[tuple[int, ...], ...], OwnTrial] = {}

    @property
    def n_observations(self) -> int:
        """How many numbers were measured."""
        return sum(run.n_samples for run in self.rows.pieces) * len(self.rows.data.states)

    def may_try(self, share: float = 1.0) -> bool:
        """Return whether another system may be tried, with this share of the budget."""
        return self._budget.may_try(share)

    def try_equations(self, equations: Sequence[RunEquation], to_beat: float = np.inf) -> OwnTrial:
        """Fit a system run by run, and find what the runs share; its length is only a lower bound if that does not beat a length."""
        key = tuple(equation.key for equation in equations)
        if key not in self._tried:
            self._tried[key] = self._try(tuple(equations), to_beat)
        return self._tried[key]

    def plain_system(self, equations: Sequence[RunEquation]) -> System:
        """Return the equations with constants alone."""
        data, plan = self.rows.data, self.plan
        programs = tuple(equation.program for equation in equations)
        return System(data.states, data.inputs, programs, plan.order, plan.is_discrete)

    def _try(self, equations: tuple[RunEquation, ...], to_beat: float) -> OwnTrial:
        rows, plain = self.rows, self.plain_system(equations)
        values = np.hstack([equation.values for equation in equations])
        nothing = all_own(plain.n_constants)
        labels, factors = rows.data.run_labels, np.ones(plain.n_constants)
        system = write_own_system(plain, labels, nothing, values, factors, writes_signs=False)
        deadline = Deadline.after(self._budget.begin_fit())
        fitted = self.fit(system, deadline, self.shortest)
        least = self._least_length(fitted, plain)
        if least >= to_beat:
            return OwnTrial(equations, fitted, None, nothing, least)
        fitted = self._fit_longer(fitted, deadline)
        used = {int(place) for place in fitted.segments.experiment[fitted.is_used]}
        if len(used) < rows.n_runs or not np.isfinite(fitted.error):
            return OwnTrial(equations, fitted, None, nothing, np.inf)
        runs = find_run_fits(fitted, rows.pieces, rows.starts, rows.noise, exact_error=self.exact_error)
        sharing, number_nats = choose_sharing(runs, self._most_own)
        return OwnTrial(equations, fitted, runs, sharing, self.describe(fitted, plain.programs) + number_nats)

    def fit(self, system: System, deadline: Deadline, longest: int | None = None) -> Refined:
        """Fit a system to all runs along ever longer segments."""
        rows = self.rows
        lengths = self.shortest, longest or self.longest
        return refine_in_steps(
            system, rows.pieces, rows.starts, rows.noise, lengths, exact_error=self.exact_error, deadline=deadline
        )

    def _fit_longer(self, fitted: Refined, deadline: Deadline) -> Refined:
        """Go on from a fit along the shortest segments."""
        rows, length = self.rows, self.shortest
        while length < self.longest and fitted.is_used.any():
            length *= 2
            fitted = refine_joined(
                fitted,
                rows.pieces,
                rows.starts,
                rows.noise,
                exact_error=self.exact_error,
                max_seconds=deadline.seconds_left,
            )
        return fitted

    def _least_length(self, fitted: Refined, plain: System) -> float:
        """Return the length of a description that a fit along short segments may lead to at best: all shared, and all joined."""
        if not fitted.is_used.any() or not np.isfinite(fitted.error):
            return np.inf
        saved = typical_number_nats(fitted.initial_states.size, self.n_observations) * (
            1 - self.shortest / self.longest
        )
        numbers = typical_number_nats(plain.n_constants, self.n_observations)
        return float(self.describe(fitted, plain.programs) - saved + numbers)

    def describe(self, fitted: Refined, programs: Sequence[Program]) -> float:
        """Return the nats of measurements, first states and equations, without those of numbers."""
        n_observations = int(fitted.segments.size.sum()) * len(self.rows.data.states)
        misfit = 0.5 * n_observations * log(max(fitted.error, self.exact_error, SMALLEST_ERROR))
        first_states = typical_number_nats(fitted.initial_states.size, self.n_observations)
        return misfit + first_states + sum(equation_nats(program, 1) for program in programs)

    def is_too_fast(self, program: Program) -> bool:
        """Return whether a formula contains an oscillation that the samples cannot show."""
        return self._samples().is_too_fast(program)

    def _samples(self) -> SampleSequence:
        if self.plan.is_discrete:
            return SampleSequence(())
        pairs = zip(self.rows.starts, self.rows.pieces, strict=True)
        return SampleSequence(tuple(np.ascontiguousarray(np.hstack([states, run.u]).T) for states, run in pairs))

    def _find_exact_error(self) -> float:
        measured = np.concatenate([run.x for run in self.rows.pieces])
        return float(
            np.mean((EXACT_TRAJECTORY * measured.std(axis=0) / noise_to_weigh(self.rows.noise, measured)) ** 2)
        )
