"""What a fit would gain by further terms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from spl.data.trajectories import Trajectory
from spl.dynamics.refine import refine
from spl.dynamics.score_test import TERMS_PER_CALL, estimate_term_gains
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.notation.terms import add_term

WORDS = Vocabulary(("x",))
LENGTH = 40


def term(text):
    return parse_expression(text, WORDS).tokens


def fit(program, run, starts):
    return refine(System(("x",), (), (program,)), [run], [starts], [0.01], length=LENGTH)


@pytest.fixture
def fitted(rng):
    t = np.linspace(0, 4, 200)
    clean = np.tanh(t - 1)[:, np.newaxis]  # dx/dt = 1 - x**2
    run = Trajectory(t, clean + 0.01 * rng.normal(size=clean.shape), np.empty((200, 0)), None)
    return fit(parse_expression("C", WORDS).with_constants(np.array([0.5])), run, clean), run, clean


def test_the_true_estimate_term_gains_most(fitted):
    found, _, clean = fitted
    gains = estimate_term_gains(found, [clean], 0, [term("x"), term("x*x"), term("x*x*x"), term("sin(x)")])
    assert np.argmax(gains) == 1


def test_what_is_there_already_gains_nothing(fitted):
    found, _, clean = fitted
    own, true = estimate_term_gains(found, [clean], 0, [(), term("x*x")])
    assert own < 1e-6 * true


def test_a_small_gain_is_that_of_a_fit(fitted):
    _, run, clean = fitted
    found = fit(parse_expression("C + C*x**2", WORDS).with_constants(np.array([0.9, -0.9])), run, clean)
    longer = fit(add_term(found.system.programs[0], term("x")), run, clean)
    (gain,) = estimate_term_gains(found, [clean], 0, [term("x")])
    assert_allclose(gain, (found.chi2 - longer.chi2) * found.n_observations, rtol=0.2, atol=0.1)


def test_many_terms_are_looked_at_in_parts_with_the_same_result(fitted):
    found, _, clean = fitted
    terms = [term("*".join("x" * n)) for n in range(2, TERMS_PER_CALL + 6)]
    gains = estimate_term_gains(found, [clean], 0, terms)
    assert gains.shape == (len(terms),)
    assert_allclose(gains[-1:], estimate_term_gains(found, [clean], 0, terms[-1:]), rtol=1e-3)


def test_no_terms_have_no_gains(fitted):
    found, _, clean = fitted
    assert estimate_term_gains(found, [clean], 0, []).shape == (0,)
