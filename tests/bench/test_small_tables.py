"""Small tables are the same for the same trial, and grow by what is measured."""

import numpy as np
from tests.bench.fakes import make_trial

from spl.bench.small_tables import SmallTable, make_random
from spl.datasets.small_laws import N_SMALL_ROWS


def trial(seed=0):
    return make_trial("gas", seed, experiment="trust", setting="part=rivals")


def test_a_trial_has_one_table():
    first, again, other = SmallTable.of(trial()), SmallTable.of(trial()), SmallTable.of(trial(1))
    assert first.table.shape == (N_SMALL_ROWS, 3)
    assert np.array_equal(first.target, again.target)
    assert not np.array_equal(first.target, other.target)


def test_measured_points_are_added():
    rows = SmallTable.of(trial())
    points = rows.law.draw_rows(make_random(trial(), 1), 4)
    more = rows.measure(points, make_random(trial(), 2))
    assert np.array_equal(more.table[-4:], points)
    assert np.array_equal(more.target[:N_SMALL_ROWS], rows.target)
    assert np.all(more.target[-4:] != rows.law.truth_at(points))
