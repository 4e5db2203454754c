"""Predictions, scores and figures, also where the equation has no value."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from spl import SplError, SPLRegressor
from spl.errors import DataRepaired, UndefinedError, UndefinedValues

pytestmark = pytest.mark.search


def test_the_figure_shows_the_rows_of_the_fit_or_others(model, table):
    pytest.importorskip("matplotlib")
    drawn = [
        len(figure.axes[1].get_lines()[1].get_xdata())
        for figure in (model.plot(), model.plot(*(part[:9] for part in table)))
    ]
    assert drawn == [60, 9]
    with pytest.raises(SplError, match="both `X` and `y`"):
        model.plot(table[0])


def test_the_figure_shows_the_equation_at_an_index(model):
    pytest.importorskip("matplotlib")
    ring = next(line for line in model.plot(index=0).axes[0].get_lines() if line.get_label() == "this formula")
    assert ring.get_xdata()[0] == model.equations_["cost"][0]
    assert len(model.plot_tree(0).axes[0].texts) < len(model.plot_tree().axes[0].texts)


def test_the_figure_has_the_name_of_the_target(table):
    pytest.importorskip("matplotlib")
    named = SPLRegressor(operators=("+",), max_evaluations=200, random_state=0).fit(
        table[0], pd.Series(table[1], name="heat")
    )
    assert named.plot().axes[1].get_xlabel() == "heat, measured"


def test_a_row_without_a_value_predicts_none(model, table):
    X = table[0][:4].copy()
    X[1, 0] = X[2, 1] = np.nan
    with pytest.warns(UndefinedValues, match="x0 is missing: 1 of 4 rows"):
        assert np.isnan(model.predict(X)).tolist() == [False, True, True, False]


def test_score_leaves_incomplete_rows_out_with_a_warning(model, table):
    X, y = table[0].copy(), table[1].copy()
    X[0, 0] = y[1] = np.nan
    with pytest.warns(DataRepaired, match="2 rows of 60 with missing"):
        assert model.score(X, y) == pytest.approx(1.0)


@pytest.fixture
def logarithm():
    X = np.linspace(1.0, 3.0, 40).reshape(-1, 1)
    return SPLRegressor(grammar="f -> log(x0)", random_state=0).fit(X, np.log(X[:, 0]))


OUTSIDE = np.array([[1.0], [-1.0], [2.0], [0.0]])
WHY = "log(x0) has no value where x0 <= 0: 2 of 4 rows, the first is row 1 (counted from 0)."


def test_predict_warns_where_the_equation_has_no_value(logarithm):
    with pytest.warns(UndefinedValues, match=re.escape(WHY)):
        values = logarithm.predict(OUTSIDE)
    np.testing.assert_array_equal(values, [0.0, np.nan, np.log(2.0), np.nan])


def test_score_says_where_the_equation_has_no_value(logarithm):
    with pytest.raises(UndefinedError, match=re.escape(f"There is no score on these rows. {WHY}")):
        logarithm.score(OUTSIDE, [0.0, 1.0, 2.0, 3.0])


def test_score_is_the_share_explained_with_weights(logarithm):
    X, y, weights = np.array([[1.0], [2.0], [3.0]]), [0.1, 0.6, 1.2], [1.0, 2.0, 0.0]
    assert logarithm.score(X, y, weights) == r2_score(y, np.log(X[:, 0]), sample_weight=weights)
