"""Whole runs for systems whose numbers differ between runs."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.dynamics.own_examples import LABELS, RATES, make_growth, make_runs

from spl.dynamics.discover import discover_system
from spl.dynamics.own_discovery import ALL_SHARED, FEWER_OWN, MAX_STRUCTURE_RUNS
from spl.dynamics.own_names import OwnNames
from spl.dynamics.request import SystemRequest
from spl.formulas.grammar import Grammar
from spl.settings import Limits

FEW = Limits(timeout=None, max_evaluations=6000)


def find(data, own="auto", limits=FEW):
    grammar = Grammar.from_operators(("+", "-", "*"), data.states)
    request = SystemRequest(data=data, grammars=[grammar] * len(data.states), limits=limits, own=OwnNames.read(own))
    return discover_system(request)


@pytest.fixture(scope="module")
def growth():
    return find(make_growth(noise=0.01))


def test_a_rate_that_appears_in_two_terms_is_one_own_number(growth):
    assert len(growth.system.own) == 1
    assert growth.system.run_labels == LABELS
    factors = [growth.system.of_run(label).programs[0] for label in LABELS]
    assert len(factors) == len(RATES)


def relative(number):
    """Return the values of an own number compared with the first: its unit depends on how the law is written."""
    return np.array(number.values) / number.values[0]


def test_own_numbers_are_within_their_errors(growth):
    [number], [errors] = growth.system.own, growth.own_errors
    relative_errors = np.array(errors) / number.values
    allowed = 4 * np.hypot(relative_errors, relative_errors[0])
    assert (np.abs(relative(number) * RATES[0] / RATES - 1)[1:] < allowed[1:]).all()


def test_the_same_seed_gives_the_same_numbers(growth):
    again = find(make_growth(noise=0.01))
    assert again.system == growth.system


def test_runs_that_do_not_differ_share_all_numbers():
    found = find(make_growth((0.8,) * 4, noise=0.01))
    assert found.system.own == ()
    assert ALL_SHARED in found.notes


def test_names_are_given_to_own_numbers_and_missing_ones_are_said():
    found = find(make_growth(), own=("rate", "other"))
    assert [number.name for number in found.system.own] == ["rate"]
    assert FEWER_OWN.format(2, 1) in found.notes


def test_own_numbers_of_different_equations_that_are_proportional_are_one():
    rates = (0.8, 1.2, 1.6, 2.0)
    equations = {"s": "-RATE*s*i", "i": "RATE*s*i - 0.4*i"}
    found = find(make_runs(equations, {"RATE": rates}, [[0.95, 0.05]] * 4))
    assert [number.name for number in found.system.own] == ["k1"]
    assert_allclose(found.system.own[0].values, rates, rtol=1e-3)


def test_more_runs_than_the_structure_is_found_among_get_their_numbers():
    rates = np.linspace(0.5, 1.5, MAX_STRUCTURE_RUNS + 3)
    found = find(make_growth(tuple(rates)))
    assert_allclose(relative(found.system.own[0]), rates / rates[0], rtol=1e-3)


def test_a_run_that_must_stop_at_once_ends_with_an_answer_or_a_clear_error():
    data = make_growth()
    grammar = Grammar.from_operators(("+", "*"), data.states)
    request = SystemRequest(data=data, grammars=[grammar], limits=replace(FEW, timeout=2.0), own=OwnNames())
    found = discover_system(request, must_stop=lambda: True)
    assert found.is_interrupted
