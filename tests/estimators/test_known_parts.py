"""Forms and guesses of `SPLRegressor`."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import sympy
from sklearn.base import clone

from spl import Grammar, Operator, SPLRegressor
from spl.errors import GrammarError, RunFileError, SettingError
from spl.estimators.fitted_uncertainty import FittedUncertainty

pytestmark = pytest.mark.search

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.uniform(0.5, 3.0, (100, 2)), columns=["p", "T"])
LAW = 2.5 * X["T"] ** 1.5 * np.exp(-1.7 * X["p"] / X["T"]) + 0.8
FORM = "a(T)*exp(-b(p, T)) + C"
SETTINGS = {"random_state": 0, "max_evaluations": 30_000, "timeout": None}


@pytest.fixture(scope="module")
def model():
    return SPLRegressor(form=FORM, **SETTINGS).fit(X, LAW)


def test_the_law_is_one_formula_with_its_parts(model):
    assert model.get_best()["equation"] == "2.5*T**1.5*exp(-1.7*p/T) + 0.8"
    assert model.parts_ == {"a": "2.5*T**1.5", "b": "1.7*p/T"}
    p, T = sympy.symbols("p T")
    assert sympy.simplify(model.part("b") - sympy.Float(1.7) * p / T) == 0
    assert "e^{" in model.latex()


def test_every_formula_of_the_front_has_the_form(model):
    places = range(len(model.equations_))
    assert {sympy.Symbol("p")} >= {s for place in places for s in model.part("a", place).free_symbols} - {
        sympy.Symbol("T")
    }
    assert all(sympy.Symbol("p") not in model.part("a", place).free_symbols for place in places)


def test_a_part_that_does_not_exist_is_named(model):
    with pytest.raises(SettingError, match=re.escape("There is no part 'c'. Choose from: a, b.")):
        model.part("c")


def test_a_pickled_model_has_its_parts(model):
    assert pickle.loads(pickle.dumps(model)).parts_ == model.parts_


def test_without_a_form_there_are_no_parts():
    model = SPLRegressor(operators=("+", "*"), random_state=0, max_evaluations=200).fit(X, 2 * X["p"])
    assert model.parts_ == {}
    with pytest.raises(SettingError, match="the model has no form with holes"):
        model.part("a")


def test_a_known_function_is_an_operator():
    known = Operator("y0", lambda x: np.exp(-x) * np.sin(3.0 * x))
    target = np.exp(-X["p"]) * np.sin(3 * X["p"]) + 2 * X["T"] ** 2
    model = SPLRegressor(form="y0(p) + a(T)", operators=("+", "*", known), **SETTINGS).fit(X, target)
    assert model.parts_ == {"a": "2*T**2"}


def test_a_form_without_holes_has_numbers_at_once():
    target = LAW + 0.01 * RANDOM.normal(size=100)
    model = SPLRegressor(form="C*T**C*exp(-C*p/T) + C", random_state=0).fit(X, target)
    assert model.discovery_.stopped == "fitted"
    errors = model.constants_["standard_error"]
    assert np.all((errors > 0) & (errors < 0.05))
    np.testing.assert_allclose(np.abs(model.constants_["value"]), [2.5, 1.5, 1.7, 0.8], atol=0.05)
    assert model.parts_ == {}
    assert model.predict(X).shape == (100,)
    assert isinstance(model, FittedUncertainty)


def test_guesses_are_begun_with():
    model = SPLRegressor(
        guesses=["2*T*exp(-p/T) + 1"], operators=("+", "*", "/", "exp"), random_state=0, max_evaluations=300
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, 3 * X["T"] * np.exp(-1.4 * X["p"] / X["T"]) + 0.7)
    assert model.get_best()["equation"] == "3*T*exp(-1.4*p/T) + 0.7"


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"form": "a(T)", "grammar": "f -> p"}, SettingError, "`form` cannot be combined with `grammar`"),
        ({"form": "a(T)", "grammar": Grammar.from_text("f -> p")}, SettingError, "cannot be combined"),
        ({"form": 3}, SettingError, "`form` must be text, such as `a(T) * exp(-b(p, T)) + C`; got 3."),
        ({"form": ""}, GrammarError, "There is no formula here."),
        ({"form": "a(TT)"}, GrammarError, "Hole 'a' uses a column 'TT' that does not exist. Did you mean 'T'?"),
        ({"form": "a(T)*K"}, GrammarError, "but there are no groups"),
        ({"form": "a(T)", "operators": "+"}, SettingError, "`operators` must be a list"),
        ({"form": "a(T)", "guesses": ["p"]}, GrammarError, "it does not have the form 'a(T)'"),
        ({"guesses": "2*p"}, SettingError, "`guesses` must be a list of formulas"),
        ({"guesses": ["2*q"]}, GrammarError, "There is no variable 'q'."),
        ({"guesses": ["tanh(p)"]}, GrammarError, "no formula has 'tanh'"),
    ],
)
def test_mistakes_are_told_before_the_search(settings, error, words):
    with pytest.raises(error, match=re.escape(words)):
        SPLRegressor(**settings).fit(X, LAW)


def test_form_and_guesses_are_parameters_of_scikit_learn():
    model = clone(SPLRegressor(form=FORM, guesses=["T"]))
    assert (model.get_params()["form"], model.get_params()["guesses"]) == (FORM, ["T"])


def test_a_run_file_keeps_form_and_guesses(tmp_path):
    path = tmp_path / "law.spl"
    few = {"random_state": 0, "max_evaluations": 2000, "timeout": None}
    first = SPLRegressor(form=FORM, guesses=["T*exp(-p)"], run_file=path, **few).fit(X, LAW)
    again = SPLRegressor.from_run(path)
    assert (again.form, again.guesses) == (FORM, ("T*exp(-p)",))
    assert again.parts_ == first.parts_
    assert again.fit(X, LAW).parts_ == first.parts_
    with pytest.raises(RunFileError, match="`guesses` was"):
        SPLRegressor(form=FORM, run_file=path, **few).fit(X, LAW)
    with pytest.raises(RunFileError, match="`form` was"):
        SPLRegressor(form="a(T) + C", run_file=path, **few).fit(X, LAW)


def test_a_run_file_keeps_a_fitted_form(tmp_path):
    path = tmp_path / "law.spl"
    settings = {"form": "C*T + C*p", "random_state": 0, "run_file": path}
    first = SPLRegressor(**settings).fit(X, LAW)
    assert SPLRegressor(**settings).fit(X, LAW).get_best()["equation"] == first.get_best()["equation"]
    assert SPLRegressor.from_run(path).get_best()["equation"] == first.get_best()["equation"]


def test_groups_may_have_numbers_of_their_own_in_a_form():
    labels = np.repeat(["oak", "ash", "fir", "elm"], 25)
    height = np.repeat([1.2, 2.0, 3.5, 0.7], 25)
    target = height * np.exp(-X["p"].to_numpy()) + X["T"].to_numpy() ** 2
    model = SPLRegressor(form="K*exp(a(p)) + b(T)", operators=("+", "*"), random_state=0, max_evaluations=20_000)
    model.fit(X, target, groups=labels)
    assert model.own_numbers_.iloc[:, 0].round(4).to_dict() == {"oak": 1.2, "ash": 2.0, "fir": 3.5, "elm": 0.7}
    assert model.parts_ == {"a": "-p", "b": "T**2"}


def test_a_guess_may_name_numbers_of_groups():
    labels = np.repeat(["oak", "ash", "fir", "elm"], 25)
    height = np.repeat([1.2, 2.0, 3.5, 0.7], 25)
    model = SPLRegressor(grammar="f -> K*g\ng -> exp(C*p) | p | T | g*g", guesses=["K*exp(-2*p)"], random_state=0)
    model.set_params(max_evaluations=500).fit(X, height * np.exp(-X["p"].to_numpy()), groups=labels)
    assert model.own_numbers_.iloc[:, 0].round(4).to_dict() == {"oak": 1.2, "ash": 2.0, "fir": 3.5, "elm": 0.7}


def test_stability_keeps_to_the_form():
    target = 2 * X["T"] * X["p"] + 0.1 * RANDOM.normal(size=100)
    model = SPLRegressor(form="p*a(T)", operators=("+", "*"), random_state=0, max_evaluations=300).fit(X, target)
    found = model.stability(n=2, max_evaluations=50)
    assert found.structure == 1.0
