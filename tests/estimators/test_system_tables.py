"""What a run for a system found, as tables."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.discover import discover_system
from spl.dynamics.request import SystemRequest
from spl.estimators.system_tables import tabulate_fronts, tabulate_numbers, tabulate_r2
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.settings import Limits


@pytest.fixture(scope="module")
def found():
    t = np.linspace(0, 6, 200)
    states = np.column_stack([np.sin(1.2345 * t), np.cos(1.2345 * t)])
    data = Trajectories.from_arrays(states, t, names=["x", "y"])
    grammars = [Grammar.from_text("f -> C*x | C*y")] * 2
    return discover_system(SystemRequest(data=data, grammars=grammars, limits=Limits(timeout=None, max_evaluations=50)))


def test_each_state_has_a_table_with_one_row_per_formula_of_its_front(found):
    for table, search in zip(tabulate_fronts(found, 5), found.searches, strict=True):
        assert list(table.columns) == ["cost", "loss", "score", "equation"]
        assert table["cost"].tolist() == [candidate.cost for candidate in search.front]
        assert table["loss"].tolist() == [candidate.loss for candidate in search.front]
        assert table["equation"].tolist() == [to_text(candidate.program, 5) for candidate in search.front]


def test_numbers_have_one_row_each_with_their_state(found):
    table = tabulate_numbers(found)
    assert list(table.columns) == ["state", "value", "standard_error", "kind", "term"]
    assert table["state"].tolist() == ["x", "y"]
    assert table["value"].tolist() == pytest.approx([1.2345, -1.2345], rel=1e-4)


def test_r2_is_given_by_state(found):
    r2 = tabulate_r2(found)
    assert r2.index.tolist() == ["x", "y"]
    assert r2.name == "r2"
    assert r2.tolist() == pytest.approx([1.0, 1.0], abs=1e-6)
