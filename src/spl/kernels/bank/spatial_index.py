"""The bank once more, by where its values lie: which entry comes nearest to a goal that is only about right.

Centred and scaled to length 1, the values of entries are points on a sphere. Their coordinates along the three directions in which
they differ most put them into the cells of a coarse grid. Noise moves a goal by little along any one direction: only entries in a
small box around it, by these and a few further coordinates, are compared value by value.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.bank.row_fit import fit_offset, fit_sums, goal_sums, weighted_sums
from spl.kernels.bank.value_index import EXACT, UP_TO_SCALE, project
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import apart

N_DIRECTIONS = 6
N_CELLS = 48  # of the grid along each of the first three
MAX_NOISE = 0.2  # of a goal, as a share of its size: entries farther away are not looked for
MAX_NEAR = 1000  # entries in the cells of a box: the box shrinks until there are no more ...
LEAST_BOX = 0.2 / N_CELLS  # ... or it is so small
MAX_COMPARED = 256  # entries that are compared with a goal value by value
N_RANKED = 128  # entries that are kept when all are compared with it
BOX = 2.5  # half the width of the box, in standard deviations of the noise along a direction


# How an entry comes near to a goal
PLAIN, BY_SCALE, BY_OFFSET, BY_BOTH = range(4)

# By which share of an error of one row each token and each number of what comes near must lower the error
TOKEN_CHARGE, NUMBER_CHARGE = 1.5, 5.0


class Match(NamedTuple):
    """An entry that comes near to a goal."""

    entry: int  # -1: none
    error: float
    way: int  # PLAIN, BY_SCALE, BY_OFFSET or BY_BOTH
    scale: float
    offset: float


RANKED = np.dtype([("error", np.float64), ("entry", np.int64)], align=True)


class NearIndex(NamedTuple):
    """M entries of S symbols."""

    directions: np.ndarray  # float64[N_DIRECTIONS, n], unit vectors, orthogonal to each other and to a constant
    first: np.ndarray  # int64[S, N_CELLS**3 + 1], where the entries of a cell begin in the order of the cells
    entry: np.ndarray  # int32[M], those of each symbol one cell after the other
    spot: np.ndarray  # float32[M, N_DIRECTIONS], their coordinates; the first is not negative
    scratch: np.ndarray  # float32[N_DIRECTIONS], those of a goal
    ranked: np.ndarray  # RANKED[N_RANKED], entries that come nearest to it, the nearest first


@kernel
def _cell_of(coordinate):
    """Return the cell of a coordinate between -1 and 1."""
    return min(max(np.int64(np.floor(0.5 * (coordinate + 1.0) * N_CELLS)), 0), N_CELLS - 1)


@kernel
def _is_within(spot, k, at, half):
    """Tell whether entry k of the index lies in a box."""
    for d in range(N_DIRECTIONS):
        if abs(spot[k, d] - at[d]) > half:
            return False
    return True


@kernel
def _range_of(index, symbol, i, j, at, half):
    """Return where the entries of the cells i, j of a box begin and end."""
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
    """Return how an entry comes near to a goal: the lowest charged error, and the way that has it."""
    own = weighted_sums(bank.values, entry * n, rows, weights, goal, n)
    tokens = 1.0 + TOKEN_CHARGE * bank.cost[entry] / n
    best = Match(entry, tokens * fit_sums(own, sums, np.int64(EXACT))[0], np.int64(PLAIN), 1.0, 0.0)
    if mode == EXACT:
        return best
    error, scale, _ = fit_sums(own, sums, np.int64(UP_TO_SCALE))
    error *= tokens + NUMBER_CHARGE / n
    if error < best.error:
        best = Match(entry, error, np.int64(BY_SCALE), scale, 0.0)
    if mode == UP_TO_SCALE:
        return best
    error, offset = fit_offset(own, sums)
    error *= tokens + NUMBER_CHARGE / n
    if error < best.error:
        best = Match(entry, error, np.int64(BY_OFFSET), 1.0, offset)
    error, scale, offset = fit_sums(own, sums, mode)
    error *= tokens + 2.0 * NUMBER_CHARGE / n
    return Match(entry, error, np.int64(BY_BOTH), scale, offset) if error < best.error else best


@kernel
def no_match(most_error):
    """Return that no entry has less than this error."""
    return Match(np.int64(-1), most_error, np.int64(PLAIN), 1.0, 0.0)


@apart
def find_nearest(index, bank, symbol, mode, rows, goal, weights, n, most_error):
    """Return the entry of a symbol that comes nearest to rows[goal : goal + n] up to the mode, if its error is less than that.

    Errors are sums of squares with the weights at rows[weights:], the larger the more tokens and numbers an entry comes with.
    """
    best = no_match(most_error)
    mean = 0.0
    spread = 0.0  # of the error of the goal, as a share of that of the result
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
    if not noise < MAX_NOISE:  # rows that do not count make it infinite
        noise = MAX_NOISE
    half = np.float32(BOX * noise / np.sqrt(n))
    at = index.scratch
    n_left = MAX_COMPARED
    for sign in (1.0, -1.0):
        for k in range(N_DIRECTIONS):
            at[k] = sign * project(rows, goal, n, mean, index.directions, k) / size
        while half > LEAST_BOX and _count_near(index, symbol, at, half) > MAX_NEAR:
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
def rank(ranked, n_ranked, error, entry):
    """Put an entry among the best so far, in the order of their errors, if there is room or it is better; return how many they are."""
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


@apart
def rank_all(index, bank, symbol, mode, rows, goal, weights, n):
    """Compare a goal with all entries of a symbol; put those that come nearest into `index.ranked` and return how many they are.

    Errors are those of `find_nearest`; of equals, the cheaper comes first.
    """
    sums = goal_sums(rows, weights, goal, n)
    n_ranked = 0
    if not np.isfinite(sums[2]):
        return n_ranked
    for place in range(bank.n_of[symbol]):
        entry = np.int64(bank.member[symbol, place])
        error = match_entry(bank, entry, rows, weights, goal, sums, mode, n).error
        if np.isfinite(error):
            n_ranked = rank(index.ranked, n_ranked, error, entry)
    return n_ranked
