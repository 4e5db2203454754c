import numpy as np
import pytest
from tests.regression.test_bank_build import complete, make_sample

from spl.regression import bank_indexes

RATIOS = "f -> f + f | f * f | f / f | exp(f) | x | y"
SUMS = "f -> f + f | exp(f) | x | y"


def indexed(index):
    """Return the places that can be found."""
    return np.sort(index.slots[index.keys != 0])


def test_every_entry_that_is_no_number_has_one_place_in_the_grid():
    _, completion = complete("f -> f + f | f - f | f * f | f / f | x | y")
    bank = completion.bank
    values = bank.values[: bank.n_of[0] * bank.n_values].reshape(-1, bank.n_values)
    expected = np.flatnonzero(np.ptp(values, axis=1) > 1e-9)
    np.testing.assert_array_equal(np.sort(completion.spatial_index.entry), expected)


def test_the_grid_of_a_symbol_has_its_own_entries_alone():
    _, completion = complete("f -> f + g | f * f | x\ng -> log(y) | g * g | y")
    index, bank = completion.spatial_index, completion.bank
    for symbol in range(2):
        places = slice(index.first[symbol, 0], index.first[symbol, -1])
        entries = set(index.entry[places].tolist())
        assert len(entries) > 5
        assert entries <= set(bank.member[symbol, : bank.n_of[symbol]].tolist())


def test_the_costliest_entries_are_left_out_of_the_grid(monkeypatch):
    monkeypatch.setattr(bank_indexes, "SPATIAL_ENTRIES", 10)
    _, completion = complete(SUMS)
    n_grown = completion.bank.last.max()
    entries = completion.spatial_index.entry
    assert np.sum(entries < n_grown) == 10
    assert np.all((entries < 10) | (entries >= n_grown))


def test_powers_are_found_only_where_the_grammar_has_products():
    assert indexed(complete(RATIOS)[1].power_index).size > 0
    assert indexed(complete(SUMS)[1].power_index).size == 0


@pytest.mark.parametrize(("n_rows", "is_used"), [(60, True), (7, False)])
def test_powers_are_not_looked_for_when_exponents_leave_too_few_rows_over(n_rows, is_used):
    _, completion = complete(RATIOS, make_sample(n_rows))
    assert (completion.power_index.basis.shape[0] > 0) == is_used
    assert (indexed(completion.power_index).size > 0) == is_used


def test_a_variable_with_zeros_has_no_exponent():
    sample = make_sample()
    table = sample.columns.T.copy()
    table[3, 1] = 0.0
    _, completion = complete(RATIOS, type(sample).from_arrays(table, sample.target, names=sample.names))
    assert np.any(completion.power_index.solver[0] != 0)
    np.testing.assert_array_equal(completion.power_index.solver[1], 0.0)
