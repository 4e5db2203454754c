"""What people hand to `SPLDynamics`."""

import numpy as np
import pytest

from spl.errors import DataError, SettingError
from spl.estimators.system_inputs import list_grammars, read_columns, read_trajectories

T = np.linspace(0, 1, 10)
X = np.column_stack([T, T**2])
U = np.ones((10, 1))


@pytest.mark.parametrize(
    ("names", "states", "inputs"),
    [(["a", "b"], ("a", "b"), ("u",)), (["a", "b", "force"], ("a", "b"), ("force",))],
)
def test_names_may_be_those_of_the_states_or_of_states_and_inputs(names, states, inputs):
    data = read_trajectories(X, T, None, U, names)
    assert (data.states, data.inputs) == (states, inputs)


def test_states_and_inputs_become_one_column_per_name():
    columns = read_columns(X, U, ["a", "b", "force"])
    assert columns.flags.c_contiguous
    np.testing.assert_array_equal(columns, [X[:, 0], X[:, 1], U[:, 0]])


def test_states_without_inputs_are_read():
    np.testing.assert_array_equal(read_columns([[1.0, 2.0]], None, ["a", "b"]), [[1.0], [2.0]])


def test_inputs_of_another_length_are_refused():
    with pytest.raises(DataError, match="`x` has 10 rows, but `u` 9"):
        read_columns(X, U[:9], ["a", "b", "force"])


def test_a_wrong_number_of_columns_is_refused_with_the_names_that_are_needed():
    with pytest.raises(DataError, match="There are 2 columns of states and inputs; the equations need 3: a, b, force"):
        read_columns(X, None, ["a", "b", "force"])


def test_one_grammar_serves_all_states():
    assert list_grammars("f -> x", ["x", "y"]) == ["f -> x", "f -> x"]
    assert list_grammars(None, ["x", "y"]) == [None, None]


def test_a_list_has_one_grammar_per_state():
    assert list_grammars(["f -> x", "f -> y"], ["x", "y"]) == ["f -> x", "f -> y"]
    with pytest.raises(SettingError, match="1 entries for 2 states"):
        list_grammars(["f -> x"], ["x", "y"])


@pytest.mark.parametrize(
    ("given", "message"),
    [({"x": "f -> x", "z": "f -> x"}, "there is no state 'z'"), ({"x": "f -> x"}, "there is none for 'y'")],
)
def test_grammars_by_name_must_be_those_of_the_states(given, message):
    with pytest.raises(SettingError, match=message):
        list_grammars(given, ["x", "y"])
