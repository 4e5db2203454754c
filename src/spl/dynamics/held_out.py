"""Held-out stretches of the trajectories: a system whose constants were fitted to the rest must do well on them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories, Trajectory
from spl.dynamics.refine import measure_error, refine
from spl.formulas.system import System

Numbers = NDArray[np.float64]
Piece = tuple[Trajectory, Numbers]  # of a run, with the states of the same samples

N_BLOCKS = 8  # stretches of a run
HELD_OUT = 4  # every fourth is held out
MIN_BLOCK = 24  # samples of a stretch


class HeldOut:
    """Runs cut into stretches, every fourth of them held out; if there are few samples, all are used for both."""

    def __init__(self, data: Trajectories, states: Sequence[Numbers], noise: Numbers) -> None:
        pieces = [piece for run, of_run in zip(data.runs, states, strict=True) for piece in _cut(run, of_run)]
        self._kept = [piece for k, piece in enumerate(pieces) if k % HELD_OUT != HELD_OUT - 1]
        self._held = pieces[HELD_OUT - 1 :: HELD_OUT] or self._kept
        self._noise = noise

    def error(self, system: System, length: int, max_seconds: float) -> float:
        """Return the mean squared residual on held-out data, in units of the noise, along segments of `length` samples."""
        runs, starts = _unzip(self._kept)
        fitted = refine(system, runs, starts, self._noise, length=length, max_seconds=max_seconds)
        held_runs, held_starts = _unzip(self._held)
        return measure_error(fitted.system, held_runs, self._noise, held_starts, length=length)


def _cut(run: Trajectory, states: Numbers) -> Iterator[Piece]:
    n_blocks = max(1, min(N_BLOCKS, run.n_samples // MIN_BLOCK))
    edges = np.linspace(0, run.n_samples, n_blocks + 1).astype(int).tolist()
    for first, end in pairwise(edges):
        yield Trajectory(run.t[first:end], run.x[first:end], run.u[first:end], None), states[first:end]


def _unzip(pieces: Sequence[Piece]) -> tuple[list[Trajectory], list[Numbers]]:
    return [run for run, _ in pieces], [states for _, states in pieces]
