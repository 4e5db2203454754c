"""Formulas in LaTeX mean what the program means."""

import math

import numpy as np
import pytest
from tests.program_twins import read

from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs import tokens as tk
from spl.notation.latex import latex_name, latex_table, to_latex


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
        (Program((tk.NEG, *read("-x").tokens), read("-x").vocabulary), r"-\left(-x\right)"),
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


@pytest.mark.slow
def test_an_operator_of_the_user_is_printed_by_its_name() -> None:
    words = Vocabulary(("x",), own=(Operator("ln1", lambda x: np.log(x) + 1), Operator("my_f", lambda x, y: x * y)))
    tokens = (tk.USER_BINARY, tk.USER_UNARY, words.variable_token("x"), words.variable_token("x"))
    assert to_latex(Program(tokens, words)) == (r"\operatorname{my\_f}\left(\operatorname{ln1}\left(x\right), x\right)")


def test_a_table_has_one_line_for_each_formula() -> None:
    lines = latex_table([(1, 0.123456, read("x")), (3, 1e-12, read("x*y"))], target="y_1").splitlines()
    assert lines[4:6] == [r"1 & $0.123$ & $y_{1} = x$ \\", r"3 & $1 \cdot 10^{-12}$ & $y_{1} = x y$ \\"]


def test_an_empty_table_is_still_a_table() -> None:
    assert latex_table([]).splitlines()[-2:] == [r"\bottomrule", r"\end{tabular}"]
