"""Programs and vocabularies: what they refuse, and the parts of a formula by position."""

from copy import copy

import numpy as np
import pytest
from hypothesis import given
from tests.own_operators import BLEND, ROOT, SINC
from tests.program_twins import programs, read

from spl.errors import ExpressionError, OperatorError
from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary, join_programs, token_cost
from spl.formulas.text import CONSTANT_TOKEN, to_text
from spl.kernels.programs import tokens as tk

UNARY = (SINC, ROOT)
BINARY = (BLEND, Operator("first", lambda a, b: a, (lambda a, b: 1.0, lambda a, b: 0.0), cost=3))
WORDS = Vocabulary(("x", "y"), (2.0,), own=(UNARY[0], BINARY[0], UNARY[1], BINARY[1]))
X = WORDS.variable_token("x")


@pytest.mark.parametrize("operator", [*UNARY, *BINARY])
def test_the_token_of_an_operator_leads_back_to_it(operator):
    token = WORDS.operator_token(operator)
    assert WORDS.operator_of(token) is operator
    assert WORDS.arity_of(token) == operator.arity


@pytest.mark.parametrize(
    ("token", "arity"),
    [(tk.ADD, 2), (tk.SIN, 1), (tk.POWER << tk.KIND_SHIFT | tk.POWER_OFFSET + 4, 1), (X, 0), (CONSTANT_TOKEN, 0)],
)
def test_a_token_takes_as_many_arguments_as_its_kind(token, arity):
    assert WORDS.arity_of(token) == arity


def test_a_literal_is_added_to_a_vocabulary_once():
    wider = WORDS.with_literal(3.0)
    assert wider.literals == (2.0, 3.0)
    assert wider.with_literal(3.0) is wider
    assert wider.literal_token(3.0) == tk.LITERAL << tk.KIND_SHIFT | 1


def test_operators_of_one_name_are_refused():
    with pytest.raises(OperatorError, match="Two operators have the same name"):
        Vocabulary(("x",), own=(UNARY[0], UNARY[0]))


def test_more_operators_than_slots_are_refused():
    own = tuple(copy(UNARY[0]) for _ in range(tk.MAX_USER + 1))
    for number, operator in enumerate(own):
        object.__setattr__(operator, "name", f"f{number}")  # new ones would each be compiled
    with pytest.raises(OperatorError, match=f"more than {tk.MAX_USER} operators of your own"):
        Vocabulary(("x",), own=own)


@pytest.mark.parametrize(
    ("tokens", "constants", "message"),
    [
        ((tk.ADD, X), (), "ends before its last argument"),
        ((X, X), (), "continues after its end"),
        ((), (), "ends before its last argument"),
        ((CONSTANT_TOKEN,), (), "has 1 constants, but 0 values"),
        ((X,), (1.0,), "has 0 constants, but 1 values"),
    ],
)
def test_tokens_that_are_not_one_formula_are_refused(tokens, constants, message):
    with pytest.raises(ExpressionError, match=message):
        Program(tokens, WORDS, constants)


def test_the_cost_of_a_program_is_that_of_its_tokens():
    program = Program((WORDS.operator_token(BINARY[1]), tk.SIN, X, X), WORDS)
    assert program.cost == 6 == sum(token_cost(token, WORDS) for token in program.tokens)
    assert len(program) == 4


@given(programs())
def test_every_part_put_back_gives_the_same_program(program):
    for position in range(len(program)):
        part = program.part(position)
        assert len(part) == program.end_of(position) - position
        assert program.with_part(position, part) == program


@given(programs())
def test_the_parent_of_an_argument_is_the_token_that_takes_it(program):
    parents = program.parents()
    assert parents[0] == -1
    for position in range(len(program)):
        assert all(parents[argument] == position for argument in program.arguments_of(position))
    assert parents.count(-1) == 1


def test_another_part_brings_its_own_constants():
    program = read("C*x + sin(C*y)", 2.0, 3.0)
    assert program.arguments_of(0) == (1, 4)
    changed = program.with_part(1, read("C", 7.0))
    assert (to_text(changed), changed.constants) == ("7 + sin(3*y)", (7.0, 3.0))


def test_two_programs_are_joined_with_their_constants():
    joined = join_programs(tk.SUB, read("C*x", 2.0), read("C", 5.0))
    assert (to_text(joined), joined.constants) == ("2*x - 5", (2.0, 5.0))


def test_other_constants_make_another_program():
    program = read("C*x", 2.0)
    other = program.with_constants(np.array([3.0]))
    assert other != program
    assert program.with_constants(np.array([2.0])) == program
    assert hash(program.with_constants(np.array([2.0]))) == hash(program)
    assert program != "2*x"


def test_a_program_is_shown_as_its_formula():
    assert repr(read("x + 2*y")) == "Program('x + 2*y')"
