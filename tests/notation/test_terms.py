"""Terms and their coefficients are those of the formula, multiplied out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spl.errors import ExpressionError
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.terms import has_terms_of, linear_terms

WORDS = Vocabulary(("x", "y", "z"))
TERMS = ("x", "y", "x*y", "x**2*z", "sin(y)", "1")
coefficients = st.floats(-100, 100).filter(lambda value: abs(value) > 1e-3)


def read(text: str) -> Program:
    return parse_expression(text, WORDS)


@settings(max_examples=60, deadline=None)
@given(given_terms=st.dictionaries(st.sampled_from(TERMS), coefficients, min_size=1))
def test_a_sum_of_terms_gives_back_its_coefficients(given_terms: dict[str, float]) -> None:
    found = linear_terms(read(" + ".join(f"({value!r})*{term}" for term, value in given_terms.items())))
    assert set(found) == set(given_terms)
    np.testing.assert_allclose([found[term] for term in given_terms], list(given_terms.values()), rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(given_terms=st.dictionaries(st.sampled_from(TERMS), coefficients, min_size=2))
def test_a_term_less_is_another_set_of_terms(given_terms: dict[str, float]) -> None:
    texts = [f"({value!r})*{term}" for term, value in given_terms.items()]
    whole = " + ".join(texts)
    assert has_terms_of(read(whole), whole)
    assert not has_terms_of(read(" + ".join(texts[1:])), whole)


@pytest.mark.parametrize(
    ("formula", "truth", "is_same"),
    [
        ("9.7*y - 10.2*x", "10*(y - x)", True),
        ("x*(27 - 0.99*z) - 0.9*y", "x*(28 - z) - y", True),
        ("19*3.141592653589793/6*(y - x)", "10*(y - x)", True),
        ("10*(y - x) + 0.1", "10*(y - x)", False),
        ("x*y - 2.6*z + 0.001*x*z", "x*y - 8/3*z", False),
        ("x*y", "x*y - 8/3*z", False),
        ("(x*y - z)/x", "x*y - 8/3*z", False),
    ],
)
def test_terms_are_compared_whatever_their_coefficients(formula: str, truth: str, is_same: bool) -> None:
    assert has_terms_of(read(formula), truth) is is_same


@pytest.mark.parametrize("formula", ["x/(x + 0.3)", "sin(2.5123*x)", "y + exp(0.1234*x)"])
def test_numbers_inside_terms_are_refused(formula: str) -> None:
    with pytest.raises(ExpressionError, match="numbers inside its terms"):
        linear_terms(read(formula))


def test_long_terms_come_first_and_the_number_last() -> None:
    assert list(linear_terms(read("5 + x + x*y"))) == ["x*y", "x", "1"]
