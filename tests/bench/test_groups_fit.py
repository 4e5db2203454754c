"""Searches of tables with groups: what is asked of the model, and what is kept of it."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from tests.bench.grouped_fakes import make_fit, make_own

from spl.bench import groups_fit
from spl.bench.groups_fit import fit_groups, fit_one_group
from spl.datasets import load_grouped_law, make_grouped_table, make_grouped_test
from spl.errors import DataRepaired, DoubtfulResult

LAW = load_grouped_law("cooling")
DATA = make_grouped_table(LAW, 3, 5)


class FakeRegressor:
    """Finds the law of cooling at once, with doubts, as its second choice of two."""

    made: list["FakeRegressor"] = []  # noqa: RUF012 - emptied before each test
    warning = DoubtfulResult

    def __init__(self, **settings):
        self.settings, self.fitted, self.predicted = settings, None, None
        self.made.append(self)

    def fit(self, table, target, groups=None):
        self.fitted = SimpleNamespace(table=table, target=target, groups=groups)
        warnings.warn("doubtful", self.warning, stacklevel=2)
        own = () if groups is None else make_own(DATA, "cup", k1="k")
        law = make_fit(table.columns, "21 + (h - 21)*exp(-k1*t)" if own else "21 + (h - 21)*exp(-0.05*t)", own)
        simple = SimpleNamespace(program=make_fit(table.columns, "h").program)
        front = [simple, SimpleNamespace(program=law.program, own=own)]
        self.discovery_ = SimpleNamespace(front=front, n_evaluations=77, stopped="settled")
        self.best_index_, self.notes_ = 1, ["doubtful"]

    def predict(self, table, groups=None):
        warnings.warn("far from the data", DoubtfulResult, stacklevel=2)
        self.predicted = SimpleNamespace(table=table, groups=groups)
        return table["h"].tolist()


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    FakeRegressor.made.clear()
    monkeypatch.setattr(groups_fit, "SPLRegressor", FakeRegressor)
    return FakeRegressor


def fit_cups():
    return fit_groups(LAW.variables, DATA, seed=5, timeout=9.0)


def fit_cup():
    return fit_one_group(LAW.variables, DATA.table[:4], DATA.target[:4], seed=5, timeout=9.0)


@pytest.mark.parametrize("search", [fit_cups, fit_cup])
def test_a_search_has_one_worker_its_seed_and_its_time_and_defaults_otherwise(fake, search):
    search()
    [model] = fake.made
    assert model.settings == {"timeout": 9.0, "n_jobs": 1, "random_state": 5}


def test_the_groups_of_all_rows_are_searched_by_name(fake):
    fit_cups()
    fitted = fake.made[0].fitted
    assert list(fitted.table.columns) == ["h", "t"]
    assert fitted.groups["cup"].tolist() == DATA.labels["cup"].tolist()
    np.testing.assert_array_equal(fitted.target, DATA.target)


def test_one_group_alone_is_searched_without_groups(fake):
    found = fit_cup()
    assert fake.made[0].fitted.groups is None
    assert found.own == ()
    assert found.formula == "21 + (h - 21)*exp(-0.05*t)"


def test_the_chosen_formula_is_kept_with_its_own_numbers_and_notes():
    found = fit_cups()
    assert found.formula == "21 + (h - 21)*exp(-k1*t)"
    assert found.own == make_own(DATA, "cup", k1="k")
    assert (found.notes, found.n_evaluations, found.stopped) == (("doubtful",), 77, "settled")
    assert found.cpu_seconds >= 0.0
    assert found.seconds > 0.0


def test_unseen_rows_are_predicted_with_their_groups(fake):
    unseen = make_grouped_test(LAW, 3, 2)
    values = fit_cups().predict(unseen)
    np.testing.assert_array_equal(values, unseen.table[:, 0])
    assert fake.made[0].predicted.groups["cup"].tolist() == unseen.labels["cup"].tolist()


def test_rows_of_one_group_are_predicted_without_groups(fake):
    unseen = make_grouped_test(LAW, 3, 2)
    assert fit_cup().predict(unseen).shape == (6,)
    assert fake.made[0].predicted.groups is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("warning", [DoubtfulResult, DataRepaired])
def test_doubts_that_are_among_the_notes_are_no_warnings(monkeypatch, fake, warning):
    monkeypatch.setattr(fake, "warning", warning)
    assert fit_cups().notes == ("doubtful",)


def test_other_warnings_are_shown(monkeypatch, fake):
    monkeypatch.setattr(fake, "warning", RuntimeWarning)
    with pytest.warns(RuntimeWarning, match="doubtful"):
        fit_cups()
