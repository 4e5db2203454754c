"""Numbers are shown with as many digits as their errors deserve."""

import math

import pytest

from spl.display.numbers import with_error


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (10.0, 0.012, "10.000 ± 0.012"),
        (-2.66612, 0.5, "-2.67 ± 0.50"),
        (27.6, 3.2, "27.6 ± 3.2"),
        (27.6, 32.0, "28 ± 32"),
        (2.6e-12, 7.6e-11, "3e-12 ± 7.6e-11"),
        (2.5, 0.0, "2.5"),
        (2.5, math.nan, "2.5"),
        (2.5, math.inf, "2.5 (the data does not determine it)"),
        (0.0, 1e-20, "0 ± 1e-20"),
    ],
)
def test_numbers_are_shown_to_two_digits_of_their_error(value, error, text):
    assert with_error(value, error) == text
