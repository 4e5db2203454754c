"""`spl bench trust`: its parts and their trials."""

import pytest

from spl.bench import trust
from spl.bench.trust import TRUST, TRUST_PARTS, TrustPlan, read_trust_setting, run_trust, trust_settings
from spl.errors import SettingError


def test_all_parts_have_trials_with_settings_of_their_own():
    trials = TrustPlan().trials()
    assert {read_trust_setting(trial.setting)["part"] for trial in trials} == set(TRUST_PARTS)
    assert len({trial.key for trial in trials}) == len(trials)
    assert all(trust_settings(trial) for trial in trials)


@pytest.mark.parametrize("part", TRUST_PARTS)
def test_parts_can_be_chosen(part):
    trials = TrustPlan(parts=(part,)).trials()
    assert len(trials) >= (20 if part == "identifiability" else 40)
    assert {trial.setting.split()[0] for trial in trials} == {f"part={part}"}


def test_each_part_has_its_own_seeds_unless_others_are_given():
    assert {trial.seed for trial in TrustPlan(parts=("chance", "coverage")).trials()} == {0}
    assert {trial.seed for trial in TrustPlan(parts=("rivals", "suggest")).trials()} == {0, 1}
    for part in TRUST_PARTS:
        assert {trial.seed for trial in TrustPlan(parts=(part,), seeds=(3,)).trials()} == {3}


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (("chances",), "There is no part 'chances'"),
        (("rival",), "Did you mean 'rivals'"),
        ((), "No part is named"),
    ],
)
def test_unknown_parts_are_refused(parts, message):
    with pytest.raises(SettingError, match=message):
        TrustPlan(parts=parts)


@pytest.mark.parametrize("setting", ["part=nothing", "part=wide columns=20"])
def test_an_unknown_setting_is_refused(setting):
    with pytest.raises(SettingError, match="is not a setting of trust"):
        read_trust_setting(setting)


@pytest.mark.parametrize("part", TRUST_PARTS)
def test_a_trial_is_run_by_its_part(monkeypatch, part):
    monkeypatch.setitem(trust._RUNS, part, lambda trial, values: (trial.problem, values["part"]))
    trial = TrustPlan(parts=(part,)).trials()[3]
    assert run_trust(trial) == (trial.problem, part)


def test_coverage_is_measured(monkeypatch):
    monkeypatch.setattr("spl.bench.trust_coverage.N_COVERED", 3)
    outcome = run_trust(TrustPlan(parts=("coverage",)).trials()[0])
    assert set(outcome.details["coverage"]) == {"constants", "law", "new", "profile"}
    assert TRUST.name == "trust"


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("chance", "held_out_share", 0.25),
        ("coverage", "search", "none: the true formula is fitted"),
        ("rivals", "truth", "3*exp(-0.6*t)"),
        ("suggest", "truth", "3*exp(-0.6*t)"),
    ],
)
def test_settings_are_those_of_the_part(part, name, value):
    trial = TrustPlan(parts=(part,)).trials()[3]
    assert trust_settings(trial)[name] == value
