"""What `SPLRegressor` says about how sure it is."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from sklearn.exceptions import NotFittedError

from spl import Loss, SplError, SPLRegressor
from spl.errors import Extrapolation, UndefinedValues

pytestmark = pytest.mark.search

X = np.random.default_rng(0).uniform(0.0, 4.0, 80)
LINE = "f -> C*x0 + C"
FEW = {"max_evaluations": 500, "timeout": None, "random_state": 0}


def fit_line(y, grammar=LINE, x=X, fit_parameters=None, **parameters):
    model = SPLRegressor(grammar=grammar, **FEW, **parameters)
    return model.fit(x[:, np.newaxis], y, **(fit_parameters or {}))


@pytest.fixture(scope="module")
def line():
    return fit_line(2.27 * X - 1.15 + 0.1 * np.random.default_rng(1).standard_normal(80))


def test_every_number_has_its_row(line):
    table = line.constants_
    assert list(table.columns) == [
        "value", "standard_error", "lower", "upper", "kind", "simple", "note", "term",
    ]  # fmt: skip
    assert [text.split("]")[1] for text in table["term"]] == ["*x0", ""]


def test_columns_have_the_order_they_have_for_systems(line):
    of_systems = ["value", "standard_error", "kind", "term"]
    assert [name for name in line.constants_.columns if name in of_systems] == of_systems


def test_intervals_of_the_table_are_those_of_95_percent(line):
    expected = line.intervals(0.95)
    pd.testing.assert_frame_equal(line.constants_[["lower", "upper"]], expected[["lower", "upper"]])


def test_a_higher_level_gives_wider_intervals(line):
    narrow, wide = (line.intervals(level) for level in (0.5, 0.99))
    assert (wide["lower"] < narrow["lower"]).all()
    assert (wide["upper"] > narrow["upper"]).all()


def test_the_profile_of_a_line_agrees_with_its_curvature(line):
    ends = ["lower", "upper"]
    np.testing.assert_allclose(line.intervals(method="profile")[ends], line.intervals()[ends], rtol=1e-3)


def test_intervals_of_another_equation_can_be_asked_for(line):
    model = fit_line(2.345 * X + np.sin(99 * X), grammar="f -> C*x0 | C | C*x0 + C")
    counts = [len(model.intervals(index=index)) for index in range(len(model.equations_))]
    assert len(counts) > 1
    assert counts[0] == 1


def test_correlations_are_labelled_by_terms(line):
    table = line.correlations()
    assert list(table.index) == list(table.columns) == list(line.constants_["term"])
    assert table.iloc[0, 1] < -0.5


def test_a_formula_without_numbers_has_an_empty_table():
    model = fit_line(np.sin(X), grammar="f -> sin(x0)")
    assert model.constants_.empty
    assert model.correlations().empty


def test_numbers_of_the_grammar_are_exact():
    model = fit_line(9.7 * X + np.sin(99 * X), grammar="f -> 9.81*x0")
    assert model.constants_["kind"].tolist() == ["exact"]


@pytest.mark.parametrize("selection", ["mdl", "accurate", "knee"])
def test_the_table_follows_the_selection(selection):
    model = fit_line(2.345 * X + np.sin(99 * X), grammar="f -> C | C*x0 + C")
    model.selection = selection
    pd.testing.assert_series_equal(model.constants_["term"], model.intervals(index=model.best_index_)["term"])


@pytest.mark.parametrize(
    ("noise", "y"),
    [
        ("relative", 5.4 * X * (1 + 0.05 * np.sin(99 * X))),
        ("student", 5.4 * X + 0.1 * np.tan(99 * X)),
        ("poisson", np.floor(54 * X + 3 * np.sin(99 * X)).clip(0)),
        ("binomial", 0.21 * X + 0.02 * np.sin(99 * X).clip(0)),
        (Loss("absolute", lambda y, f: abs(f - y)), 5.4 * X + np.sin(99 * X)),
    ],
    ids=["relative", "student", "poisson", "binomial", "loss"],
)
def test_all_kinds_of_noise_have_errors_and_limits(noise, y):
    model = fit_line(y, grammar="f -> C*x0", noise=noise)
    assert (model.constants_["standard_error"] > 0).all()
    assert np.isfinite(model.intervals(method="profile")[["lower", "upper"]]).all(axis=None)
    for kind in ("mean", "new"):
        low, high = model.predict_interval([[1.7]], kind=kind)[0]
        assert low <= model.predict([[1.7]])[0] <= high


def test_error_bars_decide_how_sure_it_is():
    y = 2.345 * X + np.sin(99 * X)
    sure, unsure = (fit_line(y, grammar="f -> C*x0", fit_parameters={"sigma": bar}) for bar in (1.0, 2.0))
    assert unsure.constants_["standard_error"][0] == pytest.approx(2 * sure.constants_["standard_error"][0], rel=1e-3)


# ---- predictions ---------------------------------------------------------------------------------


def test_standard_errors_come_with_the_values(line):
    rows = [[0.5], [2.0]]
    values, errors = line.predict(rows, return_std=True)
    np.testing.assert_array_equal(values, line.predict(rows))
    assert (errors > 0).all()
    np.testing.assert_allclose(
        line.predict_interval(rows, level=2 * t.cdf(1, 78) - 1).T, values + np.array([[-1], [1]]) * errors, rtol=1e-3
    )


def test_new_measurements_scatter_more_than_the_law(line):
    of_law, of_new = (np.diff(line.predict_interval([[2.0]], kind=kind))[0, 0] for kind in ("mean", "new"))
    assert 5 * of_law < of_new == pytest.approx(4 * 0.1, rel=0.2)


def test_rows_outside_of_the_data_are_warned_about(line):
    with pytest.warns(Extrapolation, match="1 of 2 rows lies outside of the data: x0 reaches 8, 1 times its range"):
        line.predict_interval([[8.0], [2.0]])
    with pytest.warns(Extrapolation, match="x0 reaches -4"):
        line.predict([[-4.0]], return_std=True)


def test_plain_predictions_do_not_warn(line):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert line.predict([[8.0]]).size == 1


def test_where_there_is_no_value_there_is_no_interval():
    model = fit_line(np.log(X), grammar="f -> C*log(x0)")
    with pytest.warns(UndefinedValues, match="has no value"), pytest.warns(Extrapolation):
        assert np.isnan(model.predict_interval([[-1.0]])).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"level": 95}, "`level` must be less than 1"),
        ({"level": 0}, "`level` must be more than 0"),
        ({"level": "high"}, "`level` must be a number"),
        ({"kind": "old"}, "`kind` must be 'mean' or 'new'; got 'old'"),
    ],
)
def test_mistakes_are_explained(line, arguments, message):
    with pytest.raises(SplError, match=message):
        line.predict_interval([[1.0]], **arguments)


def test_an_unknown_method_is_explained(line):
    with pytest.raises(SplError, match="`method` must be 'curvature' or 'profile'; got 'bootstrap'"):
        line.intervals(method="bootstrap")


def test_a_model_without_data_says_so(line):
    other = SPLRegressor()
    other.discovery_ = line.discovery_
    with pytest.raises(SplError, match="the model has no data"):
        other.intervals()


def test_before_the_fit_nothing_is_known():
    with pytest.raises(NotFittedError):
        SPLRegressor().intervals()


def test_a_run_file_keeps_what_is_needed(line, tmp_path):
    model = fit_line(2.345 * X - 1.234 + 0.1 * np.sin(99 * X), run_file=tmp_path / "law.spl")
    pd.testing.assert_frame_equal(SPLRegressor.from_run(tmp_path / "law.spl").constants_, model.constants_)


# ---- residuals and bands -------------------------------------------------------------------------


def test_residuals_that_are_noise_pass_every_check(line):
    checks = line.residual_checks()
    assert list(checks.columns) == ["check", "column", "chance", "doubtful", "words"]
    assert checks["check"].tolist() == ["normality", "order", "spread", "column"]
    assert checks["column"].tolist() == ["", "", "", "x0"]
    assert not checks["doubtful"].any()


def test_a_missing_part_of_the_law_is_doubted_in_its_column():
    checks = fit_line(2.27 * X + 0.5 * X**2).residual_checks()
    assert checks.set_index("column").loc["x0", "doubtful"]


def test_each_equation_has_its_own_residuals():
    model = fit_line(2.27 * X + 0.1 * np.random.default_rng(1).standard_normal(80), grammar="f -> C | C*x0")
    doubts = [model.residual_checks(index)["doubtful"].any() for index in range(len(model.equations_))]
    assert doubts == [True, False]


def test_an_exact_law_has_an_empty_table_of_checks():
    checks = fit_line(np.sin(X), grammar="f -> sin(x0)").residual_checks()
    assert checks.empty
    assert "doubtful" in checks


@pytest.mark.parametrize("index", [99, "x"])
def test_checks_of_an_equation_that_is_not_there_are_refused(line, index):
    with pytest.raises(SplError, match="must be a row of equations_"):
        line.residual_checks(index)


def test_the_plot_has_bands_and_a_model_without_data_none(line):
    pytest.importorskip("matplotlib")
    assert len(line.plot().axes[3].collections) == 2
    other = SPLRegressor()
    other.discovery_ = line.discovery_
    assert len(other.plot().axes) == 1
