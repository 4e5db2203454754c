"""One choice of equations from the fronts of all states."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.proposals import fit_sums
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.system_choice import SystemChoice
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.terms import linear_terms
from spl.regression.fit import fit
from spl.regression.front import Front

NAMES = ("x", "y")
GRAMMAR = Grammar.from_operators(["+", "*"], NAMES)
T = np.linspace(0, 12, 300)


def make_choice(texts, shortest, plan=None):
    """Return the choice among formulas for x' = 2*y, y' = -2*x with noise; for a map, of the next states."""
    plan = plan or Plan()
    states = np.column_stack([np.sin(2 * T), np.cos(2 * T)])
    data = Trajectories.from_arrays(states + np.random.default_rng(0).normal(0, 0.03, states.shape), T, names=NAMES)
    request, rows = SystemRequest(data=data, grammars=[GRAMMAR] * 2, plan=plan), make_rows(data, plan)
    datasets = [rows.dataset(state) for state in range(2)]
    sums = [fit_sums(each, GRAMMAR.bind(NAMES), -1.0) for each in datasets]
    words = Vocabulary(NAMES)
    fronts = [
        Front(tuple(fit(parse_expression(text, words), each) for text in row))
        for row, each in zip(texts, datasets, strict=True)
    ]
    return SystemChoice.begin(request, rows, sums, fronts, shortest, SystemBudget(NEVER)), fronts


FORMULAS = [["C*y", "C*y + C*x*y"], ["C*x", "C*x + C*x*y"]]


def test_simple_formulas_are_started_with_if_they_explain_most():
    choice, _ = make_choice(FORMULAS, (1, 1))
    assert set(choice.starts) == {(0, 0)}
    assert choice.costlier == (0, 0)


def test_the_chosen_system_has_the_true_terms_with_precise_numbers():
    choice, _ = make_choice(FORMULAS, (1, 1))
    found = choice.finish(choice.choose()).system
    assert [linear_terms(program) for program in found.programs] == [
        pytest.approx({"y": 2.0}, rel=0.01),
        pytest.approx({"x": -2.0}, rel=0.01),
    ]


def test_a_choice_can_start_from_a_system_that_was_chosen_before():
    before = make_choice(FORMULAS, (0, 0))[0].choose()
    choice, _ = make_choice([["C*x*y"], ["C*x*x"]], (0, 0))
    assert [set(linear_terms(p)) for p in choice.choose(before).system.programs] == [{"y"}, {"x"}]


def test_without_a_system_that_can_be_followed_the_shortest_descriptions_are_taken():
    choice, fronts = make_choice(FORMULAS, (1, 0))
    taken = choice.finish(None)
    assert taken.refined is None
    assert [program.tokens for program in taken.system.programs] == [
        fronts[0][1].program.tokens,
        fronts[1][0].program.tokens,
    ]


def test_the_noise_of_a_map_is_what_its_formulas_leave():
    choice, fronts = make_choice(FORMULAS, (0, 1), Plan(is_discrete=True))
    assert choice.rows.noise.tolist() == [fronts[0][0].loss, fronts[1][1].loss]
    assert choice.starts == [(0, 1)]
