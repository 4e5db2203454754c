"""Suggested starts lie where rivals move apart, in the box, and not on top of each other."""

import numpy as np
import pytest
from tests.dynamics.followed_examples import T, follow, make_system

from spl.dynamics.identifiability import judge_identifiability
from spl.dynamics.next_starts import CROWDED, find_box, suggest_starts

CIRCLE = {"x": "y", "y": "-x"}


@pytest.fixture(scope="module")
def circle():
    return follow(CIRCLE, [(1.0, 0.0)])


def suggest(followed, rivals, n=4, bounds=None):
    box = find_box(followed, bounds)
    return box, suggest_starts(followed, rivals, box, n_starts=n, rng=np.random.default_rng(0))


def test_starts_are_off_the_circle_where_rivals_differ(circle):
    rivals = [rival.system for rival in judge_identifiability(circle).rivals]
    _, found = suggest(circle, rivals)
    assert len(found) == 4
    for start in found:
        assert abs(np.hypot(*start.values) - 1) > 0.2
        assert start.difference > 3
    assert found[0].n_told_apart == len(rivals)


def test_a_run_from_there_decides(circle):
    _, found = suggest(circle, [rival.system for rival in judge_identifiability(circle).rivals], n=1)
    assert judge_identifiability(follow(CIRCLE, [(1.0, 0.0), found[0].values])).is_unique


def test_no_two_are_close_and_all_are_in_the_box(circle):
    rival = make_system({"x": "y*(x**2 + y**2)", "y": "-x"})
    (low, high), found = suggest(circle, [rival], n=6)
    places = np.array([start.values for start in found])
    assert ((places >= low) & (places <= high)).all()
    gaps = (np.abs(places[:, np.newaxis] - places) / (high - low)).max(axis=2)
    assert (gaps[np.triu_indices(6, 1)] > CROWDED).all()


def test_bounds_hold(circle):
    rival = make_system({"x": "y*(x**2 + y**2)", "y": "-x"})
    _, found = suggest(circle, [rival], bounds={"x": (0.0, 0.5)})
    assert all(0 <= start.values[0] <= 0.5 for start in found)


def test_what_is_never_negative_stays_so():
    decay = follow({"x": "-x"}, [(2.0,)], noise=0.0, t=np.linspace(0, 2, 50))
    low, high = find_box(decay)
    assert low[0] == 0
    assert high[0] > 2


def test_inputs_are_suggested_too():
    followed = follow({"x": "2 - x"}, [(0.0,)], u=np.full((T.size, 1), 2.0))
    _, found = suggest(followed, [make_system({"x": "u - x"}, inputs=("u",))])
    assert len(found[0].values) == 2
    assert abs(found[0].values[1] - 2) > 0.3


def test_starts_from_which_the_system_is_lost_are_left_out(circle):
    rival = make_system({"x": "y + 10*x**3", "y": "-x"})
    explosive = follow({"x": "x**2"}, [(-1.0,)], t=np.linspace(0, 4, 100))
    _, found = suggest(explosive, [make_system({"x": "0.9*x**2"})], bounds={"x": (-1.0, 5.0)})
    assert found
    assert all(start.values[0] < 0.3 for start in found)
    _, others = suggest(circle, [rival], n=2)  # a rival that is lost differs
    assert others[0].difference > 10
