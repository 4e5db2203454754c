"""Numbers that people would write as fractions are found, and no others."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.formulas.nice_numbers import NiceNumber, find_nice_number, write_nice_number


@given(numerator=st.integers(-12, 12).filter(bool), denominator=st.integers(1, 12))
def test_every_small_fraction_is_found_in_lowest_terms(numerator: int, denominator: int) -> None:
    common = math.gcd(numerator, denominator)
    expected = NiceNumber(numerator // common, denominator // common, of_pi=False)
    assert find_nice_number(numerator / denominator) == expected


@given(numerator=st.integers(-1000, 1000).filter(bool), denominator=st.sampled_from([1, 2, 3, 4, 6, 12]))
def test_a_multiple_of_pi_is_found_however_it_was_computed(numerator: int, denominator: int) -> None:
    for value in (numerator * math.pi / denominator, numerator * (math.pi / denominator)):
        found = find_nice_number(value)
        assert found is not None
        assert found.of_pi
        assert found.numerator * denominator == numerator * found.denominator


@pytest.mark.parametrize("value", [9.8, 0.48, 1 / 13, 3.14159, 1e300, math.nan, math.inf])
def test_other_numbers_are_none(value: float) -> None:
    assert find_nice_number(value) is None


def test_zero_is_a_whole_number() -> None:
    assert find_nice_number(0.0) == NiceNumber(0, 1, of_pi=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (-7, "-7"),
        (2 / 3, "2/3"),
        (-2 / 3, "-2/3"),
        (math.pi, "pi"),
        (-math.pi, "-pi"),
        (math.pi / 4, "pi/4"),
        (-3 * math.pi / 4, "-3*pi/4"),
        (12 * math.pi, "12*pi"),
        (0.48, "0.48"),
    ],
)
def test_numbers_are_written_as_people_do(value: float, text: str) -> None:
    assert write_nice_number(value, 6) == text
