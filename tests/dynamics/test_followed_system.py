"""A system along its trajectories: which numbers are free, and how it is fitted again."""

import numpy as np
from tests.dynamics.followed_examples import follow

from spl.dynamics.budget import NEVER
from spl.dynamics.followed_system import FollowedSystem
from spl.formulas.grammar import Grammar

CIRCLE = {"x": "2*y", "y": "-x"}


def test_numbers_become_free_and_terms_get_factors_if_asked_for():
    followed = follow(CIRCLE, [(1.0, 0.0)])
    assert followed.with_free_numbers().constants.tolist() == [2.0]
    assert followed.with_free_numbers(has_factors=True).constants.tolist() == [2.0, 1.0]


def test_numbers_of_the_grammar_stay_as_they_are():
    followed = follow(CIRCLE, [(1.0, 0.0)])
    grammar = Grammar.from_text("f -> f + f | C*f | 2*f | x | y").bind(("x", "y"))
    given = FollowedSystem(followed.fitted, followed.data, followed.states, followed.noise, [grammar] * 2)
    assert given.with_free_numbers().n_constants == 0


def test_few_samples_are_spread_over_the_run():
    long = follow(CIRCLE, [(1.0, 0.0)], t=np.linspace(0.0, 400.0, 8000))
    few = long.with_few_samples(4000, NEVER)
    assert few.data.n_samples == 4000
    assert few.data.runs[-1].t[-1] > 300
    assert long.with_few_samples(8000, NEVER) is long


def test_another_system_is_fitted_along_the_same_segments():
    followed = follow({"x": "C*y", "y": "-C*x"}, [(1.0, 0.0)], law={"x": "y", "y": "-x"}, constants=[0.9, 1.1])
    again = followed.fit(followed.system.with_constants([0.99, 1.01]), 10.0)
    np.testing.assert_allclose(again.system.constants, [1.0, 1.0], atol=0.01)
    assert again.segments.n_segments == followed.fitted.segments.n_segments
