"""Systems whose runs have numbers of their own, as `SPLDynamics` finds and shows them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from tests.dynamics.own_examples import LABELS, RATES, make_growth

from spl import SPLDynamics
from spl.errors import DataError, SettingError

T = np.linspace(0.0, 3.0, 7)


def fit(own="auto", **options):
    data = make_growth()
    model = SPLDynamics(operators=("+", "-", "*"), timeout=None, max_evaluations=1500, random_state=0, **options)
    states, times = [run.x for run in data.runs], [run.t for run in data.runs]
    return model.fit(states, times, feature_names=["x"], own=own, run_names=LABELS)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fit(run_file=tmp_path_factory.mktemp("own") / "growth.spl")


def truth(label):
    rate = RATES[LABELS.index(label)]
    return 10.0 / (1.0 + 9.0 * np.exp(-rate * T))


def test_each_run_has_its_own_number_in_the_table(model):
    own = model.constants_[model.constants_["kind"] == "own"]
    assert own["run"].tolist() == list(LABELS)
    assert set(own["name"]) == {"k1"}
    assert (own["standard_error"] >= 0).all()


def test_a_simulation_has_the_numbers_of_its_run(model):
    for label in LABELS:
        assert_allclose(model.simulate([1.0], T, run=label)[:, 0], truth(label), rtol=1e-3)


def test_a_simulation_without_a_run_names_the_runs(model):
    with pytest.raises(DataError, match=r"say with `run` whose are meant\. The runs are: a, b, c, d"):
        model.simulate([1.0], T)


def test_a_simulation_of_an_unknown_run_is_an_error(model):
    with pytest.raises(DataError, match="There is no run 'e'"):
        model.simulate([1.0], T, run="e")


def test_draws_lie_around_the_simulation_of_the_run(model):
    band = model.simulate([1.0], T, run="b", n_draws=10)
    assert_allclose(band.median()[:, 0], truth("b"), rtol=1e-2)


def test_slopes_are_those_of_the_run(model):
    assert_allclose(model.predict([[2.0]], run="c"), [[RATES[2] * 2.0 * 0.8]], rtol=1e-3)


def test_the_score_is_that_of_the_run(model):
    assert model.score(truth("d")[:, np.newaxis], T, run="d") > model.score(truth("d")[:, np.newaxis], T, run="a")


def test_the_equation_is_printed_with_the_table(model, capsys):
    model.print()
    printed = capsys.readouterr().out
    assert "k1" in printed.splitlines()[0]
    assert printed.splitlines()[1].startswith("k1 by run: a ")


@pytest.mark.parametrize("format", ["python", "c", "julia", "matlab", "torch", "jax", "sympy", "latex"])
def test_each_export_has_the_table(model, format):
    text = model.export(format)
    assert all(label in text for label in LABELS)
    assert f"{model.discovery_.system.own[0].values[0]:.4g}"[:4] in text


def test_intervals_hold_the_own_numbers(model):
    intervals = model.intervals()
    own = intervals[intervals["run"] != ""]
    assert own["run"].tolist() == list(LABELS)
    assert ((own["lower"] <= own["value"]) & (own["value"] <= own["upper"])).all()


def test_correlations_have_a_row_for_each_number(model):
    correlations = model.correlations()
    assert list(correlations.index[-4:]) == [f"k1: {label}" for label in LABELS]
    assert_allclose(np.diag(correlations), 1.0)


def test_rivals_are_looked_for_with_own_numbers_as_they_are(model):
    assert isinstance(model.rivals(), pd.DataFrame)


def test_suggestions_are_refused(model):
    with pytest.raises(SettingError, match="no suggestions for systems whose runs have own numbers"):
        model.suggest()


def test_a_figure_is_drawn(model):
    assert len(model.plot().axes) == 2


def test_a_run_file_keeps_the_numbers(model):
    again = SPLDynamics.from_run(model.run_file)
    pd.testing.assert_frame_equal(again.constants_, model.constants_)
    assert_allclose(again.simulate([1.0], T, run="b"), model.simulate([1.0], T, run="b"))


def test_own_numbers_must_be_asked_for_in_words():
    with pytest.raises(SettingError, match='`own` must be "auto"'):
        fit(own=3)


def test_labels_must_be_one_for_each_trajectory():
    data = make_growth()
    with pytest.raises(DataError, match="have 2 labels, but there are 4 of them"):
        SPLDynamics().fit([run.x for run in data.runs], [run.t for run in data.runs], run_names=["a", "b"])


def test_labels_must_differ():
    data = make_growth()
    with pytest.raises(DataError, match="Two trajectories are called 'a'"):
        SPLDynamics().fit([run.x for run in data.runs], [run.t for run in data.runs], run_names=list("abca"))


def test_a_grammar_cannot_say_where_an_own_number_stands():
    data = make_growth()
    model = SPLDynamics(grammar="f -> k*x | C*x")
    with pytest.raises(SettingError, match=r"The grammar has the name 'k' of an own number\. Write C"):
        model.fit([run.x for run in data.runs], [run.t for run in data.runs], feature_names=["x"], own="k")
