"""Which rows are outliers."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.outliers import find_outliers

X = np.linspace(1.0, 10.0, 60)
LINE = parse_expression("2*x", Vocabulary(("x",)))


@pytest.fixture
def target(rng):
    noisy = 2 * X + 0.1 * rng.normal(size=60)
    noisy[[4, 30]] += 3.0
    return noisy


def make_data(target, **more):
    return Dataset.from_arrays(X[:, np.newaxis], target, names=["x"], **more)


def test_rows_far_from_the_formula_are_outliers(target):
    assert find_outliers(LINE, make_data(target)) == (4, 30)


def test_normal_noise_has_none(rng):
    assert find_outliers(LINE, make_data(2 * X + rng.normal(size=60))) == ()


def test_a_large_error_with_a_large_error_bar_is_none(target):
    sigma = np.full(60, 0.1)
    sigma[4] = 5.0
    assert find_outliers(LINE, make_data(target, sigma=sigma)) == (30,)


def test_a_large_error_of_a_row_of_little_weight_is_none(target):
    weights = np.ones(60)
    weights[4] = 1e-4
    weights[30] = 0.0
    assert find_outliers(LINE, make_data(target, weights=weights)) == ()


def test_around_an_exact_law_rounding_errors_are_none():
    target = 2 * X * (1 + 1e-16)
    target[7] = 0.0
    assert find_outliers(LINE, make_data(target)) == (7,)


def test_a_row_without_a_value_is_none(target):
    formula = parse_expression("2*x + 0*log(x - 1)", Vocabulary(("x",)))
    target[0] = 500.0
    assert find_outliers(formula, make_data(target)) == (4, 30)
