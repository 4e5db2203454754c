import pytest

from spl.checked_values import Damage
from spl.knowledge.knowledge import Knowledge
from spl.runs.knowledge import decode_knowledge, encode_knowledge


def test_knowledge_comes_back_as_it_was():
    known = Knowledge.read(["f > 0", "even in x for y < 2"], ["x", "y"], bounds={"x": (-1, 1)})
    assert decode_knowledge(encode_knowledge(known), ["x", "y"], "f") == known


def test_no_knowledge_takes_no_place_and_older_runs_have_none():
    assert encode_knowledge(None) == {}
    assert decode_knowledge({}, ["x"], "y") is None


@pytest.mark.parametrize(
    "settings",
    [
        {"knowledge": "f > 0"},
        {"knowledge": [3]},
        {"knowledge": ["increasing in z"]},
        {"knowledge": ["f > 0"], "bounds": {"z": [0, 1]}},
        {"knowledge": ["f > 0"], "bounds": {"x": 3}},
        {"knowledge": ["f > 0"], "bounds": {"x": [0]}},
        {"knowledge": ["f > 0"], "bounds": []},
    ],
)
def test_damage_is_found(settings):
    with pytest.raises(Damage):
        decode_knowledge(settings, ["x"], "y")
