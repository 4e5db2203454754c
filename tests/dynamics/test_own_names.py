"""How people ask for own numbers, and what is said if that cannot be."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.own_names import MAX_OWN_RUNS, OwnNames
from spl.dynamics.rows import Plan
from spl.errors import DataError, SettingError

T = np.linspace(0, 1, 20)


def make_data(n_runs=2, n_samples=20):
    return Trajectories.from_arrays([np.exp(T[:n_samples, np.newaxis])] * n_runs, [T[:n_samples]] * n_runs, names=["x"])


@pytest.mark.parametrize("own", [(), 3, True, [1], {"k": 1}])
def test_own_must_be_auto_or_names(own):
    with pytest.raises(SettingError, match='`own` must be "auto", or names of numbers'):
        OwnNames.read(own)


@pytest.mark.parametrize("own", ["my mass", ("k", "2k"), ""])
def test_names_that_are_no_identifiers_are_refused(own):
    with pytest.raises(SettingError, match="Names of numbers have letters and digits"):
        OwnNames.read(own)


def test_a_name_that_is_given_twice_is_refused():
    with pytest.raises(SettingError, match="'k' twice"):
        OwnNames.read(("k", "k"))


def test_a_name_of_a_column_is_refused():
    with pytest.raises(SettingError, match="'x', but a column has it"):
        OwnNames.read("x").check(make_data(), Plan())


def test_a_single_trajectory_has_no_own_numbers():
    with pytest.raises(DataError, match="one trajectory, so no number can differ"):
        OwnNames().check(make_data(1), Plan())


def test_too_many_trajectories_are_refused():
    with pytest.raises(DataError, match=f"There are {MAX_OWN_RUNS + 1} trajectories"):
        OwnNames().check(make_data(MAX_OWN_RUNS + 1), Plan())


def test_a_run_that_is_too_short_is_named():
    with pytest.raises(DataError, match="Run 0 has 8 samples; own numbers need at least 10"):
        OwnNames().check(make_data(2, 8), Plan())


def test_rates_on_both_sides_are_refused():
    with pytest.raises(SettingError, match="cannot have rates on both sides"):
        OwnNames().check(make_data(), Plan(is_implicit=True))


def test_auto_allows_any_number_of_own_numbers():
    assert OwnNames.read("auto").most is None
    assert OwnNames.read(("mass", "length")).most == 2
