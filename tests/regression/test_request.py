from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset, RowPlaces
from spl.errors import DataError, GrammarError
from spl.formulas.grammar import Grammar
from spl.noise.models import POISSON, find_noise_model
from spl.noise.own_loss import Loss
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


@pytest.mark.parametrize("more", [{"sigma": 0.1}, {"sigma_columns": [0.1]}])
def test_counts_with_error_bars_contradict_each_other(more):
    data = Dataset.from_arrays([[1.0], [2.0]], [3.0, 6.0], names=["x"], **more)
    with pytest.raises(DataError, match="The noise model 'poisson' itself says how far the target scatters"):
        RegressionRequest(data, Grammar.from_text("f -> f + f | x"), noise=POISSON)


def test_a_loss_cannot_use_error_bars_of_columns():
    data = Dataset.from_arrays([[1.0], [2.0]], [3.0, 6.0], names=["x"], sigma_columns=[0.1])
    loss = find_noise_model(Loss("absolute", lambda y, f: abs(f - y)))
    with pytest.raises(DataError, match="The loss 'absolute' cannot use error bars of columns"):
        RegressionRequest(data, Grammar.from_text("f -> f + f | x"), noise=loss)


def test_a_target_that_is_no_count_is_named_by_its_line():
    data = Dataset.from_arrays([[1.0], [2.0]], [3.0, 6.5], names=["x"], places=RowPlaces(np.array([2, 3]), "line"))
    with pytest.raises(DataError, match=r"6\.5 in line 3\."):
        RegressionRequest(data, Grammar.from_text("f -> f + f | x"), noise=POISSON)
