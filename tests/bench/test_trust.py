"""`spl bench trust`: its parts and their trials."""

import pytest

from spl.bench.trust import TRUST, TRUST_PARTS, TrustPlan, read_trust_setting, run_trust, trust_settings
from spl.errors import SettingError


def test_all_parts_have_trials_with_settings_of_their_own():
    trials = TrustPlan().trials()
    assert {read_trust_setting(trial.setting)["part"] for trial in trials} == set(TRUST_PARTS)
    assert len({trial.key for trial in trials}) == len(trials)
    assert all(trust_settings(trial) for trial in trials)


def test_parts_can_be_chosen():
    assert {trial.setting.split()[0] for trial in TrustPlan(parts=("chance",)).trials()} == {"part=chance"}


@pytest.mark.parametrize(("parts", "message"), [(("chances",), "There is no part 'chances'"), ((), "No part is named")])
def test_unknown_parts_are_refused(parts, message):
    with pytest.raises(SettingError, match=message):
        TrustPlan(parts=parts)


def test_an_unknown_setting_is_refused():
    with pytest.raises(SettingError, match="is not a setting of trust"):
        read_trust_setting("part=nothing")


def test_a_trial_is_run_by_its_part(monkeypatch):
    trial = TrustPlan(parts=("coverage",)).trials()[0]
    monkeypatch.setattr("spl.bench.trust_coverage.N_TABLES", 3)
    outcome = run_trust(trial)
    assert set(outcome.details["coverage"]) == {"constants", "law", "new", "profile"}
    assert TRUST.name == "trust"
