"""Rows of values found again by what they are: exactly, up to scale, or up to scale and offset.

Values become two coordinates, and these a cell of a fine grid, which a hash table knows. A coordinate near the border of its cell is
looked up on both sides of it, and every hit is compared value by value: neither rounding nor a collision can mislead. Where values
crowd into few cells, as those with one large value among them do, a third coordinate, the mark, tells most of them apart before that.
The tables are those of a `Bank` or a `PowerIndex`.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.runtime.compiler import FAST_MATH, kernel
from spl.kernels.runtime.linking import apart
from spl.kernels.runtime.random import scramble

EXACT, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET = range(3)  # how an entry may differ from what is looked up

LARGEST = 1e12  # values beyond this leave too few digits for anything done with them
SAME = 1e-6  # relative distance of values that count as equal
GRID = 16384.0  # cells per unit of a coordinate
BORDER = 0.02  # share of a cell next to its border that is looked up on the other side too
N_AXES = 3  # along which values have coordinates
SAME_MARK = 1.5e-6  # marks of equal values differ by no more: `SAME`, and half as much for rounding
CONSTANT_SPREAD = 1e-9  # values whose spread is a smaller share of their size are one number

_SALT = np.uint64(0x9E3779B97F4A7C15)


class Spot(NamedTuple):
    """Where values are on the grid."""

    a: float
    b: float
    mark: float
    size: float  # norm of the values, after the mean is taken off if the mode says so


@kernel(fastmath=FAST_MATH)
def _sum(values, at, n):
    total = 0.0
    for j in range(n):
        total += values[at + j]
    return total


@kernel(fastmath=FAST_MATH)
def _sum_of_squares(values, at, n, mean):
    total = 0.0
    for j in range(n):
        total += (values[at + j] - mean) * (values[at + j] - mean)
    return total


@kernel(fastmath=FAST_MATH)
def project(values, at, n, mean, directions, k):
    """Return the coordinate along a direction of values[at : at + n] without their mean."""
    total = 0.0
    for j in range(n):
        total += (values[at + j] - mean) * directions[k, j]
    return total


@kernel
def find_spot(values, at, n, mode, directions):
    """Return where values[at : at + n] are on the grid; a size of 0 or NaN if they have no place there."""
    mean = _sum(values, at, n) / n if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    square = _sum_of_squares(values, at, n, mean)
    if not (square > 0.0 and square < LARGEST * LARGEST):
        return Spot(0.0, 0.0, 0.0, 0.0)
    size = np.sqrt(square)
    if mode == UP_TO_SCALE_AND_OFFSET and size <= CONSTANT_SPREAD * abs(mean) * np.sqrt(n):
        return Spot(0.0, 0.0, 0.0, 0.0)
    a = project(values, at, n, mean, directions, 0) / size
    mark = project(values, at, n, mean, directions, 2) / size
    if mode == EXACT:
        return Spot(a, np.log(size), mark, size)
    b = project(values, at, n, mean, directions, 1) / size
    if a < 0.0:
        a, b, mark = -a, -b, -mark
    return Spot(a, b, mark, size)


@kernel
def cell_key(a, b, symbol):
    """Return the key of a cell of the grid; never 0."""
    key = scramble(np.uint64(np.int64(a)) * _SALT + np.uint64(symbol))
    return scramble(key ^ np.uint64(np.int64(b))) | np.uint64(1)


@kernel(fastmath=FAST_MATH)
def _are_equal(values, at, others, other, n, size):
    """Tell whether two rows agree to a small share of the size of the first."""
    distance = 0.0
    for j in range(n):
        distance += (values[at + j] - others[other + j]) ** 2
    return distance <= (SAME * size) ** 2


@kernel(fastmath=FAST_MATH)
def correlate(values, at, others, other, n, mode):
    """Return scale and offset by which the second row comes nearest to the first, and the square of what is left."""
    mean_a = _sum(values, at, n) / n if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    mean_b = _sum(others, other, n) / n if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    ab = 0.0
    bb = 0.0
    for j in range(n):
        ab += (values[at + j] - mean_a) * (others[other + j] - mean_b)
        bb += (others[other + j] - mean_b) * (others[other + j] - mean_b)
    scale = ab / bb if bb > 0.0 else 0.0
    left = 0.0
    for j in range(n):
        left += (values[at + j] - mean_a - scale * (others[other + j] - mean_b)) ** 2
    return scale, mean_a - scale * mean_b, left


@kernel
def _matches(bank, entry, values, at, mode, size):
    n = bank.n_values
    if mode == EXACT:
        return _are_equal(values, at, bank.values, np.int64(entry) * n, n, size)
    return correlate(values, at, bank.values, np.int64(entry) * n, n, mode)[2] <= (SAME * size) ** 2


@kernel
def _find_in_cell(bank, table, key, mark, values, at, mode, size):
    mask = np.int64(bank.keys.shape[1] - 1)
    place = np.int64(key >> np.uint64(8)) & mask
    while bank.keys[table, place] != np.uint64(0):
        is_near = bank.keys[table, place] == key and abs(bank.marks[table, place] - mark) <= SAME_MARK
        if is_near and _matches(bank, bank.slots[table, place], values, at, mode, size):
            return np.int64(bank.slots[table, place])
        place = (place + 1) & mask
    return np.int64(-1)


@kernel
def _side(x):
    """Return whether the cell below (-1) or above (1) must be looked at too, or neither (0)."""
    within = x - np.floor(x)
    return -1.0 if within < BORDER else (1.0 if within > 1.0 - BORDER else 0.0)


@kernel
def find_at(bank, table, spot, symbol, values, at, mode):
    """Return the entry of a symbol with these values, up to the mode; -1 if there is none."""
    a, b = spot.a * GRID, spot.b * GRID
    key = cell_key(np.floor(a), np.floor(b), symbol)
    found = _find_in_cell(bank, table, key, spot.mark, values, at, mode, spot.size)
    side_a, side_b = _side(a), _side(b)
    if found >= 0 or (side_a == 0.0 and side_b == 0.0):
        return found
    for k in range(1, 4):
        da = side_a if k & 1 else 0.0
        db = side_b if k & 2 else 0.0
        if (k & 1 and side_a == 0.0) or (k & 2 and side_b == 0.0):
            continue
        cell_a, cell_b, mark = np.floor(a) + da, np.floor(b) + db, spot.mark
        if cell_a < 0.0 and mode != EXACT:  # the sign was undecided: the entry may lie at the opposite point
            cell_a = 0.0
            cell_b = np.floor(-b) - db
            mark = -mark
        found = _find_in_cell(bank, table, cell_key(cell_a, cell_b, symbol), mark, values, at, mode, spot.size)
        if found >= 0:
            return found
    return np.int64(-1)


@kernel
def enter_cell(bank, table, spot, symbol, entry):
    """Put an entry into the cell where its values are."""
    key = cell_key(np.floor(spot.a * GRID), np.floor(spot.b * GRID), symbol)
    mask = np.int64(bank.keys.shape[1] - 1)
    place = np.int64(key >> np.uint64(8)) & mask
    while bank.keys[table, place] != np.uint64(0):
        place = (place + 1) & mask
    bank.keys[table, place] = key
    bank.slots[table, place] = entry
    bank.marks[table, place] = spot.mark


@apart
def look_up(bank, symbol, mode, values, at):
    """Return the entry of a symbol whose values are values[at : at + n] up to the mode; -1 if there is none."""
    spot = find_spot(values, at, bank.n_values, mode, bank.directions)
    if not spot.size > 0.0:
        return np.int64(-1)
    return find_at(bank, np.int64(mode != EXACT), spot, symbol, values, at, mode)
