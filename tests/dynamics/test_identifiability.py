"""It is said whether trajectories determine the equations, and another run helps."""

import re

import numpy as np
import pytest
from tests.dynamics.followed_examples import T, follow

from spl.dynamics.identifiability import UNIQUE, judge_identifiability
from spl.formulas.text import to_text

CIRCLE = {"x": "y", "y": "-x"}


def test_a_circle_does_not_determine_the_equations():
    judged = judge_identifiability(follow(CIRCLE, [(1.0, 0.0)]))
    assert not judged.is_unique
    assert "x**2 + y**2 = 1 in all samples" in str(judged)
    assert "another initial condition would decide" in str(judged)
    texts = {(rival.state, to_text(rival.program, 1)) for rival in judged.rivals}
    assert ("x", "1*x**2*y + 1*y**3") in texts
    assert [rival.nats for rival in judged.rivals] == sorted(rival.nats for rival in judged.rivals)


def test_two_circles_do():
    judged = judge_identifiability(follow(CIRCLE, [(1.0, 0.0), (2.0, 0.0)]))
    assert judged.is_unique
    assert judged.reasons == (UNIQUE,)
    assert judged.rivals == ()


def test_so_does_a_spiral():
    assert judge_identifiability(follow({"x": "y", "y": "-0.2*y - x"}, [(2.0, 0.0)])).is_unique


def test_rivals_fit_the_samples_as_well():
    followed = follow(CIRCLE, [(1.0, 0.0)])
    for rival in judge_identifiability(followed).rivals:
        fitted = followed.fit(rival.system, 10.0)
        assert 0.5 * (fitted.chi2 - followed.fitted.chi2) * fitted.n_observations < 3
        assert rival.system.programs != followed.system.programs


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_states_that_decay_together_can_replace_each_other(noise):
    judged = judge_identifiability(follow({"x": "-x", "y": "-y"}, [(2.0, 1.0)], noise=noise, t=np.linspace(0, 3, 100)))
    assert {(rival.state, to_text(rival.program, 2)) for rival in judged.rivals} >= {("x", "-2*y"), ("y", "-0.5*x")}
    assert re.search(r"y - 0\.5\d*\*x = 0 in all samples", str(judged))


def test_a_state_that_hardly_moves_is_named():
    judged = judge_identifiability(follow({"x": "y", "y": "-x", "z": "0*z"}, [(1.0, 0.0, 3.0)]))
    assert not judged.is_unique
    assert "z hardly moves" in str(judged)
    assert "Measure a run in which z changes" in str(judged)
    assert "z" not in {rival.state for rival in judged.rivals}


def test_an_input_that_never_changes_is_named():
    equations = {"x": "y", "y": "2 - 0.3*y - x"}
    judged = judge_identifiability(follow(equations, [(0.0, 0.0)], u=np.full((T.size, 1), 2.0)))
    assert "The input u never changes" in str(judged)
    moving = judge_identifiability(
        follow({"x": "y", "y": "u - 0.3*y - x"}, [(0.0, 0.0)], u=np.cos(0.7 * T)[:, np.newaxis] * T[:, np.newaxis])
    )
    assert moving.is_unique


def test_a_small_range_asks_for_starts_farther_away():
    judged = judge_identifiability(follow(CIRCLE, [(0.1, 0.0)], noise=0.002, operators=("+", "*", "sin")))
    assert ("y", "-sin(x)") in {(rival.state, to_text(rival.program, 1).replace("1*", "")) for rival in judged.rivals}


def test_a_weak_term_that_others_could_replace_is_no_reason_to_doubt():
    followed = follow({"x": "y + 0.001*x", "y": "-0.2*y - x"}, [(2.0, 0.0)])
    assert judge_identifiability(followed).is_unique


def test_systems_of_second_order_and_maps_are_judged():
    swing = follow({"x": "-x"}, [(1.0, 0.0)], order=2)
    assert not judge_identifiability(swing).is_unique
    steps = np.arange(60.0)
    judged = judge_identifiability(follow({"x": "3.7*x*(1 - x)"}, [(0.3,)], t=steps, noise=1e-3, is_discrete=True))
    assert judged.is_unique


def test_without_time_nothing_is_claimed():
    judged = judge_identifiability(follow(CIRCLE, [(1.0, 0.0)]), max_seconds=-1.0)
    assert not judged.is_complete
    assert UNIQUE not in judged.reasons
    assert "There was no time to try all other equations." in judged.reasons
