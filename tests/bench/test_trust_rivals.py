"""The part `rivals`: what is recorded of a table."""

import pytest
from tests.bench.fakes import make_trial

from spl.bench import small_tables
from spl.bench.trust_rivals import rivals_trials, run_rivals

pytestmark = pytest.mark.search


def test_there_is_a_table_of_each_law_for_each_seed():
    trials = rivals_trials(None, [0, 1])
    assert len(trials) == 40
    assert len({trial.key for trial in trials}) == 40


def test_the_law_is_looked_for_among_the_rivals(monkeypatch):
    monkeypatch.setattr(small_tables, "MAX_EVALUATIONS", 2_000)
    found = run_rivals(make_trial("product", experiment="trust", setting="part=rivals"), {"part": "rivals"})
    details = found.details
    assert found.recovered == (details["is_right"] or details["nats_of_law"] is not None)
    assert found.formula
    assert 0 < details["weight_of_best"] <= 1
