"""The sizes of bank, ledgers and trees that fit into the memory of a search."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spl.errors import SettingError
from spl.kernels.bank.bank import bytes_per_entry
from spl.kernels.bank.factor_table import bytes_of_exchange_scratch
from spl.kernels.bank.power_index import bytes_per_indexed_entry
from spl.kernels.bank.spatial_index import GRID_CELL, INDEXED_POINT, N_CELLS
from spl.kernels.bank.term_selection import MAX_CLOSER_TERMS
from spl.kernels.tree.ledger import KNOWN
from spl.kernels.tree.search import CHILD, NODE
from spl.regression.bank_build import BANK_ROWS, N_CHEAP, SUM_SHARE
from spl.regression.bank_factors import N_FIRST, N_SECOND
from spl.settings import SearchConfig

MEGABYTE = 1_000_000
BANK_SHARE, LEDGER_SHARE, TREE_SHARE = 0.5, 0.25, 0.25  # of the memory that is left after the tables of the closers
FACTORS_SHARE = 0.25  # most of the memory beyond what a search needs at least that the table of factors may take

MAX_KEYS = 1 << 20  # distinct programs remembered by a searcher
MAX_NODES = 1_000_000  # of a tree, whatever the number of episodes
MIN_ENTRIES, MIN_KEYS, MIN_NODES = 1_000, 1 << 12, 256  # a search needs at least these

SCRATCH_ROWS = 216  # allowance for frames and matrices of the trees, in rows of the search per symbol


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The sizes of what a search keeps."""

    n_entries: int  # of the bank
    n_keys: int  # of each ledger, a power of two
    n_nodes: int  # of each tree
    has_factors: bool = True  # whether there is a table of factors


class UnitBytes(NamedTuple):
    """The bytes of each part of a search, at most."""

    tables: int  # of the closers, but for the table of factors
    factors: int  # of the table of factors, which all trees share
    exchange_scratch: int  # of a tree
    entry: float  # of the bank and its indexes, with the sums that it brings
    key: int  # of a ledger
    node: int  # of a tree, with its children


def count_bytes(*, n_symbols: int, n_rows: int, most_rules_of_symbol: int) -> UnitBytes:
    """Return the sizes that the definitions of the arrays in `kernels` give."""
    row = n_rows * np.dtype(np.float64).itemsize
    tables = n_symbols * (row * (N_CHEAP + MAX_CLOSER_TERMS + SCRATCH_ROWS) + N_CELLS**3 * GRID_CELL.itemsize)
    entry = bytes_per_entry(BANK_ROWS, n_symbols) + bytes_per_indexed_entry(BANK_ROWS) + INDEXED_POINT.itemsize
    sums_per_entry = 1 / SUM_SHARE  # and symbol
    return UnitBytes(
        tables=tables,
        factors=n_symbols * N_FIRST * (2 * row + np.dtype(np.int64).itemsize + N_SECOND * np.dtype(np.bool_).itemsize),
        exchange_scratch=bytes_of_exchange_scratch(N_FIRST * N_SECOND, n_rows),
        entry=entry * (1 + sums_per_entry * n_symbols),
        key=KNOWN.itemsize,
        node=NODE.itemsize + CHILD.itemsize * most_rules_of_symbol,
    )


def plan_memory(
    config: SearchConfig, *, n_entries: int, n_symbols: int, n_rows: int, most_rules_of_symbol: int
) -> MemoryPlan:
    """Return sizes that fit into `max_memory`, and are at most those asked for. If memory is short, there is no table of factors.

    Examples:
        >>> shape = {"n_symbols": 1, "n_rows": 100, "most_rules_of_symbol": 12}
        >>> plan_memory(SearchConfig(), n_entries=100_000, **shape)
        MemoryPlan(n_entries=100000, n_keys=1048576, n_nodes=10002, has_factors=True)
        >>> plan_memory(SearchConfig(max_memory=40), n_entries=100_000, **shape).n_keys
        262144
    """
    unit = count_bytes(n_symbols=n_symbols, n_rows=n_rows, most_rules_of_symbol=most_rules_of_symbol)
    tables, entry = unit.tables if config.n_completions else 0, unit.entry
    key, node = unit.key * config.n_trees, unit.node * config.n_trees
    least = max(MIN_ENTRIES * entry / BANK_SHARE, MIN_KEYS * key / LEDGER_SHARE, MIN_NODES * node / TREE_SHARE) + tables
    if config.max_memory * MEGABYTE < least:
        raise SettingError(
            f"`max_memory` of {config.max_memory:g} MB is too little for this search: it needs {-(-least // MEGABYTE):g} MB. "
            "Give it more, or use fewer trees (`n_trees`) or rows (`max_rows`)."
        )
    factors = unit.factors + config.n_trees * unit.exchange_scratch
    has_factors = config.n_completions > 0 and "products" in config.closers
    has_factors = has_factors and factors <= FACTORS_SHARE * (config.max_memory * MEGABYTE - least)
    room = config.max_memory * MEGABYTE - tables - (factors if has_factors else 0)
    keys = int(LEDGER_SHARE * room / key)
    return MemoryPlan(
        n_entries=min(n_entries, int(BANK_SHARE * room / entry)),
        n_keys=min(MAX_KEYS, 1 << (keys.bit_length() - 1)),
        n_nodes=min(config.n_episodes + 2, MAX_NODES, int(TREE_SHARE * room / node)),
        has_factors=has_factors,
    )
