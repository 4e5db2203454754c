"""Tables become the datasets that their columns say."""

import numpy as np
import pytest

from spl.choose_columns import prepare_dataset
from spl.errors import DataError
from spl.tables import read_table


def write(folder, name, content):
    path = folder / name
    path.write_text(content)
    return str(path)


@pytest.fixture
def mixed(tmp_path):
    return read_table(write(tmp_path, "t.csv", "id,a,w,void,y\np,1,1,,2\nq,,2,,3\nr,3,1,,inf\ns,4,1,,5\n"))


def test_all_columns_of_numbers_are_features_unless_some_are_named(mixed):
    data, notes = prepare_dataset(mixed, target="y")
    assert data.names == ("a", "w")
    assert any("1 column of text left out: id." in note for note in notes)
    assert any("1 column without any number left out: void." in note for note in notes)


def test_rows_with_gaps_are_dropped_and_counted(mixed):
    data, notes = prepare_dataset(mixed, target="y", features=["a"])
    np.testing.assert_array_equal(data.columns, [[1.0, 4.0]])
    assert notes == ["2 rows of 4 with missing or infinite values left out."]


def test_gaps_in_columns_that_are_not_used_drop_nothing(mixed):
    data, notes = prepare_dataset(mixed, target="w", features=["a"])
    assert data.n_rows == 3
    assert notes == ["1 row of 4 with missing or infinite values left out."]


def test_weights_are_no_feature(mixed):
    data, _ = prepare_dataset(mixed, target="y", weights="w")
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
        ({"target": "y", "features": ["a"], "weights": "a"}, "The weights 'a' is also among the features"),
        (
            {"target": "y", "features": ["id", "a"]},
            "'id' of '{path}' holds text, not only numbers. Leave it out of --features",
        ),
        ({"target": "id"}, "The column 'id' of '{path}' holds text, not only numbers."),
        ({"target": "y", "features": ["a", "void"]}, "The column 'void' misses 4 of 4; leave it out"),
    ],
)
def test_a_wrong_choice_of_columns_is_explained(mixed, options, message):
    with pytest.raises(DataError) as caught:
        prepare_dataset(mixed, **options)
    assert message.replace("'{path}'", mixed.source) in str(caught.value)


def test_a_file_without_names_is_recognised(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "1.5,2\n3,4\n"))
    with pytest.raises(DataError, match=r"the first line of .* must hold names, not numbers"):
        prepare_dataset(table, target="y")


def test_a_table_of_the_target_alone_is_no_dataset(tmp_path):
    table = read_table(write(tmp_path, "t.csv", "y,name\n1,p\n2,q\n"))
    with pytest.raises(DataError, match="has no column of numbers besides 'y'"):
        prepare_dataset(table, target="y")
