import numpy as np
import pytest
from tests.run_examples import NO_LIMIT, RULES, make_config, make_data

from spl.errors import SettingError
from spl.formulas.grammar import Grammar
from spl.regression.discover import discover
from spl.regression.memory_budget import CHILD_BYTES, KEY_BYTES, MEGABYTE, NODE_BYTES, plan_memory
from spl.regression.request import RegressionRequest
from spl.settings import SearchConfig

SHAPE = {"n_entries": 100_000, "n_symbols": 2, "n_rows": 256, "most_rules_of_symbol": 30}


@pytest.mark.parametrize("max_memory", [30, 100, 600, 5_000])
@pytest.mark.parametrize("n_trees", [1, 2, 8])
def test_what_is_planned_keeps_to_the_memory(max_memory, n_trees):
    config = SearchConfig(max_memory=max_memory, n_trees=n_trees, n_episodes=10**7)
    plan = plan_memory(config, **SHAPE)
    bank = plan.n_entries * 32 * 8
    ledgers = n_trees * plan.n_keys * KEY_BYTES
    trees = n_trees * plan.n_nodes * (NODE_BYTES + CHILD_BYTES * SHAPE["most_rules_of_symbol"])
    assert bank + ledgers + trees <= max_memory * MEGABYTE
    assert np.log2(plan.n_keys).is_integer()


def test_the_default_has_room_for_what_it_asks_for():
    plan = plan_memory(SearchConfig(), **SHAPE)
    assert (plan.n_entries, plan.n_keys, plan.n_nodes) == (100_000, 1 << 20, 10_002)


def test_too_little_memory_is_refused_with_what_is_needed():
    with pytest.raises(SettingError, match=r"`max_memory` of 5 MB is too little for this search: it needs 14 MB"):
        plan_memory(SearchConfig(max_memory=5), **SHAPE)


def test_a_search_with_little_memory_works():
    config = make_config(max_memory=6.0)
    found = discover(RegressionRequest(make_data(), Grammar.from_text(RULES), config=config, limits=NO_LIMIT, seed=3))
    assert found.stopped == "schedules"
    assert len(found.front)
