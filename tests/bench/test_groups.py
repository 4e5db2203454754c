"""`spl bench groups`: its parts and their trials."""

import pytest

from spl.bench import groups
from spl.bench.groups import GROUPS, GROUPS_PARTS, GroupsPlan, groups_settings, read_groups_setting, run_groups
from spl.errors import SettingError


def test_all_parts_have_trials_with_settings_of_their_own():
    trials = GroupsPlan().trials()
    assert {read_groups_setting(trial.setting)["part"] for trial in trials} == set(GROUPS_PARTS)
    assert len({trial.key for trial in trials}) == len(trials)
    assert all("truth" in groups_settings(trial) for trial in trials)


@pytest.mark.parametrize(
    ("part", "n_trials"),
    [("laws", 90), ("pairs", 9), ("sizes", 30), ("systems", 12), ("coverage", 28), ("random-labels", 100)],
)
def test_parts_can_be_chosen(part, n_trials):
    trials = GroupsPlan(parts=(part,), seeds=(3,)).trials()
    assert len(trials) == n_trials
    assert {trial.setting.split()[0] for trial in trials} == {f"part={part}"}
    assert {(trial.seed, trial.timeout) for trial in trials} == {(3, 30.0)}


def test_problems_can_be_chosen():
    trials = GroupsPlan(parts=("laws", "sizes"), problems=("cooling", "echo")).trials()
    assert {trial.problem for trial in trials} == {"cooling", "echo"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": ("law",)}, "There is no part 'law'. Did you mean 'laws'"),
        ({"parts": ()}, "No part is named"),
        ({"problems": ("tides",)}, "There is no problem 'tides'. Did you mean 'tide'"),
    ],
)
def test_unknown_choices_are_refused(changes, message):
    with pytest.raises(SettingError) as caught:
        GroupsPlan(**changes).trials()
    assert message in str(caught.value)


def test_an_unknown_setting_is_refused():
    with pytest.raises(SettingError, match="is not a setting of groups"):
        read_groups_setting("part=nothing")


@pytest.mark.parametrize("part", GROUPS_PARTS)
def test_a_trial_is_run_by_its_part(monkeypatch, part):
    monkeypatch.setitem(groups._RUNS, part, lambda trial, values: (trial.problem, values["part"]))
    trial = GroupsPlan(parts=(part,)).trials()[3]
    assert run_groups(trial) == (trial.problem, part)
    assert GROUPS.name == "groups"
