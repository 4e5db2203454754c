"""Formulas in sympy mean what the program means."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.own_operators import SINC
from tests.program_twins import WORDS, positive_columns, programs, read, well_conditioned_values

from spl.errors import ExpressionError
from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.notation.from_sympy import from_sympy
from spl.notation.to_sympy import sympy_number, to_sympy

X, RATE = sympy.Symbol("x"), sympy.Symbol("flow rate [m/s]")


def sympy_values(expression: sympy.Expr, real: bool, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    symbols = [sympy.Symbol(name, real=True if real else None) for name in WORDS.variables]
    function = sympy.lambdify(symbols, expression, modules="numpy")
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(function(*columns)), columns[0].shape)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(program=programs(), real=st.booleans(), exact=st.booleans())
def test_sympy_has_the_values_of_the_program(program: Program, real: bool, exact: bool) -> None:
    columns = positive_columns()
    values = well_conditioned_values(program, columns)
    found = sympy_values(to_sympy(program, real, exact=exact), real, columns)
    np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-10)


def test_column_names_may_be_any_text() -> None:
    assert to_sympy(read("2 * 'flow rate [m/s]'")) == 2 * RATE


def test_a_number_before_a_sum_is_not_spread_over_it() -> None:
    assert str(to_sympy(read("C * (x + y)", 2.3))) == "2.3*(x + y)"
    assert str(to_sympy(read("(x + y) / 2"))) == "(x + y)/2"


def test_exact_says_whether_constants_become_fractions() -> None:
    assert to_sympy(read("C * x", 0.25)) == X / 4
    assert to_sympy(read("C * x", 0.25), exact=False) == sympy.Float(0.25) * X


def test_an_operator_of_the_user_becomes_a_function_of_its_name() -> None:
    words = Vocabulary(("x",), own=(SINC,))
    assert to_sympy(parse_expression("sinc(x) + 1", words)) == sympy.Function("sinc")(X) + 1


def test_an_operator_of_the_user_becomes_its_form_in_sympy_unless_it_is_to_stay_opaque() -> None:
    words = Vocabulary(("x",), own=(Operator("twice", lambda x: 2 * x, sympy=lambda x: 2 * x),))
    program = parse_expression("twice(x)", words)
    assert to_sympy(program) == 2 * X
    assert to_sympy(program, opaque=True) == sympy.Function("twice")(X)


@pytest.mark.parametrize("text", ["log(-1) * x", "min(sqrt(-2), x)", "x / 0", "x + 0 / 0"])
def test_what_has_no_real_value_is_nan(text: str) -> None:
    assert to_sympy(read(text)) is sympy.nan


def test_towers_of_powers_are_not_written_out() -> None:
    assert to_sympy(read("9 ** 9 ** 9")) is sympy.oo
    assert to_sympy(read("exp(exp(exp(exp(9))))")) is sympy.oo
    with pytest.raises(ExpressionError, match="beyond floating point"):
        to_sympy(read("((2 * x) ** 64) ** 64"))


@pytest.mark.parametrize("opaque", [False, True])
def test_nested_hyperbolic_functions_are_left_as_they_are(opaque: bool) -> None:
    """Evaluated level by level, these six would take sympy longer than all other tests together."""
    text = "x/y"
    for _ in range(6):
        text = f"tanh({text} + sqrt({text}))" if len(text) < 20 else f"tanh({text} + y)"
    program = parse_expression(text, Vocabulary(("x", "y")))
    expression = to_sympy(program, real=opaque, opaque=opaque)
    assert len(expression.atoms(sympy.core.function.Application)) >= 6
    assert from_sympy(expression, program.vocabulary).tokens.count(tk.TANH) == program.tokens.count(tk.TANH)


def test_constants_without_a_value_are_refused() -> None:
    with pytest.raises(ExpressionError, match="Fit them first"):
        to_sympy(read("C * x"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2.0, sympy.Integer(2)),
        (-7.0, sympy.Integer(-7)),
        (0.5, sympy.Rational(1, 2)),
        (0.1, sympy.Rational(1, 10)),
        (-2 / 3, sympy.Rational(-2, 3)),
        (100 / 3, sympy.Rational(100, 3)),
        (float(np.pi * 2), 2 * sympy.pi),
        (-math.pi / 12, -sympy.pi / 12),
        (4 / 3 * math.pi, sympy.pi * 4 / 3),
    ],
)
def test_simple_numbers_are_recognised(value: float, expected: sympy.Expr) -> None:
    assert sympy_number(value) == expected


@pytest.mark.parametrize("value", [0.48, 9.8, 3.14159, 1 / 13, 0.3333, 1.2345678901234567, 1e300])
def test_other_numbers_stay_floats_of_full_precision(value: float) -> None:
    assert sympy_number(value).is_Float
    assert float(sympy_number(value)) == value


def test_a_number_off_by_rounding_is_recognised_only_if_asked() -> None:
    value = math.nextafter(0.5, 1)
    assert sympy_number(value).is_Float
    assert sympy_number(value, ulps=2) == sympy.Rational(1, 2)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_stays_none(value: float) -> None:
    assert sympy_number(value) in (sympy.nan, sympy.oo, -sympy.oo)
