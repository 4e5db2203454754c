"""Groups as people give them, and what is wrong with some."""

import numpy as np
import pandas as pd
import pytest

from spl.errors import DataError
from spl.estimators.group_inputs import make_groupings, read_groups


@pytest.mark.parametrize(
    "groups",
    [
        ["a", "b", "a"],
        np.array(["a", "b", "a"]),
        pd.Series(["a", "b", "a"], name="group"),
        pd.Categorical(["a", "b", "a"]),
        pd.DataFrame({"group": ["a", "b", "a"]}),
    ],
)
def test_labels_may_come_in_any_container(groups):
    [grouping], _ = make_groupings(read_groups(groups, 3), np.arange(3))
    assert (grouping.name, grouping.labels, grouping.codes.tolist()) == ("group", ("a", "b"), [0, 1, 0])


def test_a_frame_has_two_groupings():
    frame = pd.DataFrame({"lab": [1, 1, 2, 2], "day": ["mon", "tue", "mon", "mon"]})
    groupings, _ = make_groupings(read_groups(frame, 4), np.arange(4))
    assert [(each.name, each.labels) for each in groupings] == [("lab", ("1", "2")), ("day", ("mon", "tue"))]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], r"`groups` must have one label per row \(3\); it has 2\."),
        ("abc", "one label per row"),
        (7, "one label per row"),
        (pd.DataFrame(np.zeros((3, 3))), "`groups` has 3 columns"),
    ],
)
def test_the_wrong_shape_is_said(groups, message):
    with pytest.raises(DataError, match=message):
        read_groups(groups, 3)


def test_a_missing_label_is_said():
    with pytest.raises(DataError, match="'group' have 1 missing label, the first in row 1"):
        make_groupings(read_groups(["a", None, "a"], 3), np.arange(3))


def test_a_group_without_complete_rows_is_said():
    groupings, notes = make_groupings(read_groups(["a", "a", "b", "b", "c"], 5), np.arange(4))
    assert groupings[0].labels == ("a", "b")
    assert notes == ["1 group of 'group' has no complete row, and no numbers: 'c'."]


def test_a_single_group_is_no_grouping():
    groupings, notes = make_groupings(read_groups(["a", "a"], 2), np.arange(2))
    assert groupings == ()
    assert notes == ["All rows belong to one group of 'group' ('a'): its numbers are shared."]


def test_a_thousand_groups_of_one_row_are_refused():
    with pytest.raises(DataError, match="Each of the 1,000 groups of 'group' has only one row"):
        make_groupings(read_groups(np.arange(1000), 1000), np.arange(1000))


def test_more_than_a_thousand_groups_are_refused():
    with pytest.raises(DataError, match="'group' has 1,001 groups"):
        make_groupings(read_groups(np.repeat(np.arange(1001), 2), 2002), np.arange(2002))
