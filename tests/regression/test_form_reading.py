"""Formulas as readings of a form, checked on rows."""

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.forms import Form
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.form_reading import MAX_ROWS, FormReader

NAMES = ("p", "T")


def make_reader(form, n_rows=50):
    X = np.random.default_rng(0).uniform(0.5, 2.0, (n_rows, 2))
    return FormReader(Form.from_text(form, NAMES), Dataset.from_arrays(X, X[:, 0], names=NAMES))


def read(text):
    return parse_expression(text, Vocabulary(NAMES))


@pytest.mark.parametrize(
    ("text", "has_form"), [("T/exp(p)", True), ("3*T*exp(-p)", True), ("T + exp(p)", False), ("p*exp(-T)", False)]
)
def test_it_says_which_formulas_have_the_form(text, has_form):
    reader = make_reader("a(T)*exp(-b(p))")
    assert [reader.has_form(read(text)) for _ in range(2)] == [has_form, has_form]


def test_a_reading_with_other_values_does_not_count():
    reader = make_reader("2*p + a(T)")
    assert reader.parts(read("3*p + T")) is None
    assert to_text(reader.parts(read("2*p + T"))["a"]) == "T"


def test_few_rows_of_a_large_table_are_compared():
    assert make_reader("a(T)", n_rows=3 * MAX_ROWS).rows.n_rows == MAX_ROWS
