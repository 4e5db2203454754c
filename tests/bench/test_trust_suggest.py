"""The part `suggest`: more rows at suggested and at random points."""

import numpy as np
import pytest
from tests.bench.fakes import make_trial

from spl.bench import small_tables, trust_suggest
from spl.bench.small_tables import SmallFit
from spl.bench.trust_suggest import N_MORE_ROWS, run_suggest, suggest_trials
from spl.datasets.small_laws import N_SMALL_ROWS

pytestmark = pytest.mark.search


def run(monkeypatch, *, is_right):
    """Return the outcome of a trial, and the tables of its searches; formulas are called right or wrong as asked."""
    tables = []
    search = trust_suggest.fit_small_table

    def watch(rows, trial):
        tables.append(rows)
        return search(rows, trial)

    monkeypatch.setattr(small_tables, "MAX_EVALUATIONS", 500)
    monkeypatch.setattr(trust_suggest, "fit_small_table", watch)
    monkeypatch.setattr(SmallFit, "is_law", lambda self, program: is_right)
    trial = make_trial("product", experiment="trust", setting="part=suggest")
    return run_suggest(trial, {"part": "suggest"}), tables


def test_each_table_is_a_trial():
    trials = suggest_trials(None, [0, 1])
    assert len({trial.key for trial in trials}) == len(trials) == 40


def test_a_wrong_formula_leads_to_more_rows_at_suggested_and_at_random_points(monkeypatch):
    found, tables = run(monkeypatch, is_right=False)
    assert [len(rows.target) for rows in tables] == [N_SMALL_ROWS, *[N_SMALL_ROWS + N_MORE_ROWS] * 2]
    first, suggested, random = tables
    np.testing.assert_array_equal(suggested.table[:N_SMALL_ROWS], first.table)
    assert not np.isin(suggested.table[N_SMALL_ROWS:], random.table).all()
    assert not found.recovered
    assert found.details["random_is_right"] is False


def test_a_right_formula_needs_no_more_rows(monkeypatch):
    found, tables = run(monkeypatch, is_right=True)
    assert len(tables) == 1
    assert found.recovered
    assert "random_is_right" not in found.details
