"""Systems on trial: their constants fitted along segments of the trajectories, and what that makes them worth.

Worth is the length of a description in nats: the equations, their numbers, and what is left of the measurements. Segments are as
long as the best system so far can be followed: long ones tell more, but no wrong system can be followed along them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from spl.front import TOKEN_NATS
from spl.kernels import tokens as tk
from spl.program import Program
from spl.refine import noise_to_weigh, refine
from spl.segments import choose_length
from spl.shooting import Refined
from spl.system import System
from spl.system_rows import Plan, SystemRows
from spl.trajectories import Trajectories

Numbers = NDArray[np.float64]

FOLLOWED = 1.3  # times the error on segments half as long is allowed on longer ones
MAX_LENGTH = 512  # samples of a segment
EXACT = 1e-4  # of the spread of a state: trajectories that are nearer to clean data are exact
SMALLEST = float(np.finfo(float).tiny)  # squared errors below this are 0, which has no logarithm
TRIAL_SHARE = 0.25  # of the time that is left may go into one trial
# What a function adds to the description of an equation beside its token: without it, functions stood in for terms that they hardly
# differ from on the data, as 21.6*sin(0.09*y) for 2*y. The size was set by judgement, not tuned on its own.
FUNCTION_NATS = 2.5
_NO_FUNCTIONS = (tk.ADD, tk.SUB, tk.MUL, tk.DIV, tk.NEG, tk.INV, tk.SQUARE, tk.CUBE)


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

    def __init__(self, data: Trajectories, rows: SystemRows, plan: Plan, seconds_left: Callable[[], float]) -> None:
        self._data, self._rows, self._plan, self._seconds_left = data, rows, plan, seconds_left
        self._shortest = self.length = 2 * choose_length(data.runs, rows.starts, rows.noise)
        self._longest = min(MAX_LENGTH, max(run.n_samples for run in data.runs) // 2)
        self.exact_error = self._exact_error()
        self._tried: dict[tuple[tuple[int, ...], ...], Choice] = {}

    @property
    def n_observations(self) -> int:
        """How many numbers were measured."""
        return self._data.n_samples * len(self._data.states)

    def make(self, programs: Sequence[Program]) -> System:
        """Return the system of equations, one a state."""
        return System(self._data.states, self._data.inputs, tuple(programs), self._plan.order, self._plan.is_discrete)

    def try_programs(self, programs: Sequence[Program], chosen: tuple[int, ...], near: Choice | None = None) -> Choice:
        """Return what a system is worth. Constants that are not near those of a system that was tried begin along short segments."""
        key = tuple(program.tokens for program in programs)
        if key not in self._tried:
            self._tried[key] = self._fit(programs, chosen, near)
        return self._tried[key]

    def lengthen(self, best: Choice) -> Choice:
        """Go over to segments twice as long while the system can be followed along them: they tell more."""
        while 2 * self.length <= self._longest and self._seconds_left() > 0:
            longer = self._judge(self._refine(best.system, 2 * self.length), best.chosen)
            if not longer.error <= FOLLOWED * max(best.error, self.exact_error):
                break
            self.length *= 2
            self._tried.clear()
            best = longer
        return best

    def price(self, program: Program) -> float:
        """Return what an equation adds to a description, in nats: its tokens, and its numbers to the precision the data gives."""
        numbers = 0.5 * program.n_constants * log(self.n_observations)
        return TOKEN_NATS * program.cost + FUNCTION_NATS * count_functions(program) + numbers

    def _fit(self, programs: Sequence[Program], chosen: tuple[int, ...], near: Choice | None) -> Choice:
        system = self.make(programs)
        if near is not None:
            return self._judge(self._refine(system, self.length, near.fitted), chosen)
        if self.length > self._shortest:
            system = self._refine(system, self._shortest).system
        return self._judge(self._refine(system, self.length), chosen)

    def _refine(self, system: System, length: int, before: Refined | None = None) -> Refined:
        seconds = max(TRIAL_SHARE * self._seconds_left(), 0.0)
        data, rows = self._data, self._rows
        return refine(system, data.runs, rows.starts, rows.noise, length=length, max_seconds=seconds, before=before)

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
        >>> from spl.expression import parse_expression
        >>> from spl.program import Vocabulary
        >>> count_functions(parse_expression("sin(x) - x**0.3/x**2", Vocabulary(("x",))))
        2
    """
    return sum(token >> tk.KIND_SHIFT == tk.OPERATOR and token not in _NO_FUNCTIONS for token in program.tokens)
