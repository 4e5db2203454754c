"""Functions of tidy arguments: each rule gives the same values in simpler words, or leaves the function alone."""

import math

import pytest
from tests.program_twins import WORDS

from spl.formulas.text import to_text
from spl.formulas.tidying.algebra import Call, Leaf, Node, Number, Term, add, multiply, negate, raise_to
from spl.formulas.tidying.algebra_spelling import to_program
from spl.formulas.tidying.function_rules import apply_function, find_only, reduce_phases, undo_inverse
from spl.kernels.programs import tokens as tk

X, Y = (Leaf(WORDS.variable_token(name)) for name in ("x", "y"))


def number(value: float, *, is_fitted: bool = False) -> Term:
    return Term(Number(value, is_fitted))


def write(node: Node) -> str:
    return to_text(to_program(node, WORDS), 6)


@pytest.mark.parametrize(
    ("token", "arguments", "text"),
    [
        (tk.SQRT, (number(4.0),), "2"),
        (tk.LOG, (number(-1.0),), "log(-1)"),
        (tk.ABS, (negate(X),), "abs(x)"),
        (tk.MIN, (X, X), "x"),
        (tk.MAX, (X, Y), "max(x, y)"),
        (tk.COS, (negate(X),), "cos(x)"),
        (tk.COSH, (Call(tk.ABS, (X,)),), "cosh(x)"),
        (tk.SINH, (negate(X),), "sinh(-x)"),
        (tk.SIN, (add((X, number(math.pi / 2, is_fitted=True))),), "cos(x)"),
        (tk.COS, (add((X, number(math.pi / 2, is_fitted=True))),), "-sin(x)"),
        (tk.SIN, (add((X, number(math.pi, is_fitted=True))),), "-sin(x)"),
        (tk.TAN, (add((X, number(4.0, is_fitted=True))),), "tan(x + 0.858407)"),
        (tk.EXP, (Call(tk.LOG, (X,)),), "x"),
        (tk.EXP, (add((multiply((number(2.5), Call(tk.LOG, (X,)))), Y)),), "x**2.5*exp(y)"),
        (tk.LOG, (Call(tk.EXP, (X,)),), "x"),
        (tk.LOG, (multiply((number(2.0), Call(tk.EXP, (X,)))),), "log(2*exp(x))"),
    ],
)
def test_a_function_is_written_in_simpler_words_where_there_are_any(token, arguments, text):
    assert write(apply_function(token, arguments)) == text


@pytest.mark.parametrize(
    ("outer", "inner", "text"),
    [
        (tk.SIN, tk.ASIN, "x"),
        (tk.COS, tk.ACOS, "x"),
        (tk.TAN, tk.ATAN, "x"),
        (tk.COS, tk.ASIN, "sqrt(1 - x**2)"),
        (tk.SIN, tk.ACOS, "sqrt(1 - x**2)"),
        (tk.COS, tk.ATAN, "1/sqrt(x**2 + 1)"),
    ],
)
def test_a_function_of_an_inverse_function_is_a_root(outer, inner, text):
    undone = undo_inverse(outer, Call(inner, (X,)))
    assert undone is not None
    assert write(undone) == text


@pytest.mark.parametrize(("outer", "inner"), [(tk.ASIN, Call(tk.SIN, (X,))), (tk.EXP, Call(tk.SIN, (X,))), (tk.SIN, X)])
def test_what_is_no_function_of_an_inverse_function_is_left_alone(outer, inner):
    assert undo_inverse(outer, inner) is None


def test_phases_in_sums_are_reduced_where_the_sign_costs_nothing():
    wave = Call(tk.SIN, (add((X, number(3.04, is_fitted=True))),))
    assert write(reduce_phases(multiply((number(2.0), wave)))) == "-2*sin(x - 0.101593)"
    assert write(reduce_phases(wave)) == "sin(x + 3.04)"


def test_a_function_is_found_only_if_nothing_but_a_number_multiplies_it():
    logarithm = Call(tk.LOG, (X,))
    assert find_only(Term(Number(2.0), ((logarithm, Number(1.0)),)), tk.LOG) is logarithm
    assert find_only(Term(Number(2.0), ((logarithm, Number(2.0)),)), tk.LOG) is None
    assert find_only(Term(Number(2.0), ((logarithm, Number(1.0)), (Y, Number(1.0)))), tk.LOG) is None
    assert find_only(Term(Number(2.0), ((raise_to(X, Number(0.5)), Number(1.0)),)), tk.LOG) is None
