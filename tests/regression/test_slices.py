"""A formula along one column: the curve, and the points of the rows."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.slices import N_POINTS, columns_to_cut, cut_slice

NAMES = ("a", "b", "unused")
WORDS = Vocabulary(NAMES)


@pytest.fixture
def data(rng):
    table = rng.uniform(1, 2, (101, 3))
    return Dataset.from_arrays(table, table[:, 0] * table[:, 1] + 0.01 * rng.standard_normal(101), names=NAMES)


def test_only_columns_that_the_formula_has_and_that_vary_are_cut(data):
    fixed = Dataset.from_arrays(np.column_stack([data.columns[0], np.full(101, 2.0)]), data.target, names=NAMES[:2])
    assert columns_to_cut(parse_expression("a*b", WORDS), data) == [0, 1]
    assert columns_to_cut(parse_expression("a*b", Vocabulary(NAMES[:2])), fixed) == [0]


def test_the_curve_runs_along_its_column_with_the_others_at_their_medians(data):
    cut = cut_slice(parse_expression("a*b", WORDS), data, 1)
    assert cut.x.size == N_POINTS
    assert cut.x[0] < data.columns[1].min() < data.columns[1].max() < cut.x[-1]
    np.testing.assert_allclose(cut.values, cut.x * np.median(data.columns[0]))


def test_a_point_lies_off_the_curve_by_its_residual(data):
    cut = cut_slice(parse_expression("a*b", WORDS), data, 0)
    off = cut.points - data.columns[0] * np.median(data.columns[1])
    np.testing.assert_allclose(off, data.target - data.columns[0] * data.columns[1])


def test_only_the_points_that_are_drawn_are_computed(data):
    program, drawn = parse_expression("a*b", WORDS), np.array([3, 50])
    cut = cut_slice(program, data, 0, drawn)
    np.testing.assert_array_equal(cut.points, cut_slice(program, data, 0).points[drawn])
    np.testing.assert_array_equal(cut.columns, cut_slice(program, data, 0).columns)


def test_the_points_of_a_formula_of_one_column_are_the_measured_values(data):
    cut = cut_slice(parse_expression("a**2", WORDS), data, 0)
    assert cut.is_whole
    np.testing.assert_array_equal(cut.points, data.target)


def test_a_constant_column_has_a_curve_around_it():
    data = Dataset.from_arrays(np.ones((20, 1)), np.arange(20.0), names=["a"])
    cut = cut_slice(parse_expression("a", Vocabulary(("a",))), data, 0)
    assert cut.x[0] < 1 < cut.x[-1]
