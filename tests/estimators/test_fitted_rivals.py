"""Rivals and suggested points of a fitted `SPLRegressor`."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from spl import SplError, SPLRegressor
from spl.errors import DoubtfulResult, Extrapolation

pytestmark = pytest.mark.search

FEW = {"operators": ("+", "*", "/", "sqrt"), "max_evaluations": 3_000, "timeout": None, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame({"dose": np.random.default_rng(1).uniform(0.5, 3.0, 14)})


@pytest.fixture(scope="module")
def rate(table):
    noise = np.random.default_rng(2).standard_normal(14)
    return 5.3 * table["dose"] / (1.4 + table["dose"]) + 0.2 * noise


@pytest.fixture(scope="module")
def model(table, rate):
    return SPLRegressor(**FEW).fit(table, rate)


@pytest.fixture(scope="module")
def exact(table):
    return SPLRegressor(**FEW).fit(table, 3 * table["dose"] ** 2)


def test_rivals_are_a_table_in_order_of_their_nats(model):
    rivals = model.rivals()
    assert list(rivals.columns) == ["nats", "weight", "equation", "loss", "dose", "difference"]
    assert len(rivals) > 1
    assert rivals["nats"].is_monotonic_increasing
    assert rivals["nats"].max() <= 6
    assert 0 < rivals["weight"].sum() < 1
    assert model.get_best()["equation"] not in set(rivals["equation"])


def test_a_wider_limit_has_all_rivals_of_a_narrower_one(model):
    near, far = (set(model.rivals(within)["equation"]) for within in (3.0, 12.0))
    assert near < far


def test_places_lie_within_the_data(model, table):
    assert model.rivals()["dose"].between(table["dose"].min(), table["dose"].max()).all()


@pytest.mark.parametrize("within", [-1, 13, "6", float("nan")])
def test_a_limit_that_cannot_be_kept_is_an_error(model, within):
    with pytest.raises(SplError, match="`within` must be"):
        model.rivals(within)


def test_an_exact_law_has_no_rivals_and_says_so(exact):
    assert exact.rivals().empty
    assert list(exact.rivals().columns) == ["nats", "weight", "equation", "loss", "dose", "difference"]
    with pytest.warns(DoubtfulResult, match="No other formula fits nearly as well"):
        assert len(exact.suggest(2)) == 2


def test_suggested_points_have_the_columns_of_the_table_and_are_inside(model, table):
    points = model.suggest()
    assert list(points.columns) == ["dose"]
    assert len(points) == 5
    assert points["dose"].between(table["dose"].min(), table["dose"].max()).all()


def test_bounds_move_the_points(model):
    assert model.suggest(3, {"dose": (5.0, 9.0)})["dose"].between(5.0, 9.0).all()
    with pytest.raises(SplError, match="There is no column 'does'"):
        model.suggest(bounds={"does": (0, 1)})


@pytest.mark.parametrize("n", [0, 101, 2.5, True])
def test_a_number_of_points_out_of_range_is_an_error(model, n):
    with pytest.raises(SplError, match="`n` must be"):
        model.suggest(n)


def test_a_pickle_has_the_same_rivals(model):
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(model)).rivals(), model.rivals())


def test_a_run_file_has_the_same_rivals_and_so_has_a_run_that_was_continued(table, rate, tmp_path, model):
    path = tmp_path / "run.spl"
    first = SPLRegressor(**FEW | {"max_evaluations": 1_000}, run_file=path).fit(table, rate)
    assert len(first.rivals(12.0)) > 0
    continued = SPLRegressor(**FEW, run_file=path).fit(table, rate)
    pd.testing.assert_frame_equal(continued.rivals(), model.rivals())
    pd.testing.assert_frame_equal(SPLRegressor.from_run(path).rivals(), model.rivals())


def test_a_model_without_rivals_says_that_none_were_kept(model):
    older = pickle.loads(pickle.dumps(model))
    older.discovery_ = replace(older.discovery_, rivals=())  # as a run file of an older version has it
    for ask in (older.rivals, older.suggest):
        with pytest.raises(SplError, match=r"No rivals were kept: .* Continue it, or search again"):
            ask()
    with pytest.warns(Extrapolation, match=r"only if the formula does\.$"):
        older.predict_interval(pd.DataFrame({"dose": [200.0]}))


def test_a_prediction_outside_of_the_data_names_a_rival_that_differs(model):
    with pytest.warns(
        Extrapolation, match=r"Intervals there hold only if the formula does\. .*that the data cannot tell"
    ):
        model.predict_interval(pd.DataFrame({"dose": [200.0]}))


def test_a_prediction_outside_of_an_exact_law_names_no_rival(exact):
    with pytest.warns(Extrapolation) as caught:
        exact.predict_interval(pd.DataFrame({"dose": [4.0]}))
    assert str(caught[0].message).endswith("only if the formula does.")


def test_points_of_a_column_of_dates_are_dates():
    start = pd.Timestamp("2026-01-01")
    when = pd.DataFrame({"when": start + pd.to_timedelta(np.arange(12), unit="s")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SPLRegressor(**FEW | {"max_evaluations": 500}).fit(when, np.arange(12) ** 1.5 + np.cos(np.arange(12)))
        points = model.suggest(2)
    assert points["when"].between(start, when["when"].max()).all()


def test_a_column_may_have_the_name_of_a_column_of_the_answer(rate, table):
    model = SPLRegressor(**FEW).fit(table.rename(columns={"dose": "loss"}), rate)
    assert list(model.rivals().columns) == ["nats", "weight", "equation", "loss", "loss (column)", "difference"]
