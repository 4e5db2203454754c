import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.errors import UnitError
from spl.units.dimension import NO_DIMENSION
from spl.units.groups import can_reach_target, choose_groups
from spl.units.table_units import read_table_units


def read(columns, target, known=None):
    return read_table_units(columns, target, known, names=list(columns))


def positive(n_columns, n_rows=20):
    return np.random.default_rng(0).uniform(0.5, 3.0, (n_columns, n_rows))


def dimension_of(groups, group):
    dimension = groups.units.dimensions[group.column]
    for column, power in zip(groups.repeating, group.powers, strict=True):
        dimension = dimension / groups.units.dimensions[column] ** power
    return dimension


@pytest.mark.parametrize(
    "columns",
    [
        {"a": "kg", "b": "m/s", "c": "m", "d": "s"},
        {"p": "Pa", "rho": "kg/m**3", "v": "m/s", "mu": "Pa*s", "d": "m"},
        {"q": "C", "e": "V/m", "m": "kg", "t": "s", "angle": "deg"},
    ],
)
def test_every_group_is_a_pure_number(columns):
    units = read(columns, "J" if "a" in columns else "m**2/s**2" if "p" in columns else "m")
    groups = choose_groups(units, positive(len(columns)))
    assert groups.groups
    assert all(dimension_of(groups, group) == NO_DIMENSION for group in groups.groups)
    target = NO_DIMENSION
    for column, power in zip(groups.repeating, groups.target, strict=True):
        target = target * units.dimensions[column] ** power
    assert target == units.target.dimension


def test_there_are_as_many_groups_as_buckingham_says():
    units = read({"p": "Pa", "rho": "kg/m**3", "v": "m/s", "mu": "Pa*s", "d": "m"}, "Pa")
    assert len(choose_groups(units, positive(5)).groups) == 5 - 3


def test_whole_exponents_are_preferred():
    units = read({"volume": "m**3", "length": "m"}, "m**2")
    groups = choose_groups(units, positive(2))
    assert groups.repeating == (1,)


def test_columns_with_zeros_or_both_signs_are_not_taken_as_units_if_others_can_be():
    columns = positive(3)
    columns[0, 3] = 0.0
    columns[1, ::2] *= -1
    units = read({"a": "m", "b": "m", "c": "m"}, "m")
    assert choose_groups(units, columns).repeating == (2,)


def test_rows_in_which_nothing_can_be_measured_are_left_out_of_the_search():
    columns = positive(2)
    columns[0, 4] = 0.0
    units = read({"a": "m", "b": "s"}, "m/s")
    data = Dataset(units.names, columns, np.ones(20), np.ones(20))
    assert choose_groups(units, columns).measure(data).n_rows == 19


def test_squares_of_errors_keep_their_weights():
    units = read({"m": "g", "v": "km/h", "c": "m/s"}, "kJ")
    columns = positive(3)
    rng = np.random.default_rng(4)
    data = Dataset(units.names, columns, rng.uniform(1, 2, 20), rng.uniform(0.5, 1.5, 20))
    groups = choose_groups(units, columns)
    measured = groups.measure(data)
    guess = rng.uniform(0, 1, 20) * measured.target
    of_target = data.target * guess / measured.target  # what the guess is in the unit of the target
    error = np.sqrt(np.average((data.target - of_target) ** 2, weights=data.weights))
    of_groups = np.sqrt(np.mean(measured.weights * (measured.target - guess) ** 2))
    assert of_groups * groups.loss_factor(data) == pytest.approx(error, rel=1e-9)


def test_a_law_without_groups_is_measured_with_a_column_of_ones():
    units = read({"m": "kg", "v": "m/s"}, "J")
    columns = positive(2)
    data = Dataset(units.names, columns, columns[0] * columns[1] ** 2 / 2, np.ones(20))
    measured = choose_groups(units, columns).measure(data)
    assert measured.names == ("1",)
    np.testing.assert_allclose(measured.target, 0.5)


def test_a_group_that_never_varies_is_left_out():
    units = read({"x": "m", "t": "s"}, "m", {"v": "2 m/s", "w": "3 m/s"})
    columns = np.vstack([positive(2), np.full((1, 20), 2.0), np.full((1, 20), 3.0)])
    assert len(choose_groups(units, columns).groups) == 1


def test_what_is_missing_is_named():
    with pytest.raises(UnitError, match="nothing has the dimension temperature"):
        choose_groups(read({"m": "kg", "v": "m/s"}, "K"), positive(2))
    with pytest.raises(UnitError, match="no product of powers of them has it"):
        choose_groups(read({"v": "m/s"}, "m"), positive(1))
    assert not can_reach_target(read({"v": "m/s"}, "m"))
    assert can_reach_target(read({"v": "m/s", "t": "s"}, "m"))


def test_rows_of_zeros_are_refused_in_words():
    units = read({"a": "m"}, "m")
    data = Dataset(units.names, np.zeros((1, 5)), np.ones(5), np.ones(5))
    with pytest.raises(UnitError, match="columns a is 0"):
        choose_groups(units, data.columns).measure(data)
