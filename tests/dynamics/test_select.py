"""The choice of the equations of a system: terms that the data supports are kept, others are dropped."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.proposals import Proposals, fit_sums
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.select import SystemChooser
from spl.dynamics.trials import SystemTrials
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.terms import linear_terms
from spl.regression.fit import fit
from spl.regression.front import Front

pytestmark = pytest.mark.search

NAMES = ("x", "v")
GRAMMAR = Grammar.from_operators(["+", "-", "*"], NAMES)
TRUTH = [{"v"}, {"x", "v"}]


def make_chooser(fronts, *, damping=0.3, max_fits=None, has_sums=True, grammar=GRAMMAR):
    """Return a chooser for dx/dt = v, dv/dt = -4*x - damping*v, with fronts of these formulas."""
    t = np.linspace(0, 12, 400)
    rate, half = np.sqrt(4 - (damping / 2) ** 2), damping / 2
    wave, other = np.cos(rate * t), np.sin(rate * t)
    states = np.exp(-half * t)[:, np.newaxis] * np.column_stack([wave, -half * wave - rate * other])
    noisy = states + np.random.default_rng(0).normal(0, 0.02, states.shape)
    data = Trajectories.from_arrays(noisy, t, names=NAMES)
    rows = make_rows(data, Plan())
    budget = SystemBudget(NEVER, max_fits)
    proposals = []
    for state, texts in enumerate(fronts):
        dataset = rows.dataset(state)
        front = Front(tuple(fit(parse_expression(text, Vocabulary(NAMES)), dataset) for text in texts))
        sums = fit_sums(dataset, grammar.bind(NAMES), None if has_sums else -1.0)
        proposals.append(Proposals(dataset, front, sums))
    return SystemChooser(rows, SystemTrials(data, rows, Plan(), budget), [grammar] * 2, proposals, budget)


def choose(chooser, starts, costlier=None):
    """Return the chosen system with precise constants; None if none can be followed."""
    best = chooser.choose(starts, costlier)
    return None if best is None else chooser.finish(best)


def terms_of(chosen):
    return [set(linear_terms(program)) for program in chosen.system.programs]


def test_the_true_system_stays_as_it_is():
    chosen = choose(make_chooser([["v"], ["C*x + C*v"]]), [(0, 0)])
    assert terms_of(chosen) == TRUTH
    assert linear_terms(chosen.system.programs[1]) == pytest.approx({"x": -4.0, "v": -0.3}, abs=0.02)


def test_a_term_that_the_data_supports_is_added():
    assert terms_of(choose(make_chooser([["v"], ["C*x"]]), [(0, 0)])) == TRUTH


def test_a_term_that_the_data_does_not_support_is_dropped():
    assert terms_of(choose(make_chooser([["v + C*x**2"], ["C*x + C*v + C*x*v"]]), [(0, 0)])) == TRUTH


def test_a_term_of_a_law_that_lacks_it_is_dropped():
    chosen = choose(make_chooser([["v"], ["C*x + C*v"]], damping=0.0), [(0, 0)])
    assert terms_of(chosen) == [{"v"}, {"x"}]


def test_a_wrong_formula_is_replaced_by_one_of_the_front():
    chooser = make_chooser([["v"], ["C*x**3", "C*x + C*v"]], has_sums=False)
    chosen = choose(chooser, [(0, 0)])
    assert terms_of(chosen) == TRUTH


def test_the_best_of_several_starts_is_taken():
    chooser = make_chooser([["v"], ["C*x**3", "C*x + C*v"]], max_fits=2)  # no fits are left for moves
    chosen = choose(chooser, [(0, 0), (0, 1)])
    assert chosen.chosen == (0, 1)
    assert terms_of(chosen) == TRUTH


def test_a_costlier_start_is_taken_if_the_others_are_far_from_the_data():
    chooser = make_chooser([["v"], ["C*x**3", "C*x + C*v"]], max_fits=2)
    assert choose(chooser, [(0, 0)], costlier=(0, 1)).chosen == (0, 1)


def test_a_costlier_start_is_not_taken_if_another_is_near_the_data():
    chooser = make_chooser([["v"], ["C*x", "C*x + C*v"]], damping=0.02, max_fits=2)
    assert choose(chooser, [(0, 0)], costlier=(0, 1)).chosen == (0, 0)


def test_a_costlier_start_is_taken_if_a_near_one_does_not_come_as_far():
    chooser = make_chooser([["v"], ["C*sin(1.5*x)", "C*x + C*v"]], damping=0.3, has_sums=False)
    chosen = choose(chooser, [(0, 0)], costlier=(0, 1))
    assert chosen.chosen == (0, 1)
    assert terms_of(chosen) == TRUTH


def test_no_move_is_made_without_a_budget():
    chosen = choose(make_chooser([["v"], ["C*x"]], max_fits=1), [(0, 0)])
    assert terms_of(chosen) == [{"v"}, {"x"}]


def test_there_is_no_choice_among_formulas_that_cannot_be_followed():
    products = Grammar.from_operators(["*", "log"], NAMES)
    assert choose(make_chooser([["log(x)"], ["C*log(v)"]], grammar=products), [(0, 0)]) is None


def test_simple_terms_are_found_along_the_data_if_no_formula_can_be_followed():
    assert terms_of(choose(make_chooser([["log(x)"], ["C*log(v)"]]), [(0, 0)])) == TRUTH


def test_formulas_are_taken_as_the_searches_left_them():
    chooser = make_chooser([["v"], ["C*x", "C*x + C*v"]])
    taken = chooser.take((0, 1))
    assert terms_of(taken) == TRUTH
    assert taken.refined is None
    assert [errors.shape for errors in taken.standard_errors] == [(0,), (2,)]
    assert np.isnan(taken.standard_errors[1]).all()


def test_every_number_gets_a_standard_error():
    chosen = choose(make_chooser([["v"], ["C*x + C*v"]]), [(0, 0)])
    assert [errors.size for errors in chosen.standard_errors] == [0, 2]
    assert np.all(chosen.standard_errors[1] > 0)
