"""Guesses in a search: fitted, in the front from its first look, and varied."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.guesses import read_guess
from spl.formulas.text import to_text
from spl.regression.discover import discover
from spl.regression.first_look import look_first
from spl.regression.guess_fits import fit_guesses, vary_guesses
from spl.regression.memory_budget import plan_memory
from spl.regression.request import RegressionRequest
from spl.regression.searcher import Searcher
from spl.regression.trees import Recipe
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.search

NAMES = ("x", "y")
USUAL = Grammar.from_operators(["+", "-", "*", "/", "exp", "sin"], NAMES)
X = np.random.default_rng(0).uniform(0.5, 3.0, (80, 2))
LAW = 2.5 * np.sin(7.3 * X[:, 0] + 0.4) + 0.3 * X[:, 1] + 1.2
GUESS = "2*sin(7*x + 1) + y"
ROWS = Dataset.from_arrays(X, LAW, names=NAMES)


def make_request(*guesses, target=LAW, most=400, **settings):
    rows = Dataset.from_arrays(X, target, names=NAMES)
    limits = Limits(timeout=None, max_evaluations=most)
    return RegressionRequest(rows, USUAL, limits=limits, seed=1, guesses=guesses, **settings)


def test_numbers_of_a_guess_are_starting_values():
    [found] = fit_guesses([read_guess("2*sin(7*x + 1) + C*y + 1", USUAL)], ROWS)
    assert found.loss < 1e-9
    assert 7.3 in np.round(np.abs(found.program.constants), 6)


def test_a_guess_that_leaves_its_domain_is_left_out():
    grammar = Grammar.from_operators(["-", "log"], NAMES, constants=False)
    assert not list(fit_guesses([read_guess("log(x - x)", grammar)], ROWS))


def test_a_guess_is_left_out_where_the_grammar_lacks_its_columns():
    grammar = Grammar.from_operators(["+", "*"], ["x"])
    both = [read_guess("x + y", USUAL), read_guess("2*x", USUAL)]
    assert next(to_text(each) for each in vary_guesses(both, grammar)) == "2*x"


def test_the_search_varies_a_guess():
    """The law is the guess and one more term: it is found within few evaluations, and not without the guess."""
    law = np.sin(7.3 * X[:, 0] + 0.4) * np.exp(np.sin(3.1 * X[:, 1])) + 0.3 * X[:, 0]
    guess = "sin(7*x + 1)*exp(sin(3*y))"
    with_guess, without = (discover(make_request(*guesses, target=law, most=4000)) for guesses in ((guess,), ()))
    assert with_guess.front[-1].loss < 1e-9
    assert without.front[-1].loss > 0.01


def test_a_guess_is_in_the_front_from_the_first_batch():
    fronts = []
    target = np.exp(X[:, 0] * np.sin(3.3 * X[:, 1])) + X[:, 0]
    guess = "exp(0.9*x*sin(3.2*y))"
    discover(make_request(guess, target=target, most=50), watch=lambda progress: fronts.append(progress.front))
    assert any("sin(3.3" in to_text(candidate.program, 2) for candidate in fronts[0])


def test_a_guess_is_in_the_first_look():
    found = look_first(make_request("2.5*sin(7.3*x + 0.4) + 0.3*y + 1.2"))
    assert found.loss < 1e-9


def test_the_same_seed_gives_the_same_result():
    one, other = (discover(make_request(GUESS)) for _ in range(2))
    assert [to_text(each.program) for each in one.front] == [to_text(each.program) for each in other.front]


def test_a_tree_keeps_what_it_was_told_when_another_continues_from_its_state():
    config = SearchConfig(n_trees=1)
    request = make_request(GUESS)
    memory = plan_memory(config, n_entries=100, n_symbols=1, n_rows=80, most_rules_of_symbol=20)
    recipe = Recipe(USUAL, ROWS, config, memory)
    completion = recipe.make_completion()
    told, other = (recipe.make_searcher(seed, completion) for seed in (1, 2))
    told.take_up(list(fit_guesses(request.guessed, ROWS)))
    other.adopt(told.state())
    assert isinstance(other, Searcher)
    [kept] = {to_text(each.program, 3) for each in other.candidates()}
    assert "sin" in kept
