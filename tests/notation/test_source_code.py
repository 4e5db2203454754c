"""Formulas in the spelling of a language: its signs, its calls, its identifiers, and the helpers they need."""

import math

import pytest
from tests.own_operators import SINC

from spl.errors import ExpressionError
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.notation.languages import LANGUAGES
from spl.notation.source_code import Code, write_code

WORDS = Vocabulary(("x", "flow rate"), own=(SINC,))


def define(name: str, arguments: tuple[str, ...], value: str) -> str:
    return f"{name}({', '.join(arguments)}) := {value}"


def write(text: str, language: str) -> Code:
    return write_code([parse_expression(text, WORDS)], ["y"], LANGUAGES[language], define)


@pytest.mark.parametrize(
    ("text", "language", "code"),
    [
        ("x**2 / (x - 3)", "python", "x**2 / (x - 3.0)"),
        ("x**2 / (x - 3)", "c", "pow(x, 2) / (x - 3.0)"),
        ("x**2 / (x - 3)", "julia", "x^2 / (x - 3.0)"),
        ("x**2 / (x - 3)", "matlab", "x.^2 ./ (x - 3.0)"),
        ("x**0.3", "python", "x**0.3"),
        ("x**0.3", "julia", "nan_power(x, 0.3)"),
        ("x**-2", "python", "x**(-2)"),
        ("inv(x)", "c", "1.0 / x"),
        ("-(x + 1)", "c", "-(x + 1.0)"),
        ("x + -2", "c", "x - 2.0"),
        ("asin(x)", "python", "np.arcsin(x)"),
        ("abs(x)", "c", "fabs(x)"),
        ("max(x, 2)", "torch", "torch.clamp(x, min=2.0)"),
        ("max(2, x)", "torch", "torch.clamp(x, min=2.0)"),
        ("sin('flow rate')", "c", "sin(flow_rate)"),
    ],
)
def test_a_formula_has_the_spelling_of_its_language(text, language, code):
    assert write(text, language).formulas[0].text == code


def test_parts_without_columns_are_computed():
    code = write("x * sin(2)**2", "c")
    assert code.formulas[0].text == f"x * {math.sin(2.0) ** 2!r}"
    assert write("sqrt(-1) + 2", "c").formulas[0].text == "NAN"


def test_code_says_which_columns_it_needs():
    code = write("2 * x", "python")
    assert code.columns == ("x", "flow_rate")
    assert code.used == {"x"}
    assert code.formulas[0].has_columns
    assert not write("2 + 3", "python").formulas[0].has_columns


def test_only_helpers_that_are_called_come_along():
    assert write("x", "c").helpers == ()
    helpers = write("sign(x) + min(x, 2)", "c").helpers
    assert [helper.split("(")[0] for helper in helpers] == ["static double sign_of", "static double smaller"]


def test_an_operator_of_the_user_is_defined_before_it_is_called():
    code = write("sinc(x) + 1", "c")
    assert code.formulas[0].text == "sinc(x) + 1.0"
    assert code.helpers == ("sinc(a) := sin(a) / a",)


def test_comments_have_the_formula_and_the_columns_that_were_renamed():
    assert write("x * 'flow rate'", "c").comments == ("y = x*'flow rate'", "flow_rate is 'flow rate'")


def test_constants_without_a_value_are_refused():
    with pytest.raises(ExpressionError, match="has constants without a value"):
        write("C * x", "python")


def test_an_open_symbol_is_refused():
    program = Program((tk.SYMBOL << tk.KIND_SHIFT,), WORDS)
    with pytest.raises(ExpressionError, match="still has an open symbol of its grammar"):
        write_code([program], ["y"], LANGUAGES["c"], define)
