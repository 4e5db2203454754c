"""What is known about each number, and limits of predictions."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.groups.fit import LAST_JOINT_EFFORT, fit_jointly
from spl.groups.numbers import correlate_joint_numbers, know_joint_numbers, limit_values
from spl.groups.uncertainty import measure_joint_curvature
from spl.regression.uncertainty import UNDETERMINED

CODES = np.repeat(np.arange(4), 15)
LABELS = np.array(list("abcd"))[CODES]


def measure(formula, rows):
    fitted = fit_jointly(formula, rows, LAST_JOINT_EFFORT).candidate(rows)
    extended = rows.extend(
        formula.scopes, tuple(np.array(each.values) for each in fitted.own), ("k1", "k2")[: len(fitted.own)]
    )
    codes = [rows.groupings[scope].codes for scope in formula.scopes]
    return measure_joint_curvature(fitted.program, fitted.own, extended, codes, 1), extended, codes


@pytest.fixture
def lines(rng):
    x = rng.uniform(0, 3, 60)
    rows = make_rows(x, (1 + CODES) * x + 0.7 + 0.2 * rng.normal(size=60), LABELS)
    return measure(make_formula("k1*x + C", [1], (np.ones(4),)), rows)


def test_shared_numbers_come_first_and_own_ones_group_by_group(lines):
    curvature, *_ = lines
    known = know_joint_numbers(curvature, curvature)
    assert [(each.name, each.grouping, each.group) for each in known] == [("", "", "")] + [
        ("k1", "g", each) for each in "abcd"
    ]
    assert [each.value for each in known] == [*curvature.program.constants, *curvature.own[0].values]
    np.testing.assert_array_equal(
        [each.standard_error for each in known], [*curvature.shared_errors, *curvature.own_errors(0)]
    )


def test_correlations_are_those_of_the_covariance_and_named_by_groups(lines):
    curvature, *_ = lines
    names, correlations = correlate_joint_numbers(curvature)
    assert names[1:] == [f"k1 of {each}" for each in "abcd"]
    errors = np.sqrt(np.diag(curvature.covariance()))
    np.testing.assert_allclose(correlations, curvature.covariance() / np.outer(errors, errors))
    assert (correlations[0, 1:] < -0.3).all()  # the higher the lines begin, the less steep they are


def test_intervals_are_symmetric_and_grow_with_their_level(lines):
    curvature, *_ = lines
    narrow, wide = (know_joint_numbers(curvature, curvature, level) for level in (0.5, 0.95))
    for one, other in zip(narrow, wide, strict=True):
        assert other.lower < one.lower < one.value < one.upper < other.upper
        assert one.upper - one.value == pytest.approx(one.value - one.lower)


def test_a_simple_number_within_the_error_is_named(rng):
    x = rng.uniform(0, 3, 60)
    rows = make_rows(x, (1 + CODES) * x**2 + 2 * x + 0.05 * rng.normal(size=60), LABELS)
    curvature, *_ = measure(make_formula("k1*x**2 + C*x", [1], (np.ones(4),)), rows)
    known = {each.term: each for each in know_joint_numbers(curvature, curvature)}
    assert any(each.simple == "2" for each in known.values())


def test_a_rounded_number_has_the_error_it_would_have_if_it_were_fitted(rng):
    x = rng.uniform(0, 3, 60)
    rows = make_rows(x, (1 + CODES) * x + 2 + 0.2 * rng.normal(size=60), LABELS)
    rounded, *_ = measure(make_formula("k1*x + 2", values=(np.ones(4),)), rows)
    freed, *_ = measure(make_formula("k1*x + C", [2], (np.ones(4),)), rows)
    number = know_joint_numbers(rounded, freed)[0]
    assert (number.name, number.value, number.simple) == ("", 2.0, "2")
    assert number.standard_error == freed.shared_errors[0] > 0


def test_a_number_that_the_data_does_not_determine_says_so(rng):
    codes = np.array([0] * 10 + [1] * 10 + [2])
    x = rng.uniform(0, 3, 21)
    rows = make_rows(x, x + 1 + 0.1 * rng.normal(size=21), codes)
    curvature, *_ = measure(make_formula("k1*x + k2", values=(np.ones(3), np.zeros(3))), rows)
    known = know_joint_numbers(curvature, curvature)
    assert [each.note for each in known] == ["", "", UNDETERMINED] * 2
    assert all(np.isinf(each.upper) for each in known if each.note)


def test_limits_of_the_law_are_its_values_and_their_errors(lines):
    curvature, extended, codes = lines
    limits = limit_values(curvature, extended, extended.columns, codes, 0.9, is_new=False)
    half = curvature.quantile(0.9) * curvature.value_errors(extended.columns, codes)
    values = extended.columns[0] * extended.columns[1] + curvature.program.constants[0]
    np.testing.assert_allclose(limits, np.stack([values - half, values + half], axis=1))


def test_new_measurements_lie_within_their_limits_as_often_as_these_say(rng):
    n_inside = []
    for _ in range(40):
        x = rng.uniform(0, 3, 60)
        rows = make_rows(x, (1 + CODES) * x + 0.7 + 0.2 * rng.normal(size=60), LABELS)
        curvature, extended, codes = measure(make_formula("k1*x + C", [1], (np.ones(4),)), rows)
        limits = limit_values(curvature, extended, extended.columns, codes, 0.9, is_new=True)
        new = (1 + CODES) * x + 0.7 + 0.2 * rng.normal(size=60)
        n_inside.append((limits[:, 0] <= new) & (new <= limits[:, 1]))
    assert 0.87 < np.mean(n_inside) < 0.93


def test_there_are_no_limits_where_the_law_has_no_value(rng):
    x = rng.uniform(1, 3, 60)
    curvature, extended, codes = measure(
        make_formula("k1*log(x)", values=(np.ones(4),)), make_rows(x, np.log(x) + rng.normal(size=60), LABELS)
    )
    elsewhere = extended.columns.copy()
    elsewhere[0, 0] = -1.0
    for is_new in (False, True):
        limits = limit_values(curvature, extended, elsewhere, codes, 0.9, is_new=is_new)
        assert np.isnan(limits[0]).all()
        assert np.isfinite(limits[1:]).all()
