"""Rows in groups: none is lost or mixed up when they are sorted for a fit."""

import numpy as np
import pytest
from tests.groups.tables import make_rows


@pytest.fixture
def rows(rng):
    first, second = rng.integers(0, 3, 40), rng.integers(0, 7, 40)
    return make_rows(rng.normal(size=40), rng.normal(size=40), first, second, weights=rng.uniform(1, 2, 40))


def test_the_rows_of_a_group_are_those_with_its_code(rows):
    for place, grouping in enumerate(rows.groupings):
        expected = [np.flatnonzero(grouping.codes == group).tolist() for group in range(grouping.n_groups)]
        assert [each.tolist() for each in rows.rows_of(place)] == expected


def test_groups_whose_rows_are_left_out_stay_as_empty_ones(rows):
    kept = rows.take(np.flatnonzero(rows.groupings[0].codes != 1))
    assert [each.size > 0 for each in kept.rows_of(0)] == [True, False, True]
    assert len(kept.parts(0)) == 2
    assert kept.groupings[0].labels == rows.groupings[0].labels


def test_the_grouping_with_more_groups_is_eliminated(rows):
    arrangement = rows.arrange((0, 1))
    assert (arrangement.outer, arrangement.inner) == (1, 0)
    assert (arrangement.n_outer, arrangement.n_inner) == (7, 3)


@pytest.mark.parametrize("used", [(), (0,), (1,), (0, 1)])
def test_each_row_is_in_the_cell_of_its_groups(rows, used):
    arrangement = rows.arrange(used)
    cells, codes = arrangement.cells, [each.codes for each in rows.groupings]
    assert sorted(arrangement.order) == list(range(40))
    lengths = np.diff(cells.ends)
    for place, of_cells in ((arrangement.outer, cells.outer), (arrangement.inner, cells.inner)):
        expected = np.zeros(40) if place is None else codes[place][arrangement.order]
        np.testing.assert_array_equal(np.repeat(of_cells, lengths), expected)
    pairs = list(zip(cells.outer, cells.inner, strict=True))
    assert len(set(pairs)) == len(pairs)


def test_samples_are_packed_in_the_order_of_the_arrangement(rows):
    arrangement = rows.arrange((0, 1))
    table, order = rows.pack(arrangement), arrangement.order
    np.testing.assert_array_equal(table.columns, rows.data.columns[:, order])
    np.testing.assert_array_equal(table.target, rows.data.target[order])
    np.testing.assert_array_equal(table.weights, rows.data.weights[order])


def test_other_targets_are_packed_anew(rows, rng):
    arrangement = rows.arrange((0,))
    before = rows.pack(arrangement).target
    other = rows.take(rng.permutation(40)).data
    after = rows.with_data(other).pack(arrangement).target
    np.testing.assert_array_equal(after, other.target[arrangement.order])
    assert not np.array_equal(before, after)


def test_own_numbers_become_columns_with_the_value_of_each_rows_group(rows):
    first, second = np.arange(3.0), np.arange(7.0) * 10
    extended = rows.extend((1, 0), (second, first), ("k1", "k2"))
    assert extended.names == ("x", "k1", "k2")
    for row in range(40):
        groups = rows.groupings[1].codes[row], rows.groupings[0].codes[row]
        assert tuple(extended.columns[1:, row]) == (10.0 * groups[0], 1.0 * groups[1])
