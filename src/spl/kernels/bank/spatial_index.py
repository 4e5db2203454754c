"""Spatial index over the bank for approximate matches: the entry closest to a goal with errors.

Centred and scaled to length 1, the values of entries are points on a sphere. Their coordinates along the three directions in which
they differ most put them into the cells of a coarse grid. Noise moves a goal only a little along any one direction. So only entries in
a small box around it, in these and a few further coordinates, are compared value by value.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.bank.row_fit import fit_offset, fit_sums, goal_sums, weighted_sums
from spl.kernels.bank.value_index import IDENTICAL, UP_TO_SCALE, project
from spl.kernels.programs.prices import MATCH_NUMBER_CHARGE, MATCH_TOKEN_CHARGE
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

N_DIRECTIONS = 6
N_CELLS = 48  # of the grid along each of the first three
MAX_NOISE = 0.2  # of a goal, as a share of its size: entries farther away are not searched
MAX_IN_BOX = 1000  # entries in the cells of a box; with more, the box shrinks ...
LEAST_BOX = 0.2 / N_CELLS  # ... down to this half width
MAX_COMPARED = 256  # entries that are compared with a goal value by value
N_RANKED = 128  # entries that are kept when all are compared with a goal
BOX = 2.5  # half the width of the box, in standard deviations of the noise along a direction


# How an entry is fitted to a goal
UNCHANGED, BY_SCALE, BY_OFFSET, BY_BOTH = range(4)


class Match(NamedTuple):
    """An entry that is close to a goal."""

    entry: int  # -1: none
    error: float
    way: int  # how it is fitted: UNCHANGED, BY_SCALE, BY_OFFSET or BY_BOTH
    scale: float
    offset: float


RANKED = np.dtype([("error", np.float64), ("entry", np.int64)], align=True)


# What the index knows of an entry, and of a cell of the grid
INDEXED_POINT = np.dtype([("entry", np.int32), ("spot", np.float32, N_DIRECTIONS)])
GRID_CELL = np.dtype(np.int64)


class SpatialIndex(NamedTuple):
    """M entries of S symbols."""

    directions: np.ndarray  # float64[N_DIRECTIONS, n], unit vectors, orthogonal to each other and to a constant
    first: np.ndarray  # int64[S, N_CELLS**3 + 1], where the entries of a cell begin in the order of the cells
    entry: np.ndarray  # int32[M], entries of each symbol in the order of the cells
    spot: np.ndarray  # float32[M, N_DIRECTIONS], their coordinates; the first is not negative
    scratch: np.ndarray  # float32[N_DIRECTIONS], coordinates of a goal
    ranked: np.ndarray  # RANKED[N_RANKED], entries closest to it, the closest first


@kernel
def _cell_of(coordinate):
    """Return the cell of a coordinate between -1 and 1."""
    return min(max(np.int64(np.floor(0.5 * (coordinate + 1.0) * N_CELLS)), 0), N_CELLS - 1)


@kernel
def _is_within(spot, k, at, half):
    """Return whether entry k of the index lies in a box."""
    for d in range(N_DIRECTIONS):
        if abs(spot[k, d] - at[d]) > half:
            return False
    return True


@kernel
def _range_of(index, symbol, i, j, at, half):
    """Return where the entries of the cells i, j of a box begin and end in the order of the cells."""
    row = (i * N_CELLS + j) * N_CELLS
    return index.first[symbol, row + _cell_of(at[2] - half)], index.first[symbol, row + _cell_of(at[2] + half) + 1]


@kernel
def _count_near(index, symbol, at, half):
    """Return how many entries the cells of a box hold."""
    total = 0
    for i in range(_cell_of(at[0] - half), _cell_of(at[0] + half) + 1):
        for j in range(_cell_of(at[1] - half), _cell_of(at[1] + half) + 1):
            first, last = _range_of(index, symbol, i, j, at, half)
            total += last - first
    return total


@kernel
def match_entry(bank, entry, rows, weights, goal, sums, mode, n):
    """Return the best fit of an entry to a goal: the lowest error with charges, and the way that gives it."""
    own = weighted_sums(bank.values, entry * n, rows, weights, goal, n)
    tokens = 1.0 + MATCH_TOKEN_CHARGE * bank.cost[entry] / n
    best = Match(entry, tokens * fit_sums(own, sums, np.int64(IDENTICAL))[0], np.int64(UNCHANGED), 1.0, 0.0)
    if mode == IDENTICAL:
        return best
    error, scale, _ = fit_sums(own, sums, np.int64(UP_TO_SCALE))
    error *= tokens + MATCH_NUMBER_CHARGE / n
    if error < best.error:
        best = Match(entry, error, np.int64(BY_SCALE), scale, 0.0)
    if mode == UP_TO_SCALE:
        return best
    error, offset = fit_offset(own, sums)
    error *= tokens + MATCH_NUMBER_CHARGE / n
    if error < best.error:
        best = Match(entry, error, np.int64(BY_OFFSET), 1.0, offset)
    error, scale, offset = fit_sums(own, sums, mode)
    error *= tokens + 2.0 * MATCH_NUMBER_CHARGE / n
    return Match(entry, error, np.int64(BY_BOTH), scale, offset) if error < best.error else best


@kernel
def no_match(most_error):
    """Return a match that says that no entry has less than this error."""
    return Match(np.int64(-1), most_error, np.int64(UNCHANGED), 1.0, 0.0)


@linked_kernel
def find_nearest(index, bank, symbol, mode, rows, goal, weights, n, most_error) -> Match:
    """Return the entry of a symbol closest to rows[goal : goal + n] up to the mode, if its error is less than most_error.

    Errors are sums of squares with the weights at rows[weights:], with charges for the tokens and numbers of an entry.
    """
    best = no_match(most_error)
    mean = 0.0
    spread = 0.0  # mean squared error of the goal, relative to that of the result
    for j in range(n):
        mean += rows[goal + j] / n
        spread += 1.0 / (rows[weights + j] * n)
    square = 0.0
    for j in range(n):
        square += (rows[goal + j] - mean) ** 2
    sums = goal_sums(rows, weights, goal, n)
    if not (square > 0.0 and np.isfinite(square) and np.isfinite(sums[2])):
        return best
    size = np.sqrt(square)
    noise = np.sqrt(spread * most_error) / size
    if not noise < MAX_NOISE:  # rows without weight make it infinite
        noise = MAX_NOISE
    half = np.float32(BOX * noise / np.sqrt(n))
    at = index.scratch
    n_left = MAX_COMPARED
    for sign in (1.0, -1.0):
        for k in range(N_DIRECTIONS):
            at[k] = sign * project(rows, goal, n, mean, index.directions, k) / size
        while half > LEAST_BOX and _count_near(index, symbol, at, half) > MAX_IN_BOX:
            half *= np.float32(0.7)
        if at[0] + half < 0.0:
            continue
        for i in range(_cell_of(at[0] - half), _cell_of(at[0] + half) + 1):
            for j in range(_cell_of(at[1] - half), _cell_of(at[1] + half) + 1):
                first, last = _range_of(index, symbol, i, j, at, half)
                for k in range(first, last):
                    if n_left > 0 and _is_within(index.spot, k, at, half):
                        n_left -= 1
                        found = match_entry(bank, np.int64(index.entry[k]), rows, weights, goal, sums, mode, n)
                        if found.error < best.error:
                            best = found
    return best


@kernel
def insert_ranked(ranked, n_ranked, error, entry):
    """Insert an entry into the best so far, sorted by error, if there is room or it is better; return their number."""
    if n_ranked == ranked.size and not error < ranked[n_ranked - 1].error:
        return n_ranked
    at = min(n_ranked, ranked.size - 1)
    while at > 0 and error < ranked[at - 1].error:
        ranked[at].error = ranked[at - 1].error
        ranked[at].entry = ranked[at - 1].entry
        at -= 1
    ranked[at].error = error
    ranked[at].entry = entry
    return min(n_ranked + 1, ranked.size)


@linked_kernel
def rank_entries(index, bank, symbol, mode, rows, goal, weights, n) -> int:
    """Compare a goal with all entries of a symbol; put the closest into `index.ranked` and return their number.

    Errors are those of `find_nearest`; in a tie, the cheaper entry comes first.
    """
    sums = goal_sums(rows, weights, goal, n)
    n_ranked = 0
    if not np.isfinite(sums[2]):
        return n_ranked
    for place in range(bank.n_of[symbol]):
        entry = np.int64(bank.member[symbol, place])
        error = match_entry(bank, entry, rows, weights, goal, sums, mode, n).error
        if np.isfinite(error):
            n_ranked = insert_ranked(index.ranked, n_ranked, error, entry)
    return n_ranked
