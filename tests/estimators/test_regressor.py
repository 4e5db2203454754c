"""The scikit-learn door."""

import pickle
import re
import warnings
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import sympy
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from spl import Grammar, Loss, Operator, SearchConfig, SplError, SPLRegressor
from spl.errors import DataRepaired, RunFileError, SearchInterrupted

pytestmark = pytest.mark.search

FEW = {"max_evaluations": 1000, "timeout": None, "random_state": 0}
CHECKED = SPLRegressor(operators=("+", "-", "*"), max_evaluations=100, search=SearchConfig(n_trees=1))


@pytest.mark.parametrize(
    ("estimator", "check"),
    list(estimator_checks_generator(CHECKED)),
    ids=lambda value: getattr(getattr(value, "func", value), "__name__", ""),
)
def test_scikit_learns_check_passes(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some checks warn on purpose
        check(estimator)


def test_the_law_is_found(model, table):
    assert sympy.expand(model.sympy() - sympy.sympify("3*x0**2 - x1")) == 0
    assert model.score(*table) == pytest.approx(1.0)


def test_any_column_name_appears_in_the_law(table):
    X, y = table
    frame = pd.DataFrame(X, columns=["flow rate [m/s]", "class"])
    model = SPLRegressor(operators=("+", "-", "*"), random_state=0).fit(frame, y)
    assert {str(symbol) for symbol in model.sympy().free_symbols} == {"flow rate [m/s]", "class"}
    np.testing.assert_allclose(model.predict(frame), y, atol=1e-9)


def test_a_grammar_is_taken_as_object_text_and_file(table, tmp_path: Path):
    text = "f -> f + f | C * f | x0**2 | x1"
    (tmp_path / "law.grammar").write_text(text)
    X, y = table
    for grammar in (text, Grammar.from_text(text), tmp_path / "law.grammar", str(tmp_path / "law.grammar")):
        model = SPLRegressor(grammar=grammar, random_state=0).fit(X, y)
        assert sympy.expand(model.sympy() - sympy.sympify("3*x0**2 - x1")) == 0


def test_an_operator_of_the_user_is_searched_printed_and_exported():
    sinc = Operator("sinc", lambda x: np.sin(x) / x)
    X = np.linspace(0.5, 9, 50).reshape(-1, 1)
    y = 2 * np.sin(X[:, 0]) / X[:, 0]
    model = SPLRegressor(operators=("+", "*", sinc), random_state=0).fit(X, y)
    assert model.get_best()["equation"] == "2*sinc(x0)"
    assert model.sympy() == 2 * sympy.Function("sinc")(sympy.Symbol("x0"))


def test_without_constants_the_law_has_no_fitted_number(table):
    model = SPLRegressor(operators=("+", "-", "*"), constants=False, **FEW).fit(*table)
    assert {candidate.program.n_constants for candidate in model.discovery_.front} == {0}


def test_weights_decide_between_two_laws():
    X = np.concatenate([np.linspace(1, 2, 30), np.linspace(1, 2, 30)]).reshape(-1, 1)
    y = np.concatenate([2 * X[:30, 0], 5 * X[30:, 0]])
    weights = np.concatenate([np.ones(30), np.zeros(30)])
    model = SPLRegressor(operators=("+", "*"), random_state=0).fit(X, y, sample_weight=weights)
    assert model.sympy() == 2 * sympy.Symbol("x0")


def test_the_same_seed_gives_the_same_equations_for_any_number_of_jobs(table):
    X, y = table
    noisy = y + np.random.default_rng(0).normal(0, 0.1, y.size)
    fronts = [SPLRegressor(n_jobs=n_jobs, **FEW).fit(X, noisy).equations_ for n_jobs in (1, 2, 4)]
    pd.testing.assert_frame_equal(fronts[0], fronts[1])
    pd.testing.assert_frame_equal(fronts[0], fronts[2])


def test_a_model_survives_pickle_and_joblib(model, table, tmp_path: Path):
    joblib.dump(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        np.testing.assert_array_equal(copy.predict(table[0]), model.predict(table[0]))
        assert copy.sympy() == model.sympy()


def test_it_works_in_a_pipeline_and_a_grid_search(table):
    pipeline = make_pipeline(
        StandardScaler(), SPLRegressor(operators=("+", "-", "*"), max_evaluations=500, random_state=0)
    )
    search = GridSearchCV(pipeline, {"splregressor__constants": [True, False]}, cv=2).fit(*table)
    assert search.best_params_ == {"splregressor__constants": True}
    assert clone(pipeline).get_params()["splregressor__max_evaluations"] == 500


def test_an_interrupt_returns_the_best_so_far_with_a_warning(table, monkeypatch):
    import spl.regression.discover

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(spl.regression.discover, "_reason_to_stop", interrupt)
    with pytest.warns(SearchInterrupted, match="best so far"):
        model = SPLRegressor(operators=("+", "*")).fit(*table)
    assert len(model.equations_)


def test_verbose_prints_improvements(table, capsys):
    SPLRegressor(operators=("+", "*"), verbose=1, **FEW).fit(*table)
    assert "x0" in capsys.readouterr().out


def test_a_constant_target_is_its_own_law():
    model = SPLRegressor(random_state=0).fit(np.arange(10.0).reshape(-1, 1), np.full(10, 4.0))
    assert model.sympy() == 4


def test_one_row_has_an_answer():
    assert SPLRegressor(random_state=0).fit([[2.0]], [6.0]).predict([[2.0]])[0] == pytest.approx(6.0)


def test_five_hundred_columns_have_an_answer():
    X = np.random.default_rng(0).normal(size=(40, 500))
    model = SPLRegressor(operators=("+", "*"), max_evaluations=20_000, random_state=0).fit(X, X[:, 123])
    assert model.sympy() == sympy.Symbol("x123")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"timeout": -1}, "`timeout` must be more than 0; got -1."),
        ({"timeout": "soon"}, "`timeout` must be a number; got 'soon'."),
        ({"max_evaluations": 0}, "`max_evaluations` must be 1 or more; got 0."),
        ({"selection": "best"}, "`selection` must be one of mdl, bic, accurate, knee, validation; got 'best'."),
        ({"operators": ("+", "sine")}, "There is no operator 'sine'. Did you mean 'sin'?"),
        ({"search": {}}, "`search` must be a SearchConfig or None; got {}."),
        ({"grammar": 3}, "`grammar` must be a Grammar, its text or the path of a file; got 3."),
        ({"grammar": "f -> f + x9"}, "x9"),
        ({"grammar": "nowhere.grammar"}, "'nowhere.grammar' is neither a file nor a grammar."),
        ({"grammar": "f => x0"}, "The arrow of a rule is `->`, not `=>`. Write `f -> x0`."),
        ({"grammar": ""}, "`grammar` is empty."),
    ],
)
def test_a_bad_setting_is_named(settings, message, table):
    with pytest.raises(SplError) as caught:
        SPLRegressor(**settings).fit(*table)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([["a"], ["b"]], [1.0, 2.0], "Column 'x0' holds text: 'a' in row 0"),
        ([[1.0], [2.0]], ["a", "b"], "The target holds text: 'a' in row 0"),
        ([[1], [10**400], [3]], [1.0, 2.0, 3.0], "Column 'x0' has something that is not a number in 1 of 3 cells"),
        ([[1], [2], [3]], [1.0, 10**400, 3.0], "has something that is not a number in 1 of 3 cells (row 1: 1000"),
        ([[np.nan], [np.inf]], [1.0, 2.0], "No row of the data has a number in every column used"),
        ([[1.0], [2.0]], [np.nan, np.nan], "The target has 2 missing values out of 2"),
        (np.empty((3, 0)), [1.0, 2.0, 3.0], "0 feature(s)"),
        (np.empty((0, 2)), [], "0 sample(s)"),
        ([[1.0], [2.0]], [1.0, 2.0, 3.0], "inconsistent numbers of samples"),
        ([[1.0], [2.0]], None, "requires y"),
        ([[1.0], [2.0]], [1.0, 2j], "Complex data not supported"),
        (pd.DataFrame({"a": ["u", "v"], "b": [1, 2]}), [1.0, 2.0], "Column 'a' holds text: 'u' in row 0. Leave it out"),
        (pd.DataFrame({"a": ["1", "2", "bad"]}), [1.0, 2.0, 3.0], "Column 'a' has text in 1 of 3 cells (row 2: 'bad')"),
    ],
)
def test_a_bad_table_is_refused(X, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SPLRegressor().fit(X, y)


# ---- missing values, dates -----------------------------------------------------------------------


def fit_with_warnings(X, y, weights=None, **settings):
    """Fit a line; return the model and what was said about the data."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SPLRegressor(operators=("+", "*"), **FEW, **settings).fit(X, y, weights)
    repairs = [str(warning.message) for warning in caught if issubclass(warning.category, DataRepaired)]
    assert all(warning.filename == __file__ for warning in caught if issubclass(warning.category, DataRepaired))
    assert model.notes_[: len(repairs)] == repairs
    return model, repairs


@pytest.mark.parametrize("where", ["X", "y", "weights", "infinite"])
def test_rows_with_missing_values_are_left_out_with_a_warning(table, where):
    X, y, weights = table[0].copy(), table[1].copy(), np.ones(60)
    if where == "weights":
        weights[[3, 7]] = np.nan
    elif where == "y":
        y[[3, 7]] = np.nan
    else:
        X[[3, 7], 1] = np.inf if where == "infinite" else np.nan
    model, repairs = fit_with_warnings(X, y, weights if where == "weights" else None)
    assert repairs == ["2 rows of 60 with missing or infinite values left out (the first: row 3)."]
    assert model.discovery_.n_rows == 58
    assert model.score(*table) == pytest.approx(1.0)


def test_the_mask_of_an_array_is_not_forgotten(table):
    X = np.ma.masked_array(table[0], table[0] > 1.9)
    _, repairs = fit_with_warnings(X, table[1])
    assert repairs[0].startswith(f"{np.count_nonzero((table[0] > 1.9).any(axis=1))} rows of 60 with missing")


def test_dates_are_seconds_since_the_first_of_the_fit(tmp_path):
    when = pd.date_range("2024-03-01 12:00", periods=40, freq="s")
    X = pd.DataFrame({"when": when, "on": np.arange(40) % 2 == 0})
    path = tmp_path / "run.spl"
    model, repairs = fit_with_warnings(X, 2.0 * np.arange(40) + X["on"], run_file=path)
    assert repairs == ["Column 'when' is in seconds since 2024-03-01 12:00:00."]
    for fitted in (model, SPLRegressor.from_run(path)):
        np.testing.assert_allclose(fitted.predict(X[20:]), 2.0 * np.arange(20, 40) + X["on"][20:], rtol=1e-6)
        texts = X[20:].assign(when=when[20:].astype(str))
        np.testing.assert_allclose(fitted.predict(texts), fitted.predict(X[20:]))


def test_dates_in_a_column_that_held_numbers_are_refused(model):
    with pytest.raises(SplError, match="Column 'x1' holds dates, but it held numbers in the fit"):
        model.predict(np.array([[1.0, pd.Timestamp("2024-01-01")]], dtype=object))


@pytest.mark.parametrize(
    "X",
    [
        np.array([[f"{k}.5"] for k in range(20)]),
        np.array([["-" if k == 3 else k + 0.5] for k in range(20)], dtype=object),
        np.array([[np.datetime64("2024-01-01T00:00:00.500") + np.timedelta64(k, "s")] for k in range(20)]),
        np.array([[np.timedelta64(500 + 1000 * k, "ms")] for k in range(20)]),
        pd.DataFrame({"a": pd.array([k + 0.5 for k in range(19)] + [None], dtype="Float64")}),
    ],
    ids=["texts", "objects", "dates", "durations", "nullable"],
)
def test_columns_of_any_kind_are_read_as_numbers(X):
    model, _ = fit_with_warnings(X, 3.0 * np.arange(20) + 1)
    assert sympy.Poly(model.sympy()).LC() == pytest.approx(3)


def test_an_endless_whole_number_is_refused_in_weights():
    with pytest.raises(SplError, match="has something that is not a number in 1 of 3 cells"):
        SPLRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], [1, 10**400, 1])


def test_equal_column_names_are_refused():
    frame = pd.DataFrame(np.ones((5, 2)), columns=["a", "a"])
    with pytest.raises(SplError, match="'a' appears twice"):
        SPLRegressor().fit(frame, np.arange(5.0))


def test_nothing_can_be_asked_before_the_fit():
    for ask in (lambda m: m.sympy(), lambda m: m.get_best(), lambda m: m.predict([[1.0]]), lambda m: m.latex_table()):
        with pytest.raises(NotFittedError):
            ask(SPLRegressor())


def test_the_constructor_has_at_most_twenty_parameters():
    assert len(SPLRegressor().get_params()) <= 20


# ---- run files -----------------------------------------------------------------------------------

QUICK = SearchConfig(max_rules=10, n_episodes=60, n_transplants=2, max_schedules=1)


def make_table():
    x = np.random.default_rng(1).uniform(1, 3, (30, 2))
    return pd.DataFrame(x, columns=["mass", "speed"]), pd.Series(
        np.abs(np.sin(9 * x[:, 0] * x[:, 1])) + np.sin(40 * x[:, 1]), name="energy"
    )


def test_a_run_file_is_read_back_as_a_fitted_estimator(tmp_path):
    X, y = make_table()
    model = SPLRegressor(search=QUICK, run_file=tmp_path / "run.spl", selection="bic", random_state=0).fit(X, y)
    again = SPLRegressor.from_run(tmp_path / "run.spl")
    pd.testing.assert_frame_equal(again.equations_, model.equations_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (again.selection, again.target_name_, again.best_index_) == ("bic", "energy", model.best_index_)
    assert list(again.feature_names_in_) == ["mass", "speed"]


def test_an_estimator_of_a_run_continues_it_with_the_same_data(tmp_path):
    X, y = make_table()
    SPLRegressor(search=QUICK, run_file=tmp_path / "run.spl").fit(X, y)
    again = SPLRegressor.from_run(tmp_path / "run.spl")
    again.search = replace(QUICK, max_schedules=2)
    assert again.fit(X, y).discovery_.n_episodes == 2 * 2 * 2 * 60
    with pytest.raises(RunFileError, match="data changed since the run"):
        again.fit(X, y + 1)


def test_a_run_of_an_array_takes_arrays_again(tmp_path):
    X, y = make_table()
    SPLRegressor(search=QUICK, run_file=tmp_path / "run.spl").fit(X.to_numpy(), y)
    assert SPLRegressor.from_run(tmp_path / "run.spl").predict(X.to_numpy()).shape == (30,)


def test_a_run_with_an_operator_of_the_users_own_needs_it_again(tmp_path):
    X, y = make_table()
    bump = Operator("bump", lambda a: np.exp(-a * a))
    model = SPLRegressor(operators=("+", "*", bump), search=QUICK, run_file=tmp_path / "run.spl", random_state=0).fit(
        X, y
    )
    with pytest.raises(RunFileError, match=r"operators=\[bump\]"):
        SPLRegressor.from_run(tmp_path / "run.spl")
    again = SPLRegressor.from_run(tmp_path / "run.spl", operators=[bump])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


# ---- noise ---------------------------------------------------------------------------------------

FEW_SUMS = {"operators": ("+", "*"), "max_evaluations": 500, "random_state": 0}


@pytest.fixture(scope="module")
def spoiled():
    """Rows of y = 3*x, of which the first has no x and one is far off."""
    x = np.arange(1.0, 61.0)
    y = 3 * x + 0.1 * np.random.default_rng(0).standard_normal(60)
    y[10] = 500.0
    x[0] = np.nan
    return x[:, np.newaxis], y


@pytest.fixture(scope="module")
def robust(spoiled):
    with pytest.warns(DataRepaired):
        return SPLRegressor(noise="student", **FEW_SUMS).fit(*spoiled)


def test_outliers_are_rows_of_what_was_given(robust):
    assert robust.outliers_.tolist() == [10]
    assert (robust.noise_.name, robust.noise_.reason) == ("student", "as asked for")


def test_a_run_file_knows_the_outliers_as_they_were_given(spoiled, tmp_path):
    with pytest.warns(DataRepaired):
        SPLRegressor(noise="student", run_file=tmp_path / "run.spl", **FEW_SUMS).fit(*spoiled)
    again = SPLRegressor.from_run(tmp_path / "run.spl")
    assert (again.outliers_.tolist(), again.noise_.name, again.noise) == ([10], "student", "student")


def test_the_plot_marks_the_outliers_of_the_fit_only(robust, spoiled):
    pytest.importorskip("matplotlib")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataRepaired)
        counts = [
            sum(line.get_marker() == "x" for line in figure.axes[1].get_lines())
            for figure in (robust.plot(), robust.plot(*spoiled))
        ]
    assert counts == [1, 0]


def test_a_notebook_names_noise_that_is_not_normal(robust, model):
    assert "noise: student" in robust._repr_html_inner()
    assert "noise" not in model._repr_html_inner()


@pytest.mark.parametrize(
    ("parameters", "more", "message"),
    [
        (
            {"noise": "gauss"},
            {},
            "`noise` must be one of auto, normal, relative, student, poisson, binomial, or a Loss",
        ),
        ({"noise": "poisson"}, {}, "The target is not a count in 2 of 3 rows: -1 in row 1"),
        ({"noise": "binomial"}, {}, "The target is not a share in 2 of 3 rows: -1 in row 1"),
        ({}, {"sigma": [0.1, -0.1, 0.1]}, "The error bars of the target must be more than 0; row 1 has -0.1"),
        ({}, {"sigma": 0.0}, "The error bars of the target must be more than 0; row 0 has 0"),
        ({}, {"sigma": [0.1, np.nan, 0.1]}, "The error bars of the target must be finite; 1 of 3 values are NaN"),
        ({}, {"sigma": [0.1, 0.2]}, r"There must be one error bar per row \(3\); `sigma` has shape \(2,\)"),
        ({}, {"sigma": ["a", "b", "c"]}, "The error bars of the target must be numbers"),
        ({}, {"sigma": 0.1, "sample_weight": [1, 2, 3]}, "Give error bars or weights, not both"),
        ({}, {"sigma_X": [0.1, 0.2]}, r"`sigma_X` must be one number per column \(1\)"),
        ({}, {"sigma_X": [-1.0]}, "The error bars of column 'x0' must be 0 or more; row 0 has -1"),
        ({"noise": Loss("absolute", lambda y, f: abs(f - y))}, {"sigma_X": [0.1]}, "cannot use error bars of columns"),
    ],
)
def test_a_mistake_about_noise_is_one_clear_message(parameters, more, message):
    with pytest.raises(SplError, match=message):
        SPLRegressor(**parameters).fit([[1.0], [2.0], [3.0]], [1.0, -1.0, 2.5], **more)


def test_counts_with_error_bars_contradict_each_other():
    with pytest.raises(SplError, match="The noise model 'poisson' itself says how far the target scatters"):
        SPLRegressor(noise="poisson").fit([[1.0], [2.0]], [1, 2], sigma=0.1)
