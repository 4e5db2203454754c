"""The part `random-labels` of `spl bench groups`: labels that mean nothing, and what counts as recovered."""

import numpy as np
import pytest
from tests.bench.grouped_fakes import make_fit

from spl.bench import groups_labels
from spl.bench.groups_labels import LABEL_COUNTS, labels_trials, run_labels
from spl.datasets.small_laws import SMALL_LAWS
from spl.formulas.own_numbers import OwnNumber


def run(monkeypatch, find, number=0):
    """Run a trial of a straight line with a search that is made up; return the outcome and the table that was searched."""
    tables = []

    def search(names, data, *, seed, timeout):
        tables.append(data)
        return find(names, data)

    monkeypatch.setattr(groups_labels, "fit_groups", search)
    trial = next(trial for trial in labels_trials(4, 9.0) if trial.problem == f"line-{number}")
    return run_labels(trial, {"groups": str(LABEL_COUNTS[number])}), tables[0]


def find_line(names, data):
    return make_fit(names, "2.3*x - 0.7")


def test_each_law_has_a_table_with_each_number_of_groups():
    trials = labels_trials(4, 9.0)
    assert len({trial.key for trial in trials}) == len(trials) == len(SMALL_LAWS) * len(LABEL_COUNTS)
    settings = [trial.setting for trial in trials if trial.problem.startswith("line-")]
    assert settings == [f"part=random-labels groups={count}" for count in LABEL_COUNTS]


def test_the_law_without_own_numbers_is_recovered(monkeypatch):
    outcome, _ = run(monkeypatch, find_line)
    assert outcome.recovered
    assert outcome.details == {"own": {}, "is_law": True, "notes": ["a note"], "cpu_seconds": 0.25}


def test_another_formula_without_own_numbers_is_recovered_but_is_not_the_law(monkeypatch):
    outcome, _ = run(monkeypatch, lambda names, data: make_fit(names, "x*x"))
    assert outcome.recovered
    assert not outcome.details["is_law"]


def test_an_own_number_is_a_false_alarm(monkeypatch):
    def find(names, data):
        labels = tuple(dict.fromkeys(data.labels["group"].tolist()))
        return make_fit(names, "k1*x - 0.7", (OwnNumber("k1", "group", labels, (2.3,) * len(labels)),))

    outcome, _ = run(monkeypatch, find)
    assert not outcome.recovered
    assert outcome.details["own"] == {"k1": "group"}
    assert not outcome.details["is_law"]


@pytest.mark.parametrize("number", range(len(LABEL_COUNTS)))
def test_the_labels_are_those_of_the_setting(monkeypatch, number):
    _, data = run(monkeypatch, find_line, number)
    known = {f"group {code}" for code in range(LABEL_COUNTS[number])}
    used = set(data.labels["group"].tolist())
    assert used <= known
    assert len(used) > LABEL_COUNTS[number] / 2
    assert len(data.target) == len(data.labels["group"]) == 100


def test_the_labels_say_nothing_about_the_values(monkeypatch):
    _, data = run(monkeypatch, find_line)
    left = data.target - data.exact
    means = [left[data.rows_of("group", label)].mean() for label in set(data.labels["group"].tolist())]
    assert np.ptp(means) < 4 * left.std() * np.sqrt(4 / len(left))


def test_the_same_trial_has_the_same_table_and_another_number_another(monkeypatch):
    (_, first), (_, again), (_, other) = (run(monkeypatch, find_line, number) for number in (0, 0, 1))
    np.testing.assert_array_equal(first.target, again.target)
    assert not np.array_equal(first.target, other.target)
