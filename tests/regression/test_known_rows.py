import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.knowledge.knowledge import Judge, Knowledge
from spl.regression.known_rows import MAX_COPIES, POINT_WEIGHT, add_known_rows, count_copies

TABLE = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
DATA = Dataset.from_arrays(TABLE, [1.0, 2.0, 3.0], names=["x", "y"])


def add(*statements: str, data: Dataset = DATA) -> Dataset:
    return add_known_rows(data, Judge(Knowledge.read(statements, data.names), data))


def test_signs_slopes_and_limits_add_no_rows():
    assert add("f > 0", "increasing in x", "f -> 0 as x -> inf", "f(x=0) > 0").n_rows == 3


def test_even_and_odd_laws_have_mirrored_rows():
    even, odd = add("even in x"), add("odd in x")
    assert even.columns[0].tolist() == [1, 2, 4, -1, -2, -4]
    assert even.columns[1].tolist() == [5, 7, 6, 5, 7, 6]
    assert even.target.tolist() == [1, 2, 3, 1, 2, 3]
    assert odd.target.tolist() == [1, 2, 3, -1, -2, -3]


def test_symmetric_laws_have_exchanged_rows():
    found = add("symmetric in x, y")
    assert found.columns[:, 3:].tolist() == [[5, 7, 6], [1, 2, 4]]
    assert found.target[3:].tolist() == [1, 2, 3]


def test_points_have_the_known_value_and_count_more():
    found = add("f(x=0) = 2*y")
    assert found.n_rows == 6
    assert found.columns[0, 3:] == pytest.approx(np.zeros(3), abs=1e-11)
    assert found.target[3:] == pytest.approx(2 * found.columns[1, 3:])
    assert found.weights[3:] == pytest.approx(POINT_WEIGHT * found.weights[0])
    assert found.weights.mean() == pytest.approx(1.0)


def test_a_point_that_is_the_same_for_all_rows_is_added_once():
    data = Dataset.from_arrays(TABLE[:, :1], [1.0, 2.0, 3.0], names=["x"])
    assert add("f(x=0) = 0", data=data).n_rows == 4


def test_statements_about_a_part_of_the_box_add_no_rows():
    assert add("even in x for y > 5.5", "f(x=0) = 0 for y > 5.5").n_rows == 3


def test_many_symmetries_make_few_copies():
    statements = ("even in x", "even in y", "symmetric in x, y")
    assert add(*statements).n_rows == 3 * MAX_COPIES
    assert count_copies(Knowledge.read(statements, DATA.names)) == MAX_COPIES


def test_error_bars_follow_their_rows():
    bars = np.array([[0.1, 0.2]] * 3)
    data = Dataset.from_arrays(TABLE, [1.0, 2.0, 3.0], names=["x", "y"], sigma=[0.1, 0.2, 0.3], sigma_columns=bars)
    found = add("symmetric in x, y", data=data)
    assert found.sigma.tolist() == [0.1, 0.2, 0.3] * 2
    assert found.sigma_columns[0].tolist() == [0.1] * 3 + [0.2] * 3
