"""The part `depth`: what a bank holds with and without units."""

import pytest
from tests.bench.fakes import make_trial

from spl.bench import knowledge_depth
from spl.bench.knowledge_depth import depth_trials, run_depth
from spl.regression.bank_build import make_completion


@pytest.fixture
def small_banks(monkeypatch):
    """Grow banks of a tenth of the usual size."""
    monkeypatch.setattr(
        knowledge_depth, "make_completion", lambda grammar, data: make_completion(grammar, data, n_entries=10_000)
    )


def run(problem, units):
    trial = make_trial(problem, experiment="knowledge", setting=f"part=depth units={units}")
    return run_depth(trial, {"part": "depth", "units": units})


def test_each_law_has_two_banks():
    trials = depth_trials(3)
    assert len(trials) == 80
    assert {(trial.seed, trial.timeout) for trial in trials} == {(3, None)}
    assert [trial.setting for trial in trials[:2]] == ["part=depth units=with", "part=depth units=without"]


def test_with_units_all_entries_are_possible_and_the_law_is_among_them(small_banks):
    outcome = run("vis_viva", "with")
    assert outcome.recovered
    assert outcome.details["possible_share"] > 0.95
    assert outcome.details["entries"] >= 10_000


def test_without_units_few_entries_are_possible(small_banks):
    outcome = run("vis_viva", "without")
    assert not outcome.recovered
    assert 0.0 < outcome.details["possible_share"] < 0.3
    assert outcome.details["largest_cost"] > 5


def test_a_law_that_is_a_constant_in_groups_is_held(small_banks):
    assert run("stellar_luminosity", "with").recovered
