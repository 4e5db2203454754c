"""How much a search may remember: the sizes of bank, ledgers and trees that fit into the memory it is given."""

from dataclasses import dataclass

from spl.errors import SettingError
from spl.settings import SearchConfig

MEGABYTE = 1_000_000
BANK_SHARE, LEDGER_SHARE, TREE_SHARE = 0.5, 0.25, 0.25  # of the memory that is left after the tables of the closers

MAX_KEYS = 1 << 20  # distinct programs remembered by a searcher
MAX_NODES = 1_000_000  # of a tree, whatever the number of episodes
MIN_ENTRIES, MIN_KEYS, MIN_NODES = 1_000, 1 << 12, 256  # fewer are no search

# Bytes of the arrays in `kernels`, rounded up
ENTRY_BYTES = (
    32 * 8 + 5 * 4 + 2 * 4 * (8 + 4 + 4)
)  # values, five numbers, and up to four places of 16 bytes in each of two tables
ENTRY_BYTES_A_SYMBOL = 4
INDEX_BYTES = (
    32 * 8 + 8 + 4 * (8 + 4 + 4)
)  # of an entry that can be found up to powers: values, a number, up to four places
NEAR_BYTES = 6 * 4 + 4  # of an entry that can be found by where its values lie: coordinates, a number
CELL_BYTES = 8 * 48**3  # of the grid for these, for each symbol
SUMS_A_SYMBOL = 0.2  # sums that each entry brings, for each symbol
KEY_BYTES = 8 + 8
NODE_BYTES, CHILD_BYTES = 5 * 8, 8
ROWS_OF_TABLES = (
    2048 + 256
)  # for each symbol: entries of the bank and terms, with their values on all rows of the search


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """What a search has room for."""

    n_entries: int  # of the bank
    n_keys: int  # of each ledger, a power of two
    n_nodes: int  # of each tree


def plan_memory(
    config: SearchConfig, *, n_entries: int, n_symbols: int, n_rows: int, most_rules_of_symbol: int
) -> MemoryPlan:
    """Return sizes that keep to `max_memory`, at most those asked for.

    Examples:
        >>> shape = {"n_symbols": 1, "n_rows": 100, "most_rules_of_symbol": 12}
        >>> plan_memory(SearchConfig(), n_entries=100_000, **shape)
        MemoryPlan(n_entries=100000, n_keys=1048576, n_nodes=10002)
        >>> plan_memory(SearchConfig(max_memory=40), n_entries=100_000, **shape).n_keys
        262144
    """
    tables = n_symbols * (8 * n_rows * ROWS_OF_TABLES + CELL_BYTES) if config.n_completions else 0
    all_entry_bytes = ENTRY_BYTES + ENTRY_BYTES_A_SYMBOL * n_symbols + INDEX_BYTES + NEAR_BYTES
    entry = all_entry_bytes * (1 + SUMS_A_SYMBOL * n_symbols)
    key, node = KEY_BYTES * config.n_trees, (NODE_BYTES + CHILD_BYTES * most_rules_of_symbol) * config.n_trees
    least = max(MIN_ENTRIES * entry / BANK_SHARE, MIN_KEYS * key / LEDGER_SHARE, MIN_NODES * node / TREE_SHARE) + tables
    room = config.max_memory * MEGABYTE - tables
    if config.max_memory * MEGABYTE < least:
        raise SettingError(
            f"`max_memory` of {config.max_memory:g} MB is too little for this search: it needs {-(-least // MEGABYTE):g} MB. "
            "Give it more, or use fewer trees (`n_trees`) or rows (`max_rows`)."
        )
    keys = int(LEDGER_SHARE * room / key)
    return MemoryPlan(
        n_entries=min(n_entries, int(BANK_SHARE * room / entry)),
        n_keys=min(MAX_KEYS, 1 << (keys.bit_length() - 1)),
        n_nodes=min(config.n_episodes + 2, MAX_NODES, int(TREE_SHARE * room / node)),
    )
