import datetime as dt

import numpy as np
import pandas as pd
import pytest

from spl.errors import DataError, DataRepaired
from spl.estimators.inputs import complete_rows, read_features, read_origins, warn_of_repairs

DAYS = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-04"])
DAY_SECONDS = 86_400.0


def test_numbers_are_passed_on_as_they_are():
    array, frame = np.ones((3, 2)), pd.DataFrame({"a": [1.0, 2.0]})
    assert read_features(array).table is array
    assert read_features(frame).table is frame


def test_dates_become_seconds_since_the_first():
    read = read_features(pd.DataFrame({"on": DAYS, "a": [1.0, 2.0, 3.0]}))
    assert read.table["on"].tolist() == [0.0, DAY_SECONDS, 3 * DAY_SECONDS]
    assert read.origins == {"on": pd.Timestamp("2024-01-01").value}
    assert "on" in read.notes[0]


def test_dates_of_another_table_are_counted_from_the_moment_of_the_fit():
    fitted = read_features(pd.DataFrame({"on": DAYS}))
    later = read_features(pd.DataFrame({"on": DAYS[1:]}), fitted.origins)
    assert later.table["on"].tolist() == [DAY_SECONDS, 3 * DAY_SECONDS]


def test_dates_in_a_column_that_held_numbers_are_refused():
    with pytest.raises(DataError, match="Column 'on' holds dates, but it held numbers in the fit"):
        read_features(pd.DataFrame({"on": DAYS}), {})


def test_an_array_of_objects_is_read_cell_by_cell():
    read = read_features(np.array([["1.5", dt.date(2024, 1, 1)], ["2", dt.date(2024, 1, 2)]], dtype=object))
    np.testing.assert_array_equal(read.table, [[1.5, 0.0], [2.0, DAY_SECONDS]])
    assert list(read.origins) == ["x1"]


def test_text_is_refused_with_its_place():
    with pytest.raises(DataError, match="Column 'who' holds text: 'ann' in row 0"):
        read_features(pd.DataFrame({"who": ["ann", "bob"]}))


def test_masked_cells_are_missing():
    masked = np.ma.masked_equal(np.array([[1.0], [9.0]]), 9.0)
    np.testing.assert_array_equal(read_features(masked).table, [[1.0], [np.nan]])


def test_rows_with_anything_missing_are_left_out_with_a_note():
    X = np.array([[1.0], [np.nan], [3.0], [4.0]])
    rows = complete_rows(X, [1.0, 2.0, np.inf, 4.0], [1.0, 1.0, 1.0, 0.5], ["a"])
    assert (rows.X.tolist(), rows.y.tolist(), rows.weights.tolist()) == ([[1.0], [4.0]], [1.0, 4.0], [1.0, 0.5])
    assert len(rows.notes) == 1


def test_complete_rows_are_not_copied():
    X = np.ones((3, 1))
    rows = complete_rows(X, [1.0, 2.0, 3.0], None, None)
    assert rows.X is X
    assert (rows.weights, rows.notes) == (None, [])


def test_one_weight_holds_for_all_rows():
    assert complete_rows(np.ones((2, 1)), [1.0, 2.0], 0.5, None).weights.tolist() == [0.5, 0.5]


def test_a_table_without_a_complete_row_is_refused():
    with pytest.raises(DataError):
        complete_rows(np.full((2, 1), np.nan), [1.0, 2.0], None, None)


def test_every_repair_is_a_warning():
    with pytest.warns(DataRepaired) as caught:
        warn_of_repairs(["one", "two"], stacklevel=1)
    assert [str(warning.message) for warning in caught] == ["one", "two"]


@pytest.mark.parametrize("given", [None, 5, [], {"when": 0.5}])
def test_a_damaged_record_of_instants_is_empty(given):
    assert read_origins(given) == {}
