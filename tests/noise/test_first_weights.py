"""Weights before there is a formula."""

import numpy as np
import pytest

from spl.noise.first_weights import (
    MAX_NEAR_COLUMNS,
    N_NEIGHBOURS,
    distance_from_neighbours,
    guess_precisions,
    robust_deviation,
)
from spl.noise.models import BINOMIAL, NORMAL, POISSON, RELATIVE, STUDENT

TARGET = np.geomspace(1.0, 100.0, 50)


def test_relative_noise_gives_weights_by_the_inverse_square():
    precisions = guess_precisions(RELATIVE, TARGET)
    assert precisions[0] / precisions[-1] == pytest.approx(100.0**2, rel=0.2)


def test_a_tiny_target_does_not_outweigh_all_others():
    precisions = guess_precisions(RELATIVE, np.append(TARGET, 1e-9))
    assert precisions[-1] < 10 * precisions[0]
    assert np.all(np.isfinite(guess_precisions(RELATIVE, np.zeros(5))))


def test_counts_give_weights_by_the_inverse():
    np.testing.assert_allclose(guess_precisions(POISSON, np.array([0.0, 1.0, 50.0])), [1.0, 1.0, 0.02])


@pytest.mark.parametrize("model", [NORMAL, BINOMIAL, STUDENT])
def test_other_models_begin_with_equal_weights(model):
    np.testing.assert_array_equal(guess_precisions(model, TARGET), np.ones(50))


def test_rows_far_from_where_they_should_be_get_less_weight():
    residual = np.append(np.tile([-1.0, 1.0], 20), 100.0)
    precisions = guess_precisions(STUDENT, np.zeros(41), residual)
    assert precisions[-1] < 0.01 * precisions[0]


def test_without_any_error_all_rows_weigh_the_same():
    np.testing.assert_array_equal(guess_precisions(STUDENT, np.zeros(9), np.zeros(9)), np.ones(9))


def test_the_robust_deviation_is_that_of_normal_noise_whatever_the_outliers(rng):
    residual = rng.normal(0.0, 2.0, 2000)
    residual[:200] = 1e6
    assert robust_deviation(residual) == pytest.approx(2.0, rel=0.25)


@pytest.fixture
def table(rng):
    columns = rng.uniform(0.0, 1.0, (2, 200))
    target = columns[0] + 3 * columns[1]
    target[17] += 50.0
    return columns, target


def test_an_outlier_is_far_from_its_neighbours(table):
    columns, target = table
    distance = distance_from_neighbours(columns, target, columns, target)
    assert np.argmax(np.abs(distance)) == 17
    assert np.median(np.abs(distance)) < 0.5


def test_units_of_the_columns_do_not_matter(table):
    columns, target = table
    scaled = columns * np.array([[1e6], [1e-3]])
    np.testing.assert_array_equal(
        distance_from_neighbours(columns, target, columns, target),
        distance_from_neighbours(scaled, target, scaled, target),
    )


@pytest.mark.parametrize(
    "columns",
    [np.ones((1, 50)), np.tile(np.arange(50.0), (MAX_NEAR_COLUMNS + 1, 1)), np.arange(2.0 * N_NEIGHBOURS)[np.newaxis]],
    ids=["constant", "many columns", "few rows"],
)
def test_where_no_row_is_near_another_there_is_no_distance(columns):
    target = np.arange(float(columns.shape[1]))
    assert distance_from_neighbours(columns, target, columns, target) is None
