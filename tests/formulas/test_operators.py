"""Every row of the table of operators: its function, derivatives, sympy form and opcode tell the same story."""

import numpy as np
import pytest
import sympy

from spl.errors import OperatorError
from spl.formulas.operators import BUILT_IN, BY_OPCODE, SPELLINGS, Operator, find_operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

ROWS = list(BUILT_IN.values())
NAMES = [row.name for row in ROWS]
ALL_ROWS = pytest.mark.parametrize("row", ROWS, ids=NAMES)
WORDS = Vocabulary(("a", "b"))
A = np.array([0.11, 0.37, 0.52, 0.83])  # inside every domain, away from corners
B = np.array([0.71, 0.23, 0.64, 0.42])


def arguments_of(row):
    return (A, B)[: row.arity]


@ALL_ROWS
def test_an_operator_has_the_opcode_of_the_kernels(row):
    assert getattr(tk, row.name.upper()) == row.opcode
    assert BY_OPCODE[row.opcode] is row


def test_every_opcode_has_one_row():
    assert sorted(BY_OPCODE) == list(range(tk.N_OPCODES))
    assert len(ROWS) == tk.N_OPCODES


@ALL_ROWS
def test_the_arity_of_an_operator_is_that_of_its_opcode(row):
    assert row.arity == (2 if row.opcode < tk.FIRST_UNARY else 1) == WORDS.arity_of(row.opcode)


@ALL_ROWS
def test_the_kernels_compute_the_function_of_the_row(row):
    leaves = tuple(WORDS.variable_token(name) for name in ("a", "b")[: row.arity])
    values = evaluate(Program((row.opcode, *leaves), WORDS), np.array([A, B]))
    np.testing.assert_allclose(values, row.function(*arguments_of(row)), rtol=1e-14)


@ALL_ROWS
def test_the_derivatives_of_an_operator_are_its_central_differences(row):
    arguments = arguments_of(row)
    assert len(row.derivatives) == row.arity
    for k, derivative in enumerate(row.derivatives):
        step = np.array([1e-6 if i == k else 0.0 for i in range(row.arity)])[:, None]
        rise = row.function(*(np.array(arguments) + step)) - row.function(*(np.array(arguments) - step))
        np.testing.assert_allclose(derivative(*arguments) * np.ones(4), rise / 2e-6, rtol=1e-7, atol=1e-9)


@ALL_ROWS
def test_the_sympy_form_of_an_operator_has_its_values(row):
    for numbers in zip(*arguments_of(row), strict=True):
        exact = row.sympy(*(sympy.Float(number, 30) for number in numbers))
        assert float(exact) == pytest.approx(float(row.function(*numbers)), rel=1e-14)


@pytest.mark.parametrize("number", [-0.3, -2.0])
@pytest.mark.parametrize(
    "name", ["cbrt", "abs", "sign", "square", "cube", "atan", "sinh", "tanh", "inv", "neg", "min", "max"]
)
def test_the_sympy_form_has_its_values_at_negative_numbers_too(name, number):
    row = BUILT_IN[name]
    numbers = (number, 0.5)[: row.arity]
    assert float(row.sympy(*map(sympy.Float, numbers))) == pytest.approx(float(row.function(*numbers)), rel=1e-14)


@ALL_ROWS
def test_a_formula_can_call_an_operator_by_its_name(row):
    program = parse_expression(f"{row.name}({', '.join('ab'[: row.arity])})", WORDS)
    assert program.tokens[0] == row.opcode


def test_names_and_spellings_are_unique():
    assert len(set(NAMES)) == len(NAMES)
    assert not set(SPELLINGS) & set(NAMES)
    assert set(SPELLINGS.values()) <= set(NAMES)


@pytest.mark.parametrize(("sign", "name"), SPELLINGS.items())
def test_a_sign_finds_its_operator(sign, name):
    assert find_operator(sign).name == name


def test_an_operator_of_the_user_is_found_by_its_name():
    mine = Operator("mine", lambda x: x)
    assert find_operator("mine", [mine]) is mine


@pytest.mark.parametrize("name", ["sin", "add", "ln", "arctan", "pow3"])
def test_the_name_of_a_built_in_operator_is_refused(name):
    with pytest.raises(OperatorError, match=f"There is a built-in operator '{name}'. Give yours another name."):
        Operator(name, lambda x: x)


def test_an_operator_is_shown_by_its_name():
    assert repr(Operator("mine", lambda x: x)) == "Operator('mine')"


def test_an_unknown_name_is_answered_by_the_nearest():
    with pytest.raises(OperatorError, match=r"no operator 'sqr'. Did you mean 'sqrt'\?"):
        find_operator("sqr")


def test_a_name_near_to_nothing_is_answered_by_all():
    with pytest.raises(OperatorError, match=r"Known are: add, sub"):
        find_operator("qqqqqq")


@pytest.mark.parametrize("name", ["", "two words", "2x", "C", "lambda", None, "a-b"])
def test_a_name_that_is_no_plain_word_is_refused(name):
    with pytest.raises(OperatorError, match="plain word"):
        Operator(name, np.sin)


@pytest.mark.parametrize("cost", [0, 101, 1.5, True, "1", None])
def test_a_cost_that_is_no_small_whole_number_is_refused(cost):
    with pytest.raises(OperatorError, match="cost"):
        Operator("f", np.sin, cost=cost)


@pytest.mark.parametrize("function", [lambda: 1.0, lambda a, b, c: a])
def test_a_function_of_no_or_three_arguments_is_refused(function):
    with pytest.raises(OperatorError, match="one or two"):
        Operator("f", function)


@pytest.mark.parametrize("function", [lambda *a: a[0], np.vectorize(abs)])
def test_a_function_of_any_number_of_arguments_is_refused(function):
    with pytest.raises(OperatorError, match="'f' takes any number of arguments; it must take one or two"):
        Operator("f", function)


def test_a_function_whose_arguments_python_does_not_know_is_refused():
    with pytest.raises(OperatorError, match="how many arguments the function of operator 'f' takes"):
        Operator("f", max)


def test_something_that_is_no_function_is_refused():
    with pytest.raises(OperatorError, match="needs a Python function"):
        Operator("f", 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "arity"),
    [(np.sin, 1), (np.hypot, 2), (lambda a: a, 1), (lambda a, b: a, 2), (lambda a, power=2: a**power, 1)],
)
def test_the_arity_is_that_of_the_function(function, arity):
    assert Operator("f", function).arity == arity


@pytest.mark.slow
def test_derivatives_may_be_a_list():
    assert Operator("f", np.hypot, [lambda a, b: a, lambda a, b: b]).derivatives[1](1, 2) == 2


@pytest.mark.slow
def test_one_derivative_may_stand_alone():
    assert Operator("f", np.sin, np.cos).derivatives == (np.cos,)
    assert Operator("f", np.sin).derivatives == ()
