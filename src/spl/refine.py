"""The constants of a whole system, fitted to measured trajectories by integrating its equations (multiple shooting).

The runs are cut into segments. Unknown are the constants, which all segments share, and the first states of each
segment, which are eliminated segment by segment. Short segments cannot diverge; long ones say more about the constants.
So the fit starts with short ones and joins neighbours where one trajectory fits both as well as two. Derivatives and
smoothed states are left to others.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.errors import DataError
from spl.segments import Edges, as_set, choose_length, cut_segments, even_edges, join_pairs, limit_samples
from spl.shooting import (
    INTEGRATION_ERROR,
    MAX_SUBSTEPS,
    NormalEquations,
    Refined,
    Shooter,
    make_shooter,
    one_for_zero,
    sum_squares,
)
from spl.system import System
from spl.trajectories import Trajectory

Numbers = NDArray[np.float64]

SMALLEST_NOISE = 1e-5  # of the spread of a state: the integration is no more accurate
MAX_ITERATIONS = 30
MAX_SETTLING = 10  # iterations for the first states alone
CONVERGED = 0.01  # a step that lowers the squared error by so many of its mean is the last: 1 is one standard error
MAX_DAMPING = 1e14  # of the squared steps, in units of the spread of a state and the size of a constant
BAD = 3.0  # a short segment whose mean squared residual is so many times the median has not converged
CHANCE = 5.0  # sd by which joining two segments may raise their squared error beyond what is expected
BEFORE_FIT = 10.0  # times as much is allowed before the constants are fitted to the joined segments
N_SWEEPS = 2  # what could not be joined with poor constants is tried again with better ones
MAX_ROUNDS = 40  # of joining neighbours; each about doubles the length
MAX_SENSITIVITY = 1e3  # growth of a small error along a segment; more, and the fit would be lost in chaos


def refine(
    system: System,
    runs: Sequence[Trajectory],
    starts: Sequence[Numbers],
    noise: ArrayLike,
    *,
    max_seconds: float | None = None,
    length: int | None = None,
    before: Refined | None = None,
) -> Refined:
    """Fit the constants of a system to measured runs, starting from those it has.

    Args:
        system: has constants near the right ones.
        runs: the measurements; for order 2 the positions.
        starts: smoothed states of the first-order form [N, S], one array a run.
        noise: standard deviation of the noise of each state [D].
        max_seconds: stop after this time with the best so far.
        length: samples of each segment; left out, as many as the equations can be followed.
        before: a fit of a system much like this one along the same segments, whose first states are near the right ones.

    Examples:
        >>> from spl.expression import parse_expression
        >>> from spl.program import Vocabulary
        >>> program = parse_expression("C * x", Vocabulary(("x",))).with_constants(np.array([-0.9]))
        >>> t = np.linspace(0, 2, 50)
        >>> run = Trajectory(t, np.exp(-t)[:, np.newaxis], np.empty((50, 0)), None)
        >>> refine(System(("x",), (), (program,)), [run], [run.x], [0.01]).system.constants.round(4)
        array([-1.])
    """
    sd = _check(system, runs, starts, noise)
    runs, starts = limit_samples(runs, starts)
    deadline = np.inf if max_seconds is None else time.monotonic() + max_seconds
    with np.errstate(all="ignore"):  # trajectories may be lost
        return _summarise(_fit(_Task(runs, sd, deadline), system, starts, length, before))


def judge(
    system: System,
    runs: Sequence[Trajectory],
    noise: ArrayLike,
    starts: Sequence[Numbers],
    *,
    length: int | None = None,
) -> float:
    """Return the mean squared residual, in units of the noise, with only the first states of segments fitted.

    The segments depend on the data only, so systems can be compared. None counts as worse than the spread of the data.
    """
    sd = _check(system, runs, starts, noise)
    runs, starts = limit_samples(runs, starts)
    task = _Task(runs, sd, np.inf)
    edges = even_edges(runs, length or 2 * choose_length(runs, starts, sd))
    with np.errstate(all="ignore"):  # trajectories may be lost
        losses = _settle(task.begin(system, starts, edges), 2 * MAX_SETTLING).losses
    return _mean_error(task, losses, np.concatenate([np.diff(all_edges) for all_edges in edges]))


def _check(
    system: System, runs: Sequence[Trajectory], starts: Sequence[Numbers], noise: ArrayLike
) -> NDArray[np.float64]:
    """Return the noise of each state, at least what the integration can tell."""
    sd = np.asarray(noise, dtype=np.float64)
    n_states = len(system.first_order_states)
    if sd.shape != (len(system.states),) or not (sd >= 0).all():
        raise DataError(f"`noise` must be one number, 0 or more, for each of {', '.join(system.states)}; it is {sd}.")
    shapes = [(run.n_samples, n_states) for run in runs]
    if not runs or [np.shape(states) for states in starts] != shapes:
        raise DataError(
            f"`starts` must have one array for each of {len(runs)} runs, with {n_states} columns and the samples of the run."
        )
    return noise_to_weigh(sd, np.concatenate([run.x for run in runs]))


def noise_to_weigh(noise: Numbers, measured: Numbers) -> Numbers:
    """Return the noise [D] of measured states [N, D] as residuals are weighed by it: at least what the integration can tell.

    Examples:
        >>> noise_to_weigh(np.array([0.0, 0.1]), np.array([[-1.0, -1.0], [1.0, 1.0]]))
        array([1.e-05, 1.e-01])
    """
    return np.asarray(np.maximum(noise, SMALLEST_NOISE * one_for_zero(measured.std(axis=0))))


def _mean_error(task: "_Task", losses: Numbers, sizes: NDArray[np.int64]) -> float:
    """Return the mean squared residual of segments; none counts as worse than the spread of the data."""
    spread = np.concatenate([run.x for run in task.runs]).var(axis=0) / task.noise**2
    return float(np.minimum(losses, sizes * spread.sum()).sum() / (sizes.sum() * task.noise.size))


# ---- one fit -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What all fits share."""

    runs: Sequence[Trajectory]
    noise: Numbers  # [D]
    deadline: float

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def begin(
        self, system: System, states: Sequence[Numbers], edges: Sequence[Edges], *, n_substeps: int = 1
    ) -> "_Fit":
        """Return the system over segments, not yet fitted, with first states taken from those of whole runs."""
        segments = cut_segments(self.runs, self.noise, edges)
        shooter = make_shooter(system, segments, states, n_substeps)
        initial = segments.initial_states(states)
        shooter = shooter.refined_for(system.constants, initial)
        return _Fit(self, system.constants, shooter, initial, edges, states, np.ones(segments.n_segments, np.bool_))


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Constants and first states that describe segments."""

    task: _Task
    constants: Numbers  # [C]
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
        """The squared error of each segment [M], infinite for those that are lost."""
        return sum_squares(self.residuals)

    @property
    def loss(self) -> float:
        """The squared error of the segments that are used."""
        return float(self.losses[self.is_used].sum())

    @property
    def system(self) -> System:
        """The system with these constants."""
        return self.shooter.system.with_constants(self.constants)

    @property
    def n_free(self) -> int:
        """How many more measurements than fitted numbers there are, at least 1."""
        n_fitted = len(self.initial) * int(self.is_used.sum()) + self.constants.size
        return max(1, self.shooter.segments.n_observations(self.is_used) - n_fitted)

    @property
    def scale(self) -> float:
        """The mean squared error of a measurement in units of its noise; not below what the integration may add."""
        return max(self.loss / self.n_free, INTEGRATION_ERROR)

    def fitted_states(self, is_wanted: NDArray[np.bool_]) -> list[Numbers]:
        """Return the states of all runs, from this fit where it is wanted."""
        filled = [states.copy() for states in self.states]
        segments = self.shooter.segments
        states = self.shooter.follow(self.constants[np.newaxis], self.initial[np.newaxis])[0]
        for m in np.flatnonzero(is_wanted):
            first, size = segments.first[m], segments.size[m]
            filled[segments.run[m]][first : first + size] = states[:, m, :size].T
        return filled

    def normal_equations(self, *, with_constants: bool = True) -> NormalEquations:
        """Return the normal equations of the segments that are used."""
        return self.shooter.normal_equations(self.constants, self.initial, self.is_used, with_constants=with_constants)


def _settle(fit: _Fit, n_iterations: int = MAX_SETTLING) -> _Fit:
    """Fit the first states with the constants as they are, each segment on its own."""
    losses = fit.losses
    damping = np.ones(losses.size)
    is_open = np.isfinite(losses)
    for _ in range(n_iterations):
        if not is_open.any() or fit.task.is_late:
            break
        normal = replace(fit, is_used=is_open).normal_equations(with_constants=False)
        steps = normal.reduce(damping[:, np.newaxis] / fit.shooter.spread**2)[2][:, :, -1].T
        trial = replace(fit, initial=fit.initial + steps)
        gains = np.where(is_open, losses - trial.losses, 0.0)
        is_better = gains > 0
        is_open = (
            is_open & (damping < MAX_DAMPING) & ~(is_better & (gains < CONVERGED * losses / fit.shooter.segments.size))
        )
        fit = replace(fit, initial=np.where(is_better, trial.initial, fit.initial))
        losses = np.where(is_better, losses - gains, losses)
        damping = np.where(is_better, 0.1 * damping, 10.0 * damping)
    return fit


def _descend(fit: _Fit) -> _Fit:
    """Improve constants and first states together by Levenberg-Marquardt, until nothing changes or the time is up."""
    fit = replace(fit, is_used=fit.is_used & np.isfinite(fit.losses))
    loss = fit.loss
    damping = 1.0
    per_state = np.tile(fit.shooter.spread**-2.0, (fit.is_used.size, 1))
    for _ in range(MAX_ITERATIONS if fit.is_used.any() else 0):
        normal = fit.normal_equations()
        size = fit.constants**2 + 1 / np.maximum(np.diag(normal.constants), np.finfo(float).tiny)
        gain = 0.0
        while not gain > 0.0 and damping < MAX_DAMPING and not fit.task.is_late:
            constants, initial = normal.step(damping * per_state, damping / size)
            trial = replace(fit, constants=fit.constants + constants, initial=fit.initial + initial)
            gain = loss - trial.loss
            damping = 0.1 * damping if gain > 0.0 else 10.0 * damping
        if not gain > 0.0:
            break
        fit = trial
        loss -= gain
        if gain < CONVERGED * loss / fit.n_free and damping < 1.0:
            break
    return fit


# ---- from short segments to long ones ------------------------------------------------------------


def _fit(task: _Task, system: System, starts: Sequence[Numbers], length: int | None, before: Refined | None) -> _Fit:
    """Fit to short segments, then join these as long as it goes well; or to segments of the length given."""
    first_length = length or choose_length(task.runs, starts, task.noise)
    fit = task.begin(system, starts, even_edges(task.runs, first_length))
    fit = _settle(fit) if before is None else replace(fit, initial=before.initial_states.T)
    fit = _fit_short(fit)
    if length is not None:
        return fit
    for _ in range(N_SWEEPS):
        fit = _join_all(fit)
    return fit


def _join_all(fit: _Fit) -> _Fit:
    """Join neighbours as long as any can be joined; an edge that turned out to be needed stays.

    Data without noise say all they can in short segments.
    """
    to_keep: set[tuple[int, int]] = set()
    for _ in range(MAX_ROUNDS):
        joined = join_pairs(fit.edges, to_keep)
        if as_set(joined) == as_set(fit.edges) or fit.scale <= INTEGRATION_ERROR or fit.task.is_late:
            break
        fit = _fit_joined(fit, joined)
        to_keep |= as_set(fit.edges) - as_set(joined)
    return fit


def _fit_short(fit: _Fit) -> _Fit:
    """Fit constants and first states; leave out segments that are lost or do not come near their data."""
    fit = _descend(fit)
    sizes = fit.shooter.segments.size * fit.task.noise.size
    means = fit.losses / sizes
    limit = BAD * max(float(np.median(means)), INTEGRATION_ERROR) * (1 + CHANCE * np.sqrt(2 / sizes))
    is_near = fit.is_used & (means <= limit)
    return fit if is_near.sum() in (0, fit.is_used.sum()) else _descend(replace(fit, is_used=is_near))


def _fit_joined(fit: _Fit, edges: Sequence[Edges]) -> _Fit:
    """Fit to fewer, longer segments; those that one trajectory does not fit as well as two are cut again."""
    states = fit.fitted_states(fit.is_used)
    joined = _settle(_begin_again(fit, fit, states, edges))
    for slack in (BEFORE_FIT, 1.0):
        is_fine = _is_as_good_as_parts(joined, fit, slack)
        if not is_fine.all():
            cut_again = _cut_again(joined, fit, is_fine)
            joined = _begin_again(joined, fit, joined.fitted_states(is_fine), cut_again)
        joined = _descend(joined)
    return joined


def _begin_again(fit: _Fit, parts: _Fit, states: Sequence[Numbers], edges: Sequence[Edges]) -> _Fit:
    """Return segments with other edges, not yet fitted; those with a part that was left out are left out."""
    new = fit.task.begin(fit.system, states, edges, n_substeps=fit.shooter.n_substeps)
    is_used = np.bincount(new.shooter.segments.home_of(parts.shooter.segments), ~parts.is_used, new.is_used.size) == 0
    return replace(new, is_used=is_used)


def _is_as_good_as_parts(fit: _Fit, parts: _Fit, slack: float) -> NDArray[np.bool_]:
    """Tell for each segment whether it fits about as well as the segments that it was joined from."""
    homes = fit.shooter.segments.home_of(parts.shooter.segments)
    before = np.bincount(homes, parts.losses, fit.is_used.size)
    is_joined = np.bincount(homes, minlength=fit.is_used.size) > 1
    is_lost = is_joined & (fit.shooter.sensitivity(fit.constants, fit.initial) > MAX_SENSITIVITY)
    n_states = len(fit.initial)  # fewer are fitted: the squared error is expected to rise by as many times its mean
    limit = slack * parts.scale * (n_states + CHANCE * np.sqrt(2 * n_states))
    return np.asarray(~is_joined | ~fit.is_used | (~is_lost & (fit.losses - before <= limit)))


def _cut_again(fit: _Fit, parts: _Fit, is_fine: NDArray[np.bool_]) -> list[Edges]:
    """Return the edges with those of the parts within segments that are not fine."""
    segments = parts.shooter.segments
    homes = fit.shooter.segments.home_of(segments)
    edges = [set(all_edges.tolist()) for all_edges in fit.edges]
    for m in np.flatnonzero(~is_fine[homes]):
        edges[segments.run[m]].add(int(segments.first[m]))
    return [np.array(sorted(all_edges), np.int64) for all_edges in edges]


# ---- the result ----------------------------------------------------------------------------------


def _summarise(fit: _Fit) -> Refined:
    segments = fit.shooter.segments
    n_observations = segments.n_observations(fit.is_used)
    residuals = fit.residuals[fit.is_used]
    notes: list[str] = ["The time was up before the fit was done."] if fit.task.is_late else []
    logarithms = n_observations * (np.log(2 * np.pi) / 2 + np.log(fit.task.noise).mean())
    n_left_out = int((~fit.is_used).sum())
    if n_left_out:
        notes.append(f"{n_left_out} of {segments.n_segments} segments could not be followed and were left out.")
    if fit.shooter.n_substeps >= MAX_SUBSTEPS:
        notes.append("The equations are stiff: the integration may be less accurate than the noise.")
    return Refined(
        system=fit.system,
        standard_errors=_standard_errors(fit),
        chi2=float((residuals**2).sum() / max(1, n_observations)),
        error=_mean_error(fit.task, fit.losses, segments.size),
        log_likelihood=float(-(residuals**2).sum() / 2 - logarithms),
        n_observations=n_observations,
        segments=segments,
        is_used=fit.is_used,
        initial_states=fit.initial.T,
        n_substeps=fit.shooter.n_substeps,
        notes=tuple(notes),
    )


def _standard_errors(fit: _Fit) -> Numbers:
    """Return the standard error of each constant, for the noise that the residuals show.

    Without noise, errors of the integration are left: these go the same way in all samples.
    """
    floor = 0.0 if fit.scale > INTEGRATION_ERROR else INTEGRATION_ERROR**2 * fit.n_free
    return np.asarray(np.sqrt(max(fit.scale, floor)) * fit.normal_equations().standard_errors())
