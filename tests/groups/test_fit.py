"""The joint fit agrees with plain least squares and plain maximum likelihood on all numbers at once."""

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize
from tests.groups.tables import make_formula, make_rows

from spl.groups.fit import LAST_JOINT_EFFORT, can_be_fitted, fit_jointly, loss_of_fit
from spl.kernels.programs import tokens as tk
from spl.noise.models import POISSON

CODES = np.repeat(np.arange(5), 12)
DAYS = np.tile(np.arange(4), 15)


@pytest.fixture
def x(rng):
    return rng.uniform(0.1, 3.0, CODES.size)


def indicator(codes):
    return (codes[:, np.newaxis] == np.arange(codes.max() + 1)).astype(float)


def test_a_linear_formula_has_the_numbers_of_least_squares(rng, x):
    target = rng.uniform(1, 3, 5)[CODES] * x + 0.7 + 0.1 * rng.normal(size=x.size)
    weights = rng.uniform(0.5, 2, x.size)
    found = fit_jointly(make_formula("k1*x + C", [1], (np.ones(5),)), make_rows(x, target, CODES, weights=weights))
    design, root = np.column_stack([indicator(CODES) * x[:, np.newaxis], np.ones(x.size)]), np.sqrt(weights)
    expected, square, *_ = np.linalg.lstsq(design * root[:, np.newaxis], target * root)
    np.testing.assert_allclose([*found.formula.values[0], *found.formula.program.constants], expected, rtol=1e-8)
    assert found.loss == pytest.approx(np.sqrt(square[0] / weights.sum()), rel=1e-9)


def test_numbers_of_two_groupings_have_the_loss_of_least_squares(rng, x):
    target = rng.uniform(1, 3, 5)[CODES] * x + rng.uniform(-2, 2, 4)[DAYS] + 0.1 * rng.normal(size=x.size)
    formula = make_formula("k1*x + k2", values=(np.ones(5), np.zeros(4)), scopes=(0, 1))
    found = fit_jointly(formula, make_rows(x, target, CODES, DAYS))
    expected, square, *_ = np.linalg.lstsq(
        np.column_stack([indicator(CODES) * x[:, np.newaxis], indicator(DAYS)]), target
    )
    np.testing.assert_allclose(np.concatenate(found.formula.values), expected, rtol=1e-7)
    assert found.loss == pytest.approx(np.sqrt(square[0] / x.size), rel=1e-9)


def test_a_nonlinear_formula_has_the_numbers_of_scipy(rng, x):
    target = rng.uniform(1, 3, 5)[CODES] * np.exp(-0.7 * x) + 0.02 * rng.normal(size=x.size)
    found = fit_jointly(
        make_formula("k1*exp(C*x)", [-1], (np.ones(5),)), make_rows(x, target, CODES), LAST_JOINT_EFFORT
    )
    expected = least_squares(
        lambda p: p[CODES] * np.exp(p[5] * x) - target, np.r_[np.ones(5), -1], xtol=1e-12, ftol=1e-12
    )
    np.testing.assert_allclose([*found.formula.values[0], *found.formula.program.constants], expected.x, rtol=1e-5)
    assert found.loss == pytest.approx(np.sqrt(2 * expected.cost / x.size), rel=1e-9)


def test_counts_have_the_numbers_of_maximum_likelihood(rng, x):
    target = rng.poisson(rng.uniform(5, 50, 5)[CODES] * np.exp(-0.5 * x)).astype(float)
    start = np.array([target[group == CODES].mean() for group in range(5)])
    found = fit_jointly(make_formula("k1*exp(C*x)", [-0.1], (start,)), make_rows(x, target, CODES, noise=POISSON))

    def nats(p):
        logs = p[CODES] + p[5] * x
        return np.sum(np.exp(logs) - target * logs)

    expected = minimize(nats, np.r_[np.log(start), -0.1], method="BFGS").x
    np.testing.assert_allclose(np.log(found.formula.values[0]), expected[:5], atol=2e-3)
    np.testing.assert_allclose(found.formula.program.constants, expected[5:], atol=2e-3)


def test_blocks_are_sums_over_the_rows_of_each_group(rng, x):
    found = fit_jointly(
        make_formula("k1*x + C", [1], (np.ones(5),)), make_rows(x, 2 * x + rng.normal(size=x.size), CODES)
    )
    [own], [cross] = found.blocks.own, found.blocks.cross
    np.testing.assert_allclose(own[:, 0, 0], np.bincount(CODES, x**2))
    np.testing.assert_allclose(cross[:, 0, 0], np.bincount(CODES, x))
    np.testing.assert_allclose(found.blocks.shared, [[x.size]])


def test_there_is_no_fit_outside_the_domain_of_one_group(x):
    formula = make_formula("k1*log(x)", values=(np.ones(5),))
    rows = make_rows(x, x, CODES)
    assert np.isfinite(loss_of_fit(fit_jointly(formula, rows)))
    shifted = make_rows(np.where(CODES == 3, -x, x), x, CODES)
    assert fit_jointly(formula, shifted) is None
    assert loss_of_fit(None) == np.inf


def test_a_formula_with_too_many_places_for_numbers_is_not_fitted(x):
    text = " + ".join(["k1*x"] * (tk.MAX_CONSTANTS + 1))
    formula = make_formula(text, values=(np.ones(5),))
    assert not can_be_fitted(formula)
    assert fit_jointly(formula, make_rows(x, x, CODES)) is None


def test_groups_without_rows_have_no_number(x):
    rows = make_rows(x, 2 * x, CODES)
    kept = rows.take(np.flatnonzero(CODES != 2))
    [own] = fit_jointly(make_formula("k1*x", values=(np.ones(5),)), kept).candidate(kept).own
    np.testing.assert_allclose(own.values, [2, 2, np.nan, 2, 2])
