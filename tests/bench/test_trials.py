import numpy as np
import pytest
from tests.bench.experiments import make_trial

from spl.bench.trials import is_recovered, relative_error
from spl.errors import SettingError


@pytest.mark.parametrize(
    "changes",
    [{"experiment": "noise"}, {"setting": "points20"}, {"tool": "gplearn"}, {"timeout": 5.0}],
)
def test_whatever_decides_an_outcome_is_in_the_key(changes):
    assert make_trial(**changes).key != make_trial().key


@pytest.mark.parametrize("changes", [{"experiment": "nguyens"}, {"seed": -1}, {"timeout": 0.0}, {"timeout": np.inf}])
def test_a_trial_that_makes_no_sense_is_refused(changes):
    with pytest.raises(SettingError, match=f"`{next(iter(changes))}` must be"):
        make_trial(**changes)


def test_the_error_is_the_largest_as_a_share_of_the_largest_truth():
    assert relative_error(np.array([1.0, -4.0, 3.0]), np.array([1.0, -5.0, 2.0])) == pytest.approx(0.2)


def test_values_outside_the_domain_have_no_error_and_are_no_recovery():
    assert relative_error(np.array([np.nan, 1.0]), np.ones(2)) is None
    assert relative_error(np.array([np.inf, 1.0]), np.ones(2)) is None
    assert not is_recovered(None)


def test_recovered_means_an_error_of_at_most_a_millionth():
    assert is_recovered(1e-6)
    assert not is_recovered(1.1e-6)
