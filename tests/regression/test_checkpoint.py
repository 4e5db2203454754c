import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.checked_values import Damage
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.tree.ledger import RECORD, make_records
from spl.regression.candidate import Candidate, Module
from spl.regression.checkpoint import (
    blank_unused,
    from_bytes,
    pack_candidates,
    pack_modules,
    to_bytes,
    unpack_candidates,
    unpack_modules,
)

WORDS = Vocabulary(("x", "y"), (2.0,))


def make_program(text, *constants):
    return parse_expression(text, WORDS).with_constants(np.array(constants))


def test_candidates_come_back_bit_for_bit():
    candidates = (
        Candidate(make_program("C * x + C", 0.1, 1 / 3), 1e-17, 0.3),
        Candidate(make_program("2 * y"), np.inf),
    )
    assert unpack_candidates(pack_candidates(candidates), WORDS) == candidates


def test_modules_come_back_with_their_size():
    modules = (Module(make_program("C * sin(x)", np.pi), 3, 0.5, 0.7),)
    assert unpack_modules(pack_modules(modules), WORDS) == modules


def test_no_candidates_are_no_records():
    assert unpack_candidates(pack_candidates(()), WORDS) == ()


def test_unused_places_hold_nothing_of_what_was_in_memory():
    records = make_records(3)
    records.view(np.uint8)[:] = 255
    records.length[:] = [0, 1, 2]
    clean = blank_unused(records)
    assert clean[0].tobytes() == np.array([(0, 0, 0, 0, np.inf, 0, 0)], RECORD).tobytes()
    assert not clean["tokens"][1, 1:].any()
    assert not clean["origin"][2, 2:].any()
    assert not clean["constants"].any()


def test_arrays_come_back_from_bytes():
    arrays = {
        "keys": np.arange(5, dtype=np.uint64) + (1 << 63),
        "losses": np.array([np.nan, np.inf, -0.0]),
        "children": np.empty(0, np.int64),
        "front": pack_candidates([Candidate(make_program("x"), 1.0)]),
    }
    back = from_bytes(to_bytes(arrays))
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype
        assert back[name].tobytes() == array.tobytes()


def pack_by_hand(header, body=b""):
    text = json.dumps(header).encode()
    return zlib.compress(len(text).to_bytes(4, "little") + text + body)


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"no such thing",
        to_bytes({"keys": np.arange(9, dtype=np.uint64)})[:-5],
        zlib.compress(b""),
        pack_by_hand({"keys": 3}, b"12345678"),
        pack_by_hand({"keys": -1}),
        pack_by_hand({"keys": 1e300}),
        pack_by_hand({"keys": None}),
        pack_by_hand({"stranger": 1}, b"12345678"),
        pack_by_hand([1, 2]),
    ],
)
def test_bytes_that_hold_no_arrays_are_refused(packed):
    with pytest.raises(Damage):
        from_bytes(packed)


def test_bytes_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr("spl.regression.checkpoint.MAX_ARRAY_BYTES", 1_000)
    with pytest.raises(Damage, match="too long"):
        from_bytes(to_bytes({"keys": np.zeros(1_000, np.uint64)}))


@given(st.binary(max_size=200), st.booleans())
def test_bytes_of_a_stranger_give_arrays_or_are_damage(noise, is_compressed):
    try:
        found = from_bytes(zlib.compress(noise) if is_compressed else noise)
    except Damage:
        return
    assert to_bytes(found)
