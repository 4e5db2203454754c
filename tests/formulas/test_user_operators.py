"""Operators of the user: compiled when made, and refused with their name and the reason, in our words."""

import functools
import math
import subprocess
import sys

import numpy as np
import pytest
import sympy
from scipy import special

from spl.errors import OperatorError
from spl.formulas.operators import Operator
from spl.formulas.user_operators import compile_operator

FACTORS = [2.0]


def print_it(x):
    print(x)
    return x


def give_nothing(x):
    x + 1


def test_an_operator_is_compiled_once():
    operator = Operator("once", lambda a: a + 1.0)
    assert compile_operator(operator) is compile_operator(operator)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "derivative"), [(np.sin, None), (math.sin, None), (np.sin, np.cos), (np.hypot, None), (abs, None)]
)
def test_functions_of_numpy_and_math_need_no_wrapping(function, derivative):
    operator = Operator("wrapped", function, derivative)
    assert len(compile_operator(operator)) == 1 + operator.arity


@pytest.mark.slow
def test_a_function_that_gives_an_array_of_no_dimension_is_taken():
    assert Operator("relu", lambda x: np.where(x > 0, x, 0)).arity == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            functools.partial(pow, 2.0),
            "'odd' cannot be compiled: numba does not know objects of type `partial`. It may",
        ),
        (np.heaviside, "'odd' cannot be compiled: numba does not know the function `heaviside`. It may use numbers"),
        (lambda x: FACTORS[0] * x, r"'odd' cannot be compiled: it uses `FACTORS` \(list\). It may use numbers"),
        (lambda x: special.erf(x), r"'odd' cannot be compiled: it uses `special` \(module\)"),
        (lambda x: no_such_thing(x), "'odd' does not work: for 0.5 it raises NameError: name 'no_such_thing'"),  # noqa: F821
        (lambda x, y, *, k: x, "'odd' does not work: for 0.5 and 2.0 it raises TypeError"),
        (lambda x: [x], r"'odd' must return a number; for 0.5 it returns \[0.5\], of type list."),
        (lambda x: np.array([x, x]), "'odd' must return a number; for 0.5 it returns array"),
        (lambda x: np.sqrt(x + 0j), "'odd' must return a number; for 0.5 it returns .*, of type complex128."),
        (give_nothing, "'odd' must return a number; for 0.5 it returns None, of type NoneType."),
        (print_it, "'odd' prints; a search calls it millions of times. Leave out the print."),
        (lambda x: x * np.random.random(), "'odd' gives different values for the same"),  # noqa: NPY002
        (lambda x: x.copy(), "'odd' cannot be differentiated numerically: its function takes arrays, but not single"),
    ],
)
def test_a_function_that_cannot_be_used_is_refused_when_the_operator_is_made(function, message):
    with pytest.raises(OperatorError, match=message):
        Operator("odd", function)


@pytest.mark.slow
def test_a_function_that_mixes_the_numbers_of_an_array_is_refused():
    with pytest.raises(OperatorError, match="'odd' gives a number a different value when it is in an array"):
        Operator("odd", lambda x: x - x.mean(), derivative=lambda x: 1.0)


@pytest.mark.slow
def test_an_operator_has_its_value_and_a_derivative_by_each_argument():
    assert len(compile_operator(Operator("two", lambda a, b: a * b))) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"derivative": lambda a, b: b}, r"'two' takes 2 argument\(s\), but has 1 derivative"),
        ({"derivative": 3}, "derivative"),
        (
            {"derivative": (3, 4)},
            "The derivative of operator 'two' must be a Python function, or a tuple of them; got 3.",
        ),
        (
            {"derivative": (lambda a, b: FACTORS, lambda a, b: a)},
            "The derivative of operator 'two' must return a number",
        ),
        ({"sympy": 5}, "The sympy form of operator 'two' cannot be differentiated"),
        ({"sympy": lambda a, b: 1 / 0}, "The sympy form of operator 'two' cannot be differentiated: division by zero."),
    ],
)
def test_a_derivative_that_cannot_be_used_is_refused_when_the_operator_is_made(options, message):
    with pytest.raises(OperatorError, match=message):
        Operator("two", lambda a, b: a * b, **options)


@pytest.mark.slow
@pytest.mark.parametrize("sympy_form", [None, sympy.erf])
def test_a_derivative_may_come_from_nothing_or_from_the_sympy_form(sympy_form):
    assert len(compile_operator(Operator("tanh_like", lambda a: np.tanh(a), sympy=sympy_form))) == 2


@pytest.mark.slow
def test_a_derivative_of_sympy_that_does_not_compile_is_taken_numerically():
    relu = Operator("relu", lambda x: x if x > 0 else 0.0, sympy=lambda x: sympy.Max(x, 0))
    assert len(compile_operator(relu)) == 2


def test_only_an_operator_of_the_user_needs_the_compiler():
    code = "import sys, spl.formulas.operators; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
