"""R2 from the values of a formula."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.explained_share import share_explained
from spl.regression.fit import root_mean_square_error

WORDS = Vocabulary(("x",))
X = np.linspace(1.0, 3.0, 40)
TARGET = 2 * X + 0.1 * np.sin(9 * X)


@pytest.mark.parametrize("weights", [None, X])
def test_with_normal_noise_it_follows_from_the_loss(weights):
    data = Dataset.from_arrays(X[:, np.newaxis], TARGET, names=["x"], weights=weights)
    program = parse_expression("2*x", WORDS)
    loss = root_mean_square_error(program, data)
    assert share_explained(program, data) == pytest.approx(1 - loss**2 * data.n_rows / data.square, rel=1e-12)


def test_outliers_can_be_left_out():
    target = TARGET.copy()
    target[5] = 100.0
    data = Dataset.from_arrays(X[:, np.newaxis], target, names=["x"])
    clean = Dataset.from_arrays(np.delete(X, 5)[:, np.newaxis], np.delete(TARGET, 5), names=["x"])
    program = parse_expression("2*x", WORDS)
    assert share_explained(program, data) < 0.1
    assert share_explained(program, data, [5]) == pytest.approx(share_explained(program, clean))


@pytest.mark.parametrize(("text", "target"), [("log(x - 2)", TARGET), ("x", np.full(40, 3.0))])
def test_there_is_none_for_a_constant_target_or_an_undefined_formula(text, target):
    data = Dataset.from_arrays(X[:, np.newaxis], target, names=["x"])
    assert share_explained(parse_expression(text, WORDS), data) is None


def test_rows_of_no_weight_do_not_count():
    weights = np.ones(40)
    weights[0] = 0.0
    data = Dataset.from_arrays(X[:, np.newaxis], TARGET, names=["x"], weights=weights)
    assert share_explained(parse_expression("2*x + log(x - 1)*0", WORDS), data) is not None
    assert share_explained(parse_expression("x", WORDS), data, range(1, 40)) is None
