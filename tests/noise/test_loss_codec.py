"""A file holds the name of a loss and some of its values; the function is given again, and recognised."""

import json
from functools import cache

import pytest

from spl import Loss
from spl.checked_values import Damage
from spl.errors import RunFileError
from spl.noise.loss_codec import check_no_stand_in, decode_loss, encode_loss


@cache
def make_loss():
    return Loss("absolute", lambda y, f: abs(f - y))


def stored():
    return json.loads(json.dumps(encode_loss(make_loss())))


def test_the_loss_that_is_given_again_is_used():
    loss = decode_loss(stored(), make_loss())
    check_no_stand_in(loss)
    assert loss is make_loss()


def test_a_loss_that_is_not_given_has_a_name_only():
    loss = decode_loss(stored())
    assert repr(loss) == "Loss('absolute')"
    assert loss != make_loss()
    with pytest.raises(
        RunFileError,
        match=r"The run uses 'absolute', .* Give it again, .*from_run\(path, loss=Loss\('absolute', ...\)\)",
    ):
        check_no_stand_in(loss)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "factor", "message"),
    [
        ("other", 1.0, "The run uses the loss 'absolute'; got 'other'. Give the same one."),
        ("absolute", 2.0, "Loss 'absolute' gives other values than when the run began."),
    ],
)
def test_another_loss_is_refused(name, factor, message):
    with pytest.raises(RunFileError, match=message):
        decode_loss(stored(), Loss(name, lambda y, f: factor * abs(f - y)))


@pytest.mark.parametrize(
    "encoded", [None, {}, {"name": 3, "values": []}, {"name": "a", "values": ["b"]}, {"name": "", "values": []}]
)
def test_damage_is_found(encoded):
    with pytest.raises(Damage):
        decode_loss(encoded)
