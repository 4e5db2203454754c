"""Systems on trial."""

from dataclasses import replace

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.trials import SystemTrials
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

WORDS = Vocabulary(("x", "y"))
T = np.linspace(0, 12, 600)


def make_trials(noise):
    states = np.column_stack([np.sin(2 * T), np.cos(2 * T)])
    noisy = states + np.random.default_rng(0).normal(0, noise, states.shape)
    data = Trajectories.from_arrays(noisy, T, names=("x", "y"))
    return SystemTrials(data, make_rows(data, Plan()), Plan(), SystemBudget(NEVER))


def programs(*texts):
    found = [parse_expression(text, WORDS) for text in texts]
    return [program.with_constants(np.linspace(1.9, 2.1, program.n_constants)) for program in found]


@pytest.fixture(scope="module")
def trials():
    return make_trials(0.05)


TRUTH = programs("C*y", "-C*x")


@pytest.mark.parametrize("longer", ["C*y + C*x", "C*sin(0.01*y)", "C*y + C*x*y*y"])
def test_the_true_system_has_a_shorter_description_than_one_with_more(trials, longer):
    best = trials.try_programs(TRUTH, (0, 0))
    assert best.length_nats < trials.try_programs(programs(longer, "-C*x"), (0, 0)).length_nats


def test_a_system_with_less_has_a_longer_description(trials):
    assert (
        trials.try_programs(TRUTH, (0, 0)).length_nats < trials.try_programs(programs("C", "-C*x"), (0, 0)).length_nats
    )


def test_clean_data_do_not_make_tiny_terms_worth_it():
    clean = make_trials(0.0)
    best = clean.try_programs(TRUTH, (0, 0))
    assert best.length_nats < clean.try_programs(programs("C*y + C*x*y", "-C*x"), (0, 0)).length_nats


def test_a_system_that_can_be_followed_gets_longer_segments():
    trials = make_trials(0.05)
    before = trials.length
    longer = trials.lengthen(trials.try_programs(TRUTH, (0, 0)))
    assert trials.length > before
    assert longer.error == pytest.approx(1, abs=0.2)


def test_a_system_near_another_begins_with_its_states(trials):
    best = trials.try_programs(TRUTH, (0, 0))
    near = trials.try_programs(programs("C*y + C", "-C*x"), (0, 0), near=best)
    assert near.error == pytest.approx(best.error, rel=0.01)


def test_a_system_with_a_longer_description_along_short_segments_is_not_followed_along_long_ones():
    trials = make_trials(0.05)
    best = trials.lengthen(trials.try_programs(TRUTH, (0, 0)))
    worse = trials.try_programs(programs("C", "-C*x"), (0, 0), to_beat=best.length_nats)
    assert worse.length_nats > best.length_nats
    assert worse.fitted.segments.n_segments > best.fitted.segments.n_segments


def test_trials_begin_with_the_states_of_the_system_that_was_lengthened():
    trials = make_trials(0.05)
    smoothed = trials.states[0]
    trials.lengthen(trials.try_programs(TRUTH, (0, 0)))
    true = np.column_stack([np.sin(2 * T), np.cos(2 * T)])
    assert np.abs(trials.states[0] - true).mean() < np.abs(smoothed - true).mean()


def test_a_fit_that_does_not_keep_its_promise_is_tried_along_short_segments():
    trials = make_trials(0.05)
    start = trials.try_programs(TRUTH, (0, 0))
    poor = programs("C*y", "-C*x")  # from a trial that says nothing about its constants
    stuck = replace(start, fitted=replace(start.fitted, initial_states=0 * start.fitted.initial_states))
    trials = make_trials(0.05)
    assert trials.try_programs(poor, (0, 0), near=stuck, promise=1e6).error == pytest.approx(1, abs=0.2)


def test_a_system_that_would_lose_by_its_segments_is_fitted_along_those_of_the_other():
    trials = make_trials(0.05)
    short = trials.try_programs(TRUTH, (0, 0))
    longer = trials.lengthen(trials.try_programs(TRUTH, (0, 0)))
    rival = replace(longer, length_nats=longer.length_nats + 1.0)  # the same along the same segments, but for its price
    assert rival.length_nats < short.length_nats
    assert trials.compare(short, rival).length_nats == pytest.approx(longer.length_nats, abs=0.5)


def test_held_out_data_is_described_more_briefly_by_the_true_system(trials):
    right, wrong = trials.try_programs(TRUTH, (0, 0)), trials.try_programs(programs("C", "-C*x"), (0, 0))
    assert trials.held_out_nats(right) < trials.held_out_nats(wrong)
