from dataclasses import replace

import numpy as np
import pytest
from tests.bench.fakes import make_record, make_trial

from spl.bench.random import RANDOM, RANDOM_RULE, Condition, is_accurate, is_law, random_trials
from spl.bench.report import random_sections, random_table, write_report
from spl.datasets import load_random_formula
from spl.errors import SettingError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

pytestmark = pytest.mark.search

# ---- the rule of recovery ------------------------------------------------------------------------


def judge(text, *, is_noisy):
    formula = load_random_formula("random-003")  # sin(x1) + 0.214 - x2
    table, truth = formula.make_test(seed=0)
    return is_law(parse_expression(text, Vocabulary(formula.variables)), table, truth, is_noisy=is_noisy)


def test_without_noise_the_numbers_must_be_exact():
    assert judge("sin(x1) - x2 + 0.214", is_noisy=False)
    assert not judge("sin(x1) - x2 + 0.21401", is_noisy=False)


def test_with_noise_the_terms_must_be_right():
    assert judge("sin(x1) - x2 + 0.3", is_noisy=True)
    assert not judge("sin(x1) - x2 + 0.214 + 0.001*x1", is_noisy=True)
    assert not judge("cos(x1) - x2 + 0.214", is_noisy=True)


@pytest.mark.parametrize(("error", "accurate"), [(0.0, True), (0.031, True), (0.032, False), (None, False)])
def test_accurate_is_a_thousandth_of_the_variance(error, accurate):
    assert is_accurate(error) == accurate


# ---- trials --------------------------------------------------------------------------------------


def test_trials_are_all_formulas_at_all_levels_of_noise_seed_by_seed():
    trials = random_trials([0, 17], [0.0, 0.01], [0, 1], timeout=30.0, n_threads=2)
    assert len({trial.key for trial in trials}) == 8
    assert [trial.seed for trial in trials] == [0] * 4 + [1] * 4
    assert (trials[3].problem, trials[3].setting) == ("random-017", "noise=0.01 threads=2")


def test_a_condition_is_read_back_from_its_name():
    condition = Condition(0.001, 2)
    assert Condition.of(condition.setting) == condition
    with pytest.raises(SettingError, match="not a condition of random formulas"):
        Condition.of("points20")


def test_a_short_search_gives_an_outcome_and_its_record_says_what_was_sought():
    trial = make_trial("random-000", experiment="random", setting="noise=0 threads=2", timeout=2.0)
    outcome = RANDOM.run(trial)
    assert outcome.formula
    assert np.isfinite(outcome.error)
    settings = RANDOM.settings(trial)
    assert (settings["truth"], settings["cost"], settings["has_constants"]) == ("cos(x1) + x1**2", 5, False)


# ---- the report ----------------------------------------------------------------------------------


def record(number, noise, *, recovered, error, cost, n_variables=1, has_constants=False, timeout=30.0):
    trial = make_trial(
        f"random-{number:03d}", experiment="random", setting=f"noise={noise:g} threads=2", timeout=timeout
    )
    made = make_record(trial, recovered=recovered, error=error, seconds=4.0)
    sought = {"truth": "x1*x1", "cost": cost, "n_variables": n_variables, "has_constants": has_constants}
    return replace(made, settings=made.settings | sought)


RECORDS = [
    record(0, 0.0, recovered=True, error=1e-9, cost=5),
    record(0, 0.01, recovered=False, error=0.01, cost=5),
    record(1, 0.0, recovered=False, error=0.5, cost=14, n_variables=3, has_constants=True),
    record(3, 0.0, recovered=True, error=1e-9, cost=6, has_constants=True),
]


def test_rows_are_costs_constants_and_variables():
    assert random_table(RECORDS).to_markdown().splitlines() == [
        "| formulas | trials | noise 0 | noise 0.01 | accurate 0 | accurate 0.01 | median s |",
        "|---|---:|---:|---:|---:|---:|---:|",
        "| cost 5 to 7 | 3 | 100 | 0 | 100 | 100 | 4 |",
        "| cost 14 to 15 | 1 | 0 |  | 0 |  | 4 |",
        "| without constants | 2 | 100 | 0 | 100 | 100 | 4 |",
        "| with constants | 2 | 50 |  | 50 |  | 4 |",
        "| 1 variable | 3 | 100 | 0 | 100 | 100 | 4 |",
        "| 3 variables | 1 | 0 |  | 0 |  | 4 |",
        "| **all** | **4** | **66.7** | **0** | **66.7** | **100** | **4** |",
    ]


def test_a_report_has_the_rule_the_failures_and_a_figure(tmp_path):
    pytest.importorskip("matplotlib")
    text = write_report(RECORDS, tmp_path)
    assert RANDOM_RULE in text
    assert "at most 30 s per trial; 2 threads per trial." in text
    assert "- random-000, seed 0, noise 0.01: `x1*x1` is the truth; found `x` (error 0.01; stopped: exact)" in text
    assert "(random-2-threads-30s.png)" in text
    assert {path.name for path in tmp_path.iterdir()} == {"random-2-threads-30s.png", "random-2-threads-30s.svg"}


def test_time_limits_have_sections_of_their_own():
    other = record(0, 0.0, recovered=True, error=0.0, cost=5, timeout=5.0)
    assert len(random_sections([*RECORDS, other])) == 2
