"""Constants of the weak form are those that the means of a formula ask for."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from spl.dynamics.weak_fit import WeakForm, fit_weak_form
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.fit import evaluate

WORDS = Vocabulary(("x",))


def make_form(rng, values, n_windows=30):
    """Return the weak form of a right-hand side with these values: means over random weights."""
    x = np.linspace(-2, 2, 200)
    operator = csr_matrix(rng.uniform(0, 1, (n_windows, x.size)) / x.size)
    return WeakForm(x[np.newaxis], operator, (operator @ values(x))[:, np.newaxis], n_windows)


def candidate(text, *constants):
    return Candidate(parse_expression(text, WORDS).with_constants(np.array(constants)), 1.0, 0.5)


def test_constants_come_out_as_they_went_in(rng):
    form = make_form(rng, lambda x: 3 * x**2 - 0.5 * x)
    found = fit_weak_form(candidate("C*x**2 + C*x", 1.0, 1.0), [form], 0)
    assert found.program.constants == pytest.approx((3.0, -0.5), rel=1e-6)
    assert found.loss < 1e-8


def test_a_constant_inside_a_function_is_fitted_too(rng):
    form = make_form(rng, lambda x: np.sin(1.7 * x) + 1)
    found = fit_weak_form(candidate("sin(C*x) + C", 1.4, 0.0), [form], 0)
    assert found.program.constants == pytest.approx((1.7, 1.0), rel=1e-4)


def test_all_runs_count(rng):
    forms = [make_form(rng, lambda x: 2 * x), make_form(rng, lambda x: 4 * x)]
    found = fit_weak_form(candidate("C*x", 1.0), forms, 0)
    assert 2.0 < found.program.constants[0] < 4.0


def test_a_fit_never_raises_the_error(rng):
    form = make_form(rng, np.exp)
    start = candidate("C*x + C", 0.3, 0.7)
    residual = form.operator @ evaluate(start.program, form.columns) - form.goals[:, 0]
    assert fit_weak_form(start, [form], 0).loss <= np.sqrt(np.mean(residual**2))


def test_a_formula_without_constants_keeps_itself_and_gets_its_error(rng):
    form = make_form(rng, lambda x: x)
    found = fit_weak_form(candidate("x + 1"), [form], 0)
    assert found.loss == pytest.approx(np.sqrt(np.mean((form.operator @ np.ones(200)) ** 2)))
    assert found.reward == 0.5


def test_a_formula_without_a_value_has_infinite_loss(rng):
    form = make_form(rng, lambda x: x)
    assert fit_weak_form(candidate("C*log(x)", 1.0), [form], 0).loss == np.inf
