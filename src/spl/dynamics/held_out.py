"""Held-out stretches of the trajectories: a system whose constants were fitted to the rest must describe them briefly."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories, Trajectory
from spl.dynamics.budget import Deadline
from spl.dynamics.refine import Refined, refine_in_steps
from spl.formulas.system import System

Numbers = NDArray[np.float64]
Piece = tuple[Trajectory, Numbers]  # of a run, with the states of the same samples

N_BLOCKS = 8  # stretches of a run
HELD_OUT = 4  # every fourth is held out
MIN_BLOCK = 24  # samples of a stretch


class HeldOut:
    """Runs cut into stretches, every fourth of them held out; if there are few samples, all are used for both."""

    def __init__(self, data: Trajectories, states: Sequence[Numbers], noise: Numbers, exact_error: float = 0.0) -> None:
        pieces = [piece for run, of_run in zip(data.runs, states, strict=True) for piece in _cut(run, of_run)]
        self._kept = [piece for k, piece in enumerate(pieces) if k % HELD_OUT != HELD_OUT - 1]
        self._held = pieces[HELD_OUT - 1 :: HELD_OUT] or self._kept
        self._noise, self._exact_error = noise, exact_error

    def fit(self, system: System, shortest: int, longest: int, *, max_seconds: float) -> Refined:
        """Return the system along held-out data, with constants fitted to the rest, along segments of up to `longest` samples."""
        deadline, lengths = Deadline.after(max_seconds), (shortest, longest)
        runs, starts = _unzip(self._kept)
        fitted = refine_in_steps(
            system, runs, starts, self._noise, lengths, exact_error=self._exact_error, deadline=deadline
        )
        held_runs, held_starts = _unzip(self._held)
        return refine_in_steps(
            fitted.system,
            held_runs,
            held_starts,
            self._noise,
            lengths,
            exact_error=self._exact_error,
            deadline=deadline,
            keeps_constants=True,
        )


def _cut(run: Trajectory, states: Numbers) -> Iterator[Piece]:
    n_blocks = max(1, min(N_BLOCKS, run.n_samples // MIN_BLOCK))
    edges = np.linspace(0, run.n_samples, n_blocks + 1).astype(int).tolist()
    for first, end in pairwise(edges):
        part = Trajectory(run.t[first:end], run.x[first:end], run.u[first:end], None, run.experiment)
        yield part, states[first:end]


def _unzip(pieces: Sequence[Piece]) -> tuple[list[Trajectory], list[Numbers]]:
    return [run for run, _ in pieces], [states for _, states in pieces]
