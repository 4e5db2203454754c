"""The constants of a whole system, fitted to measured trajectories by integrating its equations (multiple shooting).

The runs are cut into segments. The unknowns are the constants, which all segments share, and the first states of each
segment, which are eliminated segment by segment. Short segments cannot diverge; long ones say more about the constants.
So the fit starts with short ones and joins neighbours where one trajectory fits as well as two.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.data.trajectories import Trajectory
from spl.dynamics.budget import NEVER, Deadline
from spl.dynamics.segment_fit import FitTask, SegmentFit, fit_constants_and_states, fit_first_states
from spl.dynamics.segments import Edges, Segments, as_set, choose_length, even_edges, join_pairs
from spl.dynamics.shooting import INTEGRATION_ERROR, MAX_SUBSTEPS, NormalEquations, make_shooter, one_for_zero
from spl.errors import DataError
from spl.formulas.system import System

Numbers = NDArray[np.float64]

SMALLEST_ERROR = float(np.finfo(float).tiny)  # squared errors below this are 0, which has no logarithm
EXACT_TRAJECTORY = 1e-4  # of the spread of a state: trajectories closer than this to clean data count as exact
SMALLEST_NOISE = 1e-5  # of the spread of a state: the integration is not more accurate
NOT_CONVERGED = 3.0  # times the median: a short segment with a larger mean squared residual has not converged
CHANCE_ERRORS = 5.0  # sd by which joining two segments may raise their squared error above what is expected
BEFORE_FIT = 10.0  # times as much is allowed before the constants are fitted to the joined segments
STIFF_ERROR = 0.1  # sd of the noise by which the finest steps may still change the trajectories
N_SWEEPS = 2  # segments that could not be joined with poor constants are tried again with better ones
MAX_JOINING_ROUNDS = 40  # of joining neighbours; each about doubles the length
MAX_SENSITIVITY = 1e3  # growth of a small error along a segment; with more, a chaotic system cannot be fitted


@dataclass(frozen=True, slots=True, eq=False)
class Refined:
    """A system fitted to trajectories, and how well it fits them."""

    system: System
    standard_errors: Numbers  # [C], then those of own numbers; infinite for what the data does not determine
    chi2: float  # mean squared residual in units of the noise; about 1 if equations and noise are right
    error: float  # the same over all segments, used or not; a lost one counts as the spread of the data
    log_likelihood: float  # of the measurements; comparable between systems fitted with the same length of segments
    n_observations: int
    segments: Segments
    is_used: NDArray[np.bool_]  # [M], whether each segment took part
    initial_states: Numbers  # [M, S], the fitted first states of the segments
    n_substeps: int  # of the integration, between two samples
    notes: tuple[str, ...]  # for people

    def fitted_states(self, states: Sequence[Numbers]) -> list[Numbers]:
        """Return the states of whole runs, one array [N, S] per run, from this fit where its segments took part."""
        shooter = make_shooter(self.system, self.segments, states, self.n_substeps)
        return shooter.fill_in(states, self.system.free_values, self.initial_states.T, self.is_used)

    def information(self, states: Sequence[Numbers], sizes: Numbers | None = None) -> Numbers:
        """Return the second derivatives of half the squared error by the constants [C, C], with first states fitted again.

        `sizes` [C] are what constants that are 0 may be expected to be; 1 if nothing is known about them.
        """
        shooter = make_shooter(self.system, self.segments, states, self.n_substeps)
        with np.errstate(all="ignore"):  # trajectories may be lost
            normal = shooter.normal_equations(self.system.free_values, self.initial_states.T, self.is_used, sizes=sizes)
        return normal.reduce(np.zeros_like(normal.state_slope))[0]


def refine(
    system: System,
    runs: Sequence[Trajectory],
    starts: Sequence[Numbers],
    noise: ArrayLike,
    *,
    max_seconds: float | None = None,
    length: int | None = None,
    before: Refined | None = None,
    keeps_constants: bool = False,
) -> Refined:
    """Fit the constants of a system to measured runs, starting from those it has.

    Args:
        system: with constants close to the right ones.
        runs: the measurements; for order 2 the positions.
        starts: smoothed states of the first-order form [N, S], one array per run.
        noise: standard deviation of the noise of each state [D].
        max_seconds: stop after this time with the best so far.
        length: samples of each segment; None for segments as long as the equations can be followed.
        before: a fit of a similar system, whose segments are used and whose first states are close to the right ones.
        keeps_constants: fit only the first states of segments, to see how well given constants describe other runs.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("C * x", Vocabulary(("x",))).with_constants(np.array([-0.9]))
        >>> t = np.linspace(0, 2, 50)
        >>> run = Trajectory(t, np.exp(-t)[:, np.newaxis], np.empty((50, 0)), None)
        >>> refine(System(("x",), (), (program,)), [run], [run.x], [0.01]).system.constants.round(4)
        array([-1.])
    """
    task = _make_task(system, runs, starts, noise, max_seconds, keeps_constants=keeps_constants)
    with np.errstate(all="ignore"):  # trajectories may be lost
        return _summarise(_fit(task, system, starts, length, before))


def refine_joined(
    before: Refined,
    runs: Sequence[Trajectory],
    starts: Sequence[Numbers],
    noise: ArrayLike,
    *,
    exact_error: float = 0.0,
    max_seconds: float | None = None,
    keeps_constants: bool = False,
) -> Refined:
    """Fit a system again along pairs of its segments, each joined into one unless two trajectories fit clearly better.

    Args:
        before: the system fitted along shorter segments.
        runs: as for `refine`.
        starts: as for `refine`.
        noise: as for `refine`.
        exact_error: mean squared residual, in units of the noise, that does not matter.
        max_seconds: as for `refine`.
        keeps_constants: as for `refine`.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("C * x", Vocabulary(("x",))).with_constants(np.array([-0.9]))
        >>> t = np.linspace(0, 2, 50)
        >>> run = Trajectory(t, np.exp(-t)[:, np.newaxis], np.empty((50, 0)), None)
        >>> short = refine(System(("x",), (), (program,)), [run], [run.x], [0.01], length=10)
        >>> short.segments.n_segments, refine_joined(short, [run], [run.x], [0.01]).segments.n_segments
        (5, 3)
    """
    task = _make_task(before.system, runs, starts, noise, max_seconds, keeps_constants=keeps_constants)
    with np.errstate(all="ignore"):  # trajectories may be lost
        parts = replace(_take_up(task, before, starts), is_used=np.ones_like(before.is_used))
        return _summarise(_fit_short(_fit_joined(parts, join_pairs(parts.edges, set()), exact_error)))


def refine_in_steps(
    system: System,
    runs: Sequence[Trajectory],
    starts: Sequence[Numbers],
    noise: ArrayLike,
    lengths: tuple[int, int],
    *,
    exact_error: float = 0.0,
    deadline: Deadline = NEVER,
    keeps_constants: bool = False,
) -> Refined:
    """Fit a system along segments of a first length in samples, then twice as long, up to a last one; see `refine_joined`."""
    length, last = lengths
    fitted = refine(
        system,
        runs,
        starts,
        noise,
        length=length,
        max_seconds=deadline.seconds_left,
        keeps_constants=keeps_constants,
    )
    while length < last:
        length *= 2
        fitted = refine_joined(
            fitted,
            runs,
            starts,
            noise,
            exact_error=exact_error,
            max_seconds=deadline.seconds_left,
            keeps_constants=keeps_constants,
        )
    return fitted


def find_standard_errors(
    system: System, fitted: Refined, runs: Sequence[Trajectory], starts: Sequence[Numbers], noise: ArrayLike
) -> Numbers:
    """Return the standard error of each constant of a system that is a fitted one written in another form.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> decay, slower = (parse_expression(text, Vocabulary(("x",))) for text in ("C * x", "x / C"))
        >>> t = np.linspace(0, 2, 50)
        >>> run = Trajectory(t, np.exp(-t / 4)[:, np.newaxis], np.empty((50, 0)), None)
        >>> fitted = refine(System(("x",), (), (decay.with_constants([-0.2]),)), [run], [run.x], [0.01])
        >>> system = System(("x",), (), (slower.with_constants([-4.0]),))
        >>> ratio = find_standard_errors(system, fitted, [run], [run.x], [0.01]) / fitted.standard_errors
        >>> ratio.round(2)  # 1/C changes by 1/C**2 times as much as C
        array([16.])
    """
    return find_precision(system, fitted, runs, starts, noise).standard_errors


@dataclass(frozen=True, slots=True, eq=False)
class Precision:
    """How well the data determines the constants of a system."""

    normal: NormalEquations
    variance: float  # of the residuals, in units of the noise that was assumed
    n_free: int  # measurements minus fitted numbers

    @property
    def standard_errors(self) -> Numbers:
        """The standard error of each constant [C]; infinite for those that the data does not determine."""
        return np.asarray(np.sqrt(self.variance) * self.normal.standard_errors())


def find_precision(
    system: System, fitted: Refined, runs: Sequence[Trajectory], starts: Sequence[Numbers], noise: ArrayLike
) -> Precision:
    """Return how well the data determines the constants of a system that is a fitted one written in another form."""
    task = _make_task(system, runs, starts, noise, None)
    with np.errstate(all="ignore"):  # trajectories may be lost
        return _find_precision(_take_up(task, replace(fitted, system=system), starts))


def _make_task(
    system: System,
    runs: Sequence[Trajectory],
    starts: Sequence[Numbers],
    noise: ArrayLike,
    max_seconds: float | None,
    *,
    keeps_constants: bool = False,
) -> FitTask:
    """Return what all fits share."""
    sd = _check(system, runs, starts, noise)
    return FitTask(runs, sd, Deadline.after(max_seconds), keeps_constants)


def _check(
    system: System, runs: Sequence[Trajectory], starts: Sequence[Numbers], noise: ArrayLike
) -> NDArray[np.float64]:
    """Check the arguments; return the noise of each state, at least the accuracy of the integration."""
    sd = np.asarray(noise, dtype=np.float64)
    n_states = len(system.first_order_states)
    if sd.shape != (len(system.states),) or not (sd >= 0).all():
        raise DataError(f"`noise` must be one number, 0 or more, for each of {', '.join(system.states)}; got {sd}.")
    shapes = [(run.n_samples, n_states) for run in runs]
    if not runs or [np.shape(states) for states in starts] != shapes:
        raise DataError(
            f"`starts` must have one array for each of {len(runs)} runs, with {n_states} columns and the samples of the run."
        )
    return noise_to_weigh(sd, np.concatenate([run.x for run in runs]))


def noise_to_weigh(noise: Numbers, measured: Numbers) -> Numbers:
    """Return the noise [D] of measured states [N, D] that residuals are divided by: at least the accuracy of the integration.

    Examples:
        >>> noise_to_weigh(np.array([0.0, 0.1]), np.array([[-1.0, -1.0], [1.0, 1.0]]))
        array([1.e-05, 1.e-01])
    """
    return np.asarray(np.maximum(noise, SMALLEST_NOISE * one_for_zero(measured.std(axis=0))))


def _mean_error(task: FitTask, losses: Numbers, sizes: NDArray[np.int64]) -> float:
    """Return the mean squared residual of segments; no segment counts as worse than the spread of the data."""
    spread = np.concatenate([run.x for run in task.runs]).var(axis=0) / task.noise**2
    return float(np.minimum(losses, sizes * spread.sum()).sum() / (sizes.sum() * task.noise.size))


# ---- from short segments to long ones ------------------------------------------------------------


def _take_up(task: FitTask, before: Refined, starts: Sequence[Numbers]) -> SegmentFit:
    """Return a fit as it was when it ended."""
    shooter = make_shooter(before.system, before.segments, starts, before.n_substeps)
    edges, initial = before.segments.edges, before.initial_states.T
    return SegmentFit(task, before.system.free_values, shooter, initial, edges, starts, before.is_used)


def _fit(
    task: FitTask, system: System, starts: Sequence[Numbers], length: int | None, before: Refined | None
) -> SegmentFit:
    """Fit to short segments, then join these as long as that works; or fit to segments of a given length."""
    if before is not None:
        fit = task.begin(system, starts, before.segments.edges)
        return _fit_short(replace(fit, initial=before.initial_states.T))
    first_length = length or choose_length(task.runs, starts, task.noise)
    fit = _fit_short(fit_first_states(task.begin(system, starts, even_edges(task.runs, first_length))))
    if length is not None:
        return fit
    for _ in range(N_SWEEPS):
        fit = _join_all(fit)
    return fit


def _join_all(fit: SegmentFit) -> SegmentFit:
    """Join neighbours as long as any can be joined; an edge that turned out to be needed stays.

    Without noise, nothing is joined: short segments already say everything.
    """
    to_keep: set[tuple[int, int]] = set()
    for _ in range(MAX_JOINING_ROUNDS):
        joined = join_pairs(fit.edges, to_keep)
        if as_set(joined) == as_set(fit.edges) or fit.scale <= INTEGRATION_ERROR or fit.task.deadline.is_over:
            break
        fit = _fit_joined(fit, joined)
        to_keep |= as_set(fit.edges) - as_set(joined)
    return fit


def _fit_short(fit: SegmentFit) -> SegmentFit:
    """Fit constants and first states; leave out segments that are lost or stay far from their data."""
    fit = fit_constants_and_states(fit)
    sizes = fit.shooter.segments.size * fit.task.noise.size
    means = fit.losses / sizes
    limit = NOT_CONVERGED * max(float(np.median(means)), INTEGRATION_ERROR) * (1 + CHANCE_ERRORS * np.sqrt(2 / sizes))
    is_near = fit.is_used & (means <= limit)
    return fit if is_near.sum() in (0, fit.is_used.sum()) else fit_constants_and_states(replace(fit, is_used=is_near))


def _fit_joined(fit: SegmentFit, edges: Sequence[Edges], exact_error: float = 0.0) -> SegmentFit:
    """Fit to fewer, longer segments; cut those again that one trajectory does not fit as well as two."""
    joined = _begin_joined(fit, edges)
    for slack in (BEFORE_FIT, 1.0):
        is_fine = _is_as_good_as_parts(joined, fit, slack * max(fit.scale, exact_error))
        if not is_fine.all():
            cut_again = _cut_again(joined, fit, is_fine)
            joined = _begin_again(joined, fit, joined.fitted_states(is_fine), cut_again)
        joined = fit_constants_and_states(joined)
    return joined


def _begin_joined(parts: SegmentFit, edges: Sequence[Edges]) -> SegmentFit:
    """Return joined segments with the constants of their parts, and with first states fitted to these constants."""
    fit = _begin_again(parts, parts, parts.fitted_states(parts.is_used), edges)
    return fit_first_states(replace(fit, initial=fit_first_states(_aim_at_second_parts(fit, parts)).initial))


def _aim_at_second_parts(fit: SegmentFit, parts: SegmentFit) -> SegmentFit:
    """Return joined segments that end where their second part begins, with its first states as if they had been measured.

    Errors grow along a segment: fitted to all of it at once, many trajectories would diverge.
    """
    segments, n_measured = fit.shooter.segments, len(fit.shooter.segments.measured)
    information = parts.normal_equations(with_constants=False).states
    known = 1 / np.einsum(
        "mss->ms", np.linalg.pinv(information, hermitian=True)
    )  # one over the variance of each first state
    homes = segments.home_of(parts.shooter.segments)
    offsets = parts.shooter.segments.first - segments.first[homes]
    measured, weights = segments.measured.copy(), segments.weights.copy()
    for part in np.flatnonzero((offsets > 0) & parts.is_used & np.isfinite(known).all(axis=1)):
        segment, sample = homes[part], offsets[part]
        measured[:, segment, sample] = parts.initial[:n_measured, part]
        weights[:, segment, sample] = np.sqrt(known[part, :n_measured])
        weights[:, segment, sample + 1 :] = 0.0
    return replace(fit, shooter=replace(fit.shooter, segments=replace(segments, measured=measured, weights=weights)))


def _begin_again(fit: SegmentFit, parts: SegmentFit, states: Sequence[Numbers], edges: Sequence[Edges]) -> SegmentFit:
    """Return segments with other edges, not yet fitted; those with a part that was left out are left out too."""
    new = fit.task.begin(fit.system, states, edges, n_substeps=fit.shooter.n_substeps)
    is_used = np.bincount(new.shooter.segments.home_of(parts.shooter.segments), ~parts.is_used, new.is_used.size) == 0
    return replace(new, is_used=is_used)


def _is_as_good_as_parts(fit: SegmentFit, parts: SegmentFit, scale: float) -> NDArray[np.bool_]:
    """Return for each segment whether it fits about as well as the segments it was joined from, given the mean squared error."""
    homes = fit.shooter.segments.home_of(parts.shooter.segments)
    before = np.bincount(homes, parts.losses, fit.is_used.size)
    is_joined = np.bincount(homes, minlength=fit.is_used.size) > 1
    is_lost = is_joined & (fit.shooter.sensitivity(fit.constants, fit.initial) > MAX_SENSITIVITY)
    n_states = len(
        fit.initial
    )  # a joined pair has this many fewer unknowns: its error is expected to rise by as many means
    limit = scale * (n_states + CHANCE_ERRORS * np.sqrt(2 * n_states))
    return np.asarray(~is_joined | ~fit.is_used | (~is_lost & (fit.losses - before <= limit)))


def _cut_again(fit: SegmentFit, parts: SegmentFit, is_fine: NDArray[np.bool_]) -> list[Edges]:
    """Return the edges, and within segments that are not fine also those of the parts."""
    segments = parts.shooter.segments
    homes = fit.shooter.segments.home_of(segments)
    edges = [set(all_edges.tolist()) for all_edges in fit.edges]
    for m in np.flatnonzero(~is_fine[homes]):
        edges[segments.run[m]].add(int(segments.first[m]))
    return [np.array(sorted(all_edges), np.int64) for all_edges in edges]


# ---- the result ----------------------------------------------------------------------------------


def _summarise(fit: SegmentFit) -> Refined:
    segments = fit.shooter.segments
    n_observations = segments.n_observations(fit.is_used)
    residuals = fit.residuals[fit.is_used]
    notes: list[str] = ["The time was up before the fit was done."] if fit.task.deadline.is_over else []
    logarithms = n_observations * (np.log(2 * np.pi) / 2 + np.log(fit.task.noise).mean())
    n_left_out = int((~fit.is_used).sum())
    if n_left_out:
        notes.append(f"{n_left_out} of {segments.n_segments} segments could not be followed and were left out.")
    if _is_stiff(fit):
        notes.append("The equations are stiff: the integration may be less accurate than the noise.")
    return Refined(
        system=fit.system,
        standard_errors=_find_precision(fit).standard_errors,
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


def _is_stiff(fit: SegmentFit) -> bool:
    """Return whether the integration is not accurate with the finest steps."""
    if fit.shooter.n_substeps < MAX_SUBSTEPS:
        return False
    coarser = replace(fit.shooter, n_substeps=fit.shooter.n_substeps // 2)
    error = fit.shooter.difference_from(coarser, fit.constants, fit.initial)
    return error is None or error > STIFF_ERROR


def _find_precision(fit: SegmentFit) -> Precision:
    """Return how well constants are determined, for noise as large as the residuals.

    Without noise, errors of the integration are left, which have the same sign in all samples.
    """
    floor = 0.0 if fit.scale > INTEGRATION_ERROR else INTEGRATION_ERROR**2 * fit.n_free
    return Precision(fit.normal_equations(), max(fit.scale, floor), fit.n_free)
