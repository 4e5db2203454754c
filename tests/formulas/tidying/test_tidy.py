import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.program_twins import WORDS, find_conditioned_values, positive_columns, programs, read

import spl.formulas.tidying.tidy
from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, parse_expression, to_text
from spl.formulas.tidying.tidy import tidy
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

NAMES = Vocabulary(variables=("x", "y", "v", "c", "length"))
INVERSE = (tk.ASIN, tk.ACOS, tk.ATAN)
SIGNED = np.random.default_rng(2).uniform(-2.0, 2.0, size=positive_columns().shape)
# more of what a search finds than `programs` has: sums, products, waves, roots and exponentials of few columns
COMMON = [tk.ADD, tk.SUB, tk.MUL, tk.DIV, tk.ADD, tk.MUL, tk.NEG, tk.SIN, tk.COS, tk.EXP, tk.LOG, tk.SQRT, tk.SQUARE]


def tidied(text: str, *constants: float) -> str:
    program = parse_expression(text, NAMES)
    return to_text(tidy(program.with_constants(np.array(constants))), digits=6)


# ---- what people see ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # numbers first, and merged
        ("0.993 - 0.4967", "0.4963"),
        ("x*2*3", "6*x"),
        ("2*(3*x)", "6*x"),
        ("2*(x + 3) + 1", "2*x + 7"),
        ("sqrt(4)*x", "2*x"),
        ("3*sqrt(4*x)", "6*sqrt(x)"),
        ("1/(2*x)", "0.5/x"),
        ("x/9.81", "x/9.81"),
        ("x*y/2/3", "x*y/6"),
        ("2*x + 2*y", "2*(x + y)"),
        # powers
        ("x*x", "x**2"),
        ("x*x*x*y*y", "x**3*y**2"),
        ("x**3/x", "x**2"),
        ("x*sqrt(x)", "x**1.5"),
        ("sqrt(x)*sqrt(x)", "x"),
        ("sqrt(x*x)", "abs(x)"),
        ("abs(x)*abs(x)", "x**2"),
        ("cbrt(x)**3", "x"),
        ("(x*y)**2", "(x*y)**2"),
        # signs
        ("x + -1*y", "x - y"),
        ("x - -2*y", "x + 2*y"),
        ("-(-x)", "x"),
        ("-(x - y)", "y - x"),
        ("x - (y - (v - c))", "x - y + v - c"),
        ("-2*y + x", "x - 2*y"),
        ("3*sin(-2*x)", "-3*sin(2*x)"),
        ("cos(-x)", "cos(x)"),
        ("cos(sin(-2*x))", "cos(sin(2*x))"),
        # equal terms and factors
        ("length + length + length", "3*length"),
        ("x - x", "0"),
        ("x/x", "1"),
        ("x*y + x*v", "x*(y + v)"),
        ("(x*y - x)/(x**2*y)", "(y - 1)/(x*y)"),
        ("y + x + x*x + v*x + 1", "x**2 + x*v + x + y + 1"),
        ("min(x, x)", "x"),
        # functions
        ("1/cos(asin(v/c))", "1/sqrt(1 - v**2/c**2)"),
        ("sin(acos(x))", "sqrt(1 - x**2)"),
        ("cos(atan(x))", "1/sqrt(x**2 + 1)"),
        ("tan(atan(x))", "x"),
        ("exp(log(x))", "x"),
        ("log(exp(x))", "x"),
        ("exp(2.5*log(x))*x", "x**3.5"),
        ("exp(x)*exp(y)", "exp(x + y)"),
        ("log(x) - log(y)", "log(x/y)"),
        ("sin(x)/cos(x)", "tan(x)"),
        ("sin(x + 3.141592653589793/2)", "cos(x)"),
        # clean numbers stay clean
        ("sqrt(2*x*y)", "sqrt(2*x*y)"),
        ("2*(x + 1)", "2*(x + 1)"),
        ("3*cos(x) + 4*sin(x)", "3*cos(x) + 4*sin(x)"),
        ("sin(x + 3)", "sin(x + 3)"),
    ],
)
def test_a_formula_is_spelled_as_people_would(text: str, expected: str) -> None:
    assert tidied(text) == expected


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("C - C", (0.993, 0.4967), "0.4963"),
        ("sqrt(C)", (4.3852,), "2.09409"),
        ("C*(C - C*x)", (0.5, 0.993, 0.4967), "0.4965 - 0.24835*x"),
        ("C*x/(C*y + C)", (0.5, 0.25, 0.75), "2*x/(y + 3)"),
        ("C*exp(x + C)", (2.0, 1.0), "5.43656*exp(x)"),
        ("log(C*x) + C", (0.5, 1.0), "log(x) + 0.306853"),
        ("C*(x + C)", (2.1, 1.5), "2.1*x + 3.15"),
        ("C*x*(sin(y) + C) - 3*x", (2.0, 4.0), "x*(2*sin(y) + 5)"),
        ("C*(x - 20)", (2.1,), "2.1*(x - 20)"),
        ("sin(C*x + C)", (3.3, 195.177), "sin(3.3*x + 0.398255)"),
        ("sin(C*(x + C))", (3.3, 195.177 / 3.3), "sin(3.3*x + 0.398255)"),
        ("C*sin(C*x + C)", (2.0, 3.3, 3.0), "-2*sin(3.3*x - 0.141593)"),
        ("y + cos(C*x + C)", (3.3, 3.0), "y - cos(3.3*x - 0.141593)"),
        ("tan(x + C)", (3.2,), "tan(x + 0.0584073)"),
        ("C*cos(C*x) + C*sin(C*x)", (1.2, 3.3, 0.7, 3.3), "1.38924*sin(3.3*x + 1.04272)"),
        ("C*x*cos(y) + x*sin(y)*C", (3.0, 4.0), "5*x*sin(y + 0.643501)"),
    ],
)
def test_fitted_numbers_merge_into_as_few_as_possible(text: str, constants: tuple[float, ...], expected: str) -> None:
    assert tidied(text, *constants) == expected


def test_what_a_fitted_number_goes_into_is_fitted_and_what_is_made_of_literals_is_literal() -> None:
    fitted = tidy(read("C*3*x", 0.7))
    assert (to_text(fitted, digits=6), fitted.n_constants) == ("2.1*x", 1)
    assert tidy(read("2*3*x")).n_constants == 0


def test_a_program_without_values_for_its_constants_comes_back_as_it_was() -> None:
    program = read("C*x*x")
    assert tidy(program) is program


def test_a_number_that_has_no_value_is_left_where_it_is() -> None:
    assert tidied("x + x + y/0 + sqrt(-1)*log(-2)") == "2*x + y/0 + sqrt(-1)*log(-2)"


def test_operators_of_the_user_are_not_looked_into() -> None:
    words = Vocabulary(("x",), own=(Operator("twice", lambda x: 2 * x, cost=3),))
    program = tidy(parse_expression("twice(x*x) + twice(x**2)", words))
    assert to_text(program) == "2*twice(x**2)"


# ---- what never happens ------------------------------------------------------------------------------


def found_programs() -> st.SearchStrategy[Program]:
    def draw(depth: int) -> st.SearchStrategy[tuple[tuple[int, ...], tuple[float, ...]]]:
        columns = st.sampled_from(WORDS.variables[:2]).map(lambda name: ((WORDS.variable_token(name),), ()))
        numbers = st.floats(-9.0, 9.0).filter(lambda value: abs(value) > 0.01)
        leaves = columns | columns | numbers.map(lambda value: ((CONSTANT_TOKEN,), (value,)))
        if depth == 0:
            return leaves

        def extend(token: int) -> st.SearchStrategy[tuple[tuple[int, ...], tuple[float, ...]]]:
            parts = st.tuples(*[draw(depth - 1)] * WORDS.arity_of(token))
            return parts.map(lambda parts: ((token, *sum((p[0] for p in parts), ())), sum((p[1] for p in parts), ())))

        return leaves | st.sampled_from(COMMON).flatmap(extend)

    return draw(4).map(lambda part: Program(part[0], WORDS, part[1]))


@pytest.mark.slow
@pytest.mark.parametrize("columns", [positive_columns(), SIGNED], ids=["positive", "signed"])
@settings(max_examples=300)
@given(program=programs(12) | found_programs())
def test_values_stay_the_same_up_to_rounding(columns: np.ndarray, program: Program) -> None:
    values = find_conditioned_values(program, columns)
    assume(values is not None)
    assert values is not None
    found = evaluate(tidy(program), columns)
    assert np.allclose(found, values, rtol=1e-8, atol=1e-9 * np.max(np.abs(values)))


@pytest.mark.slow
@settings(max_examples=300)
@given(program=programs(12) | found_programs())
def test_a_formula_gets_neither_costlier_nor_more_fitted_numbers(program: Program) -> None:
    simple = tidy(program)
    assert simple.n_constants <= program.n_constants
    has_inverse = any(token in INVERSE for token in program.tokens)  # roots take their place whatever they cost
    assert has_inverse or simple.cost <= program.cost


@pytest.mark.slow
@settings(max_examples=300)
@given(program=programs(12) | found_programs())
def test_a_tidy_formula_stays_as_it_is(program: Program) -> None:
    assume(find_conditioned_values(program, positive_columns()) is not None)
    once = tidy(program)
    twice = tidy(once)
    assert twice.tokens == once.tokens
    assert twice.constants == pytest.approx(once.constants, rel=1e-9)


def test_the_work_grows_no_faster_than_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    n_spelled = 0
    spell = spl.formulas.tidying.tidy.spell

    def count(node):
        nonlocal n_spelled
        n_spelled += 1
        return spell(node)

    monkeypatch.setattr(spl.formulas.tidying.tidy, "spell", count)
    for n_terms in (3, 9):
        n_spelled = 0
        text = " + ".join(f"C*sin(C*x)*y**{k + 2} - x*(x + {k})" for k in range(n_terms))
        program = parse_expression(text, NAMES)
        tidy(program.with_constants(np.linspace(0.1, 9.0, program.n_constants)))
        assert n_spelled < 10 * len(program)


def test_roots_in_place_of_inverse_functions_cost_only_a_little_more() -> None:
    program = parse_expression("x*cos(asin(v/c))", NAMES)
    assert tidy(program).cost == program.cost + 3
