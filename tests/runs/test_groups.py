"""Groups in run files: what is written is read back, and damage is found."""

import math

import numpy as np
import pytest

from spl.checked_values import Damage, StoredFields, load_json
from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.groups.formula import GroupedCandidate
from spl.regression.candidate import Candidate
from spl.regression.discover import Discovery
from spl.regression.front import Front
from spl.runs.groups import codes_of_groupings, describe_groupings, read_groupings
from spl.runs.reader import read_run
from spl.runs.writer import RunFile, RunPlan
from spl.settings import Limits, SearchConfig

WOOD = Grouping.from_labels(["oak", "ash", "oak", "elm"], "wood")
OTHER = Grouping.from_labels(["oak", "ash", "oak", "ash"], "wood")
HEIGHT = OwnNumber("k1", "wood", ("oak", "ash", "elm"), (1.0, 2.5, math.nan))
DATA = Dataset.from_arrays([[1.0], [2.0], [3.0], [4.0]], [3.0, 6.5, 7.0, 9.0], names=["x"])


def make_plan(*groupings):
    return RunPlan(
        data=DATA, searches=[("y", Grammar.from_operators(("+", "*"), ("x",)))], config=SearchConfig(), seed=0,
        more={"noise": "normal"}, facts={}, groupings=groupings,
    )  # fmt: skip


def write_run(path, *groupings):
    """Write a run with a plain formula and one with own numbers."""
    plain = Candidate(parse_expression("2*x", Vocabulary(("x",))), 1.0)
    grouped = GroupedCandidate(parse_expression("2*x + k1", Vocabulary(("x", "k1"))), 0.1, 0.0, 3.0, (HEIGHT,))
    front = Front((plain, grouped))
    found = Discovery(front, 4, 0.0, 1.0, 10, 20, "timeout")
    with RunFile(path, make_plan(*groupings), Limits(), 1) as run:
        run.finish_search(0, found)
        run.finish("timeout")


def test_groupings_and_own_numbers_are_read_back(tmp_path):
    write_run(tmp_path / "r.spl", WOOD)
    run = read_run(tmp_path / "r.spl")
    [grouping] = run.groupings
    assert (grouping.name, grouping.labels) == ("wood", ("oak", "ash", "elm"))
    np.testing.assert_array_equal(grouping.codes, WOOD.codes)
    plain, grouped = run.searches[0].front
    assert not isinstance(plain, GroupedCandidate)
    assert to_text(grouped.program) == "2*x + k1"
    [number] = grouped.own
    assert (number.name, number.grouping, number.values[:2]) == ("k1", "wood", (1.0, 2.5))
    assert math.isnan(number.values[2])
    assert grouped.number_nats == 3.0


def test_a_run_without_groups_has_none(tmp_path):
    with RunFile(tmp_path / "r.spl", make_plan(), Limits(), 1) as run:
        run.finish("interrupted")
    assert read_run(tmp_path / "r.spl").groupings == ()


@pytest.mark.parametrize("others", [(), (OTHER,)])
def test_a_run_does_not_continue_with_other_groups(tmp_path, others):
    write_run(tmp_path / "r.spl", WOOD)
    with pytest.raises(RunFileError, match="The data changed since the run"):
        RunFile(tmp_path / "r.spl", make_plan(*others), Limits(), 1)


@pytest.mark.parametrize(
    "codes", [np.array([0.0, 1.0]), np.array([0.0, 1.0, 0.5, 2.0]), np.array([0.0, 1.0, 0.0, 3.0])]
)
def test_damaged_groups_are_found(codes):
    import json

    facts = StoredFields(load_json(json.dumps(describe_groupings([WOOD]))))
    names = list(codes_of_groupings([WOOD]))
    with pytest.raises(Damage):
        read_groupings(facts, {names[0]: codes}, 4)
