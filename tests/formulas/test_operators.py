"""Every row of the table of operators: its function, derivatives, sympy form and opcode tell the same story."""

import numpy as np
import pytest
import sympy
from tests.kernels.doors import open_door
from tests.kernels.program_twins import BINARY, UNARY

from spl.errors import OperatorError
from spl.formulas.operators import BUILT_IN, BY_OPCODE, SPELLINGS, Operator, find_operator, is_function
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.kernels.tree.invert import invert
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
    with pytest.raises(OperatorError, match=r"Known operators: add, sub"):
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


# ---- what a row says about its function ----------------------------------------------------------

ONE_ARGUMENT = [row for row in ROWS if row.arity == 1]
WITH_INVERSE = [row for row in ONE_ARGUMENT if row.traits.inverse]
OUTSIDE = {
    "div": (1.0, 0.0),
    "pow": (-2.0, 0.5),
    "inv": (0.0,),
    "sqrt": (-1.0,),
    "log": (-1.0,),
    "asin": (2.0,),
    "acos": (2.0,),
}
UNARY_ROWS = pytest.mark.parametrize("row", ONE_ARGUMENT, ids=[row.name for row in ONE_ARGUMENT])
ROWS_WITH_INVERSE = pytest.mark.parametrize("row", WITH_INVERSE, ids=[row.name for row in WITH_INVERSE])
call_invert = open_door(invert)


@UNARY_ROWS
def test_the_parity_of_an_operator_is_that_of_its_values(row):
    with np.errstate(all="ignore"):
        here, there = row.function(A), row.function(-A)
    parity = "even" if np.allclose(there, here) else "odd" if np.allclose(there, -here) else ""
    assert row.traits.parity == parity


@UNARY_ROWS
def test_the_degree_of_an_operator_is_that_of_its_values(row):
    found, again = (np.log(row.function(2 * a) / row.function(a)) / np.log(2.0) for a in (0.2, 0.4))
    degree = found if np.isclose(found, again) and abs(found) > 1e-9 else None
    assert row.traits.degree == pytest.approx(degree)


@UNARY_ROWS
def test_a_power_is_the_argument_to_its_degree_also_below_0(row):
    x = np.array([-0.7, 0.3, 2.5])
    with np.errstate(all="ignore"):
        power = np.power(x, row.traits.degree if row.traits.degree is not None else np.nan)
        is_power = np.allclose(power, row.function(x), equal_nan=True)
    assert row.traits.is_power == is_power


@UNARY_ROWS
def test_an_operator_is_never_negative_exactly_if_none_of_its_values_is(row):
    with np.errstate(all="ignore"):
        values = row.function(np.linspace(-3.0, 3.0, 61))
    assert row.traits.is_never_negative == bool((values[np.isfinite(values)] >= 0).all())


@UNARY_ROWS
def test_an_operator_is_smooth_exactly_if_neither_value_nor_slope_jumps_at_0(row):
    with np.errstate(all="ignore"):
        jumps = [abs(f(1e-6) - f(-1e-6)) > 0.1 for f in (row.function, row.derivatives[0])]
    has_no_value = any(gap.holds(0.0) for gap in row.traits.domain.gaps)
    assert row.traits.is_smooth == (has_no_value or not any(jumps))


@UNARY_ROWS
def test_an_operator_is_periodic_exactly_if_its_values_repeat_after_a_turn(row):
    here = np.linspace(0.1, 0.9, 9)
    with np.errstate(all="ignore"):
        repeats = np.allclose(row.function(here), row.function(here + 2 * np.pi))
    assert row.traits.is_periodic == (repeats and np.ptp(row.function(here)) > 0)


@ROWS_WITH_INVERSE
def test_an_operator_of_its_inverse_gives_the_value_back(row):
    values = row.function(A)
    np.testing.assert_allclose(row.function(BUILT_IN[row.traits.inverse].function(values)), values, rtol=1e-12)


@ALL_ROWS
def test_a_domain_is_stated_exactly_where_there_is_one(row):
    with np.errstate(all="ignore"):
        grid = np.meshgrid(*[np.linspace(-2.5, 2.5, 21)] * row.arity)
        is_everywhere = bool(np.isfinite(row.function(*grid)).all())
    assert is_everywhere == (row.traits.domain.text == "everywhere") == (not row.traits.domain.gaps)


@ALL_ROWS
def test_the_gaps_of_an_operator_are_where_it_has_no_value(row):
    with np.errstate(all="ignore"):
        grid = np.meshgrid(*[np.linspace(-2.5, 2.5, 21)] * row.arity)
        has_value = np.isfinite(row.function(*grid))
    in_a_gap = np.zeros(grid[0].shape, bool)
    for gap in row.traits.domain.gaps:
        in_a_gap |= gap.holds(*grid)
    np.testing.assert_array_equal(in_a_gap, ~has_value)


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_its_domain_an_operator_has_no_value(name):
    with np.errstate(all="ignore"):
        assert not np.isfinite(BUILT_IN[name].function(*map(np.float64, OUTSIDE[name])))


def test_an_operator_of_the_user_is_a_function_about_which_nothing_else_is_known():
    mine = Operator("mine", lambda x: x * x)
    assert mine.infix == mine.traits.parity == mine.traits.inverse == mine.traits.family == ""
    assert is_function(Vocabulary(("x",), own=(mine,)).operator_token(mine))


@pytest.mark.parametrize("token", [tk.VARIABLE << tk.KIND_SHIFT, tk.CONSTANT << tk.KIND_SHIFT, tk.NEG, tk.DIV, tk.CUBE])
def test_leaves_and_arithmetic_are_no_functions(token):
    assert not is_function(token)


# ---- what the kernels know about operators, held to the table ------------------------------------


def test_every_operator_has_a_slow_twin_that_its_value_and_derivative_in_the_kernels_are_tested_against():
    assert UNARY.keys() | BINARY.keys() == BY_OPCODE.keys()


@ROWS_WITH_INVERSE
def test_the_kernels_invert_an_operator_by_the_inverse_in_its_row(row):
    goal, operand = row.function(A), np.empty(A.size)
    no_user_operators = np.zeros((0, 3), np.int64)
    assert call_invert(row.opcode, 0, 0, goal, 0, np.zeros(A.size), 0, operand, 0, A.size, no_user_operators)
    np.testing.assert_allclose(operand, BUILT_IN[row.traits.inverse].function(goal), rtol=1e-12)
