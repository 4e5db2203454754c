"""Hash index over rows of values: finds them exactly, up to scale, or up to scale and offset.

Two coordinates of the values give a cell of a fine grid, the key of a hash table. A coordinate near the border of its cell is looked
up on both sides, and every hit is compared value by value: neither rounding nor a collision can mislead. Values with one dominant
number crowd into few cells; a third coordinate, the mark, separates most of them before the comparison. The tables are those of a
`Bank` or a `PowerIndex`.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.runtime.compiler import FAST_MATH, kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import scramble

IDENTICAL, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET = range(3)  # how an entry may differ from what is looked up

LARGEST_VALUE = 1e12  # larger values leave too few digits to compute with
EQUAL_VALUES_SHARE = 1e-6  # rows whose distance is a smaller share of their size count as equal
GRID = 16384.0  # cells per unit of a coordinate
BORDER = 0.02  # share of a cell at each border that is also looked up on the other side
N_AXES = 3  # coordinates of values
SAME_MARK = 1.5e-6  # marks of equal values differ by at most `EQUAL_VALUES_SHARE`, and half as much for rounding
CONSTANT_SPREAD = 1e-9  # values whose spread is a smaller share of their size are constant

_SALT = np.uint64(0x9E3779B97F4A7C15)

# A place of a hash table
CELL = np.dtype([("key", np.uint64), ("slot", np.int32), ("mark", np.float32)])
MAX_CELLS_PER_ENTRY = 4  # of a table: their number is the power of two from two to four times the number of entries


def make_cells(n_tables, n_entries):
    """Return keys, slots and marks [n_tables, H] of empty hash tables for this many entries."""
    n_cells = 1 << int(2 * max(n_entries, 1) - 1).bit_length()
    return tuple(np.zeros((n_tables, n_cells), CELL[name]) for name in ("key", "slot", "mark"))


class Spot(NamedTuple):
    """The coordinates of values on the grid."""

    a: float
    b: float
    mark: float
    size: float  # norm of the values, without their mean if the mode allows an offset


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
    """Return the coordinate of values[at : at + n], less their mean, along a direction."""
    total = 0.0
    for j in range(n):
        total += (values[at + j] - mean) * directions[k, j]
    return total


@kernel
def find_spot(values, at, n, mode, directions):
    """Return the coordinates of values[at : at + n] on the grid; a size of 0 or NaN if they have none."""
    mean = _sum(values, at, n) / n if mode == UP_TO_SCALE_AND_OFFSET else 0.0
    square = _sum_of_squares(values, at, n, mean)
    if not (square > 0.0 and square < LARGEST_VALUE * LARGEST_VALUE):
        return Spot(0.0, 0.0, 0.0, 0.0)
    size = np.sqrt(square)
    if mode == UP_TO_SCALE_AND_OFFSET and size <= CONSTANT_SPREAD * abs(mean) * np.sqrt(n):
        return Spot(0.0, 0.0, 0.0, 0.0)
    a = project(values, at, n, mean, directions, 0) / size
    mark = project(values, at, n, mean, directions, 2) / size
    if mode == IDENTICAL:
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
    """Return whether the distance of two rows is a small share of the size of the first."""
    distance = 0.0
    for j in range(n):
        distance += (values[at + j] - others[other + j]) ** 2
    return distance <= (EQUAL_VALUES_SHARE * size) ** 2


@kernel(fastmath=FAST_MATH)
def correlate(values, at, others, other, n, mode):
    """Return the scale and offset that fit the second row to the first, and the sum of squares that is left."""
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
    if mode == IDENTICAL:
        return _are_equal(values, at, bank.values, np.int64(entry) * n, n, size)
    return correlate(values, at, bank.values, np.int64(entry) * n, n, mode)[2] <= (EQUAL_VALUES_SHARE * size) ** 2


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
    """Return whether the cell below (-1) or above (1) must be looked up too, or neither (0)."""
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
        if cell_a < 0.0 and mode != IDENTICAL:  # the sign was undecided: the entry may lie at the opposite point
            cell_a = 0.0
            cell_b = np.floor(-b) - db
            mark = -mark
        found = _find_in_cell(bank, table, cell_key(cell_a, cell_b, symbol), mark, values, at, mode, spot.size)
        if found >= 0:
            return found
    return np.int64(-1)


@kernel
def enter_cell(bank, table, spot, symbol, entry):
    """Put an entry into the cell of its values."""
    key = cell_key(np.floor(spot.a * GRID), np.floor(spot.b * GRID), symbol)
    mask = np.int64(bank.keys.shape[1] - 1)
    place = np.int64(key >> np.uint64(8)) & mask
    while bank.keys[table, place] != np.uint64(0):
        place = (place + 1) & mask
    bank.keys[table, place] = key
    bank.slots[table, place] = entry
    bank.marks[table, place] = spot.mark


@linked_kernel
def look_up(bank, symbol, mode, values, at) -> int:
    """Return the entry of a symbol whose values are values[at : at + n] up to the mode; -1 if there is none."""
    spot = find_spot(values, at, bank.n_values, mode, bank.directions)
    if not spot.size > 0.0:
        return np.int64(-1)
    return find_at(bank, np.int64(mode != IDENTICAL), spot, symbol, values, at, mode)
