"""Intervals by profile: against those that are known exactly, and where the curvature misleads."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from spl.bench.trust_coverage import LAWS, measure_coverage
from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import POISSON
from spl.regression.fit import POLISH_EFFORT, fit
from spl.regression.profile_intervals import find_profile_interval
from spl.regression.uncertainty import place_numbers

X = np.linspace(0.0, 4.0, 30)
WAVES = np.cos(50 * X)


def make_numbers(text, constants, y, noise=None):
    data = replace(Dataset.from_arrays(X[:, np.newaxis], y, names=["x"]), noise=noise)
    program = parse_expression(text, Vocabulary(("x",))).with_constants(np.array(constants))
    return place_numbers(fit(program, data, effort=POLISH_EFFORT).program, data), data


def intervals(text, constants, y, noise=None, level=0.95):
    numbers, data = make_numbers(text, constants, y, noise)
    return [
        (find_profile_interval(number, data, level), number.curvature.interval(number.place, level))
        for number in numbers
    ]


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_for_linear_constants_it_is_the_interval_of_the_curvature(level):
    for profile, curvature in intervals("C*x + C", (2.0, 1.0), 2 * X + 1 + WAVES, level=level):
        assert profile == pytest.approx(curvature, rel=1e-2)


def test_a_rate_of_counts_has_the_interval_of_its_likelihood():
    counts = np.array([0.0, 1.0, 2.0] * 10)
    [(profile, _)] = intervals("C", (1.0,), counts, POISSON)

    def rise(rate):
        return 2 * (30 * rate - 30 * math.log(rate) - 30) - 1.96**2

    assert profile == pytest.approx((brentq(rise, 0.1, 1.0), brentq(rise, 1.0, 5.0)), rel=2e-3)


def test_a_constant_may_have_no_upper_limit():
    y = np.where(X > 0, 0.0, 1.0) + 0.3 * WAVES  # over before the second row: any fast decay will do
    [_, (profile, _)] = intervals("C*exp(-C*x)", (1.0, 20.0), y)
    assert 0 < profile[0] < profile[1] == math.inf


def test_undetermined_constants_have_no_limits():
    assert [profile for profile, _ in intervals("C*(C*x)", (2.0, 3.0), 6 * X + WAVES)] == [(-math.inf, math.inf)] * 2


def test_of_an_exact_law_rounding_errors_are_not_profiled():
    for profile, curvature in intervals("C*x + C", (2.1, 1.3), 2.1 * X + 1.3):
        assert profile == curvature


@pytest.mark.slow
def test_19_of_20_intervals_hold_the_true_constant():
    assert 0.9 <= measure_coverage(LAWS[3], 0.2, 20, 60, has_profile=True).shares[3] <= 0.99
