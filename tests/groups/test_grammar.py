"""Grammars with own numbers."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.errors import GrammarError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.groups.grammar import GroupedGrammar
from spl.groups.sharing import SHARED, share
from spl.regression.request import RegressionRequest

DATA = Dataset.from_arrays([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 3.0, 5.0], names=["x"])
WOOD = Grouping.from_labels(["a", "a", "b", "b"], "wood")


def grammar_of(text):
    return GroupedGrammar(RegressionRequest(DATA, Grammar.from_text(text), groupings=(WOOD,)).grammar, ("x",))


def formula(scopes):
    program = parse_expression("C*exp(C*x)", Vocabulary(("x",))).with_constants(np.ones(2))
    return share(program, scopes, [np.ones(1 if scope == SHARED else 2) for scope in scopes])


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("f -> K*exp(C*x)", {(0, SHARED)}),
        ("f -> C*exp(C*x) | K*exp(K*x)", {(SHARED, SHARED), (0, 0)}),
        ("f -> C*exp(C*x)", {(SHARED, SHARED), (0, SHARED), (SHARED, 0), (0, 0)}),  # without K, the data decides
    ],
)
def test_only_numbers_that_the_grammar_calls_own_may_be_own(text, allowed):
    grammar = grammar_of(text)
    every = [(a, b) for a in (SHARED, 0) for b in (SHARED, 0)]
    assert {scopes for scopes in every if grammar.allows(formula(scopes))} == allowed


def test_own_numbers_are_searched_as_constants():
    assert str(grammar_of("f -> K*x + C*x | K*x").shared) == "f -> C*x + C*x | C*x"


def test_rules_that_become_the_same_are_one():
    assert str(grammar_of("f -> K*x | C*x").shared) == "f -> C*x"


def test_own_numbers_need_groups():
    with pytest.raises(GrammarError, match=r"The grammar has `K`, .* but there are no groups"):
        RegressionRequest(DATA, Grammar.from_text("f -> K*x"))


def test_a_column_may_be_called_like_an_own_number():
    data = Dataset.from_arrays([[1.0], [2.0]], [1.0, 2.0], names=["K"])
    assert RegressionRequest(data, Grammar.from_text("f -> C*K")).grammar.vocabulary.variables == ("K",)
