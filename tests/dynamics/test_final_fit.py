"""The final fit: precise constants, simple numbers where the data allows, standard errors."""

from dataclasses import replace

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import NEVER, Deadline, SystemBudget
from spl.dynamics.final_fit import ONLY_SHORT, FinalFit
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.trials import SystemTrials
from spl.formulas.grammar import Grammar
from spl.formulas.printed_numbers import number_positions
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.units.system_units import read_system_units

T = np.linspace(0, 12, 400)
NAMES = ("x", "y")


def fit_rotation(
    first,
    second,
    *,
    rate=2.0,
    noise=0.02,
    rules="f -> f + f | f - f | f * f | f / f | C | x | y",
    deadline=NEVER,
    units=None,
):
    """Fit dx/dt = rate*y, dy/dt = -rate*x; return the fit and the standard errors."""
    states = np.column_stack([np.sin(rate * T), np.cos(rate * T)])
    noisy = states + np.random.default_rng(0).normal(0, noise, states.shape)
    data = Trajectories.from_arrays(noisy, T, names=NAMES)
    rows, budget = make_rows(data, Plan()), SystemBudget(deadline)
    trials = SystemTrials(data, rows, Plan(), budget)
    programs = [parse_expression(text, Vocabulary(NAMES)) for text in (first, second)]
    started = [program.with_constants(np.full(program.n_constants, 1.05 * rate)) for program in programs]
    final = FinalFit(
        trials, budget, [rows.dataset(0), rows.dataset(1)], [Grammar.from_text(rules).bind(NAMES)] * 2, units
    )
    fitted = final.fit(trials.try_programs(started, (0, 0)))
    return fitted, list(final.standard_errors(fitted))


def test_a_constant_that_the_data_does_not_distinguish_from_a_simple_number_becomes_that_number():
    fitted, _ = fit_rotation("C*y", "-C*x")
    assert [to_text(program) for program in fitted.system.programs] == ["2*y", "-2*x"]
    assert fitted.system.n_constants == 0


def test_a_constant_that_is_no_simple_number_keeps_its_fitted_value():
    fitted, errors = fit_rotation("C*y", "-C*x", rate=1.2345, noise=0.002)
    assert fitted.system.n_constants == 2
    assert np.abs(np.abs(fitted.system.constants) - 1.2345) == pytest.approx(0, abs=4 * np.max(errors))


def test_a_constant_that_is_poorly_known_is_not_made_simple():
    fitted, _ = fit_rotation("C*y", "-C*x", noise=1.5)
    assert fitted.system.n_constants == 2


def test_the_final_segments_are_longer_than_those_of_the_trials():
    fitted, _ = fit_rotation("C*y", "-C*x", rate=1.2345)
    assert fitted.segments.length == T.size


def test_a_number_that_was_made_simple_has_the_error_of_a_fitted_one():
    _, simple = fit_rotation("C*y", "-C*x")
    _, fitted = fit_rotation("C*y", "-C*x", rate=2.0123)
    assert np.concatenate(simple) == pytest.approx(np.concatenate(fitted), rel=0.2)


def test_a_number_that_the_grammar_gives_has_no_error():
    fitted, errors = fit_rotation("2*y", "-C*x", rate=2.0, rules="f -> 2*y | C*x")
    assert [len(each) for each in errors] == [len(number_positions(program)) for program in fitted.system.programs]
    assert np.isnan(errors[0]).all()


def test_the_equations_are_written_in_their_simplest_form():
    fitted, _ = fit_rotation("C*y + 0*x", "-C*x")
    assert to_text(fitted.system.programs[0]) == "2*y"


def test_a_term_that_changes_nothing_is_left_out():
    fitted, _ = fit_rotation("1e11*y/(5e10 - x)", "-C*x")
    assert to_text(fitted.system.programs[0]) == "2*y"


def test_a_term_that_changes_nothing_stays_if_the_grammar_demands_it():
    fitted, _ = fit_rotation("1e11*y/(5e10 - x)", "-C*x", rules="f -> C*y/(C - x) | C*x")
    assert to_text(fitted.system.programs[0]) == "100000000000*y/(50000000000 - x)"


def test_a_result_comes_even_when_the_time_is_up():
    fitted, _ = fit_rotation("C*y", "-C*x", rate=1.2345, deadline=Deadline.after(-1.0))
    assert np.isfinite(fitted.system.constants).all()


def test_a_factor_of_1_stays_where_it_has_a_unit():
    assert to_text(fit_rotation("C*y", "-C*x", rate=1.0)[0].system.programs[0]) == "y"
    units = read_system_units({"x": "m", "y": "m"}, "s", states=NAMES, are_numbers_free=True)
    fitted, _ = fit_rotation("C*y", "-C*x", rate=1.0, units=units)
    assert all(units.allow(state, program) for state, program in enumerate(fitted.system.programs))
    assert [to_text(program) for program in fitted.system.programs] == ["1*y", "-1*x"]


def test_a_system_that_the_final_fit_loses_keeps_the_numbers_of_the_trials(monkeypatch):
    def lose(self, best, system, seconds):
        zeros = tuple(each.with_constants([0.0] * each.n_constants) for each in system.programs)
        return replace(best.fitted, system=replace(system, programs=zeros), is_used=np.zeros_like(best.fitted.is_used))

    monkeypatch.setattr(FinalFit, "_fit_to_all", lose)
    fitted, _ = fit_rotation("C*y", "-C*x", rate=1.2345, noise=0.002)
    assert np.abs(fitted.system.constants) == pytest.approx(1.2345, abs=0.01)
    assert ONLY_SHORT in fitted.notes
