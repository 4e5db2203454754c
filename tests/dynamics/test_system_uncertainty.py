"""Numbers of a system: intervals, correlations and draws agree with each other and with what noise does."""

import numpy as np
import pytest
from scipy.stats import t as student
from tests.dynamics.followed_examples import T, follow

from spl.dynamics.system_uncertainty import SystemCurvature, correlate_constants, find_intervals

SPIRAL = {"x": "y", "y": "-C*x - C*y"}
LAW = {"x": "y", "y": "-1.3*x - 0.2*y"}


@pytest.fixture(scope="module")
def spiral():
    return follow(SPIRAL, [(2.0, 0.0)], law=LAW, constants=[1.25, 0.22])


def test_an_interval_is_a_quantile_of_the_standard_error(spiral):
    found = find_intervals(spiral, 0.9)
    errors = spiral.fitted.standard_errors
    for number, error in zip(found, errors, strict=True):
        half = student.ppf(0.95, 2 * T.size - 2 - 2) * error
        assert number.upper - number.lower == pytest.approx(2 * half, rel=1e-6)
        assert number.lower < number.value < number.upper
    assert found[0].term.startswith("[-1.")
    assert {number.state for number in found} == {"y"}


def test_intervals_hold_the_truth(spiral):
    truths = (-1.3, -0.2)
    for number, truth in zip(find_intervals(spiral, 0.999), truths, strict=True):
        assert number.lower < truth < number.upper


def test_a_rounded_number_has_the_interval_of_a_fitted_one(spiral):
    rounded = follow({"x": "y", "y": "-1.3*x - 0.2*y"}, [(2.0, 0.0)])
    widths = [number.upper - number.lower for number in find_intervals(rounded, 0.95)]
    expected = [number.upper - number.lower for number in find_intervals(spiral, 0.95)]
    np.testing.assert_allclose(widths, expected, rtol=0.2)


def test_correlations_are_those_of_the_draws(spiral):
    labels, correlations = correlate_constants(spiral)
    assert [label[:3] for label in labels] == ["y: ", "y: "]
    np.testing.assert_allclose(np.diag(correlations), 1.0)
    draws = SystemCurvature.of(spiral, spiral.system).draw(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.corrcoef(draws.T), correlations, atol=0.03)
    np.testing.assert_allclose(draws.std(axis=0), spiral.fitted.standard_errors, rtol=0.03)
    np.testing.assert_allclose(draws.mean(axis=0), spiral.system.constants, atol=1e-4)


def test_what_the_data_does_not_determine_has_an_open_interval():
    twice = follow({"x": "C*x + C*x"}, [(1.0,)], law={"x": "-x"}, constants=[-0.4, -0.6], t=np.linspace(0, 3, 60))
    for number in find_intervals(twice, 0.95):
        assert (number.lower, number.upper) == (-np.inf, np.inf)
    assert np.isnan(correlate_constants(twice)[1]).all()
