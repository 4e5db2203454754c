import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.data.dataset import MAX_COLUMNS, Dataset
from spl.errors import DataError

TABLE = [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]
TARGET = [1.0, 4.0, 9.0]


def test_columns_are_the_transposed_table():
    data = Dataset.from_arrays(TABLE, TARGET, names=["a", "b"])
    np.testing.assert_array_equal(data.columns, [[1, 2, 3], [10, 20, 30]])
    assert data.columns.flags.c_contiguous
    assert (data.names, data.n_rows) == (("a", "b"), 3)


def test_columns_without_names_are_numbered():
    assert Dataset.from_arrays(TABLE, TARGET).names == ("x0", "x1")


def test_what_the_caller_gave_is_copied():
    table, target, weights = np.array(TABLE), np.array(TARGET), np.array([1.0, 1.0, 1.0])
    data = Dataset.from_arrays(table, target, weights=weights)
    for mine in (table, target, weights):
        mine[:] = -5
    assert data.columns.min() == 1
    assert data.target.min() == 1
    assert data.weights.min() == 1


def test_a_dataset_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Dataset.from_arrays(TABLE, TARGET).names = ("p", "q")


@pytest.mark.parametrize(
    ("table", "target", "message"),
    [
        ([1.0, 2.0], TARGET, "must have rows and columns"),
        (np.zeros((2, 2, 2)), [1.0, 2.0], "must have rows and columns"),
        (TABLE, [[1.0], [2.0], [3.0]], "must be one column"),
        (TABLE, [1.0, 2.0], "3 rows, but the target has 2"),
        (np.zeros((0, 2)), [], "0 rows"),
        (np.zeros((3, 0)), TARGET, "0 columns"),
        (np.zeros((1, MAX_COLUMNS + 1)), [1.0], f"{MAX_COLUMNS + 1} columns"),
        ([[1.0, np.nan], [2.0, 20.0], [3.0, 30.0]], TARGET, "The table must be finite; 1 of .*row 0, column 1"),
        (TABLE, [1.0, np.inf, -np.inf], "The target must be finite; 2 of .*row 1"),
        ([["a", "b"], ["c", "d"], ["e", "f"]], TARGET, "not a number"),
        (TABLE, [1.0, None, "x"], "not a number"),
        (np.array(TABLE) * 1j, TARGET, "complex"),
        ([[1.0], [2.0, 3.0], [4.0]], TARGET, "not a number"),
    ],
)
def test_a_table_that_cannot_be_searched_is_refused_with_the_reason(table, target, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(table, target)


@pytest.mark.parametrize(
    ("names", "message"), [(["a"], "1 column names for 2 columns"), (["a", "a"], "'a' appears twice")]
)
def test_names_that_do_not_fit_are_refused(names, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(TABLE, TARGET, names=names)


@pytest.mark.parametrize(
    "weights", [[1.0, 2.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0], [[1.0, 1.0, 1.0]], ["a"] * 3]
)
def test_weights_that_do_not_fit_are_refused(weights):
    with pytest.raises(DataError, match=r"weight"):
        Dataset.from_arrays(TABLE, TARGET, weights=weights)


@given(st.lists(st.floats(1e-3, 1e3), min_size=3, max_size=3))
def test_weights_have_the_mean_1_and_their_proportions(weights):
    data = Dataset.from_arrays(TABLE, TARGET, weights=weights)
    assert data.weights.mean() == pytest.approx(1)
    np.testing.assert_allclose(data.weights / data.weights[0], np.array(weights) / weights[0])


def test_the_spread_is_the_weighted_standard_deviation_of_the_target():
    weights = [1.0, 2.0, 5.0]
    data = Dataset.from_arrays(TABLE, TARGET, weights=weights)
    mean = np.average(TARGET, weights=weights)
    assert data.spread == pytest.approx(np.sqrt(np.average((np.array(TARGET) - mean) ** 2, weights=weights)))


@pytest.mark.parametrize(
    ("target", "spread"), [([5.0, 5.0, 5.0], 5.0), ([-5.0] * 3, 5.0), ([0.0] * 3, 1.0), ([0.1] * 3, 0.1)]
)
def test_the_spread_of_a_constant_target_is_its_size(target, spread):
    assert Dataset.from_arrays(TABLE, target).spread == spread


@pytest.mark.parametrize("size", [1e-149, 1e-9, 1e9, 1e149])
def test_the_spread_has_the_unit_of_the_target(size):
    data = Dataset.from_arrays(TABLE, np.array(TARGET) * size)
    assert data.spread == pytest.approx(size * Dataset.from_arrays(TABLE, TARGET).spread, rel=1e-9)


def test_rows_are_taken_in_order_with_their_weights():
    data = Dataset.from_arrays(TABLE, TARGET, weights=[1.0, 2.0, 3.0]).take(np.array([2, 0]))
    np.testing.assert_array_equal(data.target, [9, 1])
    np.testing.assert_array_equal(data.columns, [[3, 1], [30, 10]])
    np.testing.assert_allclose(data.weights, [1.5, 0.5])
    assert data.columns.flags.c_contiguous


def make_large(n_rows=500):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(n_rows, 3))
    return Dataset.from_arrays(table, table.sum(axis=1))


@given(st.integers(16, 600), st.integers(0, 1000))
def test_a_sample_holds_distinct_rows_of_the_dataset_and_no_more_than_asked_for(n_rows, seed):
    data = make_large()
    sample = data.sample(n_rows, np.random.default_rng(seed))
    assert sample.n_rows == min(n_rows, data.n_rows)
    assert len(set(sample.target.tolist())) == sample.n_rows
    assert set(sample.target.tolist()) <= set(data.target.tolist())


@given(st.integers(32, 400), st.integers(0, 1000))
def test_a_sample_holds_the_extremes_of_every_column(n_rows, seed):
    data = make_large()
    sample = data.sample(n_rows, np.random.default_rng(seed))
    np.testing.assert_array_equal(sample.columns.max(axis=1), data.columns.max(axis=1))
    np.testing.assert_array_equal(sample.columns.min(axis=1), data.columns.min(axis=1))


def test_a_sample_leaves_out_rows_that_do_not_count():
    weights = np.ones(500)
    weights[100:] = 0
    data = Dataset.from_arrays(make_large().columns.T, make_large().target, weights=weights)
    sample = data.sample(300, np.random.default_rng(0))
    assert sample.n_rows == 100
    assert np.all(sample.weights > 0)


def test_the_same_generator_gives_the_same_sample():
    one, two = (make_large().sample(50, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one.target, two.target)


@pytest.mark.parametrize("size", [1e-149, 1e-30, 1.0, 1e30, 1e149])
def test_the_spread_of_a_target_of_any_size_is_a_number(size):
    data = Dataset.from_arrays([[1.0]] * 3, np.array([1.0, 2.0, 3.0]) * size)
    assert data.spread == pytest.approx(np.sqrt(2 / 3) * size)


@pytest.mark.parametrize("size", [1.7e308, 1e151, 1e-151, 1e-310, 5e-324])
def test_numbers_whose_squares_are_none_are_refused_with_a_unit_that_helps(size):
    values = np.array([1.0, 0.5, 0.0]) * size
    for arguments, what in (((TABLE, values), "The target"), (([[v] for v in values], TARGET), "Column 'x0'")):
        with pytest.raises(DataError, match=rf"{what} (reaches|never exceeds) .* unit: divide it by 1e") as caught:
            Dataset.from_arrays(*arguments)
        unit = float(str(caught.value).removesuffix(".").split()[-1])
        Dataset.from_arrays(TABLE, values / unit)


def test_a_column_may_hold_numbers_that_are_nothing_beside_its_others():
    assert Dataset.from_arrays(TABLE, [1.0, 1e-300, 5e-324]).n_rows == 3


def test_errors_in_the_last_digit_of_a_target_far_from_zero_are_rounding_errors():
    near, far = (Dataset.from_arrays([[1.0]] * 2, [offset, offset + 1e-3]) for offset in (0.0, 1e9))
    assert near.floor == pytest.approx(0.5e-16)
    assert far.floor == pytest.approx(1e9 * 2**-52)


# ---- error bars and places -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sigma": [1.0, -1.0, 1.0]}, "The error bars of the target must be more than 0; row 1 has -1."),
        ({"sigma": [1.0, 1.0, 0.0]}, "The error bars of the target must be more than 0; row 2 has 0."),
        (
            {"sigma": [1.0, np.nan, 1.0]},
            "The error bars of the target must be finite; 1 of 3 values are NaN or infinite, the first in row 1",
        ),
        ({"sigma": [1.0, 2.0]}, r"There must be one error bar per row \(3\); `sigma` has shape \(2,\)"),
        ({"sigma": ["a", "b", "c"]}, "The error bars of the target must be numbers: "),
        ({"sigma": 1.0, "weights": [1.0, 1.0, 1.0]}, "Give error bars or weights, not both"),
        (
            {"sigma_columns": [0.1, 0.2, 0.3]},
            r"`sigma_X` must be one number per column \(2\) or a table like X \(3, 2\)",
        ),
        ({"sigma_columns": [0.1, -0.2]}, "The error bars of column 'b' must be 0 or more; row 0 has -0.2"),
        (
            {"sigma_columns": [0.1, np.inf]},
            "The error bars of the columns must be finite; 3 of 6 values are .* the first in row 0",
        ),
    ],
)
def test_bad_error_bars_are_explained(options, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1.0, 2.0, 3.0], names=["a", "b"], **options)


def test_with_error_bars_rows_count_by_their_inverse_squares():
    data = Dataset.from_arrays([[1.0], [2.0]], [1.0, 2.0], sigma=[1.0, 2.0])
    np.testing.assert_allclose(data.weights[0] / data.weights[1], 4.0)


def test_error_bars_of_0_in_all_columns_are_none():
    assert Dataset.from_arrays([[1.0], [2.0]], [1.0, 2.0], sigma_columns=[0.0]).sigma_columns is None


def test_rows_keep_their_places_and_error_bars_when_some_are_taken():
    data = Dataset.from_arrays(
        [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], sigma=[1.0, 2.0, 3.0], sigma_columns=[[4.0], [5.0], [6.0]]
    )
    taken = data.take(np.array([2, 0]))
    assert [taken.places.name(row) for row in range(2)] == ["row 2", "row 0"]
    np.testing.assert_array_equal(taken.sigma, [3.0, 1.0])
    np.testing.assert_array_equal(taken.sigma_columns, [[6.0, 4.0]])
