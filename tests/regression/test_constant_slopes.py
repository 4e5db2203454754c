"""Derivatives by constants, against those of the formulas by hand."""

import numpy as np
import pytest

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.constant_slopes import slopes_by_constants

X = np.linspace(0.2, 3.0, 40)


def slopes(text, *constants, x=X):
    program = parse_expression(text, Vocabulary(("x",))).with_constants(np.array(constants))
    return slopes_by_constants(program, x[np.newaxis])


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("C*x", (2.0,), [X]),
        ("C*x", (0.0,), [X]),
        ("C*x", (1e-30,), [X]),
        ("C + x", (3e12,), [np.ones(40)]),
        ("C*exp(C*x)", (2.0, -0.7), [np.exp(-0.7 * X), 2 * X * np.exp(-0.7 * X)]),
        ("sin(C*x)", (1e5,), [X * np.cos(1e5 * X)]),
        ("x/(C + x)", (0.4,), [-X / (0.4 + X) ** 2]),
    ],
)
def test_slopes_are_those_of_the_formula(text, constants, expected):
    found = slopes(text, *constants)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_a_formula_without_constants_has_no_slopes():
    assert slopes("sin(x)").shape == (0, 40)


def test_at_the_edge_of_its_domain_a_formula_has_the_slope_of_one_side():
    found = slopes("sqrt(C + x)*(C + x)", 0.0, 1.0, x=np.array([0.0, 1.0]))
    assert np.isfinite(found[1]).all()


def test_where_there_is_no_value_there_is_no_slope():
    found = slopes("log(C*x)", 2.0, x=np.array([-1.0, 1.0]))
    assert np.isnan(found[0]).tolist() == [True, False]
