"""The groups of a table as a page asks for them."""

import numpy as np
import pytest
from tests.runs.test_groups import WOOD, write_run

from spl.errors import SettingError
from spl.runs.reader import read_run
from spl.web.run_groups import describe_groups
from spl.web.run_view import describe_run


@pytest.fixture
def run(tmp_path):
    write_run(tmp_path / "r.spl", WOOD)
    return read_run(tmp_path / "r.spl")


def test_a_formula_with_own_numbers_has_a_table_and_pictures(run):
    cost = run.searches[0].front[1].cost
    found = describe_groups(run, cost)
    [table] = found["tables"]
    assert (table["grouping"], table["names"]) == ("wood", ["k1"])
    assert [row[0] for row in table["rows"]] == ["oak", "ash", "elm"]
    assert [picture["label"] for picture in found["pictures"]] == ["oak", "ash", "elm"]
    assert all(picture["chart"].startswith("<svg") for picture in found["pictures"])


def test_a_formula_without_own_numbers_has_none(run):
    found = describe_groups(run, run.searches[0].front[0].cost)
    assert (found["tables"], found["pictures"]) == ([], [])


def test_a_formula_that_is_not_there_is_refused(run):
    with pytest.raises(SettingError, match="no formula of cost 99"):
        describe_groups(run, 99)


def test_the_page_knows_that_there_are_groups(run):
    described = describe_run(run)
    assert described["has_groups"]
    assert "4 rows, 3 groups of wood" in described["question"]
    assert np.isfinite(described["laws"][0]["front"][0]["r2"])
