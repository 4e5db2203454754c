"""Precise trajectories of a system from a given start, with the reason if one ends early.

Steps are adaptive: an explicit method first, then an implicit one once the equations turn out to be stiff.
Fast integration of many short segments is in `kernels/programs/integrate`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.data.arrays import read_numbers
from spl.dynamics.system_packing import make_stack, pack_system
from spl.errors import DataError
from spl.formulas.system import System
from spl.kernels.programs.evaluate import evaluate_all

Numbers = NDArray[np.float64]

RELATIVE_TOLERANCE = 1e-8
ABSOLUTE_TOLERANCE = 1e-10  # in units of the start of each state
SMALLEST_UNIT = 1e-6  # for a state that starts near zero, as a share of the largest start
EXPLOSION = 1e12  # a state this many times larger than the largest start has diverged
EXPLICIT_EVALUATIONS = 20_000  # with more, the equations count as stiff; about 0.3 s
MAX_SLOPE_EVALUATIONS = 200_000
EVALUATIONS_PER_SAMPLE = 60  # allowed on top of both; a step of the explicit method takes 12


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """The states at the requested times; NaN after an early end."""

    states: Numbers  # [N, S]
    ended: float | None = None  # the time of an early end
    reason: str = ""  # of an early end, in words


def simulate(
    system: System, x0: ArrayLike, t: ArrayLike, u: ArrayLike | Callable[[float], ArrayLike] | None = None
) -> Simulation:
    """Return the states at times t, starting from the states x0 at t[0]; for order 2 followed by the velocities.

    Inputs are columns [N, U] at the times, linear in between, or a function of time. A map takes one step per time.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> decay = System(("x",), (), (parse_expression("-x", Vocabulary(("x",))),))
        >>> simulate(decay, [1.0], [0.0, 1.0]).states.round(4).tolist()
        [[1.0], [0.3679]]
        >>> explosion = System(("x",), (), (parse_expression("x**2", Vocabulary(("x",))),))
        >>> simulate(explosion, [1.0], [0.0, 0.5, 2.0]).reason
        'x grew beyond all bounds'
    """
    times = check_times(t)
    start = _check_start(system, x0)
    inputs = _check_inputs(system, u, times)
    slopes = _Slopes(system, inputs)
    states = np.full((times.size, start.size), np.nan)
    states[0] = start
    with np.errstate(all="ignore"):
        if system.is_discrete:
            ended = _iterate(slopes, times, states)
        else:
            ended = _integrate(slopes, times, states, has_kinks=u is not None and not callable(u))
    if ended is None:
        return Simulation(states)
    return Simulation(states, float(ended[0]), ended[1])


class _Slopes:
    """The right-hand side of the first-order form of a system, with a count of its calls."""

    def __init__(self, system: System, inputs: Callable[[float], Numbers]) -> None:
        self.system = system
        self.n_calls = 0
        self.left_domain = False  # at the last call
        self.is_stiff = False
        equations = pack_system(system)
        self._inputs = inputs
        self._n_states = len(system.first_order_states)
        self._alphabet = equations.alphabet
        self._programs = list(zip(equations.tokens, equations.lengths.tolist(), equations.constants, strict=True))
        self._columns = np.empty((len(system.columns), 1))
        self._values = np.empty((len(system.programs), 1))
        self._stack = make_stack(equations)

    def __call__(self, time: float, state: Numbers) -> Numbers:
        """Return the slopes, or the next states of a map. Takes 4 us per program."""
        self.n_calls += 1
        self._columns[: self._n_states, 0] = state
        if self.system.inputs:
            self._columns[self._n_states :, 0] = self._inputs(time)
        for (tokens, length, constants), value in zip(self._programs, self._values, strict=True):
            evaluate_all(tokens, length, constants, self._alphabet, self._columns, value, self._stack)
        values: Numbers = self._values[:, 0].copy()
        self.left_domain = not np.isfinite(values).all()
        return values if self.system.order == 1 else np.concatenate([state[values.size :], values])


_End = tuple[float, str]  # when and why


def _iterate(slopes: _Slopes, times: Numbers, states: Numbers) -> _End | None:
    """Fill the states of a map one after the other."""
    limit = _explosion_of(states[0])
    for k in range(1, times.size):
        following = slopes(float(times[k - 1]), states[k - 1])
        if slopes.left_domain:
            return times[k], _domain_reason(slopes.system)
        if np.abs(following).max() > limit:
            return times[k], _explosion_reason(slopes.system, following)
        states[k] = following
    return None


def _integrate(slopes: _Slopes, times: Numbers, states: Numbers, has_kinks: bool) -> _End | None:
    """Fill the states of a flow; sample by sample if the inputs have kinks there."""
    if times.size == 1:
        return None
    slopes(float(times[0]), states[0])
    if slopes.left_domain:
        return times[0], _domain_reason(slopes.system)
    stops = range(1, times.size) if has_kinks else [times.size - 1]
    first = 0
    for last in stops:
        ended = _integrate_piece(slopes, times, states, first, last)
        if ended is not None:
            return ended
        first = last
    return None


def _integrate_piece(slopes: _Slopes, times: Numbers, states: Numbers, first: int, last: int) -> _End | None:
    limit = _explosion_of(states[0])
    solver = _make_solver(slopes, times[first], states[first], times[last], states[0])
    at = first + 1
    while solver.status == "running":
        solver.step()
        if solver.status == "failed" or np.abs(solver.y).max() > limit:
            return solver.t, _reason(slopes, solver.y, limit)
        reached = int(np.searchsorted(times, solver.t, side="right"))
        if reached > at:
            states[at:reached] = solver.dense_output()(times[at:reached]).T
            at = reached
        allowed = EVALUATIONS_PER_SAMPLE * times.size
        if slopes.n_calls > MAX_SLOPE_EVALUATIONS + allowed:
            return solver.t, f"more than {slopes.n_calls} evaluations; the equations are too hard to integrate"
        if not slopes.is_stiff and slopes.n_calls > EXPLICIT_EVALUATIONS + allowed and solver.status == "running":
            slopes.is_stiff = True
            solver = _make_solver(slopes, solver.t, solver.y, times[last], states[0])
    return None


def _make_solver(slopes: _Slopes, time: float, state: Numbers, end: float, origin: Numbers) -> Any:
    from scipy.integrate import DOP853, Radau  # slow to import

    method = Radau if slopes.is_stiff else DOP853
    largest = np.abs(origin).max() or 1.0
    units = np.maximum(np.abs(origin), SMALLEST_UNIT * largest)
    return method(slopes, time, state, end, rtol=RELATIVE_TOLERANCE, atol=ABSOLUTE_TOLERANCE * units)


def _explosion_of(start: Numbers) -> float:
    return EXPLOSION * max(1.0, float(np.abs(start).max()))


def _reason(slopes: _Slopes, state: Numbers, limit: float) -> str:
    """Return why a solver gave up at a state: its steps shrink to nothing before a singularity and at the edge of a domain."""
    if np.abs(state).max() > np.sqrt(limit):
        return _explosion_reason(slopes.system, state)
    if slopes.left_domain:
        return _domain_reason(slopes.system)
    return "the steps became too small; the equations may have a singularity there"


def _explosion_reason(system: System, state: Numbers) -> str:
    return f"{system.first_order_states[int(np.abs(state).argmax())]} grew beyond all bounds"


def _domain_reason(system: System) -> str:
    return f"the equations of {', '.join(system.states)} have no value there"


def check_times(t: ArrayLike) -> Numbers:
    """Return times [N] as floats; raise a clear error if they are none or do not increase."""
    times = read_numbers(t, "`t`")
    if times.ndim != 1 or times.size == 0 or not np.isfinite(times).all():
        raise DataError(f"The times must be a series of finite numbers; their shape is {times.shape}.")
    if (np.diff(times) <= 0).any():
        k = int(np.argmax(np.diff(times) <= 0))
        raise DataError(f"The times must increase; {times[k + 1]:g} follows {times[k]:g}. Sort them.")
    return times


def _check_start(system: System, x0: ArrayLike) -> Numbers:
    start = read_numbers(x0, "`x0`")
    names = system.first_order_states
    if start.shape != (len(names),) or not np.isfinite(start).all():
        raise DataError(
            f"The start must be one finite number for each of {', '.join(names)}; got {np.array2string(start)}."
        )
    return start


def read_inputs(system: System, u: ArrayLike | Callable[[float], ArrayLike] | None, times: Numbers) -> Numbers:
    """Return the inputs [N, U] at the times."""
    inputs = _check_inputs(system, u, times)
    return np.array([inputs(float(time)) for time in times]).reshape(times.size, len(system.inputs))


def _read_inputs_at(u: Callable[[float], ArrayLike], time: float, n_inputs: int) -> Numbers:
    values = read_numbers(u(time), f"`u` at t = {time:g}")
    if values.size != n_inputs:
        raise DataError(f"`u` must give {n_inputs} number(s); at t = {time:g} it gives {values.size}.")
    return values.reshape(n_inputs)


def _check_inputs(
    system: System, u: ArrayLike | Callable[[float], ArrayLike] | None, times: Numbers
) -> Callable[[float], Numbers]:
    """Return the inputs as a function of time."""
    n_inputs = len(system.inputs)
    if u is None and n_inputs:
        raise DataError(f"The system has inputs: {', '.join(system.inputs)}. Give them as `u`.")
    if u is None or not n_inputs:
        return lambda time: np.empty(0)
    if callable(u):
        return lambda time: _read_inputs_at(u, time, n_inputs)
    table = read_numbers(u, "`u`")
    table = table[:, np.newaxis] if table.ndim == 1 else table
    if table.shape != (times.size, n_inputs) or not np.isfinite(table).all():
        raise DataError(
            f"`u` must have one row of finite numbers for each of {times.size} times, "
            f"with {n_inputs} column(s); its shape is {table.shape}."
        )
    return lambda time: np.array([np.interp(time, times, column) for column in table.T])
