"""Operators of the user are followed through their functions, and refused where they cannot be."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from spl.errors import OperatorError
from spl.formulas.operators import BUILT_IN, Operator
from spl.formulas.text import to_text
from spl.notation.operator_tracing import trace_function, trace_operator
from spl.regression.fit import evaluate

POINTS = np.array([[0.3, 0.7, 0.9], [0.5, 0.2, 0.8]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sin(x) / x,
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x: 2**x + x**0.5 - x**-1 + (-x) ** 3 + x**1.7,
        lambda x: np.maximum(x, 0.5) - abs(-x) * np.float64(2) + +x,
        lambda x: np.log10(x) + np.log2(x) * np.exp2(x) + np.reciprocal(x) + np.square(x),
        lambda x, y: np.hypot(x, y) + np.arctan(y / x) - np.power(x, y),
        *(row.function for row in BUILT_IN.values()),
    ],
)
def test_a_function_of_numpy_is_followed(function: Callable[..., Any]) -> None:
    operator = Operator("mine", function)
    points = POINTS[: operator.arity]
    np.testing.assert_allclose(evaluate(trace_operator(operator), points), function(*points), rtol=1e-13)


def test_a_function_that_does_not_look_at_its_argument_is_a_number() -> None:
    assert to_text(trace_operator(Operator("two", lambda x: 2))) == "2"


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x if x > 0 else -x,
        lambda x: np.where(x > 0, x, 0),
        lambda x: max(x, 0),
        lambda x: math.sin(x),
        lambda x: np.sinc(x),
        lambda x: np.log1p(x),
        lambda x: x + math.inf,
        lambda x: 1.0 if x else 0.0,
    ],
)
def test_a_function_that_cannot_be_followed_is_refused_with_the_remedy(function: Callable[..., Any]) -> None:
    with pytest.raises(OperatorError, match=r"Operator 'mine' cannot be written in another language.*sympy="):
        trace_operator(Operator("mine", function))


def test_the_form_in_sympy_is_taken_where_the_function_cannot_be_followed() -> None:
    relu = Operator("relu", lambda x: x if x > 0 else 0.0, sympy=lambda x: sympy.Max(x, 0))
    assert to_text(trace_operator(relu)) == "max(a, 0)"


def test_a_form_in_sympy_beyond_our_operators_is_refused_by_name() -> None:
    error = Operator("erf", lambda x: math.erf(x), sympy=lambda x: sympy.erf(x))
    with pytest.raises(OperatorError, match=r"'erf' cannot be written in another language: There is no operator 'erf'"):
        trace_operator(error)


def test_a_loop_whose_formula_doubles_with_each_step_ends_early() -> None:
    def square_often(x: Any) -> Any:
        for _ in range(60):
            x = x * x
        return x

    with pytest.raises(ValueError, match="the formula is too long"):
        trace_function(square_often, 1)
