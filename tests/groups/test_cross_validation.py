"""Cross-validation of formulas with own numbers, against leaving out rows by hand."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.groups.cross_validation import grouped_cross_losses
from spl.groups.fit import fit_jointly
from spl.regression.cross_validation import MAX_CROSS_ROWS


def cross_losses(rows, *formulas):
    fitted = [fit_jointly(each, rows).candidate(rows) for each in formulas]
    return grouped_cross_losses([(each.program, each.own) for each in fitted], rows)


def test_of_five_rows_each_is_left_out_once(rng):
    x, target, codes = rng.uniform(1, 3, 5), rng.uniform(1, 3, 5), np.array([0, 0, 0, 1, 1])
    errors = []
    for row in range(5):
        kept = (codes == codes[row]) & (np.arange(5) != row)
        slope = (x[kept] @ target[kept]) / (x[kept] @ x[kept])
        errors.append(slope * x[row] - target[row])
    [found] = cross_losses(make_rows(x, target, codes), make_formula("k1*x", values=([1, 1],)))
    assert found == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-6)


def test_own_numbers_of_random_labels_predict_worse(rng):
    x, codes = rng.uniform(0, 3, 90), np.repeat(np.arange(30), 3)
    rows = make_rows(x, 2 * x + 0.5 * rng.normal(size=90), codes)
    shared, own = cross_losses(rows, make_formula("C*x", [1]), make_formula("C*x + k1", [1], (np.zeros(30),)))
    assert own > 1.05 * shared


def test_own_numbers_that_differ_predict_better(rng):
    x, codes = rng.uniform(0, 3, 60), np.repeat(np.arange(5), 12)
    rows = make_rows(x, 2 * x + codes + 0.5 * rng.normal(size=60), codes)
    shared, own = cross_losses(rows, make_formula("C*x + C", [1, 1]), make_formula("C*x + k1", [1], (np.zeros(5),)))
    assert own < 0.7 * shared


def test_a_group_of_one_row_cannot_be_predicted_by_its_own_number(rng):
    x = rng.uniform(0, 3, 13)
    rows = make_rows(x, 2 * x + rng.normal(size=13), [*np.repeat([0, 1], 6), 2])
    shared, own = cross_losses(rows, make_formula("C*x", [1]), make_formula("k1*x", values=([1, 1, 1],)))
    assert np.isfinite(shared)
    assert np.isnan(own)


def test_sampling_cuts_no_group_to_a_single_row(rng):
    codes = np.repeat(np.arange(3), [MAX_CROSS_ROWS // 2, MAX_CROSS_ROWS // 2 - 1, 500])
    x = rng.uniform(0, 3, codes.size)
    rows = make_rows(x, (1 + codes) * x + 0.1 * rng.normal(size=x.size), codes)
    [found] = cross_losses(rows, make_formula("k1*x", values=([1, 1, 1],)))
    assert found == pytest.approx(0.1, rel=0.1)
