"""Whether runs that share all numbers of a system seem to have different ones: a look along the trajectories, without another fit."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectory
from spl.dynamics.own_system import all_own, write_own_system
from spl.dynamics.refine import SMALLEST_ERROR, Refined, find_precision
from spl.dynamics.sharing import SHARED, RunFits, Sharing

Numbers = NDArray[np.float64]

MAX_LOOK = 400  # constants times runs: with more, the look would take long
CLEARLY_SHORTER = 10.0  # nats by which a description with an own number must be shorter
LEAST_RUN_EXPLAINED = (
    0.02  # of the squared error that own numbers must explain: long data shows differences that mean nothing
)
UNSEEN = 1e-9  # relative: directions about which a run says nothing
DIFFERENT = (
    "The runs seem to have different numbers: numbers of their own for each run would explain {:.0f} % of what is left. "
    'Try own="auto".'
)


def find_run_fits(
    fitted: Refined,
    runs: Sequence[Trajectory],
    starts: Sequence[Numbers],
    noise: Numbers,
    *,
    exact_error: float,
    takes_step: bool = False,
) -> RunFits:
    """Return the constants of each run, and how well the run determines them.

    Args:
        fitted: a system whose constants are all own numbers.
        runs: the measurements.
        starts: smoothed states of the runs.
        noise: of each state [D].
        exact_error: mean squared residual, in units of the noise, that does not matter.
        takes_step: whether the constants are not yet those that fit each run best: then one Newton step leads there.
    """
    n_runs = len(fitted.system.run_labels)
    precision = find_precision(fitted.system, fitted, runs, starts, noise)
    with np.errstate(all="ignore"):  # trajectories may be lost
        matrix, slope, _ = precision.normal.reduce(np.zeros_like(precision.normal.state_slope))
    scale = max(precision.variance, exact_error, SMALLEST_ERROR)
    information = np.array([matrix[run::n_runs, run::n_runs] for run in range(n_runs)])
    information = np.where(np.isfinite(information), information, 0.0)
    values = fitted.system.free_values.reshape(-1, n_runs).T
    if takes_step:
        pull = np.where(np.isfinite(slope), slope, 0.0).reshape(-1, n_runs).T
        values = values + np.array([_solve(one, two) for one, two in zip(information, pull, strict=True)])
    counts = np.zeros(n_runs)
    np.add.at(counts, fitted.segments.experiment, fitted.segments.size * len(fitted.system.states))
    return RunFits(values, information / scale, counts)


def _solve(matrix: Numbers, right: Numbers) -> Numbers:
    size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    inverse = np.linalg.pinv(matrix / np.outer(size, size), rcond=UNSEEN, hermitian=True)
    return np.asarray(inverse @ (right / size) / size)


def find_different_runs(
    fitted: Refined, runs: Sequence[Trajectory], starts: Sequence[Numbers], noise: Numbers, exact_error: float
) -> str:
    """Return a doubt if own numbers for each run would describe the trajectories clearly better; "" otherwise."""
    system = fitted.system
    n_runs = 1 + max(run.experiment for run in runs)
    n_constants = system.n_constants
    used = set(fitted.segments.experiment[fitted.is_used].tolist())
    is_asked = n_constants and 1 < n_runs == len(used) and n_runs * n_constants <= MAX_LOOK
    if not is_asked or system.is_implicit or system.own:
        return ""
    values = np.tile(system.constants, (n_runs, 1))
    labels = [str(run) for run in range(n_runs)]
    own = write_own_system(system, labels, all_own(n_constants), values, np.ones(n_constants), writes_signs=False)
    found = find_run_fits(replace(fitted, system=own), runs, starts, noise, exact_error=exact_error, takes_step=True)
    nothing = Sharing((SHARED,) * n_constants)
    ways = [nothing.with_leader(place, place) for place in range(n_constants)]
    before = found.fit(nothing)[0]
    after = [(found.fit(way)[0], found.price(way) - found.price(nothing)) for way in ways]
    gained = max(before - misfit - price for misfit, price in after)
    explained = 2 * max(before - misfit for misfit, _ in after) / float(found.n_observations.sum())
    if gained < CLEARLY_SHORTER or explained < LEAST_RUN_EXPLAINED:
        return ""
    return DIFFERENT.format(100 * min(explained, 1.0))
