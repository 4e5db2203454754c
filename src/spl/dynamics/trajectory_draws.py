"""Bands of trajectories: a system simulated many times, each time with other constants that the data allows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.data.trajectories import Trajectory
from spl.dynamics.followed_system import FollowedSystem
from spl.dynamics.segments import cut_segments
from spl.dynamics.shooting import MAX_SUBSTEPS, make_shooter
from spl.dynamics.simulate import read_inputs, simulate
from spl.dynamics.system_uncertainty import SystemCurvature
from spl.formulas.system import System

Numbers = NDArray[np.float64]

CLOSE = 1e-3  # of the spread of a state: integration errors below this do not matter for a band
DRAWS_AT_ONCE = 32  # bounds the memory


@dataclass(frozen=True, slots=True, eq=False)
class SimulationDraws:
    """Simulated trajectories with constants as they might be: how sure a simulation is.

    Examples:
        >>> draws = np.array([[[1.0], [0.5]], [[1.0], [0.7]], [[1.0], [np.nan]]])
        >>> band = SimulationDraws(np.array([0.0, 1.0]), np.array([[1.0], [0.6]]), draws)
        >>> band.n_ended, band.interval(level=0.5)[0].tolist()
        (1, [[1.0], [-inf]])
    """

    t: Numbers  # [N]
    states: Numbers  # [N, S], of the equations as they are printed
    draws: Numbers  # [R, N, S]; NaN after a draw has diverged or left the domain of an equation

    @property
    def n_ended(self) -> int:
        """How many draws end early."""
        return int(np.isnan(self.draws[:, -1]).any(axis=1).sum())

    def median(self) -> Numbers:
        """Return the median of the draws [N, S]; NaN where half of them have ended."""
        low, high = (self._quantile(0.5, end) for end in (-np.inf, np.inf))
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(low) & np.isfinite(high), 0.5 * (low + high), np.nan)

    def interval(self, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """Return lower and upper limits [N, S] that hold this share of the draws.

        A draw that has ended may be anywhere: where too many have, limits are infinite.
        """
        return self._quantile(0.5 * (1 - level), -np.inf), self._quantile(0.5 * (1 + level), np.inf)

    def _quantile(self, share: float, ended: float) -> Numbers:
        """Return the draw of a rank: of two, the one on the side where draws that have ended count."""
        ranked = np.sort(np.where(np.isnan(self.draws), ended, self.draws), axis=0)
        place = share * (len(ranked) - 1)
        return np.asarray(ranked[int(np.floor(place) if ended < 0 else np.ceil(place))])


def draw_trajectories(
    followed: FollowedSystem,
    x0: ArrayLike,
    t: ArrayLike,
    u: ArrayLike | Callable[[float], ArrayLike] | None,
    *,
    n_draws: int,
    rng: np.random.Generator,
    run: str = "",
) -> SimulationDraws:
    """Simulate a system with draws of all its numbers, from first states that are exact; `run` says whose own numbers it has.

    Rounded numbers count as if they were fitted, and so do factors of 1.
    """
    of_run = followed.system.of_run(run)
    place = followed.system.run_labels.index(run) if followed.system.own else 0
    exact = simulate(of_run, x0, t, u)
    times = np.asarray(t, dtype=np.float64)
    free = followed.with_free_numbers(has_factors=True)
    constants = SystemCurvature.of(followed, free).draw(n_draws, rng)
    draws = _integrate_quickly(free, constants, exact.states, times, read_inputs(of_run, u, times), place)
    if draws is None:
        each = (simulate(free.with_free_values(values).of_run(run), x0, t, u).states for values in constants)
        draws = np.stack(list(each))
    return SimulationDraws(times, exact.states, draws)


def _integrate_quickly(
    free: System, constants: Numbers, exact: Numbers, t: Numbers, u: Numbers, experiment: int
) -> Numbers | None:
    """Return the trajectories [R, N, S] with fixed steps, as small as the exact one requires; None if that is not possible."""
    n_known = int(np.isfinite(exact).all(axis=1).sum())
    if n_known < 2:
        return None
    known = exact[:n_known]
    n_measured = len(free.states)
    run = Trajectory(t, np.zeros((t.size, n_measured)), u, None, experiment)
    segments = cut_segments([run], np.ones(n_measured), [np.array([0, t.size])])
    shooter = make_shooter(free, segments, [known])
    start = known[0][:, np.newaxis]
    with np.errstate(all="ignore"):  # trajectories may be lost
        while True:
            found = shooter.follow(free.free_values[np.newaxis], start[np.newaxis])[0, :, 0, :n_known].T
            is_close = (np.abs(found - known) <= CLOSE * shooter.spread).all()
            if is_close or shooter.n_substeps >= MAX_SUBSTEPS or free.is_discrete:
                break
            shooter = replace(shooter, n_substeps=2 * shooter.n_substeps)
        if not np.isfinite(found).all():
            return None
        parts = [
            shooter.follow(some, np.repeat(start[np.newaxis], len(some), axis=0))[:, :, 0]
            for some in np.split(constants, range(DRAWS_AT_ONCE, len(constants), DRAWS_AT_ONCE))
        ]
    return np.swapaxes(np.concatenate(parts), 1, 2)
