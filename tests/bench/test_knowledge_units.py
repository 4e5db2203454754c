"""The part `units`: what a law is searched with, and when it counts as recovered."""

import numpy as np
import pytest
from tests.bench.fakes import make_trial
from tests.bench.knowledge_fakes import make_fit

from spl.bench import knowledge_units
from spl.bench.knowledge_units import run_units
from spl.datasets import load_handbook_law, make_handbook_table

LAW = load_handbook_law("pump_power")
TRUTH = "0.000001*rho*g*Q*H/eta"  # L/s and kW instead of m**3/s and W


def run(monkeypatch, *texts, noise=0.0, units="with"):
    """Return the outcome of a search with these choices, and what it was asked for."""
    asked = {}

    def fit(law, table, target, **options):
        asked.update(options, law=law, table=table, target=target)
        return make_fit(law, *texts, has_units=units == "with")

    monkeypatch.setattr(knowledge_units, "fit_handbook_law", fit)
    trial = make_trial("pump_power", seed=2, experiment="knowledge", setting="part=units", timeout=7.0)
    return run_units(trial, {"part": "units", "noise": f"{noise:g}", "units": units}), asked


@pytest.mark.parametrize("units", ["with", "without"])
def test_a_law_is_searched_with_what_the_setting_says(monkeypatch, units):
    _, asked = run(monkeypatch, "rho*Q", noise=0.1, units=units)
    table, target = make_handbook_table(LAW, 2, noise=0.1)
    np.testing.assert_array_equal(asked["table"], table)
    np.testing.assert_array_equal(asked["target"], target)
    assert (asked["has_units"], asked["seed"], asked["timeout"]) == (units == "with", 2, 7.0)


def test_named_constants_have_their_values_when_a_law_is_judged(monkeypatch):
    assert run(monkeypatch, TRUTH)[0].recovered
    assert not run(monkeypatch, TRUTH.replace("*g", ""))[0].recovered


def test_without_units_the_numbers_absorb_the_constants(monkeypatch):
    assert run(monkeypatch, "9.80665e-6*rho*Q*H/eta", units="without")[0].recovered


def test_with_noise_the_structure_counts_and_not_the_numbers(monkeypatch):
    inexact = TRUTH.replace("0.000001", "0.00000103")
    assert not run(monkeypatch, inexact)[0].recovered
    outcome, _ = run(monkeypatch, inexact, noise=0.01)
    assert outcome.recovered
    assert outcome.error == pytest.approx(0.03, rel=1.0)
    assert not run(monkeypatch, TRUTH + " + 0.001*rho*g", noise=0.01)[0].recovered


def test_the_solution_is_the_first_choice_with_the_right_structure(monkeypatch):
    outcome, _ = run(monkeypatch, "rho*Q", TRUTH.replace("0.000001", "0.0000011"), "rho*H", TRUTH)
    assert (outcome.details["solution_evaluations"], outcome.details["solution_seconds"]) == (200, 2.0)
    assert (outcome.evaluations, outcome.seconds, outcome.details["cpu_seconds"]) == (5_000, 9.0, 8.0)


def test_a_law_that_was_left_for_another_formula_is_on_the_front_and_not_recovered(monkeypatch):
    outcome, _ = run(monkeypatch, TRUTH, "rho*Q")
    assert not outcome.recovered
    assert outcome.details["on_front"]
    assert outcome.details["solution_evaluations"] is None
    assert not run(monkeypatch, "rho*Q")[0].details["on_front"]
