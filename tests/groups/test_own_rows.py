"""Rows with the own numbers of a formula as further columns, and what is known about these numbers."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.groups.fit import LAST_JOINT_EFFORT, fit_jointly
from spl.groups.own_rows import errors_of_groups, know_numbers_of, own_of, with_group_columns
from spl.regression.candidate import Candidate
from spl.regression.fit import evaluate

CODES, DAYS = np.repeat(np.arange(3), 8), np.tile(np.arange(4), 6)


def fit_lines(rows, scopes):
    values = [np.ones(rows.groupings[scope].n_groups) for scope in scopes]
    return fit_jointly(make_formula("k1*x + k2", values=values, scopes=scopes), rows, LAST_JOINT_EFFORT).candidate(rows)


def test_the_program_has_the_values_of_the_law_on_these_rows(rng):
    x = rng.uniform(0, 3, 24)
    law = (1 + CODES) * x + 10 * DAYS
    rows = make_rows(x, law, CODES, DAYS)
    fitted = fit_lines(rows, (0, 1))
    extended = with_group_columns(rows.data, rows.groupings, own_of(fitted))
    np.testing.assert_allclose(evaluate(fitted.program, extended.columns), law, atol=1e-6)
    swapped = with_group_columns(rows.data, rows.groupings[::-1], own_of(fitted))
    np.testing.assert_array_equal(extended.columns, swapped.columns)


def test_a_formula_without_own_numbers_needs_no_further_columns():
    rows = make_rows([1.0, 2.0], [1.0, 2.0], list("ab"))
    plain = Candidate(parse_expression("x", Vocabulary(("x",))), 0.0)
    assert own_of(plain) == ()
    assert with_group_columns(rows.data, rows.groupings, own_of(plain)) is rows.data


def test_errors_of_own_lines_are_those_of_least_squares_over_all_groups(rng):
    x = rng.uniform(0, 3, 24)
    rows = make_rows(x, (1 + CODES) * x + CODES + 0.1 * rng.normal(size=24), CODES)
    fitted = fit_lines(rows, (0, 0))
    found = errors_of_groups(know_numbers_of(fitted, rows.data, rows.groupings))
    inside = CODES[:, np.newaxis] == np.arange(3)
    design = np.hstack([inside * x[:, np.newaxis], inside])
    _, square, *_ = np.linalg.lstsq(design, rows.data.target)
    expected = np.sqrt(square[0] / (24 - 6) * np.diag(np.linalg.inv(design.T @ design)))
    assert list(found) == ["k1", "k2"]
    np.testing.assert_allclose([*found["k1"], *found["k2"]], expected, rtol=1e-5)


def test_rows_of_weight_zero_tell_nothing(rng):
    x, weights = rng.uniform(0, 3, 24), np.where(np.arange(24) % 6 == 5, 0.0, 1.0)
    target = (1 + CODES) * x + CODES + 0.1 * rng.normal(size=24)
    kept = np.flatnonzero(weights)
    fewer = make_rows(x, target, CODES).take(kept)
    fitted = fit_lines(fewer, (0, 0))
    every = make_rows(x, np.where(weights > 0, target, 99.0), CODES, weights=weights)
    one = know_numbers_of(fitted, every.data, every.groupings)
    other = know_numbers_of(fitted, fewer.data, fewer.groupings)
    assert [each.standard_error for each in one] == pytest.approx([each.standard_error for each in other], rel=1e-9)


@pytest.mark.parametrize(("given", "is_known"), [((), False), ((2.0,), True)])
def test_numbers_of_the_grammar_are_exact_and_other_round_ones_are_not(rng, given, is_known):
    x = rng.uniform(0, 3, 24)
    rows = make_rows(x, (1 + CODES) * x + 2 + 0.1 * rng.normal(size=24), CODES)
    formula = make_formula("k1*x + 2", values=(np.ones(3),))
    fitted = fit_jointly(formula, rows).candidate(rows)
    number = know_numbers_of(fitted, rows.data, rows.groupings, given)[0]
    assert number.value == 2.0
    assert np.isnan(number.standard_error) == is_known
