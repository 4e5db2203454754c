"""The part `suggest`: more rows at suggested or random points."""

import pytest
from tests.bench.fakes import make_trial

from spl.bench import small_tables, trust_suggest
from spl.bench.trust_suggest import N_MORE_ROWS, RANDOM, SUGGESTED, run_suggest, suggest_trials
from spl.datasets.small_laws import N_SMALL_ROWS
from spl.errors import SettingError

pytestmark = pytest.mark.search


def run(points, monkeypatch):
    """Return the outcome of a trial, and how many rows each of its searches had."""
    n_rows = []
    search = trust_suggest.fit_small_table

    def watch(rows, trial):
        n_rows.append(len(rows.target))
        return search(rows, trial)

    monkeypatch.setattr(small_tables, "MAX_EVALUATIONS", 500)
    monkeypatch.setattr(trust_suggest, "fit_small_table", watch)
    setting = f"part=suggest points={points}"
    trial = make_trial("product", experiment="trust", setting=setting)
    return run_suggest(trial, {"part": "suggest", "points": points}), n_rows


def test_each_table_is_tried_with_both_kinds_of_points():
    trials = suggest_trials(None, [0])
    assert [trial.setting for trial in trials[:2]] == ["part=suggest points=suggested", "part=suggest points=random"]
    assert len({trial.key for trial in trials}) == 40


def test_suggested_points_come_from_a_first_search(monkeypatch):
    found, n_rows = run(SUGGESTED, monkeypatch)
    assert n_rows == [N_SMALL_ROWS, N_SMALL_ROWS + N_MORE_ROWS]
    assert set(found.details) == {"was_right", "first"}


def test_random_points_need_no_first_search(monkeypatch):
    _, n_rows = run(RANDOM, monkeypatch)
    assert n_rows == [N_SMALL_ROWS + N_MORE_ROWS]


def test_other_points_are_an_error(monkeypatch):
    with pytest.raises(SettingError, match="points=suggested"):
        run("best", monkeypatch)
