"""Systems on trial: their constants fitted along segments of the trajectories, and what that makes them worth.

Worth is the length of a description in nats: the equations, their numbers, and what is left of the measurements. Segments are as
long as the best system so far can be followed: long ones tell more, but no wrong system can be followed along them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import SystemBudget
from spl.dynamics.refine import noise_to_weigh, refine, refine_joined
from spl.dynamics.rows import Plan, SystemRows
from spl.dynamics.segments import choose_length
from spl.dynamics.shooting import Refined
from spl.formulas.operators import is_function
from spl.formulas.program import Program
from spl.formulas.system import System

Numbers = NDArray[np.float64]

FOLLOWED = (
    1.1  # times the error on segments half as long is allowed on longer ones: a right system loses few free numbers
)
MAX_LENGTH = 512  # samples of a segment
EXACT = 1e-4  # of the spread of a state: trajectories that are nearer to clean data are exact
SMALLEST = float(np.finfo(float).tiny)  # squared errors below this are 0, which has no logarithm
# What a function adds to the description of an equation beside its token: without it, functions stood in for terms that they hardly
# differ from on the data, as 21.6*sin(0.09*y) for 2*y. The size was set by judgement, not tuned on its own.
TOKEN_NATS, FUNCTION_NATS = 0.75, 2.5


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A system that was tried, the formulas of the fronts that its equations came from, and what it is worth; less is better."""

    fitted: Refined
    chosen: tuple[int, ...]
    worth: float

    @property
    def system(self) -> System:
        """The equations, with constants fitted to the trajectories."""
        return self.fitted.system

    @property
    def error(self) -> float:
        """The mean squared residual in units of the noise."""
        return self.fitted.error


class SystemTrials:
    """Fits systems to the trajectories, each set of equations once for a length of segments."""

    def __init__(self, data: Trajectories, rows: SystemRows, plan: Plan, budget: SystemBudget) -> None:
        self._data, self._rows, self._plan, self._budget = data, rows, plan, budget
        self._shortest = self.length = 2 * choose_length(data.runs, rows.starts, rows.noise)
        self._longest = min(MAX_LENGTH, max(run.n_samples for run in data.runs) // 2)
        self.states: Sequence[Numbers] = rows.starts  # as the best system so far has them
        self.exact_error = self._exact_error()
        self._tried: dict[tuple[tuple[int, ...], ...], Choice] = {}

    @property
    def n_observations(self) -> int:
        """How many numbers were measured."""
        return self._data.n_samples * len(self._data.states)

    def make(self, programs: Sequence[Program]) -> System:
        """Return the system of equations, one a state."""
        return System(self._data.states, self._data.inputs, tuple(programs), self._plan.order, self._plan.is_discrete)

    def try_programs(
        self,
        programs: Sequence[Program],
        chosen: tuple[int, ...],
        *,
        near: Choice | None = None,
        to_beat: float = np.inf,
    ) -> Choice:
        """Return what a system is worth, or at least a bound that is no better than what is `to_beat`.

        Constants begin along short segments, unless they are near those of a system that was tried.
        """
        key = tuple(program.tokens for program in programs)
        if key not in self._tried:
            system = self.make(programs)
            climbed = self._climb(system, chosen, to_beat) if near is None else self._refine(system, chosen, near)
            self._tried[key] = climbed
        return self._tried[key]

    def _climb(self, system: System, chosen: tuple[int, ...], to_beat: float) -> Choice:
        """Fit along ever longer segments. Two short ones always fit at least as well as one twice as long: some need not go on."""
        length = self._shortest
        choice = self._refine(system, chosen)
        while length < self.length and choice.worth < to_beat:
            length *= 2
            choice = self._join(choice)
        return choice

    def lengthen(self, best: Choice) -> Choice:
        """Go over to segments twice as long if the system can be followed along them: they tell more.

        From then on, fits begin with the states that the system has along its segments: smoothed ones are not as near.
        """
        if 2 * self.length <= self._longest and self._budget.may_try():
            longer = self._join(best)
            if np.isfinite(longer.worth) and longer.error <= FOLLOWED * max(best.error, self.exact_error):
                self.length *= 2
                self._tried.clear()
                best = longer
        self.states = best.fitted.fitted_states(self._rows.starts)
        return best

    def price(self, program: Program) -> float:
        """Return what an equation adds to a description, in nats: its tokens, and its numbers to the precision the data gives."""
        numbers = 0.5 * program.n_constants * log(self.n_observations)
        return TOKEN_NATS * program.cost + FUNCTION_NATS * count_functions(program) + numbers

    def _refine(self, system: System, chosen: tuple[int, ...], near: Choice | None = None) -> Choice:
        """Fit along the shortest segments, or along those of a choice that is near."""
        length, before = (self._shortest, None) if near is None else (None, near.fitted)
        data, noise, seconds = self._data.runs, self._rows.noise, self._budget.begin_fit()
        return self._judge(
            refine(system, data, self.states, noise, length=length, max_seconds=seconds, before=before), chosen
        )

    def _join(self, choice: Choice) -> Choice:
        """Fit along segments twice as long."""
        noise, seconds = self._rows.noise, self._budget.begin_fit()
        return self._judge(
            refine_joined(choice.fitted, self._data.runs, self.states, noise, max_seconds=seconds), choice.chosen
        )

    def _judge(self, fitted: Refined, chosen: tuple[int, ...]) -> Choice:
        if not fitted.is_used.any() or not np.isfinite(fitted.error):
            return Choice(fitted, chosen, np.inf)
        misfit = 0.5 * self.n_observations * log(max(fitted.error, self.exact_error, SMALLEST))
        return Choice(fitted, chosen, misfit + sum(map(self.price, fitted.system.programs)))

    def _exact_error(self) -> float:
        """Return the mean squared residual, in units of the noise, up to which trajectories are exact."""
        states = np.concatenate([run.x for run in self._data.runs])
        return float(np.mean((EXACT * states.std(axis=0) / noise_to_weigh(self._rows.noise, states)) ** 2))


def count_functions(program: Program) -> int:
    """Return how many functions a formula has, among them powers with a fitted exponent; signs and whole powers are none.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> count_functions(parse_expression("sin(x) - x**0.3/x**2", Vocabulary(("x",))))
        2
    """
    return sum(map(is_function, program.tokens))
