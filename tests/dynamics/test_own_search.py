"""The search for equations whose numbers differ between runs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.dynamics.own_examples import RATES, make_growth

from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.own_search import EquationBook, OwnSearch
from spl.dynamics.own_trials import OwnTrials
from spl.dynamics.rows import Plan
from spl.dynamics.run_rows import RunRows
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

WORDS = Vocabulary(("x",))
GRAMMAR = Grammar.from_operators(("+", "-", "*"), ("x",))
DATA = make_growth(noise=0.01)


def make_trials(max_fits=40):
    return OwnTrials(RunRows.make(DATA, Plan()), Plan(), SystemBudget(NEVER, max_fits), None)


def program(text):
    return parse_expression(text, WORDS)


@pytest.fixture(scope="module")
def trials():
    return make_trials()


@pytest.fixture
def book(trials):
    return EquationBook(0, GRAMMAR, trials)


def test_an_equation_is_fitted_to_the_derivatives_of_each_run(book):
    [found] = book.add([program("x - 0.3*x*x")])
    assert found.values.shape == (len(RATES), 2)
    assert_allclose(np.abs(found.values[:, 0]), RATES, rtol=0.2)


def test_formulas_that_differ_in_their_numbers_alone_are_one_equation(book):
    first, again = book.add([program("2*x - 3*x*x"), program("4*x - 5*x*x")])
    assert first is again


def test_a_formula_that_the_samples_cannot_show_is_left_out(trials):
    grammar = Grammar.from_operators(("+", "*", "sin"), ("x",))
    assert EquationBook(0, grammar, trials).add([program("sin(500*x)")]) == []


def test_only_one_formula_is_fitted_when_the_budget_is_used_up():
    book = EquationBook(0, GRAMMAR, make_trials(max_fits=0))
    assert len(book.add([program("x"), program("x*x")])) == 1


def test_the_simplest_equation_leaves_no_more_than_it_may(book):
    linear, growth = book.add([program("x"), program("x - x*x")])
    assert growth.loss < linear.loss
    assert book.simplest(1e6) is linear
    assert book.simplest(0.0) is growth


def test_without_equations_none_is_the_simplest(book):
    assert book.simplest(1.0) is None


def test_other_equations_come_from_simple_to_costly(book):
    book.add([program("x - x*x + x*x*x"), program("x - x*x")])
    others = list(book.others(book.simplest(0.0)))
    assert [each.program.n_constants for each in others] == [2, 3]


def test_a_shorter_equation_has_a_term_less(book):
    [growth] = book.add([program("x - x*x")])
    assert {each.program.n_constants for each in book.shorter(growth)} == {1}


def test_sums_of_simple_terms_hold_the_law(book):
    assert min(each.loss for each in book.propose_sums()) <= book.add([program("x - x*x")])[0].loss


def test_terms_are_not_added_before_sums_were_proposed(trials, book):
    trial = trials.try_equations(book.add([program("x - x*x")]))
    assert list(book.longer(trial)) == []


def test_the_search_finds_the_law_from_its_sums():
    search = OwnSearch(make_trials(), [GRAMMAR])
    best = search.improve(search.begin())
    [found] = best.equations
    assert found.program.n_constants == 2
    assert_allclose(best.runs.values[:, 0] / best.runs.values[0, 0], np.array(RATES) / RATES[0], rtol=0.1)
    assert len(best.sharing.own) == 1


def test_a_worse_start_leaves_the_best_system_as_it_is(trials):
    search = OwnSearch(trials, [GRAMMAR])
    best = search.start_from([program("x - x*x")], None)
    assert best.equations[0].program.n_constants == 2
    assert search.start_from([program("x")], best) is best


def test_a_better_start_replaces_the_best_system(trials):
    search = OwnSearch(trials, [GRAMMAR])
    first = search.start_from([program("x")], None)
    better = search.start_from([program("x - x*x")], first)
    assert better.length_nats < first.length_nats


def test_the_search_does_not_change_a_system_without_a_budget():
    trials = make_trials(max_fits=0)
    search = OwnSearch(trials, [GRAMMAR])
    best = search.start_from([program("x")], None)
    assert search.improve(best) is best
