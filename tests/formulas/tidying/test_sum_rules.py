"""Other forms of sums and products: the expected one is among them, and all have the same values."""

import numpy as np
import pytest
from tests.program_twins import read

from spl.formulas.program import Program
from spl.formulas.text import exponent_of, to_text
from spl.formulas.tidying.algebra import Leaf, Node, Number, Term, add, multiply, negate, raise_to
from spl.formulas.tidying.algebra_spelling import to_program
from spl.formulas.tidying.function_rules import apply_function
from spl.formulas.tidying.sum_rules import find_other_forms
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

COLUMNS = np.random.default_rng(0).uniform(0.3, 1.5, size=(3, 12))


def to_node(program: Program, position: int = 0) -> Node:
    """Return the sums and products of a program; its other operators are applied as they stand."""
    token = program.tokens[position]
    kind = token >> tk.KIND_SHIFT
    if kind == tk.VARIABLE:
        return Leaf(token)
    if kind == tk.LITERAL:
        return Term(Number(program.vocabulary.literals[token & tk.PAYLOAD_MASK]))
    if kind == tk.CONSTANT:
        return Term(Number(program.constants[program.count_constants(position)], is_fitted=True))
    nodes = [to_node(program, argument) for argument in program.arguments_of(position)]
    match token, nodes:
        case tk.ADD, [left, right]:
            return add((left, right))
        case tk.SUB, [left, right]:
            return add((left, negate(right)))
        case tk.MUL, [left, right]:
            return multiply((left, right))
        case tk.DIV, [left, right]:
            return multiply((left, raise_to(right, Number(-1.0))))
    exponent = exponent_of(token)
    return raise_to(nodes[0], Number(exponent)) if exponent is not None else apply_function(token, nodes)


def forms_of(text: str, *constants: float) -> list[Program]:
    program = read(text, *constants)
    return [to_program(node, program.vocabulary) for node in find_other_forms(to_node(program))]


@pytest.mark.parametrize(
    ("text", "constants", "expected"),
    [
        ("2*(x + y)", (), "2*x + 2*y"),
        ("2*x + 2*y", (), "2*(x + y)"),
        ("x*y + x*'flow rate [m/s]'", (), "x*(y + 'flow rate [m/s]')"),
        ("x*(y + 2) + y", (), "x*y + 2*x + y"),
        ("exp(x)*exp(y)", (), "exp(x + y)"),
        ("sqrt(x)*sqrt(y)", (), "sqrt(x*y)"),
        ("sin(x)/cos(x)", (), "tan(x)"),
        ("log(x) + log(y)", (), "log(x*y)"),
        ("log(x) - log(y)", (), "log(x/y)"),
        ("C*cos(x) + C*sin(x)", (3.0, 4.0), "5*sin(x + 0.643501)"),
        ("cosh(x - y)", (), "cosh(y - x)"),
        ("tanh(x - y)", (), "-tanh(y - x)"),
        ("log(2*x) + y", (), "y + log(x) + 0.693147"),
    ],
)
def test_the_form_that_people_would_write_is_among_the_others(text, constants, expected):
    assert expected in [to_text(form, 6) for form in forms_of(text, *constants)]


@pytest.mark.parametrize(
    "text",
    [
        "2*(x + y)**3",
        "exp(2*x + 1)*y/exp(y)",
        "log(x**3) + log(4*y) - 2*log(x)",
        "x*(y - 2)*(x + y) + x*y",
        "3*sin(x)*tan(y) - 3*sin(x - y)/cos(x - y)",
        "sqrt(4*x)*sqrt(y)/(2*x - 4*y)",
    ],
)
def test_all_forms_have_the_same_values(text):
    values = evaluate(read(text), COLUMNS)
    forms = forms_of(text)
    assert forms
    for form in forms:
        np.testing.assert_allclose(evaluate(form, COLUMNS), values, rtol=1e-9, atol=1e-12, err_msg=to_text(form))


@pytest.mark.parametrize(("text", "constants"), [("2*cos(x) + 3*sin(x)", ()), ("C*cos(x) + C*sin(y)", (2.0, 3.0))])
def test_waves_of_clean_numbers_or_other_arguments_stay_apart(text, constants):
    assert not any(tk.COS not in form.tokens for form in forms_of(text, *constants))
