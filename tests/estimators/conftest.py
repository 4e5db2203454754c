"""A table and a model fitted to it, shared by the tests of the estimator for tables."""

import numpy as np
import pytest

from spl import SPLRegressor


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, 2))
    return X, 3 * X[:, 0] ** 2 - X[:, 1]


@pytest.fixture(scope="module")
def model(table):
    return SPLRegressor(operators=("+", "-", "*"), random_state=0, timeout=30).fit(*table)
