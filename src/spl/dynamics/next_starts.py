"""What to measure next: initial conditions, and inputs held constant, from which rival systems move apart most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectory
from spl.dynamics.followed_system import FollowedSystem
from spl.dynamics.segments import Segments, cut_segments
from spl.dynamics.shooting import make_shooter, one_for_zero
from spl.formulas.system import System

Numbers = NDArray[np.float64]
Bounds = Mapping[str, tuple[float, float]]  # by name of a state, velocity or input

N_CANDIDATES = 400  # random initial conditions that are compared
N_COMPARED_SAMPLES = 100  # of a run that is compared
START_REACH = 0.5  # ranges of the data by which a start may lie outside of it
LEAST_NOISE = 1e-3  # of the spread of a state: smaller differences do not matter
FARTHEST_APART = 100.0  # times the noise: larger differences say no more
TOLD_APART = 6.0  # nats: as much longer a description makes a rival unlikely
CROWDED = 0.15  # of the box: two starts are at least as far apart


@dataclass(frozen=True, slots=True, eq=False)
class SuggestedStart:
    """Where a run would tell rivals apart."""

    values: tuple[float, ...]  # of the states, for order 2 their velocities, and of the inputs, which are held constant
    difference: float  # root mean square of the differences from the rivals, in units of the noise
    n_told_apart: int  # how many rivals the run would tell from the equations


def find_box(followed: FollowedSystem, bounds: Bounds | None = None) -> tuple[Numbers, Numbers]:
    """Return the lowest and highest start of each column [columns]: around the data, unless bounds are given.

    What is never negative in the data is not negative.
    """
    rows = [np.hstack([x, run.u]) for x, run in zip(followed.states, followed.data.runs, strict=True)]
    columns = np.concatenate(rows)
    low, high = columns.min(axis=0), columns.max(axis=0)
    reach = START_REACH * np.where(high > low, high - low, one_for_zero(np.abs(high)))
    measured = np.concatenate([np.hstack([run.x, run.u]) for run in followed.data.runs]).min(axis=0)
    is_positive = np.zeros(low.size, np.bool_)
    n_states, n_inputs = len(followed.data.states), len(followed.data.inputs)
    is_positive[:n_states] = measured[:n_states] >= 0
    is_positive[low.size - n_inputs :] = measured[n_states:] >= 0
    reach[[name in followed.known_names for name in followed.system.columns]] = 0.0
    lowest, highest = np.where(is_positive, np.maximum(low - reach, 0.0), low - reach), high + reach
    for place, name in enumerate(followed.system.columns):
        if bounds and name in bounds:
            lowest[place], highest[place] = bounds[name]
    return lowest, highest


def suggest_starts(
    followed: FollowedSystem,
    rivals: Sequence[System],
    box: tuple[Numbers, Numbers],
    *,
    n_starts: int,
    rng: np.random.Generator,
) -> list[SuggestedStart]:
    """Return starts from which runs as long as those of the data would tell most rivals from the system, the best first.

    Together they tell apart as many as possible, and no two are close to each other. There are fewer if few can be followed.
    """
    candidates = rng.uniform(*box, (N_CANDIDATES, len(box[0])))
    differences = _differences(followed, rivals, candidates)  # [rivals, candidates], in units of the noise
    nats = 0.5 * N_COMPARED_SAMPLES * len(followed.data.states) * differences**2
    units = (candidates - box[0]) / one_for_zero(box[1] - box[0])
    known = np.zeros(len(rivals))
    is_open = np.isfinite(nats).all(axis=0)
    found: list[SuggestedStart] = []
    while len(found) < n_starts and is_open.any():
        gains = np.log1p((known[:, np.newaxis] + nats) / TOLD_APART).sum(axis=0)
        best = int(np.argmax(np.where(is_open, gains, -np.inf)))
        known = known + nats[:, best]
        is_open &= np.abs(units - units[best]).max(axis=1) > CROWDED
        rms = float(np.sqrt(np.mean(differences[:, best] ** 2)))
        values = tuple(candidates[best].tolist())
        found.append(SuggestedStart(values, rms, int((nats[:, best] >= TOLD_APART).sum())))
    return found


def _differences(followed: FollowedSystem, rivals: Sequence[System], candidates: Numbers) -> Numbers:
    """Return how far each rival moves away from the system [rivals, candidates]; NaN where the system itself is lost.

    All are integrated with the same steps. Where half of these steps change more than the noise, nobody knows where the system goes.
    """
    segments = _make_segments(followed, candidates)
    initial = np.ascontiguousarray(candidates[:, : len(followed.system.first_order_states)].T)
    with np.errstate(all="ignore"):  # trajectories may be lost
        shooter = make_shooter(followed.system, segments, followed.states)
        n_substeps = shooter.refined_for(followed.system.constants, initial).n_substeps
        coarse, present, *others = (
            _follow(system, followed, segments, initial, factor * n_substeps)
            for system, factor in ((followed.system, 1), (followed.system, 2), *((rival, 2) for rival in rivals))
        )
        off = [np.minimum(np.abs(other - present) * segments.weights[:, :1], FARTHEST_APART) for other in others]
        is_known = (np.abs(coarse - present) * segments.weights[:, :1] <= 1).all(axis=(0, 2))
    off = [np.where(np.isnan(each), FARTHEST_APART, each) for each in off]  # a rival that is lost differs
    differences = np.array([np.sqrt(np.mean(each**2, axis=(0, 2))) for each in off])
    return np.where(is_known, differences.reshape(len(rivals), len(candidates)), np.nan)


def _make_segments(followed: FollowedSystem, candidates: Numbers) -> Segments:
    """Return one run per candidate, as long as those of the data on average, with constant inputs."""
    data = followed.data
    duration = float(np.mean([run.t[-1] - run.t[0] for run in data.runs]))
    step = float(np.median(np.concatenate([np.diff(run.t) for run in data.runs])))
    length = (N_COMPARED_SAMPLES - 1) * step if followed.system.is_discrete else duration
    times: Numbers = np.linspace(0.0, length, N_COMPARED_SAMPLES)
    n_inputs = len(data.inputs)
    spread = one_for_zero(np.concatenate([run.x for run in data.runs]).std(axis=0))
    noise = np.maximum(followed.noise, LEAST_NOISE * spread)
    runs = [
        Trajectory(
            times,
            np.zeros((N_COMPARED_SAMPLES, len(data.states))),
            np.tile(each[each.size - n_inputs :], (N_COMPARED_SAMPLES, 1)),
            None,
        )
        for each in candidates
    ]
    return cut_segments(runs, noise, [np.array([0, N_COMPARED_SAMPLES])] * len(runs))


def _follow(system: System, followed: FollowedSystem, segments: Segments, initial: Numbers, n_substeps: int) -> Numbers:
    """Return the measured states of a system from all starts [D, candidates, samples]; NaN where it is lost."""
    shooter = make_shooter(system, segments, followed.states, n_substeps)
    return shooter.follow(system.constants[np.newaxis], initial[np.newaxis])[0, : len(followed.data.states)]
