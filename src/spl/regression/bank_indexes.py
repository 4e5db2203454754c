"""The bank once more, in other orders: by what is left of logarithms without those of the variables, and by where values lie.

The first finds powers, the second what comes near to a goal; see `kernels.powers` and `kernels.nearest`.
"""

import numpy as np
from numpy.typing import NDArray

from spl.kernels.bank.bank import N_ENTRIES, Bank, BankRules
from spl.kernels.bank.power_index import LEFT_OVER, PowerIndex, fill_index
from spl.kernels.bank.spatial_index import N_CELLS, N_DIRECTIONS, N_RANKED, RANKED, NearIndex
from spl.kernels.bank.value_index import CONSTANT_SPREAD

DEPENDENT = (
    1e-9  # logarithms of variables that differ by a smaller share than this from a combination of others are one
)
FEWEST_FREE_ROWS = 5  # rows that all exponents must leave over
INDEX_ENTRIES = 20_000  # the cheapest entries that can be found up to powers; all sums that are added can
GRID_ENTRIES = 50_000  # the cheapest entries of a symbol in the grid of `nearest`; all sums that are added are in it


def make_power_index(
    bank: Bank, columns: NDArray[np.float64], rules: BankRules, multiplies: NDArray[np.bool_]
) -> PowerIndex:
    """Return the entries of symbols that have products by their logarithms without those of the variables.

    A variable with zeros has no logarithm and is left out. Without enough rows the index stays empty.
    """
    n = bank.n_values
    basis, solver = _solve_for_exponents(columns)
    is_enough = multiplies.any() and n >= basis.shape[0] + FEWEST_FREE_ROWS
    numbers = np.arange(int(bank.used[N_ENTRIES]))
    n_grown = bank.last.max()  # sums come after the entries that have a cost
    is_indexed = (numbers < INDEX_ENTRIES) | (numbers >= n_grown)
    entries = numbers[is_indexed] if is_enough else numbers[:0]
    values = _logarithms(bank.values.reshape(-1, n)[entries])
    sizes_before = np.linalg.norm(values, axis=1)
    values -= (values @ basis.T) @ basis
    is_used = np.linalg.norm(values, axis=1) > LEFT_OVER * sizes_before
    symbols = rules.symbol[bank.rule[entries]]
    is_used &= multiplies[symbols]
    n_keys = 1 << int(2 * max(len(values), 1) - 1).bit_length()
    index = PowerIndex(
        entry=entries,
        values=values.reshape(-1),
        n_values=n,
        keys=np.zeros((1, n_keys), np.uint64),
        slots=np.zeros((1, n_keys), np.int32),
        marks=np.zeros((1, n_keys), np.float32),
        directions=bank.directions,
        basis=basis if is_enough else np.zeros((0, n)),
        solver=solver,
        row=np.zeros(n),
    )
    fill_index(index, symbols, is_used)
    return index


def make_near_index(bank: Bank, n_symbols: int) -> NearIndex:
    """Return the cheapest entries of each symbol, and the sums that come after them, by where their values lie."""
    n_grown = bank.last.max()
    points, entries = [], []
    for symbol in range(n_symbols):
        members = bank.member[symbol, : bank.n_of[symbol]]
        members = members[(np.arange(members.size) < GRID_ENTRIES) | (members >= n_grown)]
        values = bank.values.reshape(-1, bank.n_values)[members]
        values -= values.mean(axis=1, keepdims=True)
        sizes = np.linalg.norm(values, axis=1)
        is_point = sizes > CONSTANT_SPREAD
        points.append(values[is_point] / sizes[is_point, None])
        entries.append(members[is_point])
    directions = _main_directions(np.concatenate(points))
    first = np.zeros((n_symbols, N_CELLS**3 + 1), np.int64)
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
    return NearIndex(
        directions=directions,
        first=first,
        entry=np.concatenate(entries),
        spot=np.concatenate(spots).astype(np.float32),
        scratch=np.zeros(N_DIRECTIONS, np.float32),
        ranked=np.recarray(N_RANKED, RANKED),
    )


def _main_directions(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the orthogonal unit vectors along which points [M, n] differ most; 0 for those that there are not."""
    n = points.shape[1]
    directions = np.zeros((N_DIRECTIONS, n))
    vectors = np.linalg.eigh(points.T @ points)[1].T[::-1][:N_DIRECTIONS]
    directions[: len(vectors)] = vectors
    return directions


def _solve_for_exponents(columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return an orthonormal basis of 1 and the logarithms of the variables, and what gives the exponents of logarithms."""
    design = np.vstack([np.ones(columns.shape[1]), _logarithms(columns)])
    design[~np.isfinite(design).all(axis=1)] = 0.0
    left, sizes, right = np.linalg.svd(design, full_matrices=False)
    is_kept = sizes > DEPENDENT * sizes[0]
    basis = np.ascontiguousarray(right[is_kept])
    return basis, np.ascontiguousarray(((left[:, is_kept] / sizes[is_kept]) @ basis)[1:])


def _logarithms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of the sizes of values [..., N]; NaN for all of a row that has zeros or leaves its domain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.abs(values))
    logs[~np.isfinite(logs).all(axis=-1)] = np.nan
    return logs
