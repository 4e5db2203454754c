"""Constants fitted in the weak form: the mean of a formula over each window must be the goal, not the formula of the means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.regression.candidate import Candidate

Numbers = NDArray[np.float64]
Evaluate = Callable[[Program, Numbers], Numbers]

MAX_ITERATIONS = 20
CONVERGED = 1e-8  # share by which a step must lower the squared error
MAX_DAMPING = 1e8
STEP = 1e-6  # of a constant, relative to its size, for its derivative


@dataclass(frozen=True, slots=True, eq=False)
class WeakForm:
    """What a right-hand side must be on average: `operator @ f(columns)` should be `goals`."""

    columns: Numbers  # [columns, N], smoothed
    operator: Any  # sparse [K, N]
    goals: Numbers  # [K, D]
    n_independent: int  # windows that fit side by side


def fit_weakly(candidate: Candidate, forms: Sequence[WeakForm], state: int, evaluate: Evaluate) -> Candidate:
    """Return the candidate with its constants fitted to the weak form of one state, and its error there.

    `evaluate` gives the values of a program on columns.
    """

    def residuals(program: Program) -> Numbers:
        return np.concatenate(
            [form.operator @ evaluate(program, form.columns) - form.goals[:, state] for form in forms]
        )

    best = candidate.program
    left = residuals(best)
    error = float(left @ left)
    damping = 1e-3
    for _ in range(MAX_ITERATIONS if best.constants and np.isfinite(error) else 0):
        slopes = _slopes(best, left, residuals)
        gram, slope = slopes.T @ slopes, slopes.T @ left
        if not np.all(np.isfinite(gram)):
            break
        gain = 0.0
        while not gain > 0.0 and damping < MAX_DAMPING:
            step = np.linalg.lstsq(gram + damping * np.diag(np.diag(gram)), -slope, rcond=None)[0]
            trial = best.with_constants(np.asarray(best.constants) + step)
            after = residuals(trial)
            gain = error - float(after @ after)
            damping *= 0.1 if gain > 0.0 else 10.0
        if not gain > 0.0:
            break
        best, left, error = trial, after, error - gain
        if gain < CONVERGED * error:
            break
    loss = float(np.sqrt(error / left.size))
    return Candidate(best, loss if np.isfinite(loss) else np.inf, candidate.reward)


def _slopes(program: Program, left: Numbers, residuals: Any) -> Numbers:
    """Return the derivatives of the residuals by each constant, by differences."""
    columns = []
    for place, value in enumerate(program.constants):
        step = STEP * max(abs(value), STEP)
        moved = np.asarray(program.constants, dtype=np.float64)
        moved[place] += step
        columns.append((residuals(program.with_constants(moved)) - left) / step)
    return np.column_stack(columns)
