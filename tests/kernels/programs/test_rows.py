"""Operators on rows against numpy, at every kind of number, and without touching the rows next to theirs."""

import numpy as np
import pytest
from tests.kernels.program_twins import BINARY, UNARY, nan_where, power_token

from spl.kernels.programs import tokens as tk
from spl.kernels.programs.rows import apply_binary, apply_unary, copy_row, fill_row, integer_power, sign
from spl.kernels.programs.vector_math import TRIG_LIMIT

NO_USER = np.zeros((0, 3), np.int64)
NUMBERS = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.7, -3.7, 1e-8, -1e-8, 40.0, -40.0, 1e4, 2 * TRIG_LIMIT, -1e7, np.nan]
)
GUARD = 77.0  # in the places around a row


def surround(values):
    return np.concatenate([[GUARD], values, [GUARD]])


def take_out(rows):
    assert rows[0] == rows[-1] == GUARD, "written beyond the row"
    return rows[1:-1]


@pytest.mark.parametrize("token", UNARY)
def test_unary_operators_have_the_values_of_numpy(token):
    rows = surround(NUMBERS)
    apply_unary(token, NO_USER, rows, 1, NUMBERS.size)
    with np.errstate(all="ignore"):
        expected = UNARY[token](NUMBERS)
    np.testing.assert_allclose(take_out(rows), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("token", BINARY)
def test_binary_operators_have_the_values_of_numpy(token):
    a, b = (grid.ravel() for grid in np.meshgrid(NUMBERS, NUMBERS))
    first, second = surround(a), surround(b)
    apply_binary(token, NO_USER, first, 1, second, 1, a.size)
    with np.errstate(all="ignore"):
        expected = BINARY[token](a, b)
    np.testing.assert_array_equal(take_out(first), a)
    np.testing.assert_allclose(take_out(second), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("exponent", [-40, -17, -3, -1, 0, 1, 2, 5, 15, 16, 31, 33])
def test_powers_have_the_values_of_numpy(exponent):
    numbers = NUMBERS[np.abs(NUMBERS) < 1e3]
    rows = surround(numbers)
    apply_unary(power_token(exponent), NO_USER, rows, 1, numbers.size)
    with np.errstate(all="ignore"):
        expected = nan_where((numbers == 0) & (exponent < 0), numbers ** float(exponent))
    np.testing.assert_allclose(take_out(rows), expected, rtol=1e-12)


@pytest.mark.parametrize("exponent", [0, 1, 7, -2])
def test_a_power_of_nan_is_nan(exponent):
    assert np.isnan(integer_power(np.nan, exponent))


def test_a_tie_of_min_and_max_is_the_number_itself_and_nan_wins():
    for token in (tk.MIN, tk.MAX):
        for a, b in ((2.0, 2.0), (np.nan, 1.0), (1.0, np.nan)):
            row = np.array([b])
            apply_binary(token, NO_USER, np.array([a]), 0, row, 0, 1)
            np.testing.assert_array_equal(row, [np.nan if np.isnan(a + b) else a])


@pytest.mark.parametrize(("x", "expected"), [(3.0, 1.0), (-3.0, -1.0), (0.0, 0.0), (np.nan, np.nan)])
def test_the_sign_of_a_number(x, expected):
    np.testing.assert_array_equal(sign(x), expected)


def test_rows_are_filled_and_copied_in_their_places_only():
    rows = np.full(8, GUARD)
    fill_row(rows, 1, 3.0, 2)
    copy_row(rows, 1, rows, 5, 2)
    np.testing.assert_array_equal(rows, [GUARD, 3, 3, GUARD, GUARD, 3, 3, GUARD])


def test_an_empty_row_changes_nothing():
    rows = np.full(3, GUARD)
    apply_unary(tk.SIN, NO_USER, rows, 1, 0)
    copy_row(rows, 0, rows, 1, 0)
    np.testing.assert_array_equal(rows, np.full(3, GUARD))
