"""Terms of single columns: bounded, comparable, and rich enough for any smooth function."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spl.regression.column_terms import (
    FEWEST_WAVES,
    MAX_TERMS,
    MOST_SPREADS,
    N_WAVES,
    clip_far_values,
    make_terms,
    rank_values,
    score_normally,
    standardize,
)

VALUES = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e140, 1e140))


def explained(column, target, weights):
    """Return the share of a target that a sum of the terms of a column explains."""
    terms = make_terms(column[np.newaxis], weights)[0].astype(float).T
    goal = standardize(target, weights)
    root = np.sqrt(weights)
    factors = np.linalg.lstsq(terms * root[:, np.newaxis], goal * root, rcond=None)[0]
    return 1 - np.sum(weights * (goal - terms @ factors) ** 2) / np.sum(weights)


@pytest.mark.parametrize("function", [np.log, np.sqrt, np.square, np.reciprocal, lambda x: np.sin(2 * x), np.exp])
def test_a_function_of_a_column_is_nearly_a_sum_of_its_terms(function):
    column = np.random.default_rng(0).uniform(0.5, 5.0, 300)
    assert explained(column, function(column), np.ones(300)) > 0.99


def test_terms_have_mean_0_and_mean_square_1():
    random = np.random.default_rng(0)
    columns, weights = random.lognormal(size=(5, 200)), random.uniform(0.1, 3.0, 200)
    terms = make_terms(columns, weights).astype(float)
    np.testing.assert_allclose(np.average(terms, axis=2, weights=weights), 0.0, atol=1e-6)
    np.testing.assert_allclose(np.average(terms**2, axis=2, weights=weights), 1.0, rtol=1e-5)


def test_a_column_of_zeros_and_ones_has_terms():
    terms = make_terms(np.array([[0.0, 1.0, 1.0, 0.0]]), np.ones(4))[0]
    np.testing.assert_allclose(np.abs(terms[:2]), 1.0, rtol=1e-6)


def test_many_columns_have_few_waves():
    shape = (MAX_TERMS // 4, 3)
    assert make_terms(np.zeros(shape), np.ones(3)).shape == (shape[0], FEWEST_WAVES + 1, 3)
    assert make_terms(np.zeros((10, 3)), np.ones(3)).shape == (10, N_WAVES + 1, 3)


@given(VALUES)
def test_normal_scores_keep_the_order(values):
    scores = score_normally(values)
    order = np.argsort(values, kind="stable")
    assert np.all(np.isfinite(scores))
    assert np.all(np.diff(scores[order]) >= 0)
    np.testing.assert_array_equal(np.diff(scores[order]) > 0, np.diff(values[order]) > 0)


@given(VALUES)
def test_ranks_lie_between_0_and_1_with_mean_one_half(values):
    ranks = rank_values(values)
    assert 0 < ranks.min() <= ranks.max() < 1
    assert np.mean(ranks) == pytest.approx(0.5)


@given(VALUES)
def test_no_value_is_far_after_clipping(values):
    assert np.max(np.abs(clip_far_values(values))) <= MOST_SPREADS


def test_near_values_are_only_scaled_by_clipping():
    values = np.random.default_rng(0).uniform(5.0, 6.0, 50)
    assert abs(np.corrcoef(values, clip_far_values(values))[0, 1]) == pytest.approx(1.0)


@given(VALUES)
def test_standard_values_are_finite(values):
    assert np.all(np.isfinite(standardize(values, np.ones(values.size))))
