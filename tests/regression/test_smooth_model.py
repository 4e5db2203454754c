"""What a few columns explain, whatever the formula; and that the errors are those of predictions."""

import numpy as np
import pytest

from spl.regression.column_terms import make_terms, standardize
from spl.regression.smooth_model import find_unexplained

N_ROWS = 300
LAWS = {
    "sum": lambda a, b, c: a + b**2 - np.sin(2 * c),
    "product": lambda a, b, c: a * b * c,
    "quotient": lambda a, b, c: a / (3 + b) + c,
}


def make_columns(n_columns=3):
    return np.random.default_rng(0).uniform(-2, 2, (n_columns, N_ROWS))


def share_left(columns, chosen, target, weights=None):
    weights = np.ones(N_ROWS) if weights is None else weights
    goal = standardize(target, weights)[np.newaxis]
    left = find_unexplained(make_terms(columns, weights), chosen, goal, weights)
    return float(np.average(left[0] ** 2, weights=weights))


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_the_columns_of_a_law_leave_little(law):
    columns = make_columns()
    assert share_left(columns, [0, 1, 2], law(*columns)) < 0.05


def test_without_columns_everything_is_left():
    columns = make_columns()
    assert share_left(columns, [], columns[0]) == pytest.approx(1.0)


def test_a_missing_column_is_left():
    columns = make_columns()
    assert share_left(columns, [0, 1], columns[0] + columns[2]) == pytest.approx(0.5, abs=0.1)


def test_noise_is_not_explained():
    noise = np.random.default_rng(7).normal(size=N_ROWS)
    assert share_left(make_columns(6), range(6), noise) > 0.97


def test_each_row_is_predicted_from_the_others():
    columns = make_columns(2)
    target = standardize(columns[0] + 0.3 * np.random.default_rng(1).normal(size=N_ROWS), np.ones(N_ROWS))
    changed = target.copy()
    changed[17] += 1.0
    terms = make_terms(columns, np.ones(N_ROWS))
    before, after = (find_unexplained(terms, [0], each[np.newaxis], np.ones(N_ROWS))[0] for each in (target, changed))
    assert after[17] - before[17] == pytest.approx(1.0)


def test_rows_count_by_their_weights():
    columns = make_columns(2)
    is_first = np.arange(N_ROWS) < N_ROWS // 2
    target = np.where(is_first, columns[0], np.random.default_rng(2).normal(size=N_ROWS))
    assert share_left(columns, [0], target, np.where(is_first, 1.0, 1e-6)) < 0.01


def test_several_targets_are_modelled_at_once():
    columns = make_columns()
    targets = standardize(np.array([columns[0], columns[1]]), np.ones(N_ROWS))
    left = find_unexplained(make_terms(columns, np.ones(N_ROWS)), [0], targets, np.ones(N_ROWS))
    assert np.mean(left**2, axis=1).round(1).tolist() == [0.0, 1.0]
