"""Rewritings change how an expression is written, never its values."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from spl.regression.rewrite import clean_numbers, count_expanded, name_floats, rewrite

X, Y, Z = sympy.symbols("x y z", real=True)
NUMBERS = st.sampled_from([1, -1, 2, 3, sympy.Rational(1, 2), sympy.Float(0.7), sympy.Float(-1.3)])
TERMS = st.sampled_from([X, Y, Z, X * Y, X**2, Y**2, sympy.sin(X), sympy.sin(X) ** 2, sympy.Integer(1)])


@st.composite
def sums_of_squares(draw):
    """Draw the multiplied-out square of a sum of two terms, beside other terms."""
    a, b = draw(st.tuples(NUMBERS, TERMS)), draw(st.tuples(NUMBERS, TERMS))
    square = sympy.expand(draw(NUMBERS) * (a[0] * a[1] + b[0] * b[1]) ** 2)
    return square + draw(NUMBERS) * draw(TERMS)


@pytest.mark.slow
@settings(max_examples=60)
@given(sums_of_squares())
def test_all_forms_have_the_values_of_the_expression(expression):
    place = {X: 0.37, Y: 1.91, Z: -0.83}
    value = float(expression.subs(place))
    forms = list(rewrite(expression, thoroughly=True))
    assert forms
    for form in forms:
        assert float(form.subs(place)) == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "square"),
    [
        ("x**2 - 2*x*y + y**2 + z", "z + (x - y)**2"),
        ("x**2 + 2*x*y + y**2 + z**2 - 2*z + 1", "(x + y)**2 + (z - 1)**2"),
        ("4*x**2 - 4*x*y + y**2 + z", "z + (y - 2*x)**2"),
        ("exp(2*x*y - x**2 - y**2)", "exp(-(x - y)**2)"),
        ("0.25*x**2 + 0.25*y**2 - 0.5*x*y + z", "z + 0.25*(x - y)**2"),
        ("z*(x**2 - 2*x*y + y**2) + y", "y + z*(x - y)**2"),
        ("x**4 + 2*x**2*y + y**2 + z", "z + (x**2 + y)**2"),
    ],
)
def test_squares_are_completed_among_other_terms(text, square):
    names = {"x": X, "y": Y, "z": Z}
    forms = list(rewrite(sympy.sympify(text, locals=names), thoroughly=True))
    wanted = sympy.sympify(square, locals=names)
    assert any(sympy.nsimplify(form) == sympy.nsimplify(wanted) for form in forms)


@pytest.mark.parametrize("text", ["x**2 + y**2 + z", "x**2 + x*y + y**2 + z", "x**2 - 2*x*y - y**2 + z"])
def test_no_square_is_seen_where_there_is_none(text):
    expression = sympy.sympify(text, locals={"x": X, "y": Y, "z": Z})
    forms = list(rewrite(expression, thoroughly=True))
    assert forms
    for form in forms:
        assert not [power for power in form.atoms(sympy.Pow) if power.base.is_Add]


def test_numbers_that_rounding_moved_are_simple_again_and_decimals_stay():
    assert clean_numbers(sympy.Float(1.0000000000000002) * X) == X
    assert clean_numbers(sympy.Float(0.7) * X) == sympy.Float(0.7) * X


def test_floats_become_positive_symbols_and_back():
    expression = sympy.Float(0.7) * X - sympy.Float(0.7) * Y + sympy.Float(1.3)
    symbolic, values = name_floats(expression)
    assert not symbolic.atoms(sympy.Float)
    assert len(values) == 2
    assert symbolic.xreplace(values) == expression


def test_the_terms_of_a_product_of_sums_are_counted_without_multiplying_out():
    assert count_expanded((X + Y) * (X + Y + Z)) == 6
    assert count_expanded((X + Y) ** 3) == 8
    assert count_expanded(sympy.sin(X + Y)) == 2
