"""The indexes over the bank: one finds entries up to powers, the other entries close to a goal.

See `kernels/bank/power_index` and `kernels/bank/spatial_index`.
"""

import numpy as np
from numpy.typing import NDArray

from spl.kernels.bank.bank import N_ENTRIES, Bank, BankRules
from spl.kernels.bank.power_index import LEFT_OVER, PLACE, PowerIndex, fill_index
from spl.kernels.bank.spatial_index import (
    GRID_CELL,
    INDEXED_POINT,
    N_CELLS,
    N_DIRECTIONS,
    N_RANKED,
    RANKED,
    SpatialIndex,
)
from spl.kernels.bank.value_index import CONSTANT_SPREAD, make_cells

DEPENDENT_LOGARITHMS = (
    1e-9  # logarithms of variables that differ by a smaller share from a combination of others depend on them
)
FEWEST_FREE_ROWS = 5  # least number of rows in excess of the terms of a fit
POWER_ENTRIES = 20_000  # cheapest entries in the power index; sums added at the end are all in it
SPATIAL_ENTRIES = 50_000  # cheapest entries of a symbol in the spatial index; sums added at the end are all in it


def make_power_index(
    bank: Bank, columns: NDArray[np.float64], rules: BankRules, multiplies: NDArray[np.bool_]
) -> PowerIndex:
    """Index the entries of the symbols that derive products by their logarithms, with those of the variables projected out.

    A variable with zeros has no logarithm and is left out. Without enough rows the index is empty.
    """
    n = bank.n_values
    basis, solver = _solve_for_exponents(columns)
    is_enough = multiplies.any() and n >= basis.shape[0] + FEWEST_FREE_ROWS
    numbers = np.arange(int(bank.used[N_ENTRIES]))
    n_grown = bank.last.max()  # sums come after the entries that have a cost
    is_indexed = (numbers < POWER_ENTRIES) | (numbers >= n_grown)
    entries = numbers[is_indexed] if is_enough else numbers[:0]
    values = _logarithms(bank.values.reshape(-1, n)[entries])
    sizes_before = np.linalg.norm(values, axis=1)
    values -= (values @ basis.T) @ basis
    is_used = np.linalg.norm(values, axis=1) > LEFT_OVER * sizes_before
    symbols = rules.symbol[bank.rule[entries]]
    is_used &= multiplies[symbols]
    keys, slots, marks = make_cells(1, len(values))
    index = PowerIndex(
        entry=entries.astype(PLACE, copy=False),
        values=values.reshape(-1),
        n_values=n,
        keys=keys,
        slots=slots,
        marks=marks,
        directions=bank.directions,
        basis=basis if is_enough else np.zeros((0, n)),
        solver=solver,
        row=np.zeros(n),
    )
    if entries.size:
        fill_index(index, symbols, is_used)
    return index


def make_spatial_index(bank: Bank, n_symbols: int) -> SpatialIndex:
    """Index the cheapest entries of each symbol, and the sums at the end, by the directions of their values."""
    n_grown = bank.last.max()
    points, entries = [], []
    for symbol in range(n_symbols):
        members = bank.member[symbol, : bank.n_of[symbol]]
        members = members[(np.arange(members.size) < SPATIAL_ENTRIES) | (members >= n_grown)]
        values = bank.values.reshape(-1, bank.n_values)[members]
        values -= values.mean(axis=1, keepdims=True)
        sizes = np.linalg.norm(values, axis=1)
        is_point = sizes > CONSTANT_SPREAD
        points.append(values[is_point] / sizes[is_point, None])
        entries.append(members[is_point])
    directions = _main_directions(np.concatenate(points))
    first = np.zeros((n_symbols, N_CELLS**3 + 1), GRID_CELL)
    spots = []
    n_before = 0
    for symbol in range(n_symbols):
        spot = points[symbol] @ directions.T
        spot[spot[:, 0] < 0.0] *= -1.0
        column = np.clip(np.floor(0.5 * (spot[:, :3] + 1.0) * N_CELLS), 0, N_CELLS - 1).astype(np.int64)
        cell = (column[:, 0] * N_CELLS + column[:, 1]) * N_CELLS + column[:, 2]
        order = np.argsort(cell, kind="stable")
        first[symbol, 1:] = np.cumsum(np.bincount(cell, minlength=N_CELLS**3))
        first[symbol] += n_before
        n_before += order.size
        entries[symbol] = entries[symbol][order]
        spots.append(spot[order])
    return SpatialIndex(
        directions=directions,
        first=first,
        entry=np.concatenate(entries).astype(INDEXED_POINT["entry"], copy=False),
        spot=np.concatenate(spots).astype(INDEXED_POINT["spot"].base),
        scratch=np.zeros(N_DIRECTIONS, np.float32),
        ranked=np.recarray(N_RANKED, RANKED),
    )


def _main_directions(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the orthogonal unit vectors along which points [M, n] differ most; rows of zeros if there are too few."""
    n = points.shape[1]
    directions = np.zeros((N_DIRECTIONS, n))
    vectors = np.linalg.eigh(points.T @ points)[1].T[::-1][:N_DIRECTIONS]
    directions[: len(vectors)] = vectors
    return directions


def _solve_for_exponents(columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return an orthonormal basis of 1 and the logarithms of the variables, and the matrix that gives exponents of logarithms."""
    design = np.vstack([np.ones(columns.shape[1]), _logarithms(columns)])
    design[~np.isfinite(design).all(axis=1)] = 0.0
    left, sizes, right = np.linalg.svd(design, full_matrices=False)
    is_kept = sizes > DEPENDENT_LOGARITHMS * sizes[0]
    basis = np.ascontiguousarray(right[is_kept])
    return basis, np.ascontiguousarray(((left[:, is_kept] / sizes[is_kept]) @ basis)[1:])


def _logarithms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of the absolute values [..., N]; a row with zeros or outside its domain is all NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.abs(values))
    logs[~np.isfinite(logs).all(axis=-1)] = np.nan
    return logs
