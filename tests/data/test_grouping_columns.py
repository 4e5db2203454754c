"""Columns of text and booleans as groupings: which are used, which are not and why, and what is in them."""

import numpy as np
import pytest

from spl.data.column_choice import prepare_dataset
from spl.data.grouping_columns import read_labels_of_column
from spl.data.table_files import read_table
from spl.errors import DataError


def table_of(folder, header, rows):
    """Return a table of rows of cells."""
    path = folder / "t.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return read_table(str(path))


@pytest.fixture
def wood(tmp_path):
    """A table with a text column of three groups, a boolean column, and a column of names."""
    rows = [(f"tree {k}", ("oak", "ash", "elm")[k % 3], ("true", "false")[k % 2], k, k * k) for k in range(12)]
    return table_of(tmp_path, "name,wood,old,x,y", rows)


def test_text_and_booleans_are_groupings_unless_told_otherwise(wood):
    data, notes, groupings = prepare_dataset(wood, target="y")
    assert data.names == ("x",)
    assert [(each.name, each.labels) for each in groupings] == [
        ("wood", ("oak", "ash", "elm")),
        ("old", ("True", "False")),
    ]
    assert any(
        "Column 'wood' is used as a grouping: each of its 3 groups may have numbers of its own" in note
        for note in notes
    )


def test_names_are_left_out_and_said(wood):
    _, notes, groupings = prepare_dataset(wood, target="y")
    assert "name" not in [each.name for each in groupings]
    assert "1 column of text left out: name." in notes
    assert "Column 'name' has 12 different texts in 12 rows, too many for a grouping." in notes


def test_without_groups_booleans_are_numbers(wood):
    data, notes, groupings = prepare_dataset(wood, target="y", groups=["none"])
    assert groupings == ()
    assert data.names == ("old", "x")
    assert "2 columns of text left out: name, wood." in notes


def test_named_groups_are_the_only_ones(wood):
    data, _, groupings = prepare_dataset(wood, target="y", groups=["wood"])
    assert [each.name for each in groupings] == ["wood"]
    assert data.names == ("old", "x")


def test_named_features_are_all_that_is_used(wood):
    data, _, groupings = prepare_dataset(wood, target="y", features=["x"])
    assert (data.names, groupings) == (("x",), ())


def test_numbers_may_be_labels_if_named(tmp_path):
    table = table_of(tmp_path, "run,x,y", [(k % 2 + 1, k, k * k) for k in range(6)])
    data, _, groupings = prepare_dataset(table, target="y", groups=["run"])
    assert data.names == ("x",)
    assert groupings[0].labels == ("1", "2")


def test_dates_as_labels_are_readable(tmp_path):
    table = table_of(tmp_path, "day,x,y", [(f"2024-05-0{k % 2 + 1}", k, k * k) for k in range(6)])
    assert prepare_dataset(table, target="y", groups=["day"]).groupings[0].labels == ("2024-05-01", "2024-05-02")


def test_rows_without_a_label_are_left_out_and_counted(tmp_path):
    rows = [(("oak", "ash")[k % 2] if k != 3 else "NA", k, k * k) for k in range(20)]
    data, notes, groupings = prepare_dataset(table_of(tmp_path, "wood,x,y", rows), target="y")
    assert data.n_rows == len(groupings[0].codes) == 19
    assert "1 row of 20 with missing or infinite values left out (line 5)." in notes


def test_a_column_that_is_mostly_empty_costs_no_rows(tmp_path):
    rows = [("late" if k in (2, 7) else "early" if k == 5 else "", k, k * k) for k in range(20)]
    data, notes, groupings = prepare_dataset(table_of(tmp_path, "comment,x,y", rows), target="y")
    assert (data.n_rows, groupings) == (20, ())
    assert "Column 'comment' is empty in 17 of 20 rows, too many for a grouping." in notes


def test_a_column_that_never_changes_is_no_grouping(tmp_path):
    table = table_of(tmp_path, "lab,x,y", [("Rome", k, k * k) for k in range(6)])
    _, notes, groupings = prepare_dataset(table, target="y")
    assert groupings == ()
    assert "Column 'lab' is the same in all rows." in notes


def test_of_many_columns_those_are_used_between_whose_groups_the_target_differs(tmp_path):
    rows = [
        ("ab"[k // 2 % 2], "pq"[k % 2], "uv"[k // 4 % 2], k, 10.0 * (k % 2) + 5.0 * (k // 4 % 2)) for k in range(16)
    ]
    _, notes, groupings = prepare_dataset(table_of(tmp_path, "one,two,three,x,y", rows), target="y")
    assert [each.name for each in groupings] == ["two", "three"]
    assert "1 more column could be a grouping: one. --groups names up to 2 to use." in notes


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["wod"], "There is no column 'wod'"),
        (["wood", "none"], "Groups cannot be 'none' and a column at once"),
        (["wood", "wood"], "The column 'wood' is named twice"),
        (["wood", "old", "name"], "There may be up to 2 groupings; got 3: wood, old, name"),
        (["y"], "The column 'y' cannot be both a grouping and the target"),
    ],
)
def test_a_wrong_choice_of_groups_is_explained(wood, groups, message):
    with pytest.raises(DataError) as caught:
        prepare_dataset(wood, target="y", groups=groups)
    assert message in str(caught.value)


def test_groups_that_are_also_features_are_refused(wood):
    with pytest.raises(DataError, match="The groups 'old' are also among the features"):
        prepare_dataset(wood, target="y", features=["x", "old"], groups=["old"])


def test_text_among_the_features_names_the_remedy(wood):
    with pytest.raises(DataError, match="or give each of its groups numbers of its own: --groups wood"):
        prepare_dataset(wood, target="y", features=["x", "wood"])


def test_booleans_of_a_workbook_or_a_frame_are_labels_too(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    pd.DataFrame({"old": [True, False] * 3, "x": range(6), "y": range(6)}).to_parquet(path)
    table = read_table(str(path))
    assert table.booleans == {"old"}
    assert read_labels_of_column(table, "old").tolist()[:2] == ["True", "False"]


def test_zeros_and_ones_are_numbers(tmp_path):
    table = table_of(tmp_path, "old,x,y", [(k % 2, k, k * k) for k in range(6)])
    assert prepare_dataset(table, target="y").groupings == ()
    np.testing.assert_array_equal(table.numbers["old"], [0, 1] * 3)
