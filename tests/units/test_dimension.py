from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from spl.units.dimension import NO_DIMENSION, Dimension, bases_of, exact_fraction

exponents = st.fractions(-3, 3, max_denominator=6)
dimensions = st.dictionaries(st.sampled_from(["length", "time", "mass"]), exponents).map(Dimension.of)


@given(dimensions, dimensions)
def test_dividing_undoes_multiplying(one, other):
    assert one * other / other == one


@given(dimensions, exponents)
def test_powers_of_powers_multiply(dimension, exponent):
    assert (dimension**exponent) ** Fraction(2) == dimension ** (2 * exponent)


@given(dimensions)
def test_a_quotient_of_equals_has_no_dimension(dimension):
    assert (dimension / dimension).is_none
    assert dimension / dimension == NO_DIMENSION


def test_the_order_in_which_bases_are_named_does_not_matter():
    assert Dimension.of({"time": -1, "length": 1}) == Dimension.of({"length": 1, "time": -1, "mass": 0})


def test_bases_are_those_that_occur():
    assert bases_of([Dimension.of({"time": 2}), NO_DIMENSION, Dimension.of({"mass": 1, "time": 1})]) == ("mass", "time")


@given(st.fractions(-20, 20, max_denominator=12))
def test_simple_fractions_are_recognised_from_floats(fraction):
    assert exact_fraction(float(fraction)) == fraction


def test_other_numbers_are_no_simple_fractions():
    assert [exact_fraction(value) for value in (0.123, 3.14159, 1e9, float("nan"), float("inf"))] == [None] * 5
