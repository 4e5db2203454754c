"""Units of strangers: each text is read or refused in words, and nothing in it is evaluated."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.guard import cases, guarded
from tests.fuzz.texts import anything, name, piece, soup

from spl.checked_values import Damage
from spl.errors import UnitError
from spl.runs.units import decode_units, encode_units
from spl.units.entries import split_known, split_units
from spl.units.table_units import read_table_units
from spl.units.unit import has_unit_in_header, read_quantity, read_unit, split_header, symbols_of

pytestmark = pytest.mark.slow

UNIT_PIECES = [
    "m", "kg", "s", "km", "/", "*", "**", "^", "2", "-1", "1/2", "0.5", "(", ")", " ", "degC", "degF", "delta_degC", "dB", "dBm", "%", "deg",
    "µm", "Ω", "°C", "per", "square", "cubic", "squared", "meter", "hour", "J/(mol K)", "speed_of_light", "pi", "e", "1e300", "1e-300", "nan",
    "inf", "999", "**99", "**-99", "**9**9", "count", "bit", "eV", "u", "a", "+", "-", "±", "e9999", "__class__", "import", "lambda", "0",
]  # fmt: skip
unit = st.one_of(st.lists(st.sampled_from(UNIT_PIECES), max_size=8).map("".join), soup, anything, piece)
entries = st.lists(st.tuples(name, unit).map("=".join), max_size=4).map(",".join)


def check_words(error):
    assert 0 < len(str(error)) < 1_000


@cases(400)
@given(unit)
def test_any_text_is_a_unit_or_an_error_in_words(text):
    with guarded("units"):
        has_unit_in_header(f"v ({text})")
        try:
            found = read_unit(text)
        except UnitError as error:
            check_words(error)
            return
        assert math.isfinite(found.factor)
        assert found.factor > 0
        assert symbols_of(found, expands_si=True).is_none in (True, False)
        assert read_unit(found.text) == found


@cases(400)
@given(unit)
def test_any_text_is_a_quantity_or_an_error_in_words(text):
    with guarded("units"):
        try:
            found = read_quantity(text)
        except UnitError as error:
            check_words(error)
            return
        assert math.isfinite(found.value)
        assert read_unit(found.unit.text).dimension == found.unit.dimension


@cases(250)
@given(st.one_of(entries, soup, anything))
def test_any_list_of_units_is_read_or_refused_in_words(text):
    with guarded("units"):
        try:
            units = split_units(text)
        except UnitError as error:
            check_words(error)
            return
        assert units == "header" or all(column and isinstance(unit, str) for column, unit in units.items())


@cases(250)
@given(st.lists(st.one_of(entries, soup, anything), max_size=3), unit)
def test_any_named_constants_are_read_or_refused_in_words_and_stay_the_same_in_a_file(texts, target):
    with guarded("units"):
        try:
            units = read_table_units({"x": "m"}, target, split_known(texts), names=["x"])
        except UnitError as error:
            check_words(error)
            return
        assert decode_units(encode_units(units), units.names, "y") == units


@cases(150)
@given(st.one_of(unit, name))
def test_any_header_is_split_or_has_no_unit(text):
    with guarded("units"):
        parts = split_header(text)
        assert parts is None or (parts[0] and parts[0] in text and parts[1] in text)


@cases(150)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "units": st.one_of(st.dictionaries(st.sampled_from(["x", "g"]), unit, max_size=2), st.none(), unit),
            "target_unit": st.one_of(unit, st.integers()),
            "known": st.dictionaries(
                st.sampled_from(["g", "x"]), st.one_of(unit, st.lists(st.one_of(st.floats(), unit)))
            ),
            "constants": st.sampled_from(["", "any", "x", 3]),
        },
    )
)
def test_any_units_in_a_file_are_read_or_damage(settings):
    with guarded("units"):
        try:
            units = decode_units(settings, ["x", "g"], "y")
        except Damage as error:
            check_words(error)
            return
        assert units is None or units.names == ("x", "g")
