"""Moves: other equations for one state of a system."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.moves import N_TERMS_TRIED, SystemMoves
from spl.dynamics.proposals import Proposals, fit_sums
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.trials import SystemTrials
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.rates import is_linear_in_rates
from spl.formulas.text import parse_expression, to_text
from spl.notation.terms import has_terms_of, linear_terms
from spl.regression.fit import fit
from spl.regression.front import Front
from spl.units.system_units import read_system_units

NAMES = ("x", "v")
ALL = Grammar.from_operators(["+", "-", "*", "sin"], NAMES)


class Setting:
    """An oscillator with dx/dt = v and dv/dt = -4*x - 0.3*v, and what moves are made from."""

    def __init__(
        self, grammar=ALL, fronts=(("v", "C*v + C*x"), ("C*x", "C*x + C*x**2")), noise=0.01, plan=None, units=None
    ):
        plan = plan or Plan()
        t = np.linspace(0, 12, 500)
        rate = np.sqrt(4 - 0.15**2)
        x = np.exp(-0.15 * t) * np.cos(rate * t)
        v = np.exp(-0.15 * t) * (-0.15 * np.cos(rate * t) - rate * np.sin(rate * t))
        states = np.column_stack([x, v])
        noisy = states + np.random.default_rng(0).normal(0, noise, states.shape)
        data = Trajectories.from_arrays(noisy, t, names=NAMES)
        rows = make_rows(data, plan)
        bound, self.words = grammar.bind(rows.variables), Vocabulary(rows.variables)
        self.trials = SystemTrials(data, rows, plan, SystemBudget(NEVER))
        proposals = []
        for state, texts in enumerate(fronts):
            dataset = rows.dataset(state)
            front = Front(tuple(fit(parse_expression(text, self.words), dataset) for text in texts))
            of_state = None if units is None else units.tables[state]
            proposals.append(Proposals(dataset, front, fit_sums(dataset, bound, units=of_state)))
        self.moves = SystemMoves(rows, self.trials, [bound] * 2, proposals, units)

    def try_texts(self, *texts):
        programs = [parse_expression(text, self.words) for text in texts]
        return self.trials.try_programs([p.with_constants(np.full(p.n_constants, -0.5)) for p in programs], (0, 1))


@pytest.fixture(scope="module")
def setting():
    return Setting()


def test_a_factor_of_1_is_a_number_if_the_grammar_has_it():
    grammar = Grammar.from_text("f -> C*v + C*x | C*v | C*x")
    moves = Setting(grammar, fronts=(("v",), ("0.3*v - x",))).moves
    assert [to_text(program) for program in moves.start((0, 0))] == ["1*v", "0.3*v - 1*x"]
    without = Setting(Grammar.from_text("f -> v | C*v - x"), fronts=(("v",), ("0.3*v - x",))).moves
    assert [to_text(program) for program in without.start((0, 0))] == ["v", "0.3*v - x"]


@pytest.fixture(scope="module")
def undamped(setting):
    """A trial that lacks the term of the damping."""
    return setting.try_texts("C*v", "C*x")


def test_the_start_has_the_chosen_formulas_with_all_numbers_free(setting):
    programs = setting.moves.start((0, 1))
    assert [set(linear_terms(program)) for program in programs] == [{"v"}, {"x", "x**2"}]
    assert [program.n_constants for program in programs] == [1, 2]


def test_the_term_that_is_lacking_is_added_first(setting, undamped):
    moves = list(setting.moves.additions(undamped))
    assert 1 <= len(moves) <= N_TERMS_TRIED
    assert (moves[0].state, moves[0].promise > 0, moves[0].front_row) == (1, True, 1)
    assert has_terms_of(moves[0].program.with_constants([1.0, 1.0]), "x + v")


def test_nothing_is_added_to_the_true_law(setting):
    truth = setting.try_texts("C*v", "C*x + C*v")
    assert list(setting.moves.additions(truth)) == []


def test_one_term_is_left_out_at_a_time(setting):
    longer = setting.try_texts("C*v", "C*x + C*v + C*x**2")
    found = [set(linear_terms(move.program)) for move in setting.moves.omissions(longer, 1)]
    assert {"x", "v"} in found
    assert {"x", "x**2"} in found
    assert {"v", "x**2"} not in found  # without x, the derivative is not explained


def test_numbers_are_fitted_to_the_derivative_when_a_term_is_left_out(setting):
    longer = setting.try_texts("C*v", "C*x + C*v + C*x**2")
    found = [linear_terms(move.program) for move in setting.moves.omissions(longer, 1)]
    assert next(terms for terms in found if set(terms) == {"x", "v"}) == pytest.approx({"x": -4.0, "v": -0.3}, abs=0.15)


def test_a_term_without_which_the_derivative_is_far_worse_is_not_left_out():
    clean = Setting(noise=0.0)
    longer = clean.try_texts("C*v", "C*x + C*v + C*x**2")
    found = [set(linear_terms(move.program)) for move in clean.moves.omissions(longer, 1)]
    assert {"x", "v"} in found
    assert {"x", "x**2"} not in found


def test_replacements_come_from_simple_to_costly_and_say_which_cost_more(setting, undamped):
    moves = list(setting.moves.replacements(undamped, 1))
    costly = [move.is_costlier for move in moves]
    assert {move.state for move in moves} == {1}
    assert costly == sorted(costly)
    assert costly[-1]
    assert any(has_terms_of(move.program, "x + v") for move in moves)


def test_a_grammar_without_sums_gets_no_term_added_or_left_out():
    setting = Setting(Grammar.from_text("f -> C*x | C*v | C*x + C*v | C*x + C*v + C*x**2"))
    trial = setting.try_texts("C*v", "C*x + C*v + C*x**2")
    assert list(setting.moves.additions(trial)) == []
    assert list(setting.moves.omissions(trial, 1)) == []
    assert len(list(setting.moves.replacements(trial, 1))) > 0


def test_numbers_that_the_grammar_gives_are_not_free():
    grammar = Grammar.from_text("f -> 2*f | f + f | x | v")
    setting = Setting(grammar, fronts=(("2*v", "v"), ("2*x", "x")))
    assert [to_text(program) for program in setting.moves.start((0, 0))] == ["2*v", "2*x"]


def test_moves_of_a_system_with_rates_stay_linear_in_them():
    grammar = Grammar.from_text("f -> f + f | f * f | C * f | x | v | x'")  # of the second state only
    setting = Setting(grammar, (("v",), ("C*x", "C*x + C*x'", "C*x'*x'")), plan=Plan(is_implicit=True))
    trial = setting.try_texts("C*v", "C*x")
    programs = [move.program for move in (*setting.moves.additions(trial), *setting.moves.replacements(trial, 1))]
    assert any("x'" in to_text(program) for program in programs)
    assert all(is_linear_in_rates(program, 2) for program in programs)


def test_with_units_no_move_breaks_them():
    units = read_system_units({"x": "m", "v": "m/s"}, "s", states=NAMES, are_numbers_free=True)
    fronts = (("v", "v + x"), ("C*x", "C*x + C*sin(C*v)"))  # the sum v + x of a front has the wrong unit
    setting = Setting(ALL, fronts=fronts, units=units)
    assert to_text(setting.moves.start((0, 1))[0]) == "1*v"
    trial = setting.try_texts("C*v + C*x", "C*x + C*sin(C*v)")
    moves = [
        *(move for state in (0, 1) for move in setting.moves.replacements(trial, state)),
        *(move for state in (0, 1) for move in setting.moves.omissions(trial, state)),
        *setting.moves.additions(trial),
    ]
    assert len(moves) > 5
    assert all(units.allow(move.state, move.program) for move in moves)
    assert any("sin" in to_text(move.program) for move in moves)
