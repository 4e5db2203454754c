import numpy as np
import pandas as pd
import pytest

from spl import SPLRegressor
from spl.errors import GrammarError, RunFileError, SettingError, UnitError
from spl.formulas.text import to_text
from spl.runs.reader import read_run
from spl.runs.regression import resume
from spl.settings import Limits, SearchConfig


def make_table(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"m": rng.uniform(1, 5, n_rows), "v": rng.uniform(1, 5, n_rows), "h": rng.uniform(0, 3, n_rows)})
    return X, X.m * X.v**2 / 2 + 9.80665 * X.m * X.h


UNITS = {"m": "kg", "v": "m/s", "h": "m"}


@pytest.fixture(scope="module")
def fitted():
    X, y = make_table()
    model = SPLRegressor(
        units=UNITS,
        target_unit="J",
        known={"g": "9.80665 m/s**2"},
        random_state=0,
        max_evaluations=20_000,
        timeout=None,
    )
    return model.fit(X, y.rename("energy"))


def test_a_law_with_a_named_constant_is_found_and_names_it(fitted):
    assert {str(symbol) for symbol in fitted.sympy().free_symbols} == {"m", "v", "h", "g"}
    assert fitted.score(*make_table(seed=1)) == pytest.approx(1.0)


def test_every_formula_of_the_front_and_every_rival_has_the_unit_of_the_target(fitted):
    programs = [each.program for each in (*fitted.discovery_.front, *fitted.discovery_.rivals)]
    assert len(programs) > 1
    assert all(fitted.units_.allow(program) for program in programs)


def test_pure_numbers_have_the_unit_1(fitted):
    assert set(fitted.constants_.unit) == {"1"}


def test_named_constants_are_no_columns_for_users(fitted):
    X, _ = make_table()
    assert fitted.predict(X).shape == (60,)
    assert list(fitted.relevance_.index) == ["m", "v", "h"]
    assert list(fitted.suggest(n=2).columns) == ["m", "v", "h"]
    assert "g" not in fitted.rivals().columns
    assert fitted.predict_interval(X).shape == (60, 2)


def test_exported_code_has_the_values_of_named_constants(fitted):
    X, y = make_table(seed=3)
    scope = {}
    exec(fitted.export("python"), scope)
    np.testing.assert_allclose(scope["predict"](*X.to_numpy().T), y)


def test_units_in_the_names_of_columns_are_read():
    X, y = make_table()
    X.columns = ["m (kg)", "v [m/s]", "h (m)"]
    model = SPLRegressor(
        units="header", target_unit="J", known={"g": "g"}, random_state=0, max_evaluations=20_000, timeout=None
    )
    model.fit(X, y)
    assert [str(unit) for unit in model.units_.columns[:3]] == ["kg", "m/s", "m"]
    assert model.score(X, y) == pytest.approx(1.0)


def test_units_of_other_systems_come_out_with_their_factors():
    X, _ = make_table()
    y = X.m * (X.h / 100) / (X.v / 3.6)
    model = SPLRegressor(
        units={"m": "kg", "v": "km/h", "h": "cm"},
        target_unit="kg*s",
        random_state=0,
        max_evaluations=20_000,
        timeout=None,
    ).fit(X, y)
    assert model.score(X, y) == pytest.approx(1.0)
    assert model.get_best()["equation"] == "0.036*m*h/v"
    assert str(model.sympy(units="SI")) == "h*m/v"
    assert model.latex(units="SI") == r"\frac{m h}{v}"
    assert "0.036" not in model.export("python", units="SI")
    with pytest.raises(SettingError, match='must be "SI"'):
        model.sympy(units="cgs")
    model.units_ = None
    with pytest.raises(SettingError, match="needs the units of the columns"):
        model.sympy(units="SI")


def test_numbers_may_have_units():
    X, _ = make_table()
    y = 3.3 * X.m + 1.7 * X.v
    plain = {"random_state": 0, "max_evaluations": 20_000, "timeout": None, "units": UNITS, "target_unit": "N"}
    model = SPLRegressor(operators=("+", "*"), constants="any", **plain).fit(X, y)
    assert model.score(X, y) == pytest.approx(1.0)
    assert all(model.units_.allow(each.program) for each in model.discovery_.front)
    assert sorted(model.constants_.unit) == ["N*s/m", "N/kg"]


def test_a_grammar_of_rules_about_columns_holds_the_units():
    X, y = make_table()
    model = SPLRegressor(
        grammar="f -> f + f | C*f | m*e\ne -> v*v | g*h | v*h", units=UNITS, target_unit="J", known={"g": "g"}, random_state=0,
        max_evaluations=20_000, timeout=None,
    ).fit(X, y)  # fmt: skip
    assert model.score(X, y) == pytest.approx(1.0)
    assert all(model.units_.allow(each.program) for each in model.discovery_.front)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"target_unit": "J"}, SettingError, "`target_unit` needs the units of the columns"),
        ({"known": {"g": "g"}}, SettingError, "`known` needs the units of the columns"),
        ({"constants": "any"}, SettingError, "needs the units of the columns"),
        ({"constants": "some"}, SettingError, "constants"),
        ({"units": 3}, SettingError, "must be a dictionary"),
        ({"units": UNITS}, UnitError, "The target has no unit"),
        ({"units": {**UNITS, "h": "parsnip"}, "target_unit": "J"}, UnitError, "There is no unit 'parsnip'"),
        ({"units": UNITS, "target_unit": "K"}, UnitError, "nothing has the dimension temperature"),
        (
            {"units": UNITS, "target_unit": "J", "grammar": "f -> f + f | m | v"},
            GrammarError,
            "No formula of the grammar",
        ),
    ],
)
def test_bad_units_are_refused_in_words(given, error, message):
    with pytest.raises(error, match=message):
        SPLRegressor(**given, max_evaluations=100).fit(*make_table(20))


FEW = {"random_state": 0, "max_evaluations": 2_000, "timeout": None}
GIVEN = {"units": UNITS, "target_unit": "J", "known": {"g": "9.80665 m/s**2"}}


def test_a_run_file_keeps_units(tmp_path):
    X, y = make_table()
    y = y * (1 + 0.01 * np.random.default_rng(0).normal(size=60))
    path = tmp_path / "law.spl"
    first = SPLRegressor(**FEW, **GIVEN, run_file=path).fit(X, y)
    again = SPLRegressor.from_run(path)
    assert again.units_ == first.units_
    assert list(again.feature_names_in_) == ["m", "v", "h"]
    np.testing.assert_array_equal(again.predict(X), first.predict(X))
    assert again.export("python") == first.export("python")
    pd.testing.assert_frame_equal(again.constants_, first.constants_)
    assert list(again.suggest(n=2).columns) == ["m", "v", "h"]
    assert again.fit(X, y).get_best()["equation"] == first.get_best()["equation"]
    for changes, message in [
        ({"units": {**UNITS, "h": "cm"}}, "`units` was"),
        ({"target_unit": "kJ"}, "`target_unit` was"),
        ({"known": {"g": "9.81 m/s**2"}}, "`known` was"),
        ({"constants": "any"}, "`constants` was ''; got 'any'"),
        ({"units": None, "target_unit": None, "known": None}, "`units` was|`known` was"),
    ]:
        with pytest.raises(RunFileError, match=message):
            SPLRegressor(**FEW, **{**GIVEN, **changes}, run_file=path).fit(X, y)


def equations_of(found):
    return [(to_text(each.program), each.loss) for each in found.front]


@pytest.mark.parametrize(
    "more",
    [{}, {"grammar": "f -> f + f | C*f | m*e\ne -> v*v | g*h | v*h | e*s\ns -> h*g/(v*v)"}],
    ids=["groups", "rules"],
)
def test_a_run_that_is_continued_finds_what_it_would_have_found_at_once(tmp_path, more):
    X, y = make_table()
    y = y * (1 + 0.01 * np.random.default_rng(0).normal(size=60)) + np.cbrt(X.m * X.h)
    settings = {**GIVEN, **more, "random_state": 0, "timeout": None, "search": SearchConfig(patience=None)}
    at_once = SPLRegressor(**settings, max_evaluations=1_000).fit(X, y)
    first = SPLRegressor(**settings, max_evaluations=300, run_file=tmp_path / "law.spl").fit(X, y)
    found = resume(read_run(tmp_path / "law.spl"), limits=Limits(timeout=None, max_evaluations=1_000))
    assert first.discovery_.n_evaluations < found.n_evaluations
    assert equations_of(found) == equations_of(at_once.discovery_)
    assert all(first.units_.allow(each.program) for each in (*found.front, *found.rivals))


def test_the_stability_of_a_formula_is_that_of_a_search_with_units(fitted):
    found = fitted.stability(n=2, max_evaluations=300)
    assert found.n_done == 2


def test_units_and_groups_together_are_refused():
    X, y = make_table(20)
    with pytest.raises(SettingError, match="Units cannot be combined with groups"):
        SPLRegressor(**FEW, **GIVEN).fit(X, y, groups=["a", "b"] * 10)
