import numpy as np
import pytest

from spl.datasets import LAWS, load_law, make_informed_table, make_law_table, make_law_test
from spl.datasets.law_tables import OVER_DECADES, TABLE_VARIANTS
from spl.errors import SettingError

LAW = load_law("chip_power")
MANY = 20_000
each_variant = pytest.mark.parametrize("variant", TABLE_VARIANTS)


def scaled_errors(rows):
    return (rows.target - rows.exact) / rows.deviations


@each_variant
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_table_has_finite_rows_around_the_law(law, variant):
    rows = make_law_table(law, variant, seed=0)
    factor = law.counts_factor if variant == "counts" else 1.0
    assert (rows.table.shape, rows.n_rows) == ((200, len(law.columns)), 200)
    assert np.isfinite(rows.target).all()
    np.testing.assert_allclose(rows.exact, factor * law.truth_at(rows.table))


@each_variant
def test_errors_are_as_large_as_their_standard_deviations_say(variant):
    rows = make_law_table(LAW, variant, seed=1, n_rows=MANY)
    errors = scaled_errors(rows)[~rows.is_outlier]
    assert np.mean(errors) == pytest.approx(0, abs=0.03)
    assert np.std(errors) == pytest.approx(1, rel=0.03)


def test_the_size_of_noise_is_that_of_its_variant():
    even, relative, outliers, counts = (make_law_table(LAW, variant, seed=0) for variant in TABLE_VARIANTS)
    assert even.deviations[0] == pytest.approx(0.05 * np.sqrt(np.mean(even.exact**2)))
    assert np.ptp(even.deviations) == 0
    np.testing.assert_allclose(relative.deviations, 0.05 * relative.exact)
    assert outliers.deviations[0] == pytest.approx(0.01 * np.sqrt(np.mean(outliers.exact**2)))
    np.testing.assert_allclose(counts.deviations, np.sqrt(counts.exact))


def test_one_row_of_ten_has_a_gross_error_up_or_down():
    rows = make_law_table(LAW, "outliers", seed=0, n_rows=1000)
    sizes = (rows.target - rows.exact)[rows.is_outlier] / np.std(rows.exact)
    assert len(sizes) == 100
    assert np.all((np.abs(sizes) > 2.9) & (np.abs(sizes) < 10.1))
    assert 30 < np.sum(sizes > 0) < 70
    assert not any(make_law_table(LAW, variant, seed=0).is_outlier.any() for variant in ("even", "relative", "counts"))


def test_counts_are_whole_numbers_from_0():
    target = make_law_table(LAW, "counts", seed=0).target
    np.testing.assert_array_equal(target, np.round(target))
    assert target.min() >= 0


# ---- the partner with the same information -------------------------------------------------------


@pytest.mark.parametrize("variant", ["even", "relative"])
def test_the_partner_of_normal_noise_is_the_table_itself(variant):
    measured, informed = (make(LAW, variant, 3) for make in (make_law_table, make_informed_table))
    np.testing.assert_array_equal(informed.table, measured.table)
    np.testing.assert_array_equal(informed.target, measured.target)


def test_the_partner_of_outliers_has_only_the_good_rows():
    measured, informed = (make(LAW, "outliers", 3) for make in (make_law_table, make_informed_table))
    np.testing.assert_array_equal(informed.target, measured.target[~measured.is_outlier])
    assert informed.n_rows == 180


def test_the_partner_of_counts_has_normal_noise_of_the_same_size_in_the_same_rows():
    measured, informed = (make(LAW, "counts", 3, n_rows=MANY) for make in (make_law_table, make_informed_table))
    np.testing.assert_array_equal(informed.table, measured.table)
    np.testing.assert_array_equal(informed.deviations, measured.deviations)
    assert np.std(scaled_errors(informed)) == pytest.approx(1, rel=0.03)
    assert not np.array_equal(informed.target, np.round(informed.target))


# ---- seeds and test rows -------------------------------------------------------------------------


@each_variant
def test_one_seed_is_one_table_and_another_seed_another(variant):
    first, again, other = (make_law_table(LAW, variant, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.target, again.target)
    assert not np.array_equal(first.target, other.target)


@each_variant
def test_test_rows_are_exact_and_others_from_the_same_ranges(variant):
    table, truth = make_law_test(LAW, variant, seed=0)
    rows = make_law_table(LAW, variant, seed=0)
    factor = LAW.counts_factor if variant == "counts" else 1.0
    np.testing.assert_allclose(truth, factor * LAW.truth_at(table))
    assert not np.isin(table, rows.table).any()
    ranges = [column.decades if variant in OVER_DECADES else column.usual for column in LAW.columns]
    assert all(
        range_.low <= values.min() and values.max() <= range_.high
        for range_, values in zip(ranges, table.T, strict=True)
    )


def test_an_unknown_variant_is_refused():
    with pytest.raises(SettingError, match=r"There is no variant 'count'\. Did you mean 'counts'\?"):
        make_law_table(LAW, "count", seed=0)
