import numpy as np
import pytest

from spl.datasets import WIDE_LAWS, load_wide_law, make_wide_table, make_wide_test
from spl.datasets.wide_tables import WIDE_COLUMNS
from spl.errors import DataError, SettingError

each_law = pytest.mark.parametrize("law", WIDE_LAWS, ids=lambda law: law.name)


def relevant_columns(law, rows):
    return rows.table[:, [rows.names.index(name) for name in law.variables]]


def test_there_are_ten_laws_with_two_to_five_columns():
    assert len({law.name for law in WIDE_LAWS}) == len(WIDE_LAWS) == 10
    assert {len(law.variables) for law in WIDE_LAWS} == {2, 3, 4, 5}


@each_law
@pytest.mark.parametrize("n_columns", WIDE_COLUMNS)
def test_the_target_is_the_law_of_its_own_columns(law, n_columns):
    rows = make_wide_table(law, n_columns, seed=0)
    assert rows.table.shape == (400, n_columns)
    assert len(set(rows.names)) == n_columns
    np.testing.assert_allclose(rows.target, law.truth_at(relevant_columns(law, rows)))
    assert np.isfinite(rows.target).all()


@each_law
def test_a_law_needs_every_column(law):
    rows = make_wide_table(law, 20, seed=0)
    relevant = relevant_columns(law, rows)
    for column in range(len(law.variables)):
        moved = relevant.copy()
        moved[:, column] = np.roll(relevant[:, column], 1)
        assert np.std(law.truth_at(moved) - rows.target) > 0.1 * np.std(rows.target)


def test_columns_are_shuffled_on_varied_scales_and_some_are_moderately_correlated_with_relevant_ones():
    law = load_wide_law("yield")
    rows = make_wide_test(law, 500, seed=0)
    others = [k for k, name in enumerate(rows.names) if name not in law.variables]
    deviations = np.std(rows.table[:, others], axis=0)
    assert deviations.max() / deviations.min() > 1000
    assert rows.names[: len(law.variables)] != law.variables
    table = np.column_stack([relevant_columns(law, rows), rows.table[:, others]])
    largest = np.abs(np.corrcoef(table.T)[: len(law.variables), len(law.variables) :]).max(axis=0)
    assert 0.1 < np.mean(largest > 0.25) < 0.3
    assert largest.max() < 0.7


def test_noise_is_a_share_of_the_root_mean_square_of_the_exact_values():
    law = load_wide_law("wave")
    exact, noisy = (make_wide_table(law, 20, seed=3, noise=noise, n_rows=20_000) for noise in (0.0, 0.05))
    np.testing.assert_array_equal(exact.table, noisy.table)
    share = np.sqrt(np.mean((noisy.target - exact.target) ** 2) / np.mean(exact.target**2))
    assert share == pytest.approx(0.05, rel=0.03)


def test_test_rows_have_the_same_columns_and_other_values():
    law = load_wide_law("ratio")
    rows, test = make_wide_table(law, 20, seed=1), make_wide_test(law, 20, seed=1)
    assert test.names == rows.names
    assert not np.isin(test.table, rows.table).any()
    spreads = [np.std(found.table, axis=0) for found in (rows, test)]
    np.testing.assert_allclose(*spreads, rtol=0.2)


def test_another_seed_gives_another_order():
    names = [make_wide_table(WIDE_LAWS[0], 20, seed=seed).names for seed in (0, 0, 1)]
    assert names[0] == names[1] != names[2]


def test_mistakes_are_refused():
    with pytest.raises(DataError, match=r"There is no wide law 'waves'\. Did you mean 'wave'\?"):
        load_wide_law("waves")
    with pytest.raises(SettingError, match="The law 'yield' has 5 columns; got a table of 4"):
        make_wide_table(load_wide_law("yield"), 4, seed=0)
