"""The part `coverage` of `spl bench groups`: intervals are counted by kind, and hold the truth about as often as they should."""

import numpy as np
import pytest

from spl.bench.groups_coverage import COVERED_LAWS, count_held, coverage_trials
from spl.datasets import load_grouped_law, make_grouped_table


def test_each_law_has_both_levels_of_noise_and_both_sizes():
    trials = coverage_trials(0, None)
    assert len(trials) == 4 * len(COVERED_LAWS)
    assert len({trial.key for trial in trials}) == len(trials)


@pytest.mark.parametrize(("name", "n_shared", "n_own"), [("electrode", 1, 10), ("tide", 1, 20), ("harvest", 1, 16)])
def test_all_numbers_are_counted(name, n_shared, n_own):
    law = load_grouped_law(name)
    counts = count_held(law, make_grouped_table(law, 10, 30, noise=0.05))
    assert counts[1].tolist() == [n_shared, n_own]


def test_intervals_hold_the_truth_in_most_tables():
    law = load_grouped_law("electrode")
    counts = sum(count_held(law, make_grouped_table(law, 10, 10, noise=0.05, seed=seed)) for seed in range(20))
    shares = counts[0] / counts[1]
    assert np.all(shares > 0.85)
