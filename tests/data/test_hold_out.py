"""Holding rows out for validation."""

from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset, RowPlaces
from spl.data.hold_out import MIN_HELD_OUT, check_held_out, check_share, hold_out
from spl.errors import DataError, SettingError


def make_data(n_rows=40, **more):
    x = np.arange(float(n_rows))
    return Dataset.from_arrays(x[:, np.newaxis], 10 * x, names=["x"], **more)


def test_each_row_is_in_one_of_the_parts_and_keeps_its_target():
    kept, held_out = hold_out(make_data(), 0.25, seed=3)
    both = np.concatenate([kept.columns[0], held_out.columns[0]])
    assert held_out.n_rows == 10
    np.testing.assert_array_equal(np.sort(both), np.arange(40.0))
    np.testing.assert_array_equal(held_out.target, 10 * held_out.columns[0])


def test_rows_stay_in_their_order_and_know_their_places():
    data = make_data(places=RowPlaces(np.arange(40) + 2, "line"))
    kept, held_out = hold_out(data, 0.5, seed=0)
    assert (np.diff(kept.columns[0]) > 0).all()
    assert held_out.places.name(0) == f"line {held_out.columns[0, 0] + 2:.0f}"


def test_the_seed_decides_which_rows():
    first, again, other = (hold_out(make_data(), 0.5, seed)[1].columns[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_weights_and_error_bars_go_with_their_rows():
    bars = 1.0 + np.arange(40.0)
    kept, held_out = hold_out(make_data(sigma=bars), 0.25, seed=0)
    for rows in (kept, held_out):
        np.testing.assert_array_equal(rows.sigma, 1 + rows.columns[0])
        assert rows.weights.mean() == pytest.approx(1.0)


def test_rows_without_weight_are_not_drawn():
    weights = np.where(np.arange(40) < 20, 0.0, 1.0)
    _, held_out = hold_out(make_data(weights=weights), 0.5, seed=0)
    assert held_out.n_rows == 10
    assert held_out.columns[0].min() >= 20


def test_notes_on_the_data_stay_with_the_rows_of_the_search():
    kept, held_out = hold_out(replace(make_data(), notes=("1 row left out",)), 0.5, seed=0)
    assert (kept.notes, held_out.notes) == (("1 row left out",), ())


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, 5, float("nan"), float("inf"), True, "0.2", None])
def test_what_is_no_share_is_refused_with_its_value(share):
    with pytest.raises(SettingError, match=r"must be a share of the rows between 0 and 1, such as 0.2; got"):
        check_share(share)


@pytest.mark.parametrize(("n_rows", "share"), [(20, 0.1), (20, 0.9), (6, 0.5)])
def test_too_few_rows_on_either_side_are_refused(n_rows, share):
    with pytest.raises(DataError, match=f"both need at least {MIN_HELD_OUT}"):
        hold_out(make_data(n_rows), share, seed=0)


def test_other_rows_must_be_enough_and_have_the_same_columns():
    with pytest.raises(DataError, match="There are 4 rows for validation; at least 5 are needed"):
        check_held_out(make_data(4), ("x",))
    with pytest.raises(DataError, match=r"The columns of the validation rows are \('x',\)"):
        check_held_out(make_data(9), ("y",))
    check_held_out(make_data(5), ("x",))


def test_rows_without_weight_do_not_count_for_validation():
    weights = np.where(np.arange(9) < 5, 0.0, 1.0)
    with pytest.raises(DataError, match="There are 4 rows for validation"):
        check_held_out(make_data(9, weights=weights), ("x",))
