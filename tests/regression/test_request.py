from dataclasses import replace

import pytest

from spl.data.dataset import Dataset
from spl.errors import GrammarError
from spl.formulas.grammar import Grammar
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

DATA = Dataset.from_arrays([[1.0, 2.0], [3.0, 4.0]], [3.0, 7.0], names=["x", "y"])
GRAMMAR = Grammar.from_text("f -> f + f | y")


def test_the_grammar_is_bound_to_the_columns():
    request = RegressionRequest(DATA, GRAMMAR)
    assert GRAMMAR.vocabulary.variables == ("y",)
    assert request.grammar.vocabulary.variables == ("x", "y")


def test_a_bound_grammar_stays_the_same():
    request = RegressionRequest(DATA, GRAMMAR)
    assert replace(request, seed=4).grammar == request.grammar


def test_a_grammar_of_other_columns_is_refused():
    with pytest.raises(GrammarError, match="no column 'z'"):
        RegressionRequest(DATA, Grammar.from_text("f -> f + f | z"))


def test_what_is_not_said_has_the_defaults_of_the_settings():
    request = RegressionRequest(DATA, GRAMMAR)
    assert (request.config, request.limits) == (SearchConfig(), Limits())
