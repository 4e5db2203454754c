"""Constants fitted in the weak form: the mean of a formula over each window must be the goal, not the formula of the means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.damped_least_squares import Damping, lower_squares
from spl.formulas.program import Program
from spl.regression.candidate import Candidate
from spl.regression.fit import evaluate

Numbers = NDArray[np.float64]

WEAK_DAMPING = Damping(first=1e-3, most=1e8, max_iterations=20)  # relative to the normal equations
CONVERGED_SHARE = 1e-8  # a step that lowers the squared error by a smaller share is the last
CONSTANT_STEP = 1e-6  # relative to the size of a constant, for its derivative


@dataclass(frozen=True, slots=True, eq=False)
class WeakForm:
    """What a right-hand side must be on average: `operator @ f(columns)` should be `goals`."""

    columns: Numbers  # [columns, N], smoothed
    operator: Any  # sparse [K, N]
    goals: Numbers  # [K, D]
    n_independent: int  # windows that fit side by side


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """A formula, and by how much its means miss the goals."""

    program: Program
    residuals: Numbers


def fit_weak_form(candidate: Candidate, forms: Sequence[WeakForm], state: int) -> Candidate:
    """Return the candidate with its constants fitted to the weak form of one state, and its error there."""

    def measure(program: Program) -> _Point:
        left = [form.operator @ evaluate(program, form.columns) - form.goals[:, state] for form in forms]
        return _Point(program, np.concatenate(left))

    def linearise(point: _Point) -> Callable[[float], _Point] | None:
        slopes = _slopes(point, measure)
        gram, slope = slopes.T @ slopes, slopes.T @ point.residuals

        def take_step(damping: float) -> _Point:
            step = np.linalg.lstsq(gram + damping * np.diag(np.diag(gram)), -slope, rcond=None)[0]
            return measure(point.program.with_constants(np.asarray(point.program.constants) + step))

        return take_step if np.all(np.isfinite(gram)) else None

    def is_last(_: _Point, error: float, gain: float, __: float) -> bool:
        return gain < CONVERGED_SHARE * error

    point = measure(candidate.program)
    error = _squares(point)
    if candidate.program.constants:
        point, error = lower_squares(point, _squares, linearise, is_last, WEAK_DAMPING)
    loss = float(np.sqrt(error / point.residuals.size))
    return Candidate(point.program, loss if np.isfinite(loss) else np.inf, candidate.reward)


def _squares(point: _Point) -> float:
    return float(point.residuals @ point.residuals)


def _slopes(point: _Point, measure: Callable[[Program], _Point]) -> Numbers:
    """Return the derivatives of the residuals by each constant, by differences."""
    columns = []
    for place, value in enumerate(point.program.constants):
        step = CONSTANT_STEP * max(abs(value), CONSTANT_STEP)
        moved = np.asarray(point.program.constants, dtype=np.float64)
        moved[place] += step
        columns.append((measure(point.program.with_constants(moved)).residuals - point.residuals) / step)
    return np.column_stack(columns)
