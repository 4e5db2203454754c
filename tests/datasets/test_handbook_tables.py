"""Tables of the laws from handbooks follow from the seed, and have noise of the stated size."""

import numpy as np
import pytest

from spl.datasets.handbook_laws import load_handbook_law
from spl.datasets.handbook_tables import make_handbook_table, make_handbook_test
from spl.errors import SettingError


def test_noise_has_the_stated_size_and_follows_from_the_seed():
    law = load_handbook_law("arrhenius_rate")
    table, target = make_handbook_table(law, 3, noise=0.1, n_rows=5_000)
    exact = law.truth_at(table)
    assert np.std(target - exact) == pytest.approx(0.1 * np.std(exact), rel=0.05)
    np.testing.assert_array_equal(make_handbook_table(law, 3, noise=0.1, n_rows=5_000)[1], target)
    assert not np.array_equal(make_handbook_table(law, 4, noise=0.1, n_rows=5_000)[1], target)


def test_all_levels_of_noise_have_the_same_rows_and_unseen_rows_are_others():
    law = load_handbook_law("vis_viva")
    table, target = make_handbook_table(law, 0)
    np.testing.assert_array_equal(make_handbook_table(law, 0, noise=0.01)[0], table)
    np.testing.assert_array_equal(target, law.truth_at(table))
    unseen, truth = make_handbook_test(law, 0)
    assert not np.isin(unseen, table).any()
    np.testing.assert_array_equal(truth, law.truth_at(unseen))


def test_impossible_noise_is_refused():
    with pytest.raises(SettingError, match="noise"):
        make_handbook_table(load_handbook_law("nernst"), 0, noise=-1.0)
