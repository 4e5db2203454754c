"""Programs made from sympy mean what the expression means, and are written as people would."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.own_operators import SINC
from tests.program_twins import WORDS, positive_columns, programs, read, twin_values, well_conditioned_values

from spl.errors import ExpressionError
from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk
from spl.notation.from_sympy import from_sympy
from spl.notation.to_sympy import to_sympy

X, Y, RATE = (sympy.Symbol(name) for name in WORDS.variables)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(program=programs(), real=st.booleans(), fitted=st.booleans())
def test_the_way_through_sympy_and_back_keeps_the_values(program: Program, real: bool, fitted: bool) -> None:
    columns = positive_columns()
    values = well_conditioned_values(program, columns)
    back = from_sympy(to_sympy(program, real), WORDS, fitted=fitted)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(twin_values(back, columns)[-1], values, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (X**2, "x**2"),
        (X**3 + 1, "x**3 + 1"),
        (1 / X, "1/x"),
        (Y / X, "y/x"),
        (X**-2, "x**-2"),
        (Y * X**-2, "y/x**2"),
        (sympy.sqrt(X), "sqrt(x)"),
        (1 / sympy.sqrt(X), "1/sqrt(x)"),
        (Y - X, "y - x"),
        (-X - 2 * Y, "-2*y - x"),
        (2 - X, "2 - x"),
        (X / 2, "x/2"),
        (X / (2 * Y), "x/(2*y)"),
        (-X / 2, "-0.5*x"),
        (X * sympy.exp(-Y), "x/exp(y)"),
        (sympy.exp(-2 * Y), "exp(-2*y)"),
        (sympy.Abs(X) * sympy.Max(X, Y, 1), "abs(x)*max(max(x, y), 1)"),
        (sympy.sqrt(2) * X, "1.4142135623730951*x"),
        (sympy.cot(X), "1/tan(x)"),
        (RATE**Y, "'flow rate [m/s]'**y"),
    ],
)
def test_sympy_is_written_as_people_would(expression: sympy.Expr, text: str) -> None:
    assert to_text(from_sympy(expression, WORDS)) == text


@pytest.mark.parametrize("text", ["cbrt(x)", "1/cbrt(x)", "cbrt(x*y)**2"])
@pytest.mark.parametrize("real", [True, False])
def test_the_real_cube_root_survives_sympy(text: str, real: bool) -> None:
    columns = np.array([[-2.0, 3.0, -0.5], [1.0, 2.0, -3.0], [1.0, 1.0, 1.0]])
    program = read(text)
    back = from_sympy(to_sympy(program, real), WORDS)
    np.testing.assert_allclose(twin_values(back, columns)[-1], twin_values(program, columns)[-1], rtol=1e-12)
    assert tk.CBRT in back.tokens


def test_numbers_are_literals_unless_fitted_ones_are_asked_for() -> None:
    expression = sympy.Float(0.48) * X + sympy.Rational(1, 7)
    assert from_sympy(expression, WORDS).n_constants == 0
    assert from_sympy(expression, WORDS, fitted=True).constants == (0.48,)


def test_a_number_that_the_vocabulary_has_is_a_literal_all_the_same() -> None:
    words = Vocabulary(("x",), literals=(0.48,))
    assert from_sympy(sympy.Float(0.48) * X, words, fitted=True).n_constants == 0


def test_the_vocabulary_that_was_given_is_not_changed() -> None:
    before = WORDS.literals
    assert from_sympy(X + 17, WORDS).vocabulary.literals == (*before, 17.0)
    assert WORDS.literals == before


def test_an_operator_of_the_user_is_found_by_its_name() -> None:
    words = Vocabulary(("x",), own=(SINC,))
    assert to_text(from_sympy(sympy.Function("sinc")(X) + 1, words)) == "sinc(x) + 1"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Abs", "sec", "re"])
def test_an_operator_of_the_user_named_like_a_function_of_sympy_stays_apart_from_it(name):
    words = Vocabulary(("x",), own=(Operator(name, lambda x: x + 1),))
    for text in (f"{name}(x)", "abs(x)", "1/cos(x)"):
        program = parse_expression(text, words)
        assert to_text(from_sympy(to_sympy(program), words)) == text


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(ExpressionError, match="There is no operator 'gamma'"):
        from_sympy(sympy.gamma(X), WORDS)


def test_an_unknown_column_is_named() -> None:
    with pytest.raises(ExpressionError, match="There is no column 'z'"):
        from_sympy(sympy.Symbol("z") + X, WORDS)


@pytest.mark.parametrize("number", [sympy.I, sympy.nan, sympy.oo, sympy.zoo, sympy.log(-1)])
def test_a_number_that_is_not_real_is_refused(number: sympy.Expr) -> None:
    with pytest.raises(ExpressionError, match="not a real number"):
        from_sympy(number, WORDS)
