"""What a fitted regressor has found: its front, the choice, and formulas in other notations."""

import numpy as np
import pytest

from spl import SplError, SPLRegressor

pytestmark = pytest.mark.search


def test_equations_hold_cost_losses_score_and_equation(model):
    assert list(model.equations_.columns) == ["cost", "loss", "score", "cv_loss", "equation"]
    assert model.equations_["cost"].is_monotonic_increasing
    assert model.equations_["loss"].is_monotonic_decreasing


def test_the_best_row_is_the_one_that_predicts(model, table):
    index = model.best_index_
    assert model.get_best()["equation"] == model.equations_["equation"][index]
    np.testing.assert_array_equal(model.predict(table[0]), model.predict(table[0], index=index))


def test_another_row_predicts_otherwise(model, table):
    assert not np.allclose(model.predict(table[0], index=0), model.predict(table[0]))


def test_the_selection_may_change_after_the_fit(table):
    rng = np.random.default_rng(1)
    X, y = table
    model = SPLRegressor(operators=("+", "-", "*"), max_evaluations=3000, random_state=0).fit(
        X, y + rng.normal(0, 1, y.size)
    )
    model.set_params(selection="accurate")
    assert model.best_index_ == len(model.equations_) - 1
    assert model.set_params(selection="mdl").best_index_ < len(model.equations_) - 1


def test_exported_code_predicts_what_the_model_predicts(model, table):
    X, _ = table
    for index in (None, *range(len(model.equations_))):
        namespace = {}
        exec(model.export("python", index), namespace)
        np.testing.assert_allclose(namespace["predict"](*X.T), model.predict(X, index), rtol=1e-13, atol=1e-13)


def test_an_unknown_format_is_refused(model):
    with pytest.raises(SplError, match="`format` must be one of sympy, latex"):
        model.export("fortran")


def test_latex_and_its_table_show_the_law(model):
    assert "x_{0}^{2}" in model.latex()
    assert model.latex_table().count(r"\\") > len(model.equations_)


@pytest.mark.parametrize("index", [99, -99, 1.5, True, "first"])
def test_a_bad_index_is_named(model, index, table):
    with pytest.raises(SplError, match="`index` must be a row of equations_"):
        model.predict(table[0], index=index)
