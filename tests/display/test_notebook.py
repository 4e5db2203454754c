"""Models in notebooks, fitted or not."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spl import SPLDynamics, SPLRegressor
from spl.display.notebook import MAX_NOTEBOOK_ROWS, front_html
from spl.display.results import FrontRow

pytestmark = pytest.mark.search

NAME = "<script>alert(1)</script>"
QUICK = {"operators": ("+", "*"), "random_state": 0}


@pytest.fixture(scope="module")
def regressor():
    table = pd.DataFrame({NAME: np.linspace(1, 2, 30)})
    return SPLRegressor(max_evaluations=500, **QUICK).fit(table, pd.Series(3 * table[NAME] + 1, name="<b>y</b>"))


@pytest.fixture(scope="module")
def dynamics():
    t = np.linspace(0, 6, 200)
    x = np.column_stack([np.sin(t), np.cos(t)])
    return SPLDynamics(timeout=3, **QUICK).fit(x, t, feature_names=["a", NAME])


def models():
    return pytest.mark.parametrize("name", ["regressor", "dynamics"])


@models()
def test_a_fitted_model_shows_its_equations_typeset_and_its_front(name, request):
    model = request.getfixturevalue(name)
    html = model._repr_html_()
    assert "<math" in html
    assert "<table" in html
    assert model._repr_mimebundle_()["text/html"] == html


@models()
def test_all_text_of_the_user_is_escaped(name, request):
    html = request.getfixturevalue(name)._repr_html_()
    assert "<script" not in html
    assert "<b>y</b>" not in html
    assert "&lt;script&gt;" in html
    ElementTree.fromstring(html.replace("<details open>", "<details>"))


def test_the_chosen_row_is_marked_and_no_other(regressor):
    rows = regressor._repr_html_().split("<tbody>")[1].split("<tr")[1:]
    marked = [place for place, row in enumerate(rows) if "<td>chosen</td>" in row]
    assert marked == [regressor.best_index_]


def test_latex_is_for_mathjax(regressor, dynamics):
    assert regressor._repr_latex_().startswith(r"$\displaystyle ")
    assert dynamics._repr_latex_().count(r"\frac{d ") == 2
    assert r"\begin{aligned}" in dynamics._repr_latex_()


@pytest.mark.parametrize("model", [SPLRegressor(), SPLDynamics()])
def test_a_model_that_is_not_fitted_looks_as_scikit_learns_do(model):
    assert type(model).__name__ in model._repr_html_()
    assert "sk-container" in model._repr_html_()
    assert "text/html" in model._repr_mimebundle_()
    assert model._repr_latex_() is None


def test_scikit_learns_setting_for_text_is_kept(regressor):
    with sklearn.config_context(display="text"):
        assert "text/html" not in regressor._repr_mimebundle_()
        assert not hasattr(regressor, "_repr_html_")


def test_a_pipeline_with_a_fitted_model_is_drawn_as_usual(regressor):
    assert "sk-container" in make_pipeline(StandardScaler(), regressor)._repr_html_()


def test_a_long_front_is_cut_around_the_chosen_row():
    rows = [FrontRow(cost, 1.0 / cost, 0.0, f"x + {cost}", cost == 90) for cost in range(1, 101)]
    html = front_html(rows)
    assert html.count("<tr") == MAX_NOTEBOOK_ROWS + 1
    assert "x + 90<" in html
    assert "70 more rows" in html
