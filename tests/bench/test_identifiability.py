"""The trials of single trajectories, and how they are counted."""

import pytest

from spl.bench.identifiability import (
    IdentifiabilityScore,
    identifiability_trials,
    run_identifiability,
)
from spl.datasets import SINGLE_TRAJECTORIES
from spl.errors import SettingError


def test_all_trajectories_are_searched_for_each_seed():
    trials = identifiability_trials("systems", [], [0, 1], 60.0)
    assert len({trial.key for trial in trials}) == len(trials) == 40
    assert {trial.setting for trial in trials} == {"identifiability"}


def test_an_unknown_name_is_refused():
    with pytest.raises(SettingError, match=r"There is no trajectory 'spirals'\. Did you mean 'spiral'\?"):
        identifiability_trials("systems", ["spirals"], [0], 60.0)


def test_targets_are_met_with_one_miss_and_one_false_alarm():
    right = {name: not case.is_unique for name, case in SINGLE_TRAJECTORIES.items()}
    score = IdentifiabilityScore.of((right | {"oscillator": False, "lorenz": True}).items())
    assert str(score) == "9 of 10 that cannot be told apart are flagged, 1 of 10 others"
    assert score.is_good
    assert not IdentifiabilityScore.of((right | {"lorenz": True, "spiral": True}).items()).is_good
    assert not IdentifiabilityScore.of((right | {"oscillator": False, "epidemic": False}).items()).is_good


@pytest.mark.search
def test_a_trial_says_whether_the_flag_is_right():
    (trial,) = identifiability_trials("systems", ["equal_decays"], [0], 6.0)
    outcome = run_identifiability(trial)
    assert outcome.recovered
    assert outcome.details["flagged"]
    assert outcome.details["rivals"]
    assert outcome.formula.count(";") == 1
