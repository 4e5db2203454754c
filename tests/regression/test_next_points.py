"""Suggested points separate formulas, determine numbers, and keep their distance."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.errors import SettingError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import fit
from spl.regression.next_points import NO_RIVALS, NOTHING_OPEN, SPACING, check_bounds, suggest_points
from spl.regression.rivals import Rival

WORDS = Vocabulary(("x", "y"))


def make_data(noise: float = 0.05) -> Dataset:
    rng = np.random.default_rng(0)
    table = rng.uniform(0.0, 1.0, (20, 2))
    return Dataset.from_arrays(table, table[:, 0] + noise * rng.standard_normal(20), names=["x", "y"])


def make_rival(text: str, weight: float, data: Dataset) -> Rival:
    return Rival(fit(parse_expression(text, WORDS), data), 1.0, weight, (0.0, 0.0), 1.0)


def test_the_first_point_is_where_the_formulas_differ() -> None:
    data = make_data()
    found = suggest_points(parse_expression("x", WORDS), [make_rival("sin(x)", 0.3, data)], data, 1, {})
    assert found.note == ""
    assert found.points[0, 0] == data.columns[0].max()


def test_columns_that_no_formula_has_stay_at_their_medians() -> None:
    data = make_data()
    found = suggest_points(parse_expression("x", WORDS), [make_rival("sin(x)", 0.3, data)], data, 3, {"x": (2, 5)})
    assert np.all(found.points[:, 1] == np.median(data.columns[1]))
    assert np.all((found.points[:, 0] >= 2) & (found.points[:, 0] <= 5))


def test_later_points_separate_what_the_first_does_not() -> None:
    data = make_data()
    rivals = [make_rival("x + 4*max(y - 0.9, 0)", 0.3, data), make_rival("x + 4*max(0.1 - y, 0)", 0.3, data)]
    points = suggest_points(parse_expression("x", WORDS), rivals, data, 2, {}).points
    assert sorted(points[:, 1] > 0.5) == [False, True]


def test_points_keep_their_distance() -> None:
    data = make_data()
    points = suggest_points(parse_expression("x", WORDS), [make_rival("sin(x)", 0.3, data)], data, 6, {}).points
    width = np.ptp(data.columns[0])
    distances = np.abs(points[:, 0] - points[:, 0][:, np.newaxis])[~np.eye(6, dtype=bool)]
    assert distances.min() > 0.99 * SPACING / 6 * width


def test_numbers_that_can_follow_count_for_less() -> None:
    """C*x + C*y can follow any slope in y, x + sin(9*y)/9 cannot: with free numbers, the far end says nothing about the curve."""
    data = make_data()
    best = fit(parse_expression("C*x + C*y", WORDS), data).program
    rivals = [make_rival("C*x + C*y + C*y**2", 0.3, data)]
    first, second = suggest_points(best, rivals, data, 2, {}).points[:2]
    assert abs(first[1] - second[1]) > 0.2


def test_without_rivals_the_numbers_are_determined() -> None:
    x = np.linspace(0.0, 1.0, 20)
    data = Dataset.from_arrays(np.column_stack([x, x]), x + 0.05 * np.cos(40 * x), names=["x", "y"])
    line = fit(parse_expression("C*x + C", WORDS), data).program
    found = suggest_points(line, [], data, 2, {})
    assert found.note == NO_RIVALS
    assert sorted(found.points[:, 0]) == pytest.approx([0.0, 1.0], abs=0.2)


def test_without_rivals_and_numbers_gaps_are_filled() -> None:
    data = Dataset.from_arrays([[0.0], [0.1], [1.0]], [0.0, 0.1, 1.1], names=["x"])
    found = suggest_points(parse_expression("x", Vocabulary(("x",))), [], data, 1, {})
    assert found.note == NOTHING_OPEN
    assert found.points[0, 0] == pytest.approx(0.55, abs=0.02)


def test_suggestions_are_the_same_each_time() -> None:
    data = make_data()
    rivals = [make_rival("sin(x)", 0.3, data)]
    first, second = (suggest_points(parse_expression("x", WORDS), rivals, data, 4, {}).points for _ in range(2))
    assert np.array_equal(first, second)


def test_a_box_without_values_is_an_error() -> None:
    data = make_data()
    with pytest.raises(SettingError, match="Choose other `bounds`"):
        suggest_points(parse_expression("sqrt(x)", WORDS), [], data, 2, {"x": (-3.0, -1.0)})


@pytest.mark.parametrize("bounds", [{"x": 3}, {"x": (1, 1)}, {"x": (0, float("inf"))}, {"x": ("a", "b")}])
def test_bounds_that_are_no_range_are_an_error(bounds: object) -> None:
    with pytest.raises(SettingError, match="The bounds of 'x' must be two numbers"):
        check_bounds(bounds, ["x"])


def test_bounds_of_an_unknown_column_are_an_error() -> None:
    with pytest.raises(SettingError, match="There is no column 'z'"):
        check_bounds({"z": (0, 1)}, ["x"])
    with pytest.raises(SettingError, match="must be a dictionary"):
        check_bounds([(0, 1)], ["x"])
