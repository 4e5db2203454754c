"""Tables of the grouped laws: groups, noise, and unseen rows of the same groups."""

import numpy as np
import pytest

from spl.datasets import load_grouped_law, make_grouped_table, make_grouped_test
from spl.datasets.grouped_tables import N_SECOND_GROUPS
from spl.errors import SettingError

COOLING, HARVEST = load_grouped_law("cooling"), load_grouped_law("harvest")


def test_each_group_has_as_many_rows_as_asked_for_and_one_value_of_each_own_number():
    data = make_grouped_table(COOLING, 10, 30)
    labels, counts = np.unique(data.labels["cup"], return_counts=True)
    assert len(labels) == 10
    assert set(counts) == {30}
    assert all(len(set(data.own["k"][data.rows_of("cup", label)])) == 1 for label in labels)
    assert len(set(data.own["k"])) == 10


def test_the_rows_of_a_group_are_spread_over_those_of_the_other_grouping():
    data = make_grouped_table(HARVEST, 10, 30)
    pairs, counts = np.unique(
        np.column_stack([data.labels["field"], data.labels["variety"]]), axis=0, return_counts=True
    )
    assert len(pairs) == 10 * N_SECOND_GROUPS
    assert set(counts) == {5}


def test_noise_is_a_share_of_the_root_mean_square():
    data = make_grouped_table(COOLING, 100, 50, noise=0.1)
    share = np.std(data.target - data.exact) / np.sqrt(np.mean(data.exact**2))
    assert share == pytest.approx(0.1, rel=0.05)


def test_without_noise_the_target_is_exact():
    data = make_grouped_table(COOLING)
    np.testing.assert_array_equal(data.target, data.exact)


def test_unseen_rows_have_the_same_groups_with_the_same_own_numbers():
    data, unseen = make_grouped_table(COOLING, 5, 4, seed=3), make_grouped_test(COOLING, 5, seed=3)
    numbers = [dict(zip(each.labels["cup"].tolist(), each.own["k"].tolist(), strict=True)) for each in (data, unseen)]
    assert numbers[0] == numbers[1]
    assert not set(data.table[:, 0]) & set(unseen.table[:, 0])


def test_the_seed_decides_everything():
    one, same, other = (make_grouped_table(COOLING, 5, 4, noise=0.1, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.target, same.target)
    assert not np.any(one.target == other.target)


def test_noise_below_zero_is_refused():
    with pytest.raises(SettingError, match=r"`noise` must be 0 or more; got -0\.1"):
        make_grouped_table(COOLING, noise=-0.1)
