"""The first look: what it finds without a search is in the grammar, in the user's units, and as good as it says."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.text import to_text
from spl.formulas.tidying.tidy import tidy
from spl.regression.first_look import look_first
from spl.regression.fit import root_mean_square_error
from spl.regression.request import RegressionRequest

X = np.random.default_rng(0).uniform(1.0, 5.0, (100, 3))


def look(y, rules=None, table=X, weights=None):
    data = Dataset.from_arrays(table, y, weights=weights)
    grammar = Grammar.from_operators(DEFAULT_OPERATORS, data.names) if rules is None else Grammar.from_text(rules)
    request = RegressionRequest(data, grammar)
    return look_first(request), request


@pytest.mark.parametrize(
    ("law", "text"),
    [
        (lambda a, b, c: 2.5 * a * b / c**2, "2.5*x0*x1/x2**2"),
        (lambda a, b, c: b * np.sin(a) + 3.0, "x1*sin(x0) + 3"),
        (lambda a, b, c: a - c, "x0 - x2"),
    ],
)
def test_easy_laws_are_found_at_once(law, text):
    found, _ = look(law(*X.T))
    assert to_text(tidy(found.program), 5) == text
    assert found.loss < 1e-12


def test_units_of_any_size_come_back():
    found, request = look(4e-19 * X[:, 0] * X[:, 1], table=X * [1e9, 1.0, 1.0] / [1e-3, 1.0, 1.0])
    assert found.loss == pytest.approx(root_mean_square_error(found.program, request.data), rel=1e-6)
    assert found.loss < 1e-12 * np.std(request.data.target)


def test_the_loss_is_that_of_the_formula_on_the_data():
    found, request = look(np.exp(-X[:, 0]) * X[:, 1] ** 2 + np.sin(3.0 * X[:, 2]))
    assert found.loss == pytest.approx(root_mean_square_error(found.program, request.data))
    assert 0.1 < found.loss < np.std(request.data.target)


def test_rows_of_weight_zero_do_not_count():
    y = X[:, 0] * X[:, 1]
    found, _ = look(np.where(np.arange(100) < 50, y, 1e3), weights=np.where(np.arange(100) < 50, 1.0, 0.0))
    assert found.loss < 1e-9


@pytest.mark.parametrize("rules", ["f -> f + f | x0 | x1", "f -> f * f | C * x0", "f -> g + C\ng -> sin(x0) | x1 * x1"])
def test_what_is_found_belongs_to_the_grammar(rules):
    found, request = look(3.0 * X[:, 0] + 1.0, rules)
    assert found is None or request.grammar.derives(found.program)


def test_a_grammar_without_entries_gives_nothing():
    found, _ = look(X[:, 0], "f -> C")
    assert found is None
