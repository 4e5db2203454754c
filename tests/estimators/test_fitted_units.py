import numpy as np
import pandas as pd
import pytest

from spl import SPLRegressor
from spl.errors import GrammarError, SettingError, UnitError


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


def test_numbers_may_have_units():
    X, _ = make_table()
    y = 3.3 * X.m + 1.7 * X.v
    plain = {"random_state": 0, "max_evaluations": 20_000, "timeout": None, "units": UNITS, "target_unit": "N"}
    model = SPLRegressor(operators=("+", "*"), constants="any", **plain).fit(X, y)
    assert model.score(X, y) == pytest.approx(1.0)
    assert all(model.units_.allow(each.program) for each in model.discovery_.front)


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
