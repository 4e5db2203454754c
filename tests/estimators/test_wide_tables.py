"""Tables of many columns: screened, in any order, with columns of all kinds."""

import warnings

import numpy as np
import pandas as pd
import pytest

from spl import SPLRegressor

pytestmark = pytest.mark.search

N_COLUMNS = 30
NAMES = [f"c{k}" for k in range(N_COLUMNS)]


def make_table():
    random = np.random.default_rng(3)
    table = random.normal(size=(200, N_COLUMNS))
    table[:, 5] = 2.0
    table[:, 7] = table[:, 3]
    table[:, 9] = random.integers(0, 2, 200)
    table[:, 11] = random.integers(0, 5, 200)
    table[:, 13] = table[:, 3] + 0.1 * random.normal(size=200)
    return pd.DataFrame(table, columns=NAMES)


def target_of(table):
    return 2 * table["c3"] * table["c11"] + table["c9"]


def fit(table, target, **settings):
    model = SPLRegressor(**{"random_state": 0, "timeout": None, "max_evaluations": 4_000} | settings)
    return model.fit(table, target)


@pytest.fixture(scope="module")
def model():
    table = make_table()
    return fit(table, target_of(table))


def test_a_law_of_few_columns_is_found_among_duplicates_switches_counts_and_correlated_columns(model):
    assert str(model.sympy()) == "2*c11*c3 + c9"


def test_the_answer_does_not_depend_on_the_order_of_the_columns(model):
    table = make_table()[list(np.random.default_rng(0).permutation(NAMES))]
    assert str(fit(table, target_of(table)).sympy()) == str(model.sympy())


def test_a_note_says_which_columns_were_searched_and_which_left_out(model):
    [note] = model.notes_
    assert note.startswith("Searched with ")
    assert "repeat another: c7 (as c3)" in note
    assert "never vary: c5" in note


def test_the_note_is_no_warning():
    table = make_table()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit(table, target_of(table))
    assert found.notes_
    assert not caught


def test_relevance_says_what_each_column_brings(model):
    relevance = model.relevance_
    assert list(relevance.index) == NAMES
    assert set(relevance[relevance > 0].index) == {"c3", "c9", "c11"}
    assert relevance["c3"] > relevance["c11"] > relevance["c9"]


def test_columns_that_no_single_look_shows_come_back_when_the_errors_ask_for_them(monkeypatch):
    from spl.regression.column_screening import Screening

    table = make_table()
    few = Screening(np.zeros(N_COLUMNS), 0.1, promising=(3, 11, 20, 21))
    monkeypatch.setattr("spl.regression.setup.screen_columns", lambda rows: few)
    found = {str(fit(table, target_of(table), random_state=seed).sympy()) for seed in (0, 1)}
    assert "2*c11*c3 + c9" in found  # rounding in the last digit decides what a single seed meets


def test_unrelated_columns_explain_nothing():
    random = np.random.default_rng(1)
    table, target = random.normal(size=(100, 40)), random.normal(size=100)
    with pytest.warns(match="do not explain"):
        found = fit(table, target)
    assert not found.sympy().free_symbols


def test_the_grammar_of_a_wide_table_is_obeyed():
    table = make_table()
    found = fit(table, target_of(table), grammar="f -> f + f | C * f | f * f | c3 | c11 | c9 | c1")
    assert str(found.sympy()) == "2*c11*c3 + c9"
