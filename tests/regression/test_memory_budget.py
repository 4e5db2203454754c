from typing import Any

import numpy as np
import pytest
from tests.run_examples import NO_LIMIT, RULES, make_config, make_data

from spl.data.dataset import Dataset
from spl.errors import SettingError
from spl.formulas.grammar import Grammar
from spl.kernels.bank.factor_table import make_exchange_scratch
from spl.kernels.tree.ledger import make_ledger
from spl.kernels.tree.search import make_tree
from spl.regression.bank_build import make_completion, own_scratch
from spl.regression.discover import discover
from spl.regression.memory_budget import MEGABYTE, count_bytes, plan_memory
from spl.regression.request import RegressionRequest
from spl.settings import SearchConfig

SHAPE = {"n_symbols": 2, "n_rows": 256, "most_rules_of_symbol": 30}


@pytest.mark.parametrize("max_memory", [30, 100, 600, 5_000])
@pytest.mark.parametrize("n_trees", [1, 2, 8])
def test_what_is_planned_keeps_to_the_memory(max_memory, n_trees):
    config = SearchConfig(max_memory=max_memory, n_trees=n_trees, n_episodes=10**7)
    plan = plan_memory(config, n_entries=100_000, **SHAPE)
    unit = count_bytes(**SHAPE)
    planned = unit.tables + plan.n_entries * unit.entry + n_trees * (plan.n_keys * unit.key + plan.n_nodes * unit.node)
    planned += plan.has_factors * (unit.factors + n_trees * unit.exchange_scratch)
    assert planned <= max_memory * MEGABYTE
    assert np.log2(plan.n_keys).is_integer()


def test_the_default_has_room_for_what_it_asks_for():
    plan = plan_memory(SearchConfig(), n_entries=100_000, **SHAPE)
    assert (plan.n_entries, plan.n_keys, plan.n_nodes) == (100_000, 1 << 20, 10_002)


def test_too_little_memory_is_refused_with_what_is_needed():
    with pytest.raises(SettingError, match=r"`max_memory` of 5 MB is too little for this search: it needs 14 MB"):
        plan_memory(SearchConfig(max_memory=5), n_entries=100_000, **SHAPE)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, True), ({"max_memory": 40}, False), ({"closers": ("look-up",)}, False), ({"n_completions": 0}, False)],
)
def test_there_is_a_table_of_factors_if_it_is_used_and_memory_is_not_short(changes, expected):
    assert plan_memory(SearchConfig(**changes), n_entries=100_000, **SHAPE).has_factors == expected


def allocated(record: Any, seen: set[int]) -> int:
    """Return the bytes of all arrays in a record and in the records inside it, each array once."""
    if isinstance(record, tuple):
        return sum(allocated(member, seen) for member in record)
    if not isinstance(record, np.ndarray | np.record) or id(record) in seen:
        return 0
    seen.add(id(record))
    return record.nbytes


def test_keys_and_nodes_take_the_planned_bytes():
    unit = count_bytes(**SHAPE)
    ledger = make_ledger(max_cost=10, max_modules=1, n_keys=1 << 12, costs=np.ones(256, np.int64))
    assert ledger.keys.nbytes + ledger.losses.nbytes == (1 << 12) * unit.key
    tree = make_tree(300, SHAPE["most_rules_of_symbol"])
    assert tree.nodes.nbytes + tree.child.nbytes == 300 * unit.node


@pytest.mark.parametrize("text", ["f -> f + f | f * f | x | y", "f -> f + g | f * f | x\ng -> g * g | sin(g) | y"])
def test_the_bank_and_the_tables_of_the_closers_take_at_most_the_planned_bytes_and_not_much_less(text):
    n_rows, n_entries = 200, 20_000
    columns = np.random.default_rng(0).uniform(0.5, 2.0, (2, n_rows))
    sample = Dataset.from_arrays(columns.T, columns[0], names=["x", "y"])
    grammar = Grammar.from_text(text).bind(["x", "y"])
    n_symbols = len(grammar.symbols)
    unit = count_bytes(n_symbols=n_symbols, n_rows=n_rows, most_rules_of_symbol=4)
    planned = unit.tables + n_entries * unit.entry
    completion = make_completion(grammar, sample, n_entries=n_entries)
    taken = allocated(completion, set())
    assert 0.7 * planned < taken <= planned
    scratch = own_scratch(completion)
    seen: set[int] = set()
    allocated(completion, seen)
    assert allocated(scratch, seen) < 0.2 * planned  # the bank is shared by all trees


def test_the_table_of_factors_takes_at_most_the_planned_bytes():
    n_rows, names = 100, [f"x{k}" for k in range(6)]
    columns = np.random.default_rng(0).uniform(0.5, 2.0, (6, n_rows))
    sample = Dataset.from_arrays(columns.T, columns[0], names=names)
    grammar = Grammar.from_operators(("+", "*", "/", "sin"), names)
    unit = count_bytes(n_symbols=1, n_rows=n_rows, most_rules_of_symbol=4)
    table = make_completion(grammar, sample, n_entries=20_000).factor_table
    scratch = make_exchange_scratch(table.size.size, n_rows)
    assert sum(each.nbytes for each in scratch.values()) <= unit.exchange_scratch
    shared = (table.values, table.few, table.entry, table.is_distinct)
    assert sum(each.nbytes for each in shared) <= unit.factors


def test_a_search_with_little_memory_works():
    config = make_config(max_memory=6.0)
    found = discover(RegressionRequest(make_data(), Grammar.from_text(RULES), config=config, limits=NO_LIMIT, seed=3))
    assert found.stopped == "schedules"
    assert len(found.front)
