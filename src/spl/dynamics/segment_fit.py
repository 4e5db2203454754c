"""A system fitted along given segments: its constants, which all segments share, and the first states of each, which are eliminated.

Which segments there are, and which are left out, is up to `refine`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectory
from spl.dynamics.budget import Deadline
from spl.dynamics.damped_least_squares import Damping, lower_squares
from spl.dynamics.segments import Edges, cut_segments
from spl.dynamics.shooting import INTEGRATION_ERROR, NormalEquations, Shooter, make_shooter, sum_squares
from spl.formulas.system import System

Numbers = NDArray[np.float64]

# Damping is of the squared steps, in units of the spread of a state and the size of a constant.
SEGMENT_DAMPING = Damping(first=1.0, most=1e14, max_iterations=30)
MAX_STATE_ITERATIONS = 10  # for the first states alone
CONVERGED_MEANS = 0.01  # a step that lowers the squared error by less than this times its mean is the last


@dataclass(frozen=True, slots=True, eq=False)
class FitTask:
    """What all fits share."""

    runs: Sequence[Trajectory]
    noise: Numbers  # [D]
    deadline: Deadline
    keeps_constants: bool = False  # whether only first states are fitted

    def begin(
        self, system: System, states: Sequence[Numbers], edges: Sequence[Edges], *, n_substeps: int = 1
    ) -> "SegmentFit":
        """Return the system over segments, not yet fitted, with first states taken from the states of whole runs."""
        segments = cut_segments(self.runs, self.noise, edges)
        shooter = make_shooter(system, segments, states, n_substeps)
        initial = segments.initial_states(states)
        shooter = shooter.refined_for(system.free_values, initial)
        return SegmentFit(
            self, system.free_values, shooter, initial, edges, states, np.ones(segments.n_segments, np.bool_)
        )


@dataclass(frozen=True, slots=True, eq=False)
class SegmentFit:
    """Constants and first states that describe segments."""

    task: FitTask
    constants: Numbers  # [C], then the own numbers of all runs, if there are any
    shooter: Shooter
    initial: Numbers  # [S, M]
    edges: Sequence[Edges]
    states: Sequence[Numbers]  # [N, S] of each run, from before
    is_used: NDArray[np.bool_]  # [M]

    @property
    def residuals(self) -> Numbers:
        """The residuals [M, D * K] in units of the noise."""
        return np.asarray(self.shooter.residuals(self.constants[np.newaxis], self.initial[np.newaxis])[0])

    @property
    def losses(self) -> Numbers:
        """The squared error of each segment [M], infinite for lost ones."""
        return sum_squares(self.residuals)

    @property
    def loss(self) -> float:
        """The squared error of the segments that are used."""
        return float(self.losses[self.is_used].sum())

    @property
    def system(self) -> System:
        """The system with these constants."""
        return self.shooter.system.with_free_values(self.constants)

    @property
    def n_free(self) -> int:
        """The number of measurements minus that of fitted numbers, at least 1."""
        n_fitted = len(self.initial) * int(self.is_used.sum()) + self.constants.size
        return max(1, self.shooter.segments.n_observations(self.is_used) - n_fitted)

    @property
    def scale(self) -> float:
        """The mean squared error of a measurement in units of its noise; at least what the integration may add."""
        return max(self.loss / self.n_free, INTEGRATION_ERROR)

    def fitted_states(self, is_wanted: NDArray[np.bool_]) -> list[Numbers]:
        """Return the states of all runs, from this fit along the wanted segments [M]."""
        return self.shooter.fill_in(self.states, self.constants, self.initial, is_wanted)

    def normal_equations(self, *, with_constants: bool = True) -> NormalEquations:
        """Return the normal equations of the segments that are used."""
        return self.shooter.normal_equations(self.constants, self.initial, self.is_used, with_constants=with_constants)


def fit_first_states(fit: SegmentFit, n_iterations: int = MAX_STATE_ITERATIONS) -> SegmentFit:
    """Fit the first states of each segment separately, with the constants as they are."""
    losses = fit.losses
    damping = np.ones(losses.size)
    is_open = np.isfinite(losses)
    for _ in range(n_iterations):
        if not is_open.any() or fit.task.deadline.is_over:
            break
        normal = replace(fit, is_used=is_open).normal_equations(with_constants=False)
        steps = normal.reduce(damping[:, np.newaxis] / fit.shooter.spread**2)[2][:, :, -1].T
        trial = replace(fit, initial=fit.initial + steps)
        gains = np.where(is_open, losses - trial.losses, 0.0)
        is_better = gains > 0
        is_settled = is_better & (gains < CONVERGED_MEANS * losses / fit.shooter.segments.size)
        is_open = is_open & (damping < SEGMENT_DAMPING.most) & ~is_settled
        fit = replace(fit, initial=np.where(is_better, trial.initial, fit.initial))
        losses = np.where(is_better, losses - gains, losses)
        damping = np.where(is_better, 0.1 * damping, 10.0 * damping)
    return fit


def fit_constants_and_states(fit: SegmentFit) -> SegmentFit:
    """Improve constants and first states together by Levenberg-Marquardt, until nothing changes or the time is up.

    If the task keeps the constants, only first states are improved.
    """
    if fit.task.keeps_constants:
        return fit_first_states(fit)
    fit = replace(fit, is_used=fit.is_used & np.isfinite(fit.losses))
    if not fit.is_used.any():
        return fit
    per_state = np.tile(fit.shooter.spread**-2.0, (fit.is_used.size, 1))

    def linearise(fit: SegmentFit) -> Callable[[float], SegmentFit]:
        normal = fit.normal_equations()
        size = fit.constants**2 + 1 / np.maximum(np.diag(normal.constants), np.finfo(float).tiny)

        def take_step(damping: float) -> SegmentFit:
            constants, initial = normal.step(damping * per_state, damping / size)
            return replace(fit, constants=fit.constants + constants, initial=fit.initial + initial)

        return take_step

    def is_last(fit: SegmentFit, loss: float, gain: float, damping: float) -> bool:
        return gain < CONVERGED_MEANS * loss / fit.n_free and damping < 1.0

    return lower_squares(fit, _loss, linearise, is_last, SEGMENT_DAMPING, fit.task.deadline)[0]


def _loss(fit: SegmentFit) -> float:
    return fit.loss
