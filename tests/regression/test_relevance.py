"""What each column brings to a formula."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate
from spl.regression.relevance import RELEVANCE_ROWS, measure_relevance

NAMES = ("a", "b", "c")


def make_data(n_rows=100, weights=None):
    table = np.random.default_rng(1).uniform(-1.0, 1.0, (n_rows, 3))
    return Dataset.from_arrays(table, np.zeros(n_rows), names=NAMES, weights=weights)


def measure(text, data):
    return measure_relevance(parse_expression(text, Vocabulary(data.names)), data)


def measure_slowly(text, data):
    """Relevance from the definition, row by row."""
    program = parse_expression(text, Vocabulary(data.names))
    table, weights = data.columns.T, data.weights / data.weights.sum()

    def value(row):
        return float(evaluate(program, row[:, np.newaxis])[0])

    values = np.array([value(row) for row in table])
    variance = np.sum(weights * (values - np.sum(weights * values)) ** 2)
    shares = []
    for column in range(table.shape[1]):
        change = 0.0
        for i, row in enumerate(table):
            for k, other in enumerate(table):
                changed = row.copy()
                changed[column] = other[column]
                change += weights[i] * weights[k] * (value(changed) - values[i]) ** 2
        shares.append(change / 2 / variance)
    return np.array(shares)


def test_it_is_the_mean_squared_change_over_all_pairs_of_rows():
    data = make_data(12, weights=np.arange(1.0, 13.0))
    np.testing.assert_allclose(measure("a*b + c**2", data), measure_slowly("a*b + c**2", data), rtol=1e-9)


def test_columns_that_are_not_in_the_formula_bring_nothing():
    assert measure("sin(a)", make_data())[1:].tolist() == [0.0, 0.0]


def test_the_only_column_of_a_formula_brings_everything():
    assert measure("exp(3*b)", make_data())[1] == pytest.approx(1.0)


def test_terms_of_a_sum_bring_their_share_of_the_variance():
    grid = [(a, b, 1.0) for a in range(15) for b in range(15)]
    data = Dataset.from_arrays(grid, np.zeros(225), names=NAMES)
    assert measure("3*a + b", data).tolist() == pytest.approx([0.9, 0.1, 0.0])


def test_units_of_the_formula_do_not_matter():
    data = make_data()
    np.testing.assert_allclose(measure("1e140*(a + b*c)", data), measure("a + b*c", data), rtol=1e-9)


def test_a_constant_formula_has_no_relevant_column():
    assert not measure("2 + 0*a", make_data()).any()


def test_the_order_of_the_rows_does_not_matter():
    data = make_data(RELEVANCE_ROWS * 2)
    reverse = data.take(np.arange(data.n_rows)[::-1])
    np.testing.assert_allclose(measure("a*b + c", reverse), measure("a*b + c", data), rtol=1e-9)


def test_of_many_rows_some_are_enough():
    assert measure("3*a + b", make_data(5000))[0] == pytest.approx(0.9, abs=0.05)


def test_rows_outside_the_domain_do_not_count():
    share = measure("log(a) + 0*b", make_data())
    assert share[0] == pytest.approx(1.0)
    assert share[1] == 0.0


def test_a_formula_without_values_has_no_relevant_column():
    assert not measure("log(-1 - a**2) + b", make_data()).any()


def test_rows_of_weight_0_do_not_count():
    weights = np.ones(100)
    weights[50:] = 0.0
    data = make_data(weights=weights)
    np.testing.assert_allclose(measure("a*b", data), measure("a*b", data.take(np.arange(50))), rtol=1e-9)
