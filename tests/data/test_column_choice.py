"""From tables to datasets: chosen columns and complete rows."""

import numpy as np
import pytest

from spl.data.column_choice import prepare_dataset
from spl.data.table_files import read_table
from spl.errors import DataError


def write(folder, name, content):
    path = folder / name
    path.write_text(content)
    return str(path)


@pytest.fixture
def mixed(tmp_path):
    return read_table(write(tmp_path, "t.csv", "id,a,w,void,y\np,1,1,,2\nq,,2,,3\nr,3,1,,inf\ns,4,1,,5\n"))


def test_all_columns_of_numbers_are_features_unless_some_are_named(mixed):
    data, notes, _ = prepare_dataset(mixed, target="y")
    assert data.names == ("a", "w")
    assert any("1 column of text left out: id." in note for note in notes)
    assert any("1 column without numbers left out: void." in note for note in notes)


def test_rows_with_gaps_are_dropped_and_counted(mixed):
    data, notes, _ = prepare_dataset(mixed, target="y", features=["a"])
    np.testing.assert_array_equal(data.columns, [[1.0, 4.0]])
    assert notes == ["2 rows of 4 with missing or infinite values left out (the first: line 3)."]


def test_gaps_in_columns_that_are_not_used_drop_nothing(mixed):
    data, notes, _ = prepare_dataset(mixed, target="w", features=["a"])
    assert data.n_rows == 3
    assert notes == ["1 row of 4 with missing or infinite values left out (line 3)."]


def test_weights_are_no_feature(mixed):
    data, _, _ = prepare_dataset(mixed, target="y", weights="w")
    assert data.names == ("a",)
    np.testing.assert_allclose(data.weights, [1.0, 1.0])


def test_features_stand_in_the_order_they_are_named(mixed):
    assert prepare_dataset(mixed, target="y", features=["w", "a"]).data.names == ("w", "a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "Y"}, "There is no column 'Y' in "),
        ({"target": "voids"}, "Did you mean 'void'? The columns are: id, a, w, void, y."),
        ({"target": "y", "features": ["a", "q"]}, "There is no column 'q'"),
        ({"target": "y", "weights": "ww"}, "There is no column 'ww'"),
        ({"target": "y", "features": ["a", "y"]}, "The target 'y' is also among the features"),
        ({"target": "y", "features": ["a"], "weights": "a"}, "The weights 'a' are also among the features"),
        (
            {"target": "y", "features": ["id", "a"]},
            "'id' of '{path}' holds text, not only numbers. Leave it out of --features",
        ),
        ({"target": "id"}, "The column 'id' of '{path}' holds text, not only numbers."),
        ({"target": "y", "features": ["a", "void"]}, "The column 'void' has 4 missing values out of 4; leave it out"),
    ],
)
def test_a_wrong_choice_of_columns_is_explained(mixed, options, message):
    with pytest.raises(DataError) as caught:
        prepare_dataset(mixed, **options)
    assert message.replace("'{path}'", mixed.source) in str(caught.value)


def test_a_file_without_names_is_recognised(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "1.5,2\n3,4\n"))
    with pytest.raises(DataError, match=r"The first line of .* must hold the column names, not numbers"):
        prepare_dataset(table, target="y")


def test_a_table_of_the_target_alone_is_no_dataset(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "y,name\n1,p\n2,q\n"))
    with pytest.raises(DataError, match="has no column of numbers besides 'y'"):
        prepare_dataset(table, target="y")


@pytest.fixture
def spoiled(tmp_path):
    """A table with a missing value in `a`, and stray text in `b`."""
    rows = [f"{k},{k + 1},{k * k}" for k in range(20)]
    rows[7], rows[15] = "-,8,49", "15,bad,225"
    return write(tmp_path, "t.csv", "\n".join(["a,b,y", *rows]))


def test_a_bad_cell_does_not_delete_a_column(spoiled):
    message = r"Column 'b' has text in 1 of 20 cells \(line 17: 'bad'\)\. Fix the cell, or pass --missing to treat it"
    for options in ({}, {"features": ["a", "b"]}, {"features": ["a"], "weights": "b"}):
        with pytest.raises(DataError, match=message):
            prepare_dataset(read_table(spoiled), target="y", **options)


def test_a_bad_cell_in_a_column_that_is_not_used_does_no_harm(spoiled):
    data, notes, _ = prepare_dataset(read_table(spoiled), target="y", features=["a"])
    assert data.n_rows == 19
    assert notes == [
        "Column 'a': 1 cell is read as missing (line 9: '-').",
        "1 row of 20 with missing or infinite values left out (line 9).",
    ]


def test_text_that_is_declared_missing_leaves_its_row_out(spoiled):
    data, notes, _ = prepare_dataset(read_table(spoiled, missing=["bad"]), target="y")
    assert (data.names, data.n_rows) == (("a", "b"), 18)
    assert "Column 'b': 1 cell is read as missing (line 17: 'bad')." in notes
    assert "2 rows of 20 with missing or infinite values left out (the first: line 9)." in notes


def test_a_column_that_is_text_for_the_greater_part_is_left_out_with_its_first_text(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "a,b,y\n1,p,1\n2,3,2\n3,q,4\n"))
    data, notes, _ = prepare_dataset(table, target="y")
    assert data.names == ("a",)
    assert notes == [
        "1 column of text left out: b.",
        "Column 'b' is text: only 1 of 3 cells are numbers (line 2: 'p' is not).",
        "Column 'b' has 3 different texts in 3 rows, too many for a grouping.",
    ]


@pytest.fixture
def with_bars(tmp_path):
    return read_table(write(tmp_path, "b.csv", "x,dx,y,dy\n1,0.1,2,0.5\n2,0.2,4,\n3,0.3,6,0.7\n"))


def test_error_bars_are_no_features(with_bars):
    data, _, _ = prepare_dataset(with_bars, target="y", sigma="dy", sigma_columns={"x": "dx"})
    assert data.names == ("x",)
    np.testing.assert_array_equal(data.sigma, [0.5, 0.7])
    np.testing.assert_array_equal(data.sigma_columns, [[0.1, 0.3]])


def test_a_row_without_error_bar_is_left_out(with_bars):
    _, notes, _ = prepare_dataset(with_bars, target="y", features=["x"], sigma="dy")
    assert notes == ["1 row of 3 with missing or infinite values left out (line 3)."]


def test_error_bars_of_a_column_may_be_one_number(with_bars):
    data, _, _ = prepare_dataset(with_bars, target="y", features=["dx", "x"], sigma_columns={"x": "0.25"})
    np.testing.assert_array_equal(data.sigma_columns, [[0.0] * 3, [0.25] * 3])


def test_rows_know_their_lines(with_bars):
    data, _, _ = prepare_dataset(with_bars, target="y", features=["x"], sigma="dy")
    assert [data.places.name(row) for row in range(2)] == ["line 2", "line 4"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma": "nix"}, "There is no column 'nix' in "),
        ({"sigma": "x", "features": ["x"]}, "The error bars 'x' are also among the features."),
        ({"sigma": "y"}, "The column 'y' cannot be both the target and its error bars."),
        ({"sigma": "dy", "weights": "dx"}, "Give error bars or weights, not both: "),
        ({"sigma_columns": {"x": "nix"}}, "There is no column 'nix' in "),
        ({"sigma_columns": {"x": "nan"}}, "There is no column 'nan' in "),
        ({"sigma_columns": {"q": "dx"}}, "There are error bars for 'q', which is not among the features: x, dy."),
        ({"sigma_columns": {"x": "-1"}}, "The error bars of column 'x' must be 0 or more; line 2 has -1. "),
    ],
)
def test_a_wrong_choice_of_error_bars_is_explained(with_bars, options, message):
    with pytest.raises(DataError) as caught:
        prepare_dataset(with_bars, target="y", **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "message"), [("0", "more than 0; line 3 has 0."), ("-2", "more than 0; line 3 has -2.")]
)
def test_bad_error_bars_are_named_by_their_line(tmp_path, cell, message):
    table = read_table(write(tmp_path, "b.csv", f"x,y,dy\n1,2,1\n2,4,{cell}\n"))
    with pytest.raises(DataError, match=message):
        prepare_dataset(table, target="y", sigma="dy")


def test_error_bars_of_text_are_refused(mixed):
    with pytest.raises(DataError, match=r"The column 'id' of .* holds text, not only numbers"):
        prepare_dataset(mixed, target="y", sigma="id")


def test_groups_without_complete_rows_are_named(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "metal,x,y\niron,1,1\niron,2,2\ntin,1,2\ntin,2,4\nlead,1,\nlead,2,\n"))
    _, notes, [grouping] = prepare_dataset(table, target="y", groups=["metal"])
    assert grouping.labels == ("iron", "tin")
    assert "1 group of 'metal' has no complete row, and no numbers: 'lead'." in notes


def test_groups_of_one_row_each_are_an_error_if_they_are_asked_for(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "id,x,y\na,1,1\nb,2,2\nc,3,4\n"))
    with pytest.raises(DataError, match="Each of the 3 groups of 'id' has only one row"):
        prepare_dataset(table, target="y", groups=["id"])


def test_groups_of_one_complete_row_each_are_left_out_if_nobody_asked_for_them(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "id,x,y\na,1,1\na,2,\nb,2,2\nb,3,\nc,3,4\nc,3,\n"))
    _, notes, groupings = prepare_dataset(table, target="y")
    assert groupings == ()
    assert "Each group of 'id' has only one complete row, so it is no grouping." in notes
