"""Systems on trial with numbers of their own for each run: what is shared, and whose description is shorter."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.dynamics.own_examples import LABELS, RATES, make_growth

from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.own_trials import OwnTrials, RunEquation
from spl.dynamics.rows import Plan
from spl.dynamics.run_rows import RunRows
from spl.dynamics.sharing import SHARED
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

WORDS = Vocabulary(("x",))
RATES_OF_TERMS = np.array([[rate, -0.1 * rate] for rate in RATES])


def make_trials(data, most_own=None, max_fits=None):
    return OwnTrials(RunRows.make(data, Plan()), Plan(), SystemBudget(NEVER, max_fits), most_own)


def equation(text, values):
    """Return an equation with these numbers [G, C]."""
    numbers = np.array(values, dtype=float)
    return RunEquation(parse_expression(text, WORDS).with_constants(numbers.mean(axis=0).tolist()), numbers, 0.0)


GROWTH = equation("C*x + C*x*x", RATES_OF_TERMS)
LINEAR = equation("C*x", RATES_OF_TERMS[:, :1])


@pytest.fixture(scope="module")
def trials():
    return make_trials(make_growth(noise=0.01))


@pytest.fixture(scope="module")
def growth(trials):
    return trials.try_equations([GROWTH])


def test_a_rate_that_appears_in_two_terms_is_shared_as_a_multiple(growth):
    assert growth.sharing.leaders == (0, 0)


def test_each_run_is_fitted_with_its_own_numbers(growth):
    assert_allclose(growth.runs.values[:, 0], RATES, rtol=0.05)
    assert growth.fitted.system.run_labels == LABELS


def test_the_error_of_the_true_system_is_about_that_of_the_noise(growth):
    assert 0.5 < growth.error < 2.0


def test_a_system_with_a_term_too_few_has_a_longer_description(trials, growth):
    assert trials.try_equations([LINEAR]).length_nats > growth.length_nats


def test_a_system_that_cannot_beat_a_length_is_not_followed_further(growth):
    trial = make_trials(make_growth(noise=0.01)).try_equations([LINEAR], to_beat=growth.length_nats)
    assert trial.runs is None
    assert trial.length_nats >= growth.length_nats


def test_equations_that_differ_in_their_numbers_alone_are_tried_once(trials, growth):
    assert trials.try_equations([equation("C*x + C*x*x", 2 * RATES_OF_TERMS)]) is growth


def test_runs_that_do_not_differ_share_everything():
    trials = make_trials(make_growth((0.8,) * 4, noise=0.01))
    trial = trials.try_equations([equation("C*x + C*x*x", [[0.8, -0.08]] * 4)])
    assert trial.sharing.leaders == (SHARED, SHARED)


def test_no_more_numbers_are_own_than_may_be():
    trial = make_trials(make_growth(noise=0.01), most_own=0).try_equations([GROWTH])
    assert trial.sharing.own == ()


def test_a_trial_counts_as_one_fit():
    trials = make_trials(make_growth(noise=0.01), max_fits=1)
    assert trials.may_try()
    trials.try_equations([GROWTH], to_beat=-np.inf)
    assert not trials.may_try()


def test_all_measured_numbers_are_observations(trials):
    assert trials.n_observations == 80 * len(RATES)


def test_a_longer_equation_with_the_same_error_has_a_longer_description(trials, growth):
    longer = parse_expression("C*x + C*x*x + C", WORDS).with_constants([1.0, 1.0, 1.0])
    assert trials.describe(growth.fitted, [longer]) > trials.describe(growth.fitted, [GROWTH.program])


@pytest.mark.parametrize(("text", "is_too_fast"), [("sin(500*x)", True), ("sin(0.5*x)", False)])
def test_an_oscillation_that_the_samples_cannot_show_is_too_fast(trials, text, is_too_fast):
    assert trials.is_too_fast(parse_expression(text, WORDS)) == is_too_fast
