"""From camera tracks of the double pendulum to angles, angular velocities and accelerations."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.datasets.measured import PENDULUM_COLUMNS, TRACK_COLUMNS, TRACK_RATE
from spl.dynamics.derivatives import smooth_and_differentiate
from spl.errors import DataError

Numbers = NDArray[np.float64]

MIN_FRAMES = 64  # of a track
EDGE_FRAMES = 40  # at either end, a tenth of a second, where derivatives are poor


@dataclass(frozen=True, slots=True, eq=False)
class PendulumRun:
    """One run of the double pendulum, smoothed."""

    time_s: Numbers  # [N]
    table: Numbers  # [N, 6], columns `PENDULUM_COLUMNS`

    def select_column(self, name: str) -> Numbers:
        """Return a column [N] by its name."""
        return self.table[:, PENDULUM_COLUMNS.index(name)]

    def select_times(self, first: float, last: float) -> "PendulumRun":
        """Return the part of the run between two times in seconds."""
        rows = (self.time_s >= first) & (self.time_s <= last)
        return PendulumRun(self.time_s[rows], self.table[rows])


def track_to_angles(track: Numbers) -> Numbers:
    """Return both angles [N, 2] of a track [N, 6]: radians, 0 where the pendulum hangs, counter-clockwise, unwrapped.

    Examples:
        >>> hanging = [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
        >>> first_to_the_right = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
        >>> track_to_angles(np.array([hanging, first_to_the_right])).round(2)
        array([[0.  , 0.  ],
               [1.57, 0.  ]])
    """
    if track.ndim != 2 or track.shape[1] != len(TRACK_COLUMNS):
        raise DataError(f"A track must have the columns {', '.join(TRACK_COLUMNS)}; got shape {track.shape}.")
    points = track.reshape(len(track), 3, 2)  # pivot, first and second mass; y, which points down, and x
    arms = np.diff(points, axis=1)
    return np.asarray(np.unwrap(np.arctan2(arms[:, :, 1], arms[:, :, 0]), axis=0))


def smooth_track(track: Numbers, method: str = "savgol", rate: float = TRACK_RATE) -> PendulumRun:
    """Return angles, rates and accelerations of a track, all from the same smoothing; the ends are cut off.

    Args:
        track: positions [N, 6] with the columns `TRACK_COLUMNS`.
        method: how to estimate derivatives, a name in `spl.dynamics.derivatives.DERIVATIVES`. For run 0, the equations of the ideal
            pendulum miss the first acceleration by 5.3 % of its spread with the paper's "savgol", and by 7.8 % with "spline".
        rate: frames per second.

    Examples:
        >>> t = np.arange(200) / 400
        >>> still, one = np.zeros_like(t), np.ones_like(t)
        >>> swing = np.column_stack([still, still, np.cos(t), np.sin(t), np.cos(t) + one, np.sin(t)])
        >>> smooth_track(swing, "finite_difference").table[0].round(3) + 0.0
        array([0.1, 0. , 1. , 0. , 0. , 0. ])
    """
    if len(track) < MIN_FRAMES + 2 * EDGE_FRAMES:
        raise DataError(f"A track must have {MIN_FRAMES + 2 * EDGE_FRAMES} frames or more; got {len(track)}.")
    angles = track_to_angles(track)
    time_s = np.arange(len(angles)) / rate
    found = smooth_and_differentiate(time_s, angles, method, order=2)
    assert found.second is not None
    inside = slice(EDGE_FRAMES, len(angles) - EDGE_FRAMES)
    return PendulumRun(time_s[inside], np.hstack([found.values, found.slopes, found.second])[inside])
