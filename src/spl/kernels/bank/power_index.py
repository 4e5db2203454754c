"""Index over the bank that finds entries up to powers: by their logarithms, with those of the variables projected out.

If y is a power of an entry times powers of the variables and a number, log|y| is a multiple of log|entry| plus a combination of the
log|x| and 1. With that combination projected out of both, the two are multiples of each other, and a look-up up to scale finds it.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.bank.value_index import CELL, MAX_CELLS_PER_ENTRY, UP_TO_SCALE, enter_cell, find_at, find_spot
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

LEFT_OVER = 1e-5  # logarithms with a smaller share left are those of a product of powers of the variables


PLACE = np.dtype(np.int64)  # an entry of the bank


class PowerIndex(NamedTuple):
    """M entries of the bank with n values each; D variables. Has the fields of a bank that `find_at` needs."""

    entry: np.ndarray  # int64[M], the entry of the bank in each place
    values: (
        np.ndarray
    )  # float64[M * n], logarithms of entries with those of the variables projected out; NaN if an entry has zeros
    n_values: int
    keys: np.ndarray  # uint64[1, H], cells with an entry; 0 is free
    slots: np.ndarray  # int32[1, H], the place of the entry
    marks: np.ndarray  # float32[1, H], its third coordinate
    directions: np.ndarray  # float64[N_AXES, n], unit vectors
    basis: (
        np.ndarray
    )  # float64[Q, n], orthonormal rows that span 1 and the logarithms of the variables; empty if unused
    solver: np.ndarray  # float64[D, n], its product with logarithms gives the exponents of the variables
    row: np.ndarray  # float64[n], scratch


def bytes_per_indexed_entry(n_values):
    """Return the most bytes that each entry of an index takes."""
    return n_values * np.dtype(np.float64).itemsize + PLACE.itemsize + MAX_CELLS_PER_ENTRY * CELL.itemsize


@kernel
def take_off_variables(index, row):
    """Project 1 and the logarithms of the variables out of a row of logarithms; return the share of its size that is left."""
    n = index.n_values
    before = 0.0
    for j in range(n):
        before += row[j] * row[j]
    for q in range(index.basis.shape[0]):
        common = 0.0
        for j in range(n):
            common += index.basis[q, j] * row[j]
        for j in range(n):
            row[j] -= common * index.basis[q, j]
    left = 0.0
    for j in range(n):
        left += row[j] * row[j]
    return np.sqrt(left / before) if before > 0.0 else 0.0


@kernel
def fill_index(index, symbols, is_used):
    """Enter the first of all entries of a symbol that are equal up to powers; `symbols` holds the symbol of each place."""
    n = index.n_values
    for place in range(symbols.size):
        if not is_used[place]:
            continue
        at = place * n
        spot = find_spot(index.values, at, n, np.int64(UP_TO_SCALE), index.directions)
        if not spot.size > 0.0:
            continue
        symbol = symbols[place]
        if find_at(index, np.int64(0), spot, symbol, index.values, at, np.int64(UP_TO_SCALE)) < 0:
            enter_cell(index, np.int64(0), spot, symbol, np.int64(place))


@linked_kernel
def look_up_power(index, symbol, values, at) -> int:
    """Return the place of the entry of which values[at : at + n] are a power, times powers of variables and a number; -1 if none.

    Leaves the projected logarithms of the values in `index.row`.
    """
    n = index.n_values
    row = index.row
    for j in range(n):
        row[j] = np.log(abs(values[at + j]))
        if not np.isfinite(row[j]):
            return np.int64(-1)
    if not take_off_variables(index, row) > LEFT_OVER:
        return np.int64(-1)
    spot = find_spot(row, np.int64(0), n, np.int64(UP_TO_SCALE), index.directions)
    if not spot.size > 0.0:
        return np.int64(-1)
    return find_at(index, np.int64(0), spot, symbol, row, np.int64(0), np.int64(UP_TO_SCALE))
