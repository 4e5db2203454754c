"""Formulas in sympy and LaTeX mean what the program means."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from spl.errors import ExpressionError
from spl.export import from_sympy, latex_name, latex_table, nice_number, to_latex, to_sympy
from spl.expression import parse_expression, to_text
from spl.kernels import tokens as tk
from spl.operators import BUILT_IN, Operator
from spl.program import Program, Vocabulary

WORDS = Vocabulary(variables=("x", "y", "flow rate [m/s]"), literals=(1.0, 2.0, 0.5, 3.0, math.pi))
X, Y, RATE = (sympy.Symbol(name) for name in WORDS.variables)


# ---- a slow twin, and random programs --------------------------------------------------------------


def twin_values(program: Program, columns: NDArray[np.floating]) -> list[NDArray[np.floating]]:
    """Return the values of every subtree, by definition, that of the whole formula last."""
    constants = list(program.constants)
    stack: list[NDArray[np.floating]] = []
    values = []
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            stack.append(columns[payload])
        elif kind in (tk.LITERAL, tk.CONSTANT):
            number = program.vocabulary.literals[payload] if kind == tk.LITERAL else constants.pop()
            stack.append(np.full_like(columns[0], number))
        elif kind == tk.POWER:
            stack.append(stack.pop() ** (payload - tk.POWER_OFFSET))
        else:
            operator = program.vocabulary.operator_of(token)
            stack.append(operator.function(*(stack.pop() for _ in range(operator.arity))))
        values.append(stack[-1])
    return values


def well_conditioned_values(program: Program, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the program's values; the example is dropped where it leaves its domain or lives on rounding errors."""
    with np.errstate(all="ignore"):
        values = twin_values(program, columns)
        finer = twin_values(program, columns.astype(np.longdouble))
    for value, fine in zip(values, finer, strict=True):
        size = np.abs(value)
        assume(bool(np.isfinite(value).all() and (size < 1e6).all() and ((size > 1e-4) | (size == 0)).all()))
        assume(np.allclose(value, fine.astype(float), rtol=1e-11, atol=0))
    return values[-1]


def leaves() -> st.SearchStrategy[tuple[tuple[int, ...], tuple[float, ...]]]:
    variables = st.sampled_from(WORDS.variables).map(lambda name: ((WORDS.variable_token(name),), ()))
    literals = st.sampled_from(WORDS.literals).map(lambda number: ((WORDS.literal_token(number),), ()))
    numbers = st.sampled_from([-2.0, -0.7123, 0.25, 1.2345678901234, 3.0, math.pi / 3])
    return variables | literals | numbers.map(lambda number: ((tk.CONSTANT << tk.KIND_SHIFT,), (number,)))


def programs(max_leaves: int = 8) -> st.SearchStrategy[Program]:
    powers = [tk.POWER << tk.KIND_SHIFT | exponent + tk.POWER_OFFSET for exponent in (-3, -2, 4, 5)]
    unary = [operator.opcode for operator in BUILT_IN.values() if operator.arity == 1] + powers
    binary = [operator.opcode for operator in BUILT_IN.values() if operator.arity == 2]

    def extend(inner: st.SearchStrategy) -> st.SearchStrategy:
        one = st.tuples(st.sampled_from(unary), inner).map(lambda part: ((part[0], *part[1][0]), part[1][1]))
        two = st.tuples(st.sampled_from(binary), inner, inner).map(
            lambda part: ((part[0], *part[1][0], *part[2][0]), part[1][1] + part[2][1])
        )
        return one | two

    tree = st.recursive(leaves(), extend, max_leaves=max_leaves)
    return tree.map(lambda part: Program(part[0], WORDS, part[1]))


def positive_columns() -> NDArray[np.float64]:
    return np.random.default_rng(1).uniform(0.5, 2.0, size=(len(WORDS.variables), 12))


def sympy_values(expression: sympy.Expr, real: bool, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    symbols = [sympy.Symbol(name, real=True if real else None) for name in WORDS.variables]
    function = sympy.lambdify(symbols, expression, modules="numpy")
    with np.errstate(all="ignore"):
        return np.broadcast_to(np.asarray(function(*columns)), columns[0].shape)


@settings(max_examples=300, deadline=None)
@given(program=programs(), real=st.booleans(), exact=st.booleans())
def test_sympy_has_the_values_of_the_program(program: Program, real: bool, exact: bool) -> None:
    columns = positive_columns()
    values = well_conditioned_values(program, columns)
    found = sympy_values(to_sympy(program, real, exact=exact), real, columns)
    np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-10)


@settings(max_examples=300, deadline=None)
@given(program=programs(), real=st.booleans(), fitted=st.booleans())
def test_the_way_through_sympy_and_back_keeps_the_values(program: Program, real: bool, fitted: bool) -> None:
    columns = positive_columns()
    values = well_conditioned_values(program, columns)
    back = from_sympy(to_sympy(program, real), WORDS, fitted=fitted)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(twin_values(back, columns)[-1], values, rtol=1e-9, atol=1e-10)


# ---- numbers ---------------------------------------------------------------------------------------


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
    assert nice_number(value) == expected


@pytest.mark.parametrize("value", [0.48, 9.8, 3.14159, 1 / 13, 0.3333, 1.2345678901234567, 1e300])
def test_other_numbers_stay_floats_of_full_precision(value: float) -> None:
    assert nice_number(value).is_Float
    assert float(nice_number(value)) == value


def test_a_number_off_by_rounding_is_recognised_only_if_asked() -> None:
    value = math.nextafter(0.5, 1)
    assert nice_number(value).is_Float
    assert nice_number(value, ulps=2) == sympy.Rational(1, 2)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_stays_none(value: float) -> None:
    assert nice_number(value) in (sympy.nan, sympy.oo, -sympy.oo)


# ---- to sympy --------------------------------------------------------------------------------------


def read(text: str, *constants: float) -> Program:
    program = parse_expression(text, WORDS)
    return program.with_constants(np.array(constants)) if constants else program


def test_column_names_may_be_any_text() -> None:
    assert to_sympy(read("2 * 'flow rate [m/s]'")) == 2 * RATE


def test_a_number_before_a_sum_is_not_spread_over_it() -> None:
    assert str(to_sympy(read("C * (x + y)", 2.3))) == "2.3*(x + y)"
    assert str(to_sympy(read("(x + y) / 2"))) == "(x + y)/2"


def test_exact_says_whether_constants_become_fractions() -> None:
    assert to_sympy(read("C * x", 0.25)) == X / 4
    assert to_sympy(read("C * x", 0.25), exact=False) == sympy.Float(0.25) * X


def test_an_operator_of_the_user_becomes_a_function_of_its_name() -> None:
    words = Vocabulary(("x",), own=(Operator("sinc", lambda x: np.sin(x) / x),))
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


def test_constants_without_a_value_are_refused() -> None:
    with pytest.raises(ExpressionError, match="Fit them first"):
        to_sympy(read("C * x"))


# ---- from sympy ------------------------------------------------------------------------------------


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
    words = Vocabulary(("x",), own=(Operator("sinc", lambda x: np.sin(x) / x),))
    assert to_text(from_sympy(sympy.Function("sinc")(X) + 1, words)) == "sinc(x) + 1"


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


# ---- LaTeX -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x", "x"),
        ("theta_1", r"\theta_{1}"),
        ("theta1", r"\theta_{1}"),
        ("x12", "x_{12}"),
        ("k_B_T", "k_{B,T}"),
        ("v_max", r"v_{\mathrm{max}}"),
        ("omega_alpha", r"\omega_{\alpha}"),
        ("mass", r"\mathrm{mass}"),
        ("x_", r"\mathrm{x\_}"),
        ("θ", "θ"),
        ("flow rate [m/s]", r"\mathrm{flow\ rate\ [m/s]}"),
        ("100 % & $#{}", r"\mathrm{100\ \%\ \&\ \$\#\{\}}"),
        ("", r"\mathrm{}"),
    ],
)
def test_a_column_name_is_set_with_its_subscript_or_upright(name: str, text: str) -> None:
    assert latex_name(name) == text


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (read("x + -2"), "x - 2"),
        (read("x - -2"), "x + 2"),
        (read("x - (y - 1)"), r"x - \left(y - 1\right)"),
        (read("x - (y + 1) * 2"), r"x - \left(y + 1\right) \cdot 2"),
        (read("x + (-y + 1)"), "x - y + 1"),
        (read("-(x + y)"), r"-\left(x + y\right)"),
        (read("-(-x)"), r"-\left(-x\right)"),
        (read("-2 * x * y"), "-2 x y"),
        (read("x * -2"), r"x \left(-2\right)"),
        (read("x * (-y)"), r"x \left(-y\right)"),
        (read("2 * 3"), r"2 \cdot 3"),
        (read("(x + 1) / (y * 2)"), r"\frac{x + 1}{y \cdot 2}"),
        (read("(x / y)**2"), r"\left(\frac{x}{y}\right)^{2}"),
        (read("(-x)**3"), r"\left(-x\right)^{3}"),
        (read("(x**2)**5"), r"\left(x^{2}\right)^{5}"),
        (read("exp(-x)**2"), r"\left(e^{-x}\right)^{2}"),
        (read("x ** (y + 1)"), "x^{y + 1}"),
        (read("1 / sqrt(x)"), r"\frac{1}{\sqrt{x}}"),
        (read("log(abs(x)) + asin(y)"), r"\ln\left(\left|x\right|\right) + \arcsin\left(y\right)"),
        (read("min(x, cbrt(y))"), r"\min\left(x, \sqrt[3]{y}\right)"),
        (read("sign(x)"), r"\operatorname{sign}\left(x\right)"),
        (read("2 * 'flow rate [m/s]' * x"), r"2 \, \mathrm{flow\ rate\ [m/s]} \, x"),
        (read("C * x", 1.23456789), "1.23457 x"),
        (read("C * x", -1.5e-7), r"-1.5 \cdot 10^{-7} x"),
        (read("C ** 2", 1.5e-7), r"\left(1.5 \cdot 10^{-7}\right)^{2}"),
        (read("x - C", -0.48), "x + 0.48"),
        (read("C * x", 2 * math.pi), r"2 \pi x"),
        (read("C * x", 4 / 3 * math.pi), r"\frac{4 \pi}{3} x"),
        (read("2 * C", 0.5), r"2 \cdot \frac{1}{2}"),
        (read("C * x"), "C x"),
    ],
)
def test_latex_means_what_the_program_means(program: Program, text: str) -> None:
    assert to_latex(program) == text


def test_numbers_have_as_many_digits_as_asked() -> None:
    assert to_latex(read("C * x", 1.23456789), digits=3) == "1.23 x"


def test_an_operator_of_the_user_is_printed_by_its_name() -> None:
    words = Vocabulary(("x",), own=(Operator("log", lambda x: np.log(x) + 1), Operator("my_f", lambda x, y: x * y)))
    tokens = (tk.USER_BINARY, tk.USER_UNARY, words.variable_token("x"), words.variable_token("x"))
    assert to_latex(Program(tokens, words)) == (r"\operatorname{my\_f}\left(\operatorname{log}\left(x\right), x\right)")


def test_a_table_has_one_line_for_each_formula() -> None:
    lines = latex_table([(1, 0.123456, read("x")), (3, 1e-12, read("x*y"))], target="y_1").splitlines()
    assert lines[4:6] == [r"1 & $0.123$ & $y_{1} = x$ \\", r"3 & $1 \cdot 10^{-12}$ & $y_{1} = x y$ \\"]


def test_an_empty_table_is_still_a_table() -> None:
    assert latex_table([]).splitlines()[-2:] == [r"\bottomrule", r"\end{tabular}"]
