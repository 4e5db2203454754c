"""Validation rows of `SPLRegressor`: how they are given, and what they do."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from spl import SPLRegressor
from spl.data.dataset import Dataset
from spl.errors import DataError, DoubtfulResult, RunFileError, SettingError
from spl.estimators.inputs import complete_rows
from spl.estimators.validation import set_validation_aside
from spl.regression.doubts import UNCONFIRMED, UNEXPLAINED

GRAMMAR = "f -> C | C*x0 | C*x0 + C | C*x0 + C*sin(C*x0) + C"
FEW = {"grammar": GRAMMAR, "max_evaluations": 60, "timeout": None, "random_state": 0}
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(1.0, 5.0, (60, 1))
Y = 2.3 * X[:, 0] + 0.3 * RANDOM.standard_normal(60)


def read(X, y, weights):
    return complete_rows(np.asarray(X, dtype=float), y, weights, None)


def set_aside(validation):
    return set_validation_aside(Dataset.from_arrays(X, Y), validation, 0, read)


def test_a_share_is_taken_from_the_rows():
    kept, held_out = set_aside(0.2)
    assert (kept.n_rows, held_out.n_rows) == (48, 12)


def test_other_rows_leave_the_data_whole():
    kept, held_out = set_aside((X[:9], Y[:9]))
    assert (kept.n_rows, held_out.n_rows) == (60, 9)
    np.testing.assert_array_equal(held_out.target, Y[:9])


def test_other_rows_may_have_weights():
    _, held_out = set_aside([X[:9], Y[:9], np.arange(1.0, 10.0)])
    np.testing.assert_allclose(held_out.weights, np.arange(1.0, 10.0) / 5)


def test_incomplete_rows_are_left_out_of_validation_too():
    y = Y[:9].copy()
    y[3] = np.nan
    assert set_aside((X[:9], y))[1].n_rows == 8


@pytest.mark.parametrize("validation", ["0.2", (X,), (X, Y, Y, Y), {"X": X, "y": Y}, X, True])
def test_anything_else_is_refused_with_what_it_may_be(validation):
    with pytest.raises(SettingError, match="`validation` must be a share of the rows"):
        set_aside(validation)


# ---- in a fit ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return SPLRegressor(**FEW, selection="validation").fit(X, Y, validation=0.3)


@pytest.mark.search
def test_the_front_has_losses_on_other_rows(model):
    table = model.equations_
    assert table.columns.tolist() == ["cost", "loss", "score", "cv_loss", "validation_loss", "equation"]
    assert np.isfinite(table[["cv_loss", "validation_loss"]].to_numpy()).all()
    assert (table.cv_loss >= table.loss * (1 - 1e-9)).all()


@pytest.mark.search
def test_the_search_never_sees_the_held_out_rows(model):
    alone = SPLRegressor(**FEW)
    kept = np.sort(model.sample_.columns[0])
    assert kept.size == 42
    is_kept = np.isin(X[:, 0], kept)
    alone.fit(X[is_kept], Y[is_kept])
    pd.testing.assert_series_equal(alone.equations_.equation, model.equations_.equation)
    other = SPLRegressor(**FEW).fit(X[is_kept], Y[is_kept], validation=(X[~is_kept], Y[~is_kept]))
    pd.testing.assert_series_equal(other.equations_.validation_loss, model.equations_.validation_loss)


@pytest.mark.search
def test_the_loss_of_validation_is_that_of_the_prediction(model):
    is_held_out = ~np.isin(X[:, 0], model.sample_.columns[0])
    for index, loss in enumerate(model.equations_.validation_loss):
        errors = model.predict(X[is_held_out], index=index) - Y[is_held_out]
        assert loss == pytest.approx(np.sqrt(np.mean(errors**2)))


@pytest.mark.search
def test_the_rule_chooses_by_validation(model):
    chosen = model.equations_.validation_loss[model.best_index_]
    assert chosen <= 1.5 * model.equations_.validation_loss.min()
    assert model.equations_.cost[model.best_index_] <= model.equations_.cost[model.equations_.validation_loss.idxmin()]


@pytest.mark.search
def test_without_validation_rows_the_rule_is_refused():
    with pytest.raises(SettingError, match="no rows were held out"):
        SPLRegressor(**FEW, selection="validation").fit(X, Y)
    model = SPLRegressor(**FEW).fit(X, Y)
    assert "validation_loss" not in model.equations_
    model.selection = "validation"
    with pytest.raises(SettingError, match="no rows were held out"):
        model.get_best()


@pytest.mark.search
def test_a_pickle_keeps_the_losses(model):
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.equations_, model.equations_)
    assert again.best_index_ == model.best_index_


@pytest.mark.search
def test_a_target_that_nothing_explains_is_said_so():
    noise = np.random.default_rng(1).standard_normal(60)
    with pytest.warns(DoubtfulResult, match="The columns do not explain the target"):
        model = SPLRegressor(**FEW).fit(X, noise, validation=0.3)
    assert any(note == UNEXPLAINED or note.startswith(UNCONFIRMED) for note in model.notes_)


@pytest.mark.search
def test_rows_that_contradict_the_formula_are_said_so():
    with pytest.warns(DoubtfulResult, match=f"{UNCONFIRMED}: .* on 60 rows"):
        SPLRegressor(**FEW).fit(X, Y, validation=(X, RANDOM.permutation(Y)))


@pytest.mark.search
def test_a_law_is_confirmed_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SPLRegressor(**FEW).fit(X, Y, validation=0.3).notes_ == []


@pytest.mark.search
@pytest.mark.parametrize(
    ("validation", "error", "message"),
    [
        (1.2, SettingError, "between 0 and 1"),
        (0.01, DataError, "both need at least 5"),
        ((X[:3], Y[:3]), DataError, "There are 3 rows for validation; at least 5"),
        ((X[:9], Y[:8]), ValueError, "inconsistent numbers of samples"),
        ((np.ones((9, 2)), Y[:9]), ValueError, "X has 2 features, but SPLRegressor is expecting 1"),
        ((X[:9], -np.ones(9)), DataError, "The validation rows do not suit the noise model. .*validation row 0"),
    ],
)
def test_mistakes_have_clear_errors(validation, error, message):
    y = np.round(Y)
    with pytest.raises(error, match=message):
        SPLRegressor(**FEW, noise="poisson").fit(X, y, validation=validation)


@pytest.mark.search
def test_frames_must_have_the_same_columns():
    frame = pd.DataFrame({"a": X[:, 0]})
    model = SPLRegressor(operators=("+", "*"), max_evaluations=60, timeout=None)
    with pytest.raises(ValueError, match="The feature names should match"):
        model.fit(frame, Y, validation=(frame.rename(columns={"a": "b"}), Y))


@pytest.mark.search
def test_dates_of_validation_are_counted_from_those_of_the_fit():
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60), unit="D")
    frame, y = pd.DataFrame({"x0": days}), 1e-4 * 86400 * np.arange(60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SPLRegressor(**FEW).fit(frame[:40], y[:40], validation=(frame[40:], y[40:]))
    assert model.equations_.validation_loss.min() < 1e-6


# ---- run files -----------------------------------------------------------------------------------


@pytest.mark.search
def test_a_run_file_keeps_the_validation(tmp_path, model):
    path = tmp_path / "run.spl"
    kept = SPLRegressor(**FEW, selection="validation", run_file=path).fit(X, Y, validation=0.3)
    loaded = SPLRegressor.from_run(path)
    pd.testing.assert_frame_equal(loaded.equations_, model.equations_)
    pd.testing.assert_frame_equal(kept.equations_, model.equations_)
    assert loaded.selection == "validation"
    assert loaded.best_index_ == model.best_index_


@pytest.mark.search
def test_a_run_continues_with_the_same_validation_rows_only(tmp_path):
    path = tmp_path / "run.spl"
    SPLRegressor(**FEW, run_file=path).fit(X, Y, validation=0.3)
    again = SPLRegressor(**FEW, run_file=path).fit(X, Y, validation=0.3)
    assert again.discovery_.held_out.n_rows == 18
    for validation in (0.4, (X[:9], Y[:9])):
        with pytest.raises(RunFileError, match="The data or its validation rows changed"):
            SPLRegressor(**FEW, run_file=path).fit(X, Y, validation=validation)


@pytest.mark.search
def test_without_a_seed_a_run_continues_with_its_share(tmp_path):
    path = tmp_path / "run.spl"
    unseeded = {**FEW, "random_state": None, "run_file": path}
    first = SPLRegressor(**unseeded).fit(X, Y, validation=0.3)
    again = SPLRegressor(**unseeded).fit(X, Y, validation=0.3)
    pd.testing.assert_series_equal(again.equations_.validation_loss, first.equations_.validation_loss)
