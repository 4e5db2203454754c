import dataclasses

import pytest

from spl.formulas.operators import Operator
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate, Module

WORDS = Vocabulary(("x",))


def test_a_candidate_costs_what_its_program_costs():
    program = parse_expression("sin(x) + x", WORDS)
    assert Candidate(program, 0.5).cost == program.cost == 4


def test_an_operator_with_a_cost_of_its_own_counts_for_that():
    costly = Operator("costly", lambda a: a, cost=7)
    assert Candidate(parse_expression("costly(x)", Vocabulary(("x",), own=(costly,))), 0.5).cost == 8


def test_a_candidate_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Candidate(parse_expression("x", WORDS), 0.5).loss = 0.1


def test_a_module_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Module(parse_expression("x", WORDS), 1, 0.5, 0.9).size = 3


@pytest.mark.parametrize(("text", "cost"), [("3", 0), ("C", 0), ("x", 1), ("-x", 2), ("C*x", 3)])
def test_a_constant_costs_less_than_any_column(text, cost):
    program = parse_expression(text, WORDS)
    assert Candidate(program.with_constants([2.0] * program.n_constants), 0.5).cost == cost
