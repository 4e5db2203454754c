"""What the trajectories determine, in words and as JSON."""

import json

import pytest
from tests.dynamics.followed_examples import follow

from spl.display.identifiability import RIVALS_HEADING, describe_identifiability, identifiability_lines, rival_text
from spl.dynamics.identifiability import UNIQUE, judge_identifiability


@pytest.fixture(scope="module")
def circle():
    return judge_identifiability(follow({"x": "y", "y": "-x"}, [(1.0, 0.0)]))


def test_rivals_are_listed_one_per_line(circle):
    lines = identifiability_lines(circle)
    assert lines[: len(circle.reasons)] == list(circle.reasons)
    assert lines[len(circle.reasons)] == RIVALS_HEADING
    assert len(lines) == len(circle.reasons) + 1 + len(circle.rivals)
    assert any(line.startswith("  dx/dt = ") and "nats longer)" in line for line in lines)


def test_without_rivals_there_are_only_words():
    unique = judge_identifiability(follow({"x": "y", "y": "-0.2*y - x"}, [(2.0, 0.0)]))
    assert identifiability_lines(unique) == [UNIQUE]


def test_json_has_the_same(circle):
    described = json.loads(json.dumps(describe_identifiability(circle), allow_nan=False))
    assert described["unique"] is False
    assert described["complete"] is True
    assert [rival["state"] for rival in described["rivals"]] == [rival.state for rival in circle.rivals]
    assert set(described["rivals"][0]) == {"state", "equation", "misfit", "nats", "difference"}
    assert describe_identifiability(None) is None


def test_a_rival_is_an_equation(circle):
    assert rival_text(circle.rivals[0]).startswith(f"d{circle.rivals[0].state}/dt = ")
