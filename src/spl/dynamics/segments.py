"""Segments: runs cut into short pieces, as arrays that are integrated and compared in one call."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectory

Numbers = NDArray[np.float64]
Edges = NDArray[np.int64]

MAX_FOLLOWED_SAMPLES = 100_000  # of all runs: more take memory and time, and add little
STRETCH = 2000  # samples of each stretch that is used if there are more
MIN_LENGTH = 8  # samples of the shortest segments
MIN_COARSE_LENGTH = 2  # the same, if samples are so far apart that a trajectory may be lost within eight of them
MOVEMENT = 3.0  # sd of the noise that the states must move within the first segments
MOST_MOVEMENT = 0.7  # of their largest movement is enough in any case


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Pieces of runs, with their measurements as arrays; short ones are padded at the end with weight 0."""

    run: NDArray[np.int64]  # [M], the run that each is from
    first: NDArray[np.int64]  # [M], its first sample in that run
    size: NDArray[np.int64]  # [M], how many samples it has
    times: Numbers  # [M, K]
    inputs: Numbers  # [U, M, K]
    measured: Numbers  # [D, M, K]
    weights: Numbers  # [D, M, K], one over the sd of the noise; 0 for padding
    experiment: NDArray[np.int64]  # [M], the trajectory that each is from

    @property
    def n_segments(self) -> int:
        """How many segments there are."""
        return self.run.size

    @property
    def length(self) -> int:
        """How many samples the longest has."""
        return int(self.measured.shape[2])

    @property
    def edges(self) -> list[Edges]:
        """Where each run is cut: the first sample of each segment, then the end."""
        ends = self.first + self.size
        return [
            np.append(self.first[self.run == run], ends[self.run == run].max()) for run in range(self.run.max() + 1)
        ]

    def n_observations(self, is_used: NDArray[np.bool_]) -> int:
        """Return how many numbers were measured in the segments that are used."""
        return int(self.size[is_used].sum()) * len(self.measured)

    def home_of(self, parts: "Segments") -> NDArray[np.int64]:
        """Return for each part of these segments, which are cut further, the number of the segment it is in."""
        stride = 1 + max(int(self.first.max()), int(parts.first.max()))
        places = self.run * stride + self.first
        return np.searchsorted(places, parts.run * stride + parts.first, side="right") - 1

    def initial_states(self, starts: Sequence[Numbers]) -> Numbers:
        """Return the states [S, M] at the first sample of each segment."""
        return np.array([starts[run][first] for run, first in zip(self.run, self.first, strict=True)]).T


def spread_samples(
    runs: Sequence[Trajectory], starts: Sequence[Numbers], most: int = MAX_FOLLOWED_SAMPLES
) -> tuple[Sequence[Trajectory], Sequence[Numbers]]:
    """Return runs and their states; if they have too many samples, evenly spread stretches of them, each as a separate run.

    Examples:
        >>> t = np.arange(10_000.0)
        >>> run = Trajectory(t, t[:, np.newaxis], np.empty((t.size, 0)), None)
        >>> [(int(part.t[0]), part.n_samples) for part in spread_samples([run], [run.x], most=6000)[0]]
        [(0, 2000), (4000, 2000), (8000, 2000)]
    """
    n_samples = sum(run.n_samples for run in runs)
    if n_samples <= most:
        return runs, starts
    stretches = [
        (number, slice(a, b))
        for number, run in enumerate(runs)
        for a, b in pairwise(np.linspace(0, run.n_samples, 1 + -(-run.n_samples // STRETCH)).astype(int).tolist())
    ]
    n_kept = max(1, int(len(stretches) * most / n_samples))
    kept = [stretches[k] for k in np.linspace(0, len(stretches) - 1, n_kept).round().astype(int)]
    parts = [replace(runs[k], t=runs[k].t[cut], x=runs[k].x[cut], u=runs[k].u[cut], x_dot=None) for k, cut in kept]
    return parts, [starts[k][cut] for k, cut in kept]


def choose_length(
    runs: Sequence[Trajectory], starts: Sequence[Numbers], noise: Numbers, shortest: int = MIN_LENGTH
) -> int:
    """Return the shortest length of segments within which the smoothed states move clearly more than their noise."""
    lengths, moves = [shortest], []
    while 2 * lengths[-1] < max(run.n_samples for run in runs):
        lengths.append(2 * lengths[-1])
    for length in lengths:
        ways = [(states[length:] - states[:-length])[:, : noise.size] / noise for states in starts]
        moves.append(np.sqrt(np.mean(np.concatenate(ways) ** 2)) if sum(map(len, ways)) else 0.0)
    is_enough = np.array(moves) >= min(MOVEMENT, MOST_MOVEMENT * max(moves))
    return lengths[int(np.argmax(is_enough))]


def even_edges(runs: Sequence[Trajectory], length: int) -> list[Edges]:
    """Return where to cut runs into segments of about `length` samples: the first sample of each, then the end.

    Examples:
        >>> even_edges([Trajectory(np.arange(5.0), np.zeros((5, 1)), np.empty((5, 0)), None)], 2)
        [array([0, 2, 5])]
    """
    counts = [max(1, round(run.n_samples / length)) for run in runs]
    return [np.linspace(0, run.n_samples, n + 1).round().astype(np.int64) for run, n in zip(runs, counts, strict=True)]


def cut_segments(runs: Sequence[Trajectory], noise: Numbers, edges: Sequence[Edges]) -> Segments:
    """Cut runs into segments at given edges, in the form of `even_edges`; `noise` [D] is the sd of each state.

    Examples:
        >>> run = Trajectory(np.arange(5.0), np.zeros((5, 1)), np.empty((5, 0)), None)
        >>> segments = cut_segments([run], np.ones(1), [np.array([0, 2, 5])])
        >>> segments.first.tolist(), segments.size.tolist(), segments.times.tolist()
        ([0, 2], [2, 3], [[0.0, 1.0, 1.0], [2.0, 3.0, 4.0]])
    """
    places = [(number, a, b - a) for number, all_edges in enumerate(edges) for a, b in pairwise(all_edges)]
    number, first, size = np.array(places, dtype=np.int64).T
    offset = np.minimum(
        np.arange(size.max()), size[:, np.newaxis] - 1
    )  # [M, K], with the last sample repeated as padding
    at = np.cumsum([0, *(run.n_samples for run in runs)])[number][:, np.newaxis] + first[:, np.newaxis] + offset
    is_real = np.arange(size.max()) < size[:, np.newaxis]
    times, x, u = (np.concatenate([getattr(run, name) for run in runs]) for name in ("t", "x", "u"))
    weights = is_real / noise[:, np.newaxis, np.newaxis]
    experiment = np.array([run.experiment for run in runs], dtype=np.int64)[number]
    return Segments(
        number, first, size, times[at], np.moveaxis(u[at], 2, 0), np.moveaxis(x[at], 2, 0), weights, experiment
    )


def join_pairs(edges: Sequence[Edges], to_keep: set[tuple[int, int]]) -> list[Edges]:
    """Return every other edge, and all (run, edge) that are to be kept.

    Examples:
        >>> join_pairs([np.array([0, 2, 4, 6, 8])], {(0, 6)})
        [array([0, 4, 6, 8])]
    """
    joined = []
    for run, all_edges in enumerate(edges):
        kept = [int(all_edges[0])]
        for before, edge in pairwise(all_edges.tolist()):
            was_kept = kept[-1] == before
            if edge == all_edges[-1] or not was_kept or (run, edge) in to_keep:
                kept.append(edge)
        joined.append(np.array(kept, np.int64))
    return joined


def as_set(edges: Sequence[Edges]) -> set[tuple[int, int]]:
    """Return edges as pairs (run, edge)."""
    return {(run, int(edge)) for run, all_edges in enumerate(edges) for edge in all_edges}
