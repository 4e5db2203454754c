"""The coverage of intervals."""

from dataclasses import replace

import pytest

from spl.bench.trust_coverage import LAWS, NOISES, SIZES, coverage_trials, measure_coverage, run_coverage
from spl.errors import SettingError
from spl.regression.fit import evaluate


def test_there_are_ten_laws_with_two_levels_of_noise_and_two_sizes():
    trials = coverage_trials([0])
    normal = [trial for trial in trials if "model=normal" in trial.setting]
    assert len(LAWS) == 10
    assert len(normal) == len(LAWS) * len(NOISES) * len(SIZES) == 40
    assert len(trials) == 46


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_every_law_has_values_where_it_is_measured(law, rng):
    values = evaluate(law.program, rng.uniform(law.low, law.high, (law.n_columns, 50)))
    assert abs(values).max() < 1e3
    assert values.std() > 0.1


def test_the_seed_decides_the_tables():
    one, again, other = (measure_coverage(LAWS[0], 0.1, 20, 30, seed) for seed in (0, 0, 1))
    assert one.held.tolist() == again.held.tolist()
    assert one.held.tolist() != other.held.tolist()


def test_a_wrong_law_or_setting_is_refused():
    trial = coverage_trials([0])[0]
    with pytest.raises(SettingError, match="There is no law 'lines'"):
        run_coverage(replace(trial, problem="lines"), {})
    with pytest.raises(SettingError, match="is not a setting of coverage"):
        run_coverage(trial, {"noise": "much"})


def test_coverage_outside_of_the_limits_is_a_failure(monkeypatch):
    trial = coverage_trials([0])[0]
    values = {"noise": "0.1", "rows": "20", "model": "normal"}
    monkeypatch.setattr("spl.bench.trust_coverage.N_COVERED", 10)
    monkeypatch.setattr("spl.bench.trust_coverage.LEVEL", 0.5)  # of the intervals of constants
    outcome = run_coverage(trial, values)
    assert outcome.details["coverage"]["constants"] < 0.9
    assert not outcome.recovered
