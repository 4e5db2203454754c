"""The parts `laws`, `pairs` and `sizes` of `spl bench groups`: what they search, and what counts as recovered."""

import numpy as np
import pytest
from tests.bench.grouped_fakes import make_fit, make_own

from spl.bench import groups_laws
from spl.bench.groups_laws import laws_trials, pairs_trials, run_laws, sizes_trials
from spl.datasets import GROUPED_LAWS, PAIRED_LAWS, load_grouped_law
from spl.datasets.grouped_laws import SIZED_LAWS
from spl.formulas.own_numbers import OwnNumber

COOLING = "21 + (h - 21)*exp(-k1*t)"
ALL_GROUPS, ONE_GROUP = {"noise": "0.01", "data": "groups"}, {"noise": "0.01", "data": "one"}


def trial_of(problem):
    return next(trial for trial in laws_trials(3, 9.0) if trial.problem == problem)


def run(monkeypatch, find, values=ALL_GROUPS, name="fit_groups"):
    """Run a trial of the law of cooling with a search that is made up; return the outcome and what was searched."""
    asked = []

    def search(*arguments, **options):
        asked.append((arguments, options))
        return find(*arguments)

    monkeypatch.setattr(groups_laws, name, search)
    outcome = run_laws(trial_of("cooling"), values)
    [(arguments, options)] = asked
    return outcome, arguments, options


def find_the_law(names, data):
    return make_fit(names, COOLING, make_own(data, "cup", k1="k"))


def test_each_law_is_searched_with_all_groups_and_with_one():
    trials = laws_trials(3, 9.0)
    assert len({trial.key for trial in trials}) == len(trials) == 6 * len(GROUPED_LAWS)
    settings = [trial.setting for trial in trials if trial.problem == "cooling"]
    assert settings[:2] == ["part=laws noise=0 data=groups", "part=laws noise=0 data=one"]
    assert {(trial.seed, trial.timeout) for trial in trials} == {(3, 9.0)}


def test_laws_with_two_groupings_are_not_searched_in_one_group():
    trials = pairs_trials(0, None)
    assert {trial.problem for trial in trials} == {law.name for law in PAIRED_LAWS}
    assert {trial.setting.rpartition(" ")[2] for trial in trials} == {"data=groups"}


def test_each_size_is_searched_with_and_without_noise():
    trials = sizes_trials(0, None)
    settings = [trial.setting for trial in trials if trial.problem == SIZED_LAWS[0]]
    assert settings == [
        f"part=sizes noise={noise} groups={count}" for noise in ("0", "0.01") for count in (3, 100, 1000)
    ]


def test_the_law_with_its_own_number_is_recovered(monkeypatch):
    outcome, (names, data), options = run(monkeypatch, find_the_law)
    assert (outcome.recovered, outcome.error) == (True, 0.0)
    assert outcome.formula == COOLING
    assert outcome.details == {"own": {"k1": "cup"}, "notes": ["a note"], "cpu_seconds": 0.25, "right_sharing": True}
    assert (names, options) == (("h", "t"), {"seed": 3, "timeout": 9.0})
    assert (len(data.target), len(set(data.labels["cup"].tolist()))) == (300, 10)


def test_the_measured_values_have_the_noise_of_the_setting(monkeypatch):
    _, (_, data), _ = run(monkeypatch, find_the_law)
    scatter = np.std(data.target - data.exact) / np.sqrt(np.mean(data.exact**2))
    assert 0.008 < scatter < 0.012


def test_a_law_in_which_too_much_is_own_is_not_recovered(monkeypatch):
    def find(names, data):
        [rate] = make_own(data, "cup", k1="k")
        room = OwnNumber("k2", "cup", rate.labels, (21.0,) * len(rate.labels))
        return make_fit(names, "k2 + (h - 21)*exp(-k1*t)", (rate, room))

    outcome, *_ = run(monkeypatch, find)
    assert not outcome.recovered
    assert not outcome.details["right_sharing"]


def test_the_error_is_that_of_the_predictions(monkeypatch):
    def find(names, data):
        return make_fit(names, "h", predict=lambda rows: rows.exact + np.std(rows.exact))

    outcome, *_ = run(monkeypatch, find)
    assert outcome.error == pytest.approx(1.0)
    assert not outcome.recovered


def find_in_one_cup(rate_factor):
    """Return a search that finds the law of cooling with this multiple of the rate that the rows have."""

    def find(names, table, target):
        law = load_grouped_law("cooling")
        rates = np.linspace(0.01, 0.2, 2_000)
        ratio = (target - 21) / (table[:, 0] - 21)
        rate = rates[np.argmin([np.sum((np.exp(-each * table[:, 1]) - ratio) ** 2) for each in rates])]
        text = f"21 + (h - 21)*exp(-{rate_factor * rate:.6f}*t)"

        def predict(rows):
            return law.truth_at(rows.table, {"k": np.full(len(rows.table), rate_factor * rate)})

        return make_fit(names, text, predict=predict)

    return find


def test_one_group_alone_is_searched_and_judged_by_its_own_number(monkeypatch):
    outcome, (_, table, target), _ = run(monkeypatch, find_in_one_cup(1.0), ONE_GROUP, "fit_one_group")
    assert table.shape == (30, 2)
    assert target.shape == (30,)
    assert outcome.recovered
    assert outcome.error < 0.05
    assert outcome.details["own"] == {}


def test_the_number_of_another_group_has_a_large_error(monkeypatch):
    outcome, *_ = run(monkeypatch, find_in_one_cup(2.0), ONE_GROUP, "fit_one_group")
    assert outcome.error > 0.1
