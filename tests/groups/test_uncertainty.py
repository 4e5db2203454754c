"""Standard errors of shared and own numbers, against the full information on all numbers at once."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.groups.fit import LAST_JOINT_EFFORT, fit_jointly
from spl.groups.uncertainty import measure_joint_curvature
from spl.noise.models import NORMAL

CODES = np.repeat(np.arange(5), 12)
DAYS = np.tile(np.arange(4), 15)


def measure(formula, rows):
    """Return the fit of a formula, the rows with its own numbers, and its curvature."""
    fitted = fit_jointly(formula, rows, LAST_JOINT_EFFORT).candidate(rows)
    names = tuple(each.name for each in fitted.own)
    extended = rows.extend(formula.scopes, tuple(np.array(each.values) for each in fitted.own), names)
    codes = [rows.groupings[scope].codes for scope in formula.scopes]
    return fitted, extended, measure_joint_curvature(fitted.program, fitted.own, extended, codes, 1)


def all_errors(curvature):
    own = [curvature.own_errors(place) for place in range(len(curvature.own))]
    return np.concatenate([curvature.shared_errors, *own])


def numerical_hessian(function, at):
    """Return the second derivatives of a function by central differences."""
    steps = np.diag(1e-4 * np.maximum(np.abs(at), 0.1))
    return np.array(
        [
            [
                (function(at + a + b) - function(at + a - b) - function(at - a + b) + function(at - a - b))
                / (4 * a.sum() * b.sum())
                for b in steps
            ]
            for a in steps
        ]
    )


def indicator(codes):
    return (codes[:, np.newaxis] == np.arange(codes.max() + 1)).astype(float)


def test_errors_come_from_the_hessian_of_the_likelihood(rng):
    x = rng.uniform(0.1, 3, 60)
    target = np.linspace(1, 3, 5)[CODES] * np.exp(-0.7 * x) + 0.01 * rng.normal(size=60)
    fitted, _, curvature = measure(make_formula("k1*exp(C*x)", [-0.7], (np.ones(5),)), make_rows(x, target, CODES))
    numbers = np.array([*fitted.program.constants, *fitted.own[0].values])

    def half_square(p):
        return 0.5 * np.sum((p[1:][CODES] * np.exp(p[0] * x) - target) ** 2)

    variance = 2 * half_square(numbers) / (60 - 6)
    expected = np.sqrt(variance * np.diag(np.linalg.inv(numerical_hessian(half_square, numbers))))
    np.testing.assert_allclose(all_errors(curvature), expected, rtol=0.02)
    assert curvature.degrees == 60 - 6


@pytest.fixture
def two_groupings(rng):
    """Return a linear formula of two groupings: its rows, its curvature, and the covariance of least squares."""
    x = rng.uniform(0.1, 3, 60)
    target = np.linspace(1, 3, 5)[CODES] * x + np.linspace(-1, 1, 4)[DAYS] + 0.5 * x**2 + 0.1 * rng.normal(size=60)
    formula = make_formula("C*x**2 + k1*x + k2", [1], (np.ones(5), np.zeros(4)), scopes=(0, 1))
    _, extended, curvature = measure(formula, make_rows(x, target, CODES, DAYS))
    design = np.column_stack([x**2, indicator(CODES) * x[:, np.newaxis], indicator(DAYS)])
    _, square, *_ = np.linalg.lstsq(design, target)
    return extended, curvature, design, square[0] / (60 - 10) * np.linalg.inv(design.T @ design)


def test_errors_of_two_groupings_are_those_of_least_squares(two_groupings):
    _, curvature, _, covariance = two_groupings
    np.testing.assert_allclose(all_errors(curvature), np.sqrt(np.diag(covariance)), rtol=1e-5)


def test_the_covariance_of_all_numbers_is_that_of_least_squares(two_groupings):
    _, curvature, _, covariance = two_groupings
    np.testing.assert_allclose(curvature.covariance(), covariance, rtol=1e-4, atol=1e-6 * np.abs(covariance).max())


def test_errors_of_values_are_those_of_least_squares(two_groupings):
    extended, curvature, design, covariance = two_groupings
    expected = np.sqrt(np.einsum("ni,ij,nj->n", design, covariance, design))
    np.testing.assert_allclose(curvature.value_errors(extended.columns, [CODES, DAYS]), expected, rtol=1e-5)


def test_known_error_bars_are_not_estimated_again(rng):
    x = rng.uniform(0.1, 3, 60)
    sigma = rng.uniform(0.1, 0.3, 60)
    rows = make_rows(x, (1.0 + CODES) * x + sigma * rng.normal(size=60), CODES, sigma=sigma, noise=NORMAL)
    _, _, curvature = measure(make_formula("k1*x", values=(np.ones(5),)), rows)
    expected = 1 / np.sqrt(np.bincount(CODES, (x / sigma) ** 2))
    factor = curvature.own_errors(0) / expected
    np.testing.assert_allclose(
        factor, factor[0], rtol=1e-5
    )  # error bars too small or too large count the same everywhere
    assert factor[0] == pytest.approx(1.0, abs=0.3)


def test_numbers_that_a_group_does_not_determine_have_infinite_errors(rng):
    codes = np.array([0] * 10 + [1] * 10 + [2])
    x = rng.uniform(0, 3, 21)
    rows = make_rows(x, x + 1 + 0.1 * rng.normal(size=21), codes)
    _, extended, curvature = measure(make_formula("k1*x + k2", values=(np.ones(3), np.zeros(3))), rows)
    for place in range(2):
        assert np.isfinite(curvature.own_errors(place)).tolist() == [True, True, False]
    assert np.isfinite(curvature.value_errors(extended.columns, [codes, codes])).tolist() == [True] * 20 + [False]


def test_intervals_hold_the_truth_as_often_as_they_say(rng):
    codes, truth = np.repeat(np.arange(10), 3), np.linspace(1, 3, 10)
    n_inside = []
    for _ in range(60):
        x = rng.uniform(0.5, 3, 30)
        rows = make_rows(x, truth[codes] * np.exp(-0.5 * x) + 0.05 * rng.normal(size=30), codes)
        fitted, _, curvature = measure(make_formula("k1*exp(C*x)", [-0.5], (truth,)), rows)
        found = np.array([*fitted.program.constants, *fitted.own[0].values])
        n_inside.append(np.abs(found - [-0.5, *truth]) <= curvature.quantile(0.9) * all_errors(curvature))
    assert 0.85 < np.mean(n_inside) < 0.95
