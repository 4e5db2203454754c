"""Values and derivatives of programs, compared with the twin and with exact derivatives of sympy."""

import numpy as np
import pytest
import sympy
from tests.program_twins import WORDS, draw_programs, positive_columns, read, twin_values

from spl.formulas.operators import Operator
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.knowledge.values import derivatives_at, values_at
from spl.notation.to_sympy import to_sympy


def test_values_are_those_of_the_twin():
    columns = positive_columns()
    for program in draw_programs(150, seed=1):
        np.testing.assert_allclose(values_at(program, columns), twin_values(program, columns)[-1], rtol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_are_those_of_differences(order):
    """Central differences of long doubles are right to about 7 digits."""
    columns = positive_columns()
    step = np.longdouble(1e-5 if order == 1 else 1e-4)
    n_compared = 0
    for program in draw_programs(150, seed=2):
        moved = [columns.astype(np.longdouble) for _ in range(3)]
        moved[0][0] -= step
        moved[2][0] += step
        with np.errstate(all="ignore"):
            low, middle, high = (twin_values(program, each)[-1] for each in moved)
            expected = (high - low) / (2 * step) if order == 1 else (high - 2 * middle + low) / step**2
        found = derivatives_at(program, columns, 0, order)
        is_known = np.isfinite(found) & np.isfinite(expected.astype(float)) & (np.abs(found) < 1e4)
        size = np.max(np.abs(expected[is_known]), initial=1.0)
        error = np.abs(found - expected)[is_known]
        n_compared += int(is_known.sum())
        assert np.median(error, axis=None) <= 1e-4 * size if error.size else True, program
    assert n_compared > 500


@pytest.mark.parametrize(
    "text",
    [
        "x**3 - 2*x",
        "exp(-x**2)",
        "sin(x)*y",
        "x/(1 + x)",
        "sqrt(1 + x**2)",
        "log(x)**2",
        "tanh(x)",
        "atan(x*y)",
        "x**y",
        "2**x",
        "cbrt(x)",
        "1/x**2",
        "asin(x/9)",
        "cosh(x)/x",
    ],
)
@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_are_those_of_sympy(text, order):
    program, columns = read(text), positive_columns()
    x, y = sympy.symbols("x y", real=True)
    expression = sympy.diff(
        to_sympy(program).subs({s: {"x": x, "y": y}[s.name] for s in to_sympy(program).free_symbols}), x, order
    )
    expected = np.array([float(expression.subs({x: a, y: b})) for a, b in zip(*columns[:2], strict=True)])
    np.testing.assert_allclose(derivatives_at(program, columns, 0, order), expected, rtol=1e-9, atol=1e-12)


def test_own_operators_have_values_and_slopes_but_no_second_derivative():
    words = Vocabulary(("x",), own=(Operator("halved", lambda a: a / 2),))
    program, columns = parse_expression("halved(x)**2", words), np.array([[2.0, 4.0]])
    np.testing.assert_allclose(values_at(program, columns), [1.0, 4.0])
    np.testing.assert_allclose(derivatives_at(program, columns, 0, 1), [1.0, 2.0], rtol=1e-6)
    assert np.isnan(derivatives_at(program, columns, 0, 2)).all()


def test_a_column_that_does_not_appear_has_derivative_zero():
    assert derivatives_at(read("y**2"), positive_columns(), 0, 1).tolist() == [0.0] * 12
    assert WORDS.variables[0] == "x"
