"""The trials of single trajectories."""

from dataclasses import replace

import pytest

from spl.bench.trust_identifiability import identifiability_trials, run_identifiability
from spl.errors import SettingError


def test_all_trajectories_are_searched_for_each_seed():
    trials = identifiability_trials(None, [0, 1])
    assert len({trial.key for trial in trials}) == len(trials) == 40
    assert {trial.timeout for trial in trials} == {60.0}


def test_an_unknown_name_is_refused():
    trial = replace(identifiability_trials(None, [0])[0], problem="spirals")
    with pytest.raises(SettingError, match=r"There is no trajectory 'spirals'\. Did you mean 'spiral'\?"):
        run_identifiability(trial, {})


@pytest.mark.search
def test_a_trial_says_whether_the_flag_is_right():
    [trial] = [each for each in identifiability_trials(6.0, [0]) if each.problem == "equal_decays"]
    outcome = run_identifiability(trial, {})
    assert outcome.recovered
    assert (outcome.details["is_unique"], outcome.details["flagged"]) == (False, True)
    assert outcome.details["rivals"]
    assert outcome.formula.count(";") == 1
