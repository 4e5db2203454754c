import pytest

from spl.formulas.program import Vocabulary
from spl.formulas.text import to_text
from spl.formulas.tidying.algebra import Leaf, Node, Number, Term, add, multiply, negate, raise_to
from spl.formulas.tidying.algebra_spelling import measure_effort, spell, to_program
from spl.kernels.programs import tokens as tk

WORDS = Vocabulary(("x", "y"), literals=(2.0,))
X, Y = (Leaf(WORDS.variable_token(name)) for name in WORDS.variables)


def number(value: float) -> Term:
    return Term(Number(value))


def power(base: Node, exponent: float) -> Node:
    return raise_to(base, Number(exponent))


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (add((number(3.0), X)), "x + 3"),
        (add((Y, X)), "x + y"),
        (add((X, power(X, 2.0), multiply((X, Y)))), "x**2 + x*y + x"),
        (add((negate(X), Y)), "y - x"),
        (add((negate(X), number(3.0))), "3 - x"),
        (add((negate(X), multiply((number(-2.0), Y)))), "-2*y - x"),
        (multiply((Y, X, number(3.0))), "3*x*y"),
        (multiply((X, power(Y, -2.0))), "x/y**2"),
        (multiply((number(0.25), X)), "0.25*x"),
        (multiply((number(1 / 7), X)), "x/7"),
        (multiply((X, power(number(4.0), -1.0))), "x/4"),
        (negate(power(X, -1.0)), "-1/x"),
        (power(X, -0.5), "1/sqrt(x)"),
    ],
)
def test_numbers_signs_and_quotients_stand_where_people_write_them(node: Node, text: str) -> None:
    assert to_text(to_program(node, WORDS)) == text


def test_a_program_has_fitted_numbers_as_constants_and_others_as_literals() -> None:
    program = to_program(add((Term(Number(2.0, is_fitted=True), ((X, Number(1.0)),)), number(5.0))), WORDS)
    assert (program.constants, program.vocabulary.literals) == ((2.0,), (2.0, 5.0))


def test_a_minus_inside_a_function_asks_more_of_the_reader_than_one_outside() -> None:
    outside, inside = (tk.NEG, tk.SIN, X.token), (tk.SIN, tk.NEG, X.token)
    assert measure_effort(outside, 3) < measure_effort(inside, 3)
    assert spell(X) == (X.token,)
