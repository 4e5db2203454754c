"""Numbers are shown with as many digits as their errors deserve."""

import json
import math

import pytest

from spl.display.numbers import describe_known_numbers, interval_text, number_lines, with_error
from spl.regression.uncertainty import KnownNumber


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


def known(value, error, kind="fitted", lower=-math.inf, note=""):
    return KnownNumber(value, error, lower, -lower, kind, "", note, f"[{value:g}]*x")


def test_terms_are_aligned():
    lines = number_lines([known(2.5, 0.1), known(3.0, 0.04, "rounded")])
    assert lines == ["  2.50 ± 0.10          [2.5]*x", "  3 (rounded, ± 0.04)  [3]*x"]


def test_a_formula_without_numbers_has_no_lines():
    assert number_lines([]) == []


def test_json_has_no_infinite_numbers():
    [described] = describe_known_numbers([known(2.5, math.inf, note="unknown")])
    assert json.loads(json.dumps(described, allow_nan=False)) == {
        "value": 2.5,
        "standard_error": None,
        "kind": "fitted",
        "term": "[2.5]*x",
        "lower": None,
        "upper": None,
        "simple": "",
        "note": "unknown",
    }


def number(value, error, lower, upper):
    return KnownNumber(value, error, lower, upper, "fitted", "", "", "[...]")


@pytest.mark.parametrize(
    ("known", "text"),
    [
        (number(3.14159, 1e-5, 3.14157, 3.14161), "3.141570 to 3.141610"),
        (number(6.6743e-11, 1e-15, 6.6741e-11, 6.6745e-11), "6.6741e-11 to 6.6745e-11"),
        (number(1234567.0, 890.0, 1232800.0, 1236300.0), "1.2328e+06 to 1.2363e+06"),
        (number(2.0, math.inf, -math.inf, math.inf), "unknown"),
        (number(2.0, math.nan, 2.0, 2.0), ""),
    ],
)
def test_an_interval_has_as_many_digits_as_its_error_allows(known, text):
    assert interval_text(known) == text
