"""Equations that are right raise no doubts; those that explain little, or run away from the data, do."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.datasets import SYSTEMS
from spl.dynamics.quality import find_system_doubts
from spl.dynamics.rows import Plan, make_rows
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

T = np.linspace(0, 20, 600)


def make_system(data, *texts, order=1, is_discrete=False):
    words = Vocabulary(data.columns(order))
    return System(data.states, data.inputs, tuple(parse_expression(t, words) for t in texts), order, is_discrete)


def doubts_about(data, *texts, plan=None):
    plan = plan or Plan()
    system = make_system(data, *texts, order=plan.order, is_discrete=plan.is_discrete)
    return find_system_doubts(system, data, make_rows(data, plan))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("name", ["lorenz", "rossler", "van_der_pol", "duffing", "lotka_volterra", "damped_pendulum"])
def test_true_equations_raise_no_doubt_also_of_chaos_and_with_noise(name, noise):
    truth = SYSTEMS[name](noise=noise)
    data = Trajectories.from_arrays(truth.states, truth.t, names=truth.names)
    assert doubts_about(data, *truth.equations.values()) == ()


def test_a_true_map_raises_no_doubt():
    x = [0.4]
    for _ in range(299):
        x.append(3.8 * x[-1] * (1 - x[-1]))
    noisy = np.array(x) + np.random.default_rng(0).normal(0, 0.005, 300)
    data = Trajectories.from_arrays(noisy, 1.0, names=["x"])
    assert doubts_about(data, "3.8*x*(1 - x)", plan=Plan(is_discrete=True)) == ()


def test_an_equation_that_explains_only_a_part_names_its_state_and_what_that_may_mean():
    data = Trajectories.from_arrays(np.column_stack([np.sin(T), np.cos(T)]), T, names=["x", "y"])
    [doubt] = doubts_about(data, "y", "-0.1*x")
    assert doubt.startswith("The equation of y explains only part of how it changes (R2 0.19).")
    assert "A state may be missing, the system may be of second order (order=2), " in doubt
    assert "the rates of other states (implicit=True), or parameters may change" in doubt
    assert "The equation of x" not in doubt


def test_rates_that_were_tried_are_no_advice():
    data = Trajectories.from_arrays(np.column_stack([np.sin(T), np.cos(T)]), T, names=["x", "y"])
    system = make_system(data, "y", "-0.1*x")
    [doubt] = find_system_doubts(system, data, make_rows(data, Plan()), has_tried_rates=True)
    assert "implicit=True" not in doubt
    assert "with rates on both sides do not explain the data either" in doubt


def test_parameters_may_differ_between_runs_if_there_are_several():
    runs = [np.exp(-rate * T[:100])[:, np.newaxis] for rate in (0.2, 2.0)]
    data = Trajectories.from_arrays(runs, [T[:100]] * 2, names=["x"])
    [doubt] = doubts_about(data, "-1.1*x")
    assert "parameters may differ between runs" in doubt


def test_second_order_is_no_advice_for_what_has_it():
    data = Trajectories.from_arrays(np.sin(T), T, names=["x"])
    [doubt] = doubts_about(data, "-0.1*x", plan=Plan(order=2))
    assert "order=2" not in doubt


def test_a_simulation_that_runs_away_raises_a_doubt_though_the_derivatives_are_explained():
    t = np.linspace(0, 10, 400)
    data = Trajectories.from_arrays(np.column_stack([np.exp(-t), np.exp(-2 * t)]), t, names=["x", "y"])
    unstable = ("-x", "-2*y + 1000*(y - x**2)")  # the same derivatives along the data, to rounding; nowhere else
    [doubt] = doubts_about(data, *unstable)
    assert doubt.startswith("A simulation with these equations soon leaves the data.")


def test_an_equation_without_a_value_is_told_by_words():
    data = Trajectories.from_arrays(np.sin(T), T, names=["x"])
    assert "(R2 below 0)" in doubts_about(data, "log(x)")[0]


def test_equations_that_miss_the_samples_by_more_than_their_noise_are_doubted():
    data = Trajectories.from_arrays(np.column_stack([np.sin(T), np.cos(T)]), T, names=["x", "y"])
    system, rows = make_system(data, "y", "-x"), make_rows(data, Plan())
    assert find_system_doubts(system, data, rows, misfit=1.5) == ()
    [doubt] = find_system_doubts(system, data, rows, misfit=7.0)
    assert doubt.startswith("Along the trajectories, the equations miss the samples by 7 times the noise.")
    assert "too far apart" not in doubt


def test_a_doubt_says_if_the_samples_may_be_too_far_apart_to_decide():
    t = np.arange(60) * 1.3  # five samples per turn
    data = Trajectories.from_arrays(np.column_stack([np.sin(t), np.cos(t)]), t, names=["x", "y"])
    [doubt] = doubts_about(data, "y", "-0.1*x")
    assert "The samples may also be too far apart to decide: from one to the next, " in doubt
    assert doubt.endswith("Sample more often.")


def test_strong_noise_is_not_taken_for_samples_that_are_far_apart(rng):
    t = np.linspace(0, 30, 600)
    noisy = np.column_stack([np.sin(t), np.cos(t)]) + rng.normal(0, 1.0, (600, 2))
    data = Trajectories.from_arrays(noisy, t, names=["x", "y"])
    [doubt] = doubts_about(data, "y", "-0.1*x")
    assert "too far apart" not in doubt
