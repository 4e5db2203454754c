"""`SPLRegressor` with groups, from fit to prediction."""

import numpy as np
import pandas as pd
import pytest

from spl import SPLRegressor
from spl.errors import DataError, DataRepaired, SettingError

LABELS = np.repeat(["oak", "ash", "fir", "elm"], 15)
HEIGHTS = np.repeat([1.2, 2.0, 3.5, 2.7], 15)
X = np.tile(np.linspace(0.0, 3.0, 15), 4)[:, None]
LIMITS = {"max_evaluations": 400, "timeout": None, "random_state": 0}


def noisy():
    return HEIGHTS * np.exp(-0.7 * X[:, 0]) + 0.02 * np.random.default_rng(1).normal(size=60)


@pytest.fixture(scope="module")
def model():
    frame = pd.DataFrame({"t": X[:, 0]})
    return SPLRegressor(("+", "*", "exp"), **LIMITS).fit(frame, noisy(), groups=pd.Series(LABELS, name="wood"))


def test_the_law_has_an_own_number(model):
    assert [each.name for each in model.groupings_] == ["wood"]
    assert model.get_best()["equation"].startswith("k1*exp(-0.")
    np.testing.assert_allclose(model.own_numbers_["k1"], [1.2, 2.0, 3.5, 2.7], atol=0.05)
    assert model.own_numbers_.index.tolist() == ["oak", "ash", "fir", "elm"]


def test_the_table_of_numbers_has_one_row_per_group_and_shared_number(model):
    table = model.constants_
    assert table.name.tolist() == ["", "k1", "k1", "k1", "k1"]
    assert table.group.tolist() == ["", "oak", "ash", "fir", "elm"]
    assert (table.standard_error[1:] > 0.001).all()
    assert (table.standard_error < 0.05).all()
    assert ((table.lower < table.value) & (table.value < table.upper))[1:].all()


def test_predictions_need_the_groups_of_rows(model):
    frame = pd.DataFrame({"t": [0.0, 0.0]})
    np.testing.assert_allclose(model.predict(frame, groups=["fir", "oak"]), [3.5, 1.2], atol=0.05)
    with pytest.raises(DataError, match=r"The equation has numbers of groups \('wood'\): pass `groups`"):
        model.predict(frame)
    with pytest.raises(DataError, match=r"'wood' has no group 'asch', in row 0. Did you mean 'ash'\?"):
        model.predict(frame, groups=["asch", "oak"])
    with pytest.raises(DataError, match="one label per row"):
        model.predict(frame, groups=["oak"])


def test_scores_need_the_groups_of_rows(model):
    frame = pd.DataFrame({"t": X[:, 0]})
    assert model.score(frame, noisy(), groups=LABELS) > 0.99
    with pytest.raises(DataError, match="pass `groups`"):
        model.score(frame, noisy())


def test_limits_of_new_measurements_are_wider_than_those_of_the_law(model):
    frame = pd.DataFrame({"t": [0.5, 0.5]})
    law, new = (model.predict_interval(frame, kind=kind, groups=["oak", "fir"]) for kind in ("mean", "new"))
    values, errors = model.predict(frame, return_std=True, groups=["oak", "fir"])
    assert (new[:, 0] < law[:, 0]).all()
    assert (law[:, 0] < values).all()
    assert (errors > 0).all()


def test_the_front_has_cross_validated_losses(model):
    best = model.get_best()
    assert best.loss < best.cv_loss < 2 * best.loss


def test_columns_and_own_numbers_have_a_relevance(model):
    assert model.relevance_.index.tolist() == ["t", "k1"]
    assert (model.relevance_ > 0.1).all()


def test_code_carries_the_table_of_numbers(model):
    names = {}
    exec(model.export("python"), names)
    expected = model.predict(pd.DataFrame({"t": [0.3]}), groups=["elm"])
    np.testing.assert_allclose(names["predict"]([0.3], ["elm"]), expected)


def test_errors_of_all_numbers_are_correlated_by_name(model):
    table = model.correlations()
    assert list(table.columns) == list(table.index)
    assert [f"k1 of {each}" for each in model.own_numbers_.index] == list(table.columns)[-len(model.own_numbers_) :]
    np.testing.assert_allclose(np.diag(table), 1.0)


def test_profiles_are_close_to_curvatures_where_data_is_plenty(model):
    curved, profiled = model.intervals(), model.intervals(method="profile")
    half = (curved.upper - curved.lower).to_numpy() / 2
    for end in ("lower", "upper"):
        np.testing.assert_allclose((profiled[end] - curved[end]) / half, 0.0, atol=0.1)
    assert not profiled.equals(curved)
    with pytest.raises(SettingError, match="'curvature' or 'profile'; got 'bayes'"):
        model.intervals(method="bayes")


@pytest.mark.parametrize("call", ["rivals", "suggest", "stability"])
def test_what_is_not_available_with_groups_says_so(model, call):
    with pytest.raises(SettingError, match="is not available for a model with groups"):
        getattr(model, call)()


def test_the_same_seed_gives_the_same_law():
    fits = [SPLRegressor(("+", "*", "exp"), **LIMITS).fit(X, noisy(), groups=LABELS) for _ in range(2)]
    assert fits[0].equations_.equals(fits[1].equations_)


def test_labels_without_meaning_make_no_number_own():
    labels = np.random.default_rng(3).permutation(LABELS)
    y = 2 * np.exp(-0.7 * X[:, 0]) + 0.02 * np.random.default_rng(1).normal(size=60)
    found = SPLRegressor(("+", "*", "exp"), **LIMITS).fit(X, y, groups=labels)
    assert found.own_numbers_.shape[1] == 0
    assert "No number of the formula depends on 'group'" in found.notes_[-1]
    assert found.predict([[0.0]]) == pytest.approx(2.0, abs=0.1)


def test_a_grammar_says_which_numbers_may_be_own():
    found = SPLRegressor(grammar="f -> C*exp(K*x0)", **LIMITS).fit(X, noisy(), groups=LABELS)
    assert found.get_best()["equation"].endswith("*exp(k1*x0)")


def test_groups_with_a_model_without_groups_are_refused():
    plain = SPLRegressor(("+", "*"), max_evaluations=50, random_state=0).fit(X, 2 * X[:, 0])
    with pytest.raises(DataError, match="The model was fitted without groups"):
        plain.predict(X[:2], groups=["a", "b"])


def test_incomplete_rows_leave_with_their_labels():
    y = noisy()
    y[LABELS == "ash"] = np.nan
    with pytest.warns(DataRepaired) as caught:
        found = SPLRegressor(("+", "*", "exp"), **LIMITS).fit(X, y, groups=LABELS)
    assert str(caught[-1].message) == "1 group of 'group' has no complete row, and no numbers: 'ash'."
    assert found.own_numbers_.index.tolist() == ["oak", "fir", "elm"]


def test_a_run_file_keeps_groups_and_own_numbers(tmp_path):
    path = tmp_path / "law.spl"
    made = SPLRegressor(("+", "*", "exp"), run_file=path, **LIMITS).fit(X, noisy(), groups=LABELS)
    read = SPLRegressor.from_run(path)
    assert read.equations_.equals(made.equations_)
    assert read.own_numbers_.equals(made.own_numbers_)
    assert read.constants_.equals(made.constants_)
    np.testing.assert_array_equal(read.predict([[1.0]], groups=["elm"]), made.predict([[1.0]], groups=["elm"]))
    again = SPLRegressor(("+", "*", "exp"), run_file=path, **LIMITS).fit(X, noisy(), groups=LABELS)
    assert again.equations_.equals(made.equations_)
