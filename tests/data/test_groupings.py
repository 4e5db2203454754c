import numpy as np
import pytest

from spl.data.groupings import MAX_GROUPS, Grouping, count_groups
from spl.errors import DataError


def test_whole_numbers_are_the_same_group_whatever_their_type() -> None:
    grouping = Grouping.from_labels(np.array([1, 2, 1]), "run")
    assert grouping.find_codes([1.0, 2.0]).tolist() == [0, 1]
    assert grouping.find_codes(["2", "1"]).tolist() == [1, 0]


def test_groups_keep_their_codes_when_rows_are_taken() -> None:
    grouping = Grouping.from_labels(["a", "b", "c"]).take(np.array([2, 2]))
    assert grouping.labels == ("a", "b", "c")
    assert grouping.count_rows().tolist() == [0, 0, 2]


@pytest.mark.parametrize("missing", [None, float("nan"), "", "  "])
def test_a_missing_label_is_an_error_with_its_row(missing: object) -> None:
    with pytest.raises(DataError, match="1 missing label, the first in row 1"):
        Grouping.from_labels(np.array(["a", missing, "b"], dtype=object), "wood")


def test_too_many_groups_are_an_error() -> None:
    with pytest.raises(DataError, match="1,001 groups"):
        Grouping.from_labels(np.arange(MAX_GROUPS + 1))


def test_labels_of_a_table_are_an_error() -> None:
    with pytest.raises(DataError, match="one column of labels"):
        Grouping.from_labels([["a", "b"]])


def test_groups_of_all_groupings_are_counted() -> None:
    assert count_groups([Grouping.from_labels(["a", "b"]), Grouping.from_labels([1, 1])]) == 3
