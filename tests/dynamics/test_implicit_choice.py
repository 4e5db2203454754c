"""Whether rates on both sides are needed, as the trajectories decide it."""

from dataclasses import replace

import numpy as np
import pytest
from tests.dynamics.coupled_rates import NAMES, STATES, SUMS, T, make_coupled_data, make_open_request

from spl.data.trajectories import Trajectories
from spl.datasets import make_michaelis_menten
from spl.dynamics.discover import compile_integration, discover_system
from spl.dynamics.implicit import share_grammar
from spl.dynamics.implicit_choice import choose_rates, drop_rates
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Plan
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.system import rate_names

pytestmark = pytest.mark.search

CIRCLE = np.column_stack([np.sin(2 * T), np.cos(2 * T)])


@pytest.fixture(scope="module", autouse=True)
def kernels():
    compile_integration()


@pytest.fixture(scope="module")
def coupled():
    return make_coupled_data()


@pytest.fixture(scope="module")
def with_rates(coupled):
    return choose_rates(make_open_request(coupled))


def make_data(states):
    return Trajectories.from_arrays(states, T, names=list(STATES))


def make_unexplained():
    """Return states that no equations of two states explain: each has two tones of its own."""
    return make_data(np.column_stack([np.sin(T) + np.sin(2.3 * T), np.cos(1.7 * T) + np.cos(3.1 * T)]))


def test_rates_are_used_where_simple_equations_need_them(with_rates):
    assert with_rates.plan.is_implicit
    assert not with_rates.may_drop_rates
    assert with_rates.prepared.rows.rates == NAMES[2:]


def test_a_note_says_that_rates_were_chosen_and_why(with_rates):
    [note] = with_rates.data.notes
    assert note.startswith('The equations have rates on both sides (implicit="auto"): along the trajectories')
    assert "times the noise without rates, and by less than 0.1 times with them." in note


@pytest.mark.parametrize(("noise", "is_implicit"), [(1e-4, True), (0.05, False)])
def test_rates_are_used_with_little_noise_but_not_with_noise_that_hides_the_difference(noise, is_implicit):
    assert choose_rates(make_open_request(make_coupled_data(noise))).plan.is_implicit == is_implicit


def test_rates_are_left_out_without_a_word_where_equations_without_them_explain_the_data():
    chosen = choose_rates(make_open_request(make_data(CIRCLE)))
    assert not chosen.plan.is_implicit
    assert chosen.data.notes == ()
    assert not chosen.prepared.has_tried_rates


def test_fractions_explain_the_coupled_states_without_rates(coupled):
    chosen = choose_rates(make_open_request(coupled, Grammar.from_operators((*SUMS, "/"), NAMES)))
    assert not chosen.plan.is_implicit


def test_a_poor_start_without_rates_is_improved_before_rates_are_tried():
    """Smoothing hides the right equation of the substrate from all starts; with rates, other equations come close to the data."""
    truth = make_michaelis_menten(noise=0.05, seed=2)
    data = Trajectories.from_arrays(truth.states, truth.t, names=truth.names)
    names = [*data.states, *rate_names(data.states)]
    grammars = share_grammar(Grammar.from_operators(DEFAULT_OPERATORS, names), data.states, 1, data.states)
    request = SystemRequest(data=data, grammars=grammars, plan=Plan(is_implicit=True), may_drop_rates=True, seed=2)
    chosen = choose_rates(request)
    assert not chosen.plan.is_implicit
    assert chosen.data.notes == ()


def test_rates_that_explain_no_more_are_left_out_and_a_note_says_so():
    chosen = choose_rates(make_open_request(make_unexplained()))
    assert not chosen.plan.is_implicit
    assert chosen.prepared.has_tried_rates
    assert chosen.data.notes[0].startswith("Rates on both sides were tried and left out")


def test_the_choice_repeats(with_rates, coupled):
    again = choose_rates(make_open_request(coupled))
    assert again.data.notes == with_rates.data.notes
    sums = [
        [each.program for of_state in one.prepared.sums for each in of_state.candidates] for one in (again, with_rates)
    ]
    assert sums[0] == sums[1]


def test_a_grammar_without_rates_needs_no_look(coupled):
    chosen = choose_rates(make_open_request(coupled, Grammar.from_text("f -> f + f | C * f | x | y")))
    assert not chosen.plan.is_implicit
    assert chosen.prepared is None


def test_a_grammar_that_always_has_rates_keeps_them(coupled):
    request = make_open_request(coupled, Grammar.from_text("f -> C*y + C*y*y' | C*x + C*x*x'"))
    assert drop_rates(request) is None
    chosen = choose_rates(request)
    assert chosen.plan.is_implicit
    assert chosen.prepared is None


def test_the_grammars_without_rates_are_those_of_a_request_without_rates(coupled):
    explicit = drop_rates(make_open_request(coupled))
    assert explicit.grammars == [Grammar.from_operators(SUMS, STATES).bind(STATES)] * 2


def test_where_a_grammar_has_no_sums_a_short_search_finds_the_equations_to_try(coupled):
    rules = "f -> C*g + C*g | C*g + C*g + C*g\n g -> x | y | x*y | x*x' | x*y' | y*x' | y*y'"
    chosen = choose_rates(make_open_request(coupled, Grammar.from_text(rules)))
    assert not any(sums.candidates for sums in chosen.prepared.sums)
    assert chosen.plan.is_implicit


def test_a_choice_that_is_stopped_leaves_rates_out(coupled):
    assert not choose_rates(make_open_request(coupled), lambda: True).plan.is_implicit


def test_a_run_that_leaves_rates_out_is_the_run_without_rates():
    request = make_open_request(make_data(CIRCLE))
    one, two = discover_system(request), discover_system(drop_rates(request))
    assert one.system == two.system
    assert [search.front for search in one.searches] == [search.front for search in two.searches]


def test_a_run_with_rates_finds_the_short_equations(coupled):
    found = discover_system(make_open_request(coupled))
    assert found.system.is_implicit
    assert sorted(len(program) for program in found.system.programs) == [7, 7]
    assert found.notes[0].startswith("The equations have rates on both sides")


def test_a_doubt_says_that_rates_do_not_help_either():
    request = make_open_request(make_unexplained())
    [doubt] = discover_system(replace(request, limits=replace(request.limits, max_evaluations=50))).doubts
    assert "Simple equations with rates on both sides do not explain the data either." in doubt
    assert "implicit=True" not in doubt
