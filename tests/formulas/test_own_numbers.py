import numpy as np

from spl.formulas.own_numbers import OwnNumber, name_own_numbers, own_columns


def test_names_of_own_numbers_are_those_of_no_column() -> None:
    assert name_own_numbers(3, ("k2", "x")) == ("k1", "k3", "k4")


def test_each_row_has_the_values_of_its_groups() -> None:
    own = [OwnNumber("k1", "wood", ("oak", "ash"), (1.0, 2.0)), OwnNumber("k2", "day", ("1",), (5.0,))]
    columns = own_columns(own, {"wood": np.array([0, 1, 1]), "day": np.array([0, 0, 0])})
    assert columns.tolist() == [[1.0, 2.0, 2.0], [5.0, 5.0, 5.0]]


def test_other_values_keep_the_names_of_the_groups() -> None:
    number = OwnNumber("k1", "wood", ("oak", "ash"), (1.0, 2.0)).with_values(np.array([3.0, 4.0]))
    assert number.value_of("ash") == 4.0
