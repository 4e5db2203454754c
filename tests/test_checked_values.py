import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.checked_values import (
    Damage,
    StoredFields,
    as_bytes,
    as_fields,
    as_finite,
    as_list,
    as_number,
    as_text,
    as_texts,
    as_truth,
    as_whole,
    checked_as_stored,
    load_json,
)
from spl.errors import DataError, RunFileError

READERS = {
    as_bytes: bytes, as_fields: StoredFields, as_finite: float, as_list: list, as_number: float, as_text: str, as_texts: tuple,
    as_truth: bool, as_whole: int,
}  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(list(READERS)), VALUES)
def test_a_value_is_of_the_kind_that_was_asked_for_or_damage(reader, value):
    with contextlib.suppress(Damage):
        assert type(reader(value)) is READERS[reader]


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        (as_whole, True), (as_whole, -1), (as_whole, 1.0), (as_number, True), (as_number, "1"), (as_number, 10**400),
        (as_finite, float("inf")), (as_finite, float("nan")), (as_text, b"x"), (as_texts, "xy"), (as_texts, ["x", 1]),
        (as_truth, 1), (as_list, "xy"), (as_fields, [("a", 1)]), (as_bytes, "x"),
    ],
)  # fmt: skip
def test_values_that_are_nearly_of_the_right_kind_are_damage(reader, value):
    with pytest.raises(Damage):
        reader(value)


def test_a_number_out_of_bounds_is_damage():
    assert as_whole(2, below=3) == 2
    with pytest.raises(Damage, match="3 is not a whole number from 0 to 2"):
        as_whole(3, below=3)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "9" * 5_000, None, b"{}", 3])
def test_what_is_not_json_is_damage(text):
    with pytest.raises(Damage, match="is not JSON"):
        load_json(text)


@given(VALUES.filter(lambda value: "b'" not in repr(value) and 'b"' not in repr(value)))
def test_json_comes_back(value):
    text = json.dumps(value)
    assert json.dumps(load_json(text)) == text


def test_a_missing_name_and_an_unknown_name_are_damage():
    with pytest.raises(Damage, match="there is no `seed`"):
        StoredFields()["seed"]
    with pytest.raises(Damage, match="`speed` is not known"):
        StoredFields(speed=1).check_names(("seed",))


def test_what_a_noun_refuses_is_damage_and_what_the_user_must_know_stays():
    with pytest.raises(Damage, match="The table has 0 rows"), checked_as_stored():
        raise DataError("The table has 0 rows.")
    with pytest.raises(RunFileError, match="Give the same one"), checked_as_stored():
        raise RunFileError("Give the same one.")
    with pytest.raises(KeyError), checked_as_stored():
        {}["a bug of ours"]
