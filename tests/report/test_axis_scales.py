"""Positions and ticks of axes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.report.axis_scales import Scale, tick_labels

NUMBERS = st.floats(-1e12, 1e12).filter(lambda x: x == 0 or abs(x) > 1e-12)


@given(st.lists(NUMBERS, min_size=1, max_size=9))
def test_every_value_has_a_place_between_the_ends(values):
    scale = Scale.over(values, 100.0, 0.0)
    assert all(-1e-6 <= scale.place(value) <= 100 + 1e-6 for value in values)


@given(st.lists(NUMBERS, min_size=1, max_size=9), st.booleans())
def test_ticks_are_few_in_order_and_on_the_scale(values, is_log):
    scale = Scale.over(values, 0.0, 100.0, is_log=is_log)
    ticks = scale.ticks()
    room = 1e-6 * (scale.high - scale.low)
    assert ticks == sorted(ticks)
    assert 1 <= len(ticks) <= 12
    assert all(scale.low - room <= tick <= scale.high + room for tick in ticks)


@given(st.lists(NUMBERS, min_size=1, max_size=9), st.booleans())
def test_labels_tell_ticks_apart(values, is_log):
    ticks = Scale.over(values, 0.0, 100.0, is_log=is_log).ticks()
    assert len(set(tick_labels(ticks))) == len(ticks)


def test_a_logarithmic_scale_has_equal_steps_for_equal_factors():
    scale = Scale(1.0, 100.0, 0.0, 50.0, is_log=True)
    assert [scale.place(value) for value in (1.0, 10.0, 100.0)] == pytest.approx([0, 25, 50])


def test_values_of_zero_or_below_make_a_scale_linear():
    assert not Scale.over([0.0, 1.0], 0.0, 1.0, is_log=True).is_log


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, -math.inf]])
def test_without_finite_values_there_is_a_scale_all_the_same(values):
    assert Scale.over(values, 0.0, 1.0).ticks()


def test_few_powers_of_ten_have_other_round_numbers_between_them():
    assert tick_labels(Scale(0.15, 12.0, 0.0, 1.0, is_log=True).ticks()) == ["0.2", "0.5", "1", "2", "5", "10"]
