"""Numbers with separators are read as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.data.decimals import find_decimal_mark, needs_point, parse_number


def european(text):
    return text.translate(str.maketrans(",.", ".,"))


@given(st.floats(-1e12, 1e12, allow_nan=False))
def test_a_number_with_separators_comes_back(number):
    text = f"{number:,.3f}"
    assert parse_number(text) == float(f"{number:.3f}")
    assert parse_number(european(text), ",") == float(f"{number:.3f}")
    assert parse_number(text.replace(",", " ")) == float(f"{number:.3f}")


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", ",", "1,23", "1,2345", "1,234,56", "01,234", "0,123", "1,234 567", "1e", "x", "1,,234", "9" * 99],
)
def test_what_is_no_number_is_none(text):
    assert parse_number(text) is None


@given(st.floats(1000, 1e9), st.floats(0.01, 0.99))
def test_the_mark_is_found_where_it_can_be_told(large, small):
    texts = [f"{large:,.1f}", f"{small:.2f}"]
    assert find_decimal_mark(texts) == "."
    assert find_decimal_mark(map(european, texts)) == ","
    assert needs_point(texts)
    assert not needs_point(map(european, texts))
