"""Equations by elimination along the trajectories."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories
from spl.datasets.lorenz import make_lorenz
from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.elimination import MAX_FULL_TERMS, FullEquation, eliminate, propose_by_elimination
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.term_library import TermLibrary
from spl.dynamics.trials import SystemTrials
from spl.formulas.grammar import Grammar
from spl.notation.terms import linear_terms


def make_library(n_columns, rng, operators=("+", "*")):
    names = tuple("abcdef"[:n_columns])
    data = Dataset.from_arrays(rng.normal(size=(50, n_columns)), rng.normal(size=50), names=names)
    return TermLibrary.build(Grammar.from_operators(operators, names), data)


@pytest.mark.parametrize(("n_columns", "n_terms"), [(1, 4), (2, 10), (3, 10), (4, 15), (6, 7)])
def test_an_equation_has_all_products_up_to_a_degree_of_which_there_are_few(n_columns, n_terms, rng):
    library = make_library(n_columns, rng)
    assert len(FullEquation.of(library).terms) == n_terms <= MAX_FULL_TERMS


def test_a_grammar_without_sums_has_no_full_equation(rng):
    library = make_library(2, rng, ("*", "sin"))
    assert FullEquation.of(library).terms == ()


def brute_force(factors, information, prices, owners):
    """Try all sets of terms, each with its best factors."""
    best, best_nats = None, np.inf
    for bits in range(2**factors.size):
        kept = np.array([bits >> k & 1 for k in range(factors.size)], bool)
        if any(not kept[owners == owner].any() for owner in owners):
            continue
        moved = np.zeros(factors.size)
        own = information[np.ix_(kept, kept)]
        moved[kept] = factors[kept] + np.linalg.solve(own, information[np.ix_(kept, ~kept)] @ factors[~kept])
        nats = 0.5 * (moved - factors) @ information @ (moved - factors) + prices[kept].sum()
        if nats < best_nats:
            best, best_nats = moved, nats
    return best


@pytest.mark.parametrize("seed", range(5))
def test_elimination_finds_the_best_set_of_nearly_independent_terms(seed):
    rng = np.random.default_rng(seed)
    factors, owners = rng.normal(size=6), np.array([0, 0, 0, 1, 1, 1])
    mixed = np.eye(6) + 0.1 * rng.normal(size=(6, 6))
    information, prices = 20 * mixed @ mixed.T, np.full(6, 4.0)
    found = eliminate(factors, information, prices, owners)
    assert found == pytest.approx(brute_force(factors, information, prices, owners))


def test_every_equation_keeps_a_term():
    found = eliminate(np.array([1e-3, 1e-3]), np.eye(2), np.full(2, 9.0), np.array([0, 1]))
    assert np.count_nonzero(found) == 2


def test_a_term_that_the_samples_do_not_determine_is_dropped():
    found = eliminate(np.array([2.0, 5.0]), np.diag([100.0, 0.0]), np.full(2, 4.0), np.array([0, 0]))
    assert found.tolist() == [2.0, 0.0]


def test_a_huge_factor_that_is_known_to_the_last_digit_is_kept():
    found = eliminate(np.array([1e100, 1e-3]), np.diag([1e150, 1.0]), np.full(2, 4.0), np.array([0, 0]))
    assert found.tolist() == [1e100, 0.0]


def test_elimination_ends_if_no_factor_can_be_judged():
    found = eliminate(np.array([1e100, 1e100]), np.diag([1e150, 1e150]), np.full(2, 4.0), np.array([0, 0]))
    assert found.tolist() == [1e100, 1e100]


def propose(runs, plan, operators=("+", "-", "*")):
    """Return the terms of each equation, as text, of all proposals, the first one first."""
    rows = make_rows(runs, plan)
    trials = SystemTrials(runs, rows, plan, SystemBudget(NEVER))
    grammar = Grammar.from_operators(operators, rows.names)
    datasets = [rows.dataset(state) for state in range(len(runs.states))]
    equations = [FullEquation.of(TermLibrary.build(grammar, each)) for each in datasets]
    proposals = list(propose_by_elimination(equations, trials))
    assert [each.shape for each in trials.states] == [each.shape for each in rows.starts]
    return [[{str(term) for term in linear_terms(program)} for program in programs] for programs in proposals]


@pytest.mark.slow
def test_the_terms_of_a_chaotic_system_come_out_of_noise_as_strong_as_the_signal():
    data = make_lorenz(6000, noise=1.0, seed=0)
    runs = Trajectories.from_arrays(data.states, data.t, names=("x", "y", "z"))
    assert [{"x", "y"}, {"x", "y", "x*z"}, {"z", "x*y"}] in propose(runs, Plan())


def test_several_runs_of_second_order(rng):
    t = np.linspace(0, 10, 400)
    series = [a * np.exp(-0.1 * t) * np.cos(2 * t) + rng.normal(0, 0.02, t.size) for a in (1.0, 2.0)]
    runs = Trajectories.from_arrays(series, [t, t], names=("x",))
    assert propose(runs, Plan(order=2))[0] == [{"x", "dx"}]


def test_a_noisy_map(rng):
    x = [0.3]
    for _ in range(399):
        x.append(3.7 * x[-1] * (1 - x[-1]))
    runs = Trajectories.from_arrays(np.array(x) + rng.normal(0, 0.005, 400), np.arange(400.0), names=("x",))
    assert [{"x", "x**2"}] in propose(runs, Plan(is_discrete=True))


def test_a_state_at_rest_gets_an_equation_too(rng):
    t = np.linspace(0, 5, 200)
    states = np.column_stack([np.exp(-t), np.full(t.size, 2.0)]) + rng.normal(0, 0.01, (t.size, 2))
    runs = Trajectories.from_arrays(states, t, names=("x", "y"))
    assert all(equation for programs in propose(runs, Plan()) for equation in programs)
