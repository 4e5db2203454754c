"""The run for a system: searches one a state, then the equations as a whole."""

import re
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import spl.dynamics.discover
import spl.dynamics.preparation
import spl.dynamics.state_searches
from spl.data.trajectories import Trajectories
from spl.datasets import make_duffing, make_lorenz, make_lotka_volterra
from spl.dynamics.discover import discover_system
from spl.dynamics.preparation import prepare
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.segments import spread_samples
from spl.dynamics.system_choice import SystemChoice
from spl.formulas.grammar import Grammar
from spl.formulas.printed_numbers import printed_numbers
from spl.notation.terms import linear_terms
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.search

T = np.linspace(0, 12, 600)
NAMES = ("x", "y")
LINEAR = "f -> C*x + C*y | C*x | C*y"
RICH = "f -> f + f | f - f | f * f | f / f | C * f | sin(f) | x | y"


def make_data(noise, seed=0, rate=2.0):
    states = np.column_stack([np.sin(rate * T), np.cos(rate * T)])
    return Trajectories.from_arrays(states + np.random.default_rng(seed).normal(0, noise, states.shape), T, names=NAMES)


COUNTED = Limits(timeout=None, max_evaluations=20_000)  # the same on a fast and on a slow machine


def discover(data, text=LINEAR, *, watch=None, **options):
    grammars = [Grammar.from_text(text).bind(NAMES)] * 2
    settings = {"n_jobs": 2, "limits": COUNTED} | options
    return discover_system(SystemRequest(data=data, grammars=grammars, **settings), watch=watch)


def discover_known(make_data, operators, timeout):
    """Return the terms of each equation of a known system, found with these operators."""
    truth = make_data()
    data = Trajectories.from_arrays(truth.states, truth.t, names=truth.names)
    grammars = [Grammar.from_operators(operators, truth.names)] * len(truth.names)
    request = SystemRequest(data=data, grammars=grammars, limits=Limits(timeout=timeout), n_jobs=2)
    return [set(linear_terms(program)) for program in discover_system(request).system.programs]


@pytest.fixture(scope="module")
def found():
    return discover(make_data(0.03))


@pytest.fixture(scope="module")
def clean():
    return discover(make_data(0.0), RICH)


def test_the_system_has_one_equation_a_state_over_all_states(found):
    assert found.system.states == NAMES
    assert all(program.vocabulary.variables == NAMES for program in found.system.programs)


def test_a_term_that_does_not_help_is_dropped(found):
    assert [set(linear_terms(program)) for program in found.system.programs] == [{"y"}, {"x"}]


def test_numbers_are_nearer_than_those_of_the_derivatives_and_their_errors_honest(found):
    for program, errors in zip(found.system.programs, found.standard_errors, strict=True):
        [number] = printed_numbers(program, 6)
        [error] = errors
        assert abs(abs(number.value) - 2.0) < 5 * error
        assert 0 < error < 0.02


def test_a_number_that_the_data_cannot_tell_from_a_simple_one_is_simple(found):
    assert [list(map(abs, linear_terms(program).values())) for program in found.system.programs] == [[2.0], [2.0]]


def test_every_number_has_a_standard_error_of_its_own():
    found = discover(make_data(0.01, rate=1.2345), "f -> (C - C*x)*y | C*x - C*y")
    for program, errors in zip(found.system.programs, found.standard_errors, strict=True):
        assert len(errors) == len(printed_numbers(program, 6)) > 0
        assert np.all(errors > 0)


def test_numbers_that_the_grammar_gives_are_exact():
    found = discover(make_data(0.01), "f -> 2*y | -2*x | 7*x")
    assert [errors.tolist() for errors in found.standard_errors] == [[pytest.approx(np.nan, nan_ok=True)]] * 2


def test_odd_numbers_stay_as_they_are():
    system = discover(make_data(0.01, rate=1.2345)).system
    values = [abs(value) for program in system.programs for value in linear_terms(program).values()]
    np.testing.assert_allclose(values, 1.2345, rtol=0.01)


def test_the_chosen_formulas_are_those_of_the_fronts_that_the_equations_came_from(clean):
    formulas = [search.front[k].program for k, search in zip(clean.chosen, clean.searches, strict=True)]
    assert max(clean.chosen) > 0  # the front of x begins with y, which has no number
    assert [set(linear_terms(program)) for program in formulas] == [{"y"}, {"x"}]


def test_what_it_took_to_get_ready_is_taken_from_the_searches(monkeypatch):
    seen, search_for_real = [], spl.dynamics.state_searches.discover

    def search(request, **options):
        seen.append(request.limits.timeout)
        return search_for_real(replace(request, limits=Limits(timeout=0.2)), **options)

    monkeypatch.setattr(spl.dynamics.state_searches, "discover", search)
    monkeypatch.setattr(spl.dynamics.preparation, "make_rows", lambda *words: time.sleep(1.0) or make_rows(*words))
    discover(make_data(0.03), limits=Limits(timeout=4.0))
    assert len(seen) == 2
    assert max(seen) <= 0.6 * 3.0 / 2


def test_what_was_prepared_before_is_taken_from_the_searches(monkeypatch):
    seen, search_for_real = [], spl.dynamics.state_searches.discover

    def search(request, **options):
        seen.append(request.limits.timeout)
        return search_for_real(replace(request, limits=Limits(timeout=0.2)), **options)

    monkeypatch.setattr(spl.dynamics.state_searches, "discover", search)
    data = make_data(0.03)
    grammars = [Grammar.from_text(LINEAR, variables=NAMES)] * 2
    prepared = replace(prepare(data, Plan(), grammars, 0), seconds=1.0)
    discover_system(SystemRequest(data=data, grammars=grammars, limits=Limits(timeout=4.0), prepared=prepared))
    assert len(seen) == 2
    assert max(seen) <= 0.6 * 3.0 / 2


def test_watchers_see_every_state_in_turn():
    seen = []
    discover(make_data(0.03), watch=lambda progress: seen.append(progress.state))
    assert list(dict.fromkeys(seen)) == list(NAMES)


def test_one_seed_gives_one_answer_for_any_number_of_jobs():
    data = make_data(0.03)
    one, two = (discover(data, n_jobs=n, seed=5) for n in (1, 2))
    assert one.system.equations() == two.system.equations()


def test_equations_that_explode_at_once_are_still_returned():
    t = np.linspace(0, 5, 300)
    noise = np.random.default_rng(0).normal(0, 1, (300, 2))  # no system at all
    found = discover(Trajectories.from_arrays(noise, t, names=NAMES), "f -> C*exp(x*x)/y**2 | C*exp(x)")
    forms = {re.sub(r"^-?\d[\d.e-]*", "C", text) for text in found.system.equations()}
    assert forms <= {
        "C*exp(x*x)/y**2",
        "C*exp(x**2)/y**2",
        "C*exp(x)",
        "exp(x)",
        "C",
    }  # a factor may come out as 0 or 1
    assert found.system.states == NAMES


def test_a_note_says_if_the_equations_are_followed_along_a_part_of_the_samples_only(monkeypatch):
    monkeypatch.setattr("spl.dynamics.system_choice.spread_samples", partial(spread_samples, most=400))
    monkeypatch.setattr("spl.dynamics.segments.STRETCH", 100)
    found = discover(make_data(0.01))
    assert found.refined.n_observations == 2 * 400
    assert "The equations are followed along 400 of 600 samples" in found.notes[0]
    assert [set(linear_terms(program)) for program in found.system.programs] == [{"y"}, {"x"}]


def test_the_weak_form_has_fronts_of_its_own():
    found = discover(make_data(0.05), plan=Plan(method="weak"))
    assert found.rows.weak
    assert [set(linear_terms(program)) for program in found.system.programs] == [{"y"}, {"x"}]


NOISY = make_data(0.03)


def test_a_choice_that_a_short_search_does_not_change_ends_the_run():
    limits = Limits(timeout=None, max_evaluations=100_000)
    short = discover(NOISY, RICH, limits=limits)
    assert [search.stopped for search in short.searches] == ["settled", "settled"]
    assert sum(search.n_evaluations for search in short.searches) < 0.5 * limits.max_evaluations
    assert [set(linear_terms(program)) for program in short.system.programs] == [{"y"}, {"x"}]


def test_without_patience_a_search_goes_on_to_its_limit():
    found = discover(NOISY, RICH, config=SearchConfig(patience=None), limits=Limits(timeout=None, max_evaluations=4000))
    assert [search.stopped for search in found.searches] == ["evaluations", "evaluations"]


def test_a_choice_that_does_not_describe_the_data_does_not_settle():
    slow = np.column_stack([np.sin(2 * T), np.sign(np.sin(0.9 * T))])  # a state that jumps has no equation
    noisy = slow + np.random.default_rng(0).normal(0, 0.05, slow.shape)
    data = Trajectories.from_arrays(noisy, T, names=NAMES)
    found = discover(data, RICH, limits=Limits(timeout=None, max_evaluations=4000))
    assert "settled" not in [search.stopped for search in found.searches]


@pytest.mark.parametrize("step", ["choose", "finish"])
def test_ctrl_c_while_equations_are_chosen_or_fitted_returns_the_best_so_far(monkeypatch, step):
    do_for_real, calls = getattr(SystemChoice, step), []

    def interrupt(self, *words):
        calls.append(step)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return do_for_real(self, *words)

    monkeypatch.setattr(SystemChoice, step, interrupt)
    found = discover(NOISY)
    assert found.is_interrupted
    assert [set(linear_terms(program)) for program in found.system.programs] == [{"y"}, {"x"}]


@pytest.mark.slow
def test_a_known_system_is_found_without_a_hint():
    terms = discover_known(partial(make_lotka_volterra, noise=0.01), ["+", "-", "*"], timeout=30)
    assert terms == [{"predator*prey", "prey"}, {"predator*prey", "predator"}]


def test_clean_data_give_no_terms_that_only_describe_errors_of_the_derivatives(clean):
    assert [set(linear_terms(program)) for program in clean.system.programs] == [{"y"}, {"x"}]


@pytest.mark.slow
def test_a_law_that_smoothing_hides_is_found_and_no_function_stands_in_for_it():
    terms = discover_known(partial(make_duffing, noise=0.05), ["+", "-", "*", "/", "sin"], timeout=20)
    assert terms == [{"v"}, {"v", "x", "x**3"}]


@pytest.mark.slow
def test_chaos_under_strong_noise_has_exactly_its_terms():
    terms = discover_known(partial(make_lorenz, 6000, noise=0.2), ["+", "-", "*", "/"], timeout=60)
    assert terms == [{"x", "y"}, {"x", "x*z", "y"}, {"x*y", "z"}]
