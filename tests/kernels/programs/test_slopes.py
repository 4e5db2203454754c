"""Slopes of operators against central differences, and at the points where there is a choice."""

import numpy as np
import pytest
from tests.kernels.program_twins import BINARY, UNARY, power_token

from spl.kernels.programs import tokens as tk
from spl.kernels.programs.slopes import scale_by_slope, scale_by_slope_of
from spl.kernels.programs.vector_math import TRIG_LIMIT

NO_USER = np.zeros((0, 3), np.int64)
STEP = 1e-6
SIZES = np.array([0.1, 0.35, 0.7, 0.9, 1.3, 2.2, 3.7])
POSITIVE_ONLY = (tk.SQRT, tk.LOG)
WITHIN_ONE = (tk.ASIN, tk.ACOS)


def arguments_of(token):
    """Return points inside the domain of an operator, away from its edges."""
    if token in POSITIVE_ONLY:
        return SIZES
    return np.concatenate([SIZES, -SIZES]) if token not in WITHIN_ONE else np.array([-0.9, -0.3, 0.2, 0.8])


def slope_of(token, x, value, factor=1.0):
    """Return the factor times the slope, from a tape with the operand and the value."""
    n = x.size
    g = np.concatenate([np.full(n, factor), np.zeros(n)])
    scale_by_slope(token, NO_USER, g, 0, n, np.concatenate([x, value]), 0, n, n)
    return g[:n]


def slopes_of(operand, token, a, b, value, factor=1.0):
    n = a.size
    g = np.concatenate([np.full(n, factor), np.zeros(n)])
    scale_by_slope_of(operand, token, NO_USER, g, 0, n, np.concatenate([a, b, value]), 0, n, 2 * n, n)
    return g[:n]


def difference(function, x):
    h = STEP * np.abs(x)
    return (function(x + h) - function(x - h)) / (2 * h)


@pytest.mark.parametrize("token", UNARY)
def test_the_slope_of_a_unary_operator_is_the_central_difference(token):
    x = arguments_of(token)
    function = UNARY[token]
    np.testing.assert_allclose(
        slope_of(token, x, function(x), 3.0), 3.0 * difference(function, x), rtol=1e-7, atol=1e-8
    )


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 7])
def test_the_slope_of_a_power_is_the_central_difference(exponent):
    x = np.concatenate([SIZES, -SIZES])
    found = slope_of(power_token(exponent), x, x ** float(exponent), -2.0)
    np.testing.assert_allclose(found, -2.0 * difference(lambda v: v ** float(exponent), x), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("operand", [0, 1])
@pytest.mark.parametrize("token", BINARY)
def test_the_slope_of_a_binary_operator_is_the_central_difference(token, operand):
    a, b = (grid.ravel() for grid in np.meshgrid(SIZES, SIZES * 1.07))
    function = BINARY[token]
    if operand == 0:
        expected = difference(lambda v: function(v, b), a)
    else:
        expected = difference(lambda v: function(a, v), b)
    found = slopes_of(operand, token, a, b, function(a, b), 3.0)
    np.testing.assert_allclose(found, 3.0 * expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("token", "slope"), [(tk.SIN, np.cos), (tk.COS, lambda x: -np.sin(x))])
def test_slopes_of_waves_hold_beyond_the_limit_of_the_vector_functions(token, slope):
    x = np.array([0.3, 3 * TRIG_LIMIT, -1e8])
    np.testing.assert_allclose(slope_of(token, x, UNARY[token](x)), slope(x), rtol=1e-10)


@pytest.mark.parametrize("token", [tk.ABS, tk.SIGN])
def test_the_slope_at_a_kink_is_0(token):
    assert slope_of(token, np.zeros(1), np.zeros(1))[0] == 0.0


@pytest.mark.parametrize("token", [tk.MIN, tk.MAX])
def test_in_a_tie_the_first_operand_has_the_slope(token):
    tie = np.array([2.0])
    assert slopes_of(0, token, tie, tie, tie)[0] == 1.0
    assert slopes_of(1, token, tie, tie, tie)[0] == 0.0


@pytest.mark.parametrize(("exponent", "expected"), [(2.0, 0.0), (1.0, 1.0), (0.0, 0.0), (0.5, np.nan)])
def test_the_slope_of_a_power_at_0_by_its_base(exponent, expected):
    a, b = np.zeros(1), np.array([exponent])
    np.testing.assert_array_equal(slopes_of(0, tk.POW, a, b, a**b), [expected])


def test_the_slope_of_a_power_of_0_by_its_exponent_is_0():
    assert slopes_of(1, tk.POW, np.zeros(1), np.array([2.0]), np.zeros(1))[0] == 0.0


def test_a_sum_passes_the_derivative_on():
    a, b = np.array([1.0]), np.array([4.0])
    assert slopes_of(0, tk.ADD, a, b, a + b, 5.0)[0] == slopes_of(1, tk.ADD, a, b, a + b, 5.0)[0] == 5.0
    assert slopes_of(1, tk.SUB, a, b, a - b, 5.0)[0] == -5.0
