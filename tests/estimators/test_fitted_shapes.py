import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from spl import SPLRegressor
from spl.errors import DoubtfulResult, FormulaNotFound, KnowledgeError, RunFileError, SettingError

pytestmark = pytest.mark.search

X = pd.DataFrame({"t": np.linspace(0.1, 2.0, 12)})
Y = pd.Series(5 * np.exp(-0.5 * X["t"]) + 0.05 * np.cos(40 * X["t"]), name="V")
FEW = {"random_state": 0, "timeout": None, "max_evaluations": 1500}


@pytest.fixture(scope="module")
def model() -> SPLRegressor:
    known = ["V > 0", "decreasing in t", "V -> 0 as t -> inf"]
    return SPLRegressor(knowledge=known, bounds={"t": (0, 20)}, **FEW).fit(X, Y)


def test_every_formula_of_the_front_keeps_the_statements(model):
    assert len(model.equations_) > 1
    for index in range(len(model.equations_)):
        table = model.shapes(index)
        assert table["statement"].tolist() == ["V > 0", "decreasing in t", "V -> 0 as t -> inf"]
        assert set(table["status"]) <= {"proved", "checked"}


def test_the_statements_reach_beyond_the_data(model):
    far = model.predict(pd.DataFrame({"t": np.linspace(0, 20, 100)}))
    assert (far > 0).all()
    assert (np.diff(far) <= 1e-9).all()


def test_shapes_say_where_the_margin_is_least(model):
    assert list(model.shapes_.columns) == ["statement", "status", "margin", "where"]
    assert model.shapes_["where"][0]["t"] == pytest.approx(20.0)


def test_rivals_keep_the_statements(model):
    judge = model._judge
    assert all(judge.find_broken(rival.program) is None for rival in model.discovery_.rivals)


def test_without_knowledge_shapes_are_empty_and_nothing_else_changes():
    plain = SPLRegressor(**FEW).fit(X, Y)
    empty = SPLRegressor(knowledge=[], **FEW).fit(X, Y)
    assert len(plain.shapes_) == 0
    assert plain.discovery_.front == empty.discovery_.front


def test_if_nothing_keeps_all_statements_the_error_names_one():
    with pytest.raises(FormulaNotFound, match=r"'V > 100' excluded the most: \d+ of \d+ formulas"):
        SPLRegressor(knowledge=["V > 100", "V < 5.5", "f(t=0) = 5"], operators=("+", "*"), **FEW).fit(X, Y)


def test_a_wrong_statement_is_told():
    with pytest.warns(DoubtfulResult, match="A formula that breaks 'increasing in t' describes the data more briefly"):
        SPLRegressor(knowledge=["increasing in t"], **FEW).fit(X, Y)


@pytest.mark.parametrize("wrong", ["V > 0", ["V > "], [3], {"V > 0"}, 7])
def test_wrong_knowledge_is_refused_before_the_search(wrong):
    with pytest.raises(KnowledgeError):
        SPLRegressor(knowledge=wrong, **FEW).fit(X, Y)


def test_knowledge_cannot_be_combined_with_groups():
    with pytest.raises(SettingError, match="cannot be combined with groups"):
        SPLRegressor(knowledge=["f > 0"], **FEW).fit(X, Y, groups=["a"] * 6 + ["b"] * 6)


def test_knowledge_is_a_parameter_that_can_be_cloned(model):
    again = clone(model)
    assert (again.knowledge, again.bounds) == (model.knowledge, model.bounds)


def test_a_run_keeps_its_knowledge(tmp_path):
    path = tmp_path / "run.spl"
    known = {"knowledge": ["V > 0", "decreasing in t"], "bounds": {"t": (0, 20)}, "run_file": path}
    first = SPLRegressor(**known, **FEW).fit(X, Y)
    stored = SPLRegressor.from_run(path)
    assert list(stored.knowledge) == known["knowledge"]
    assert stored.bounds == {"t": (0.0, 20.0)}
    pd.testing.assert_frame_equal(stored.shapes_, first.shapes_)
    for other in ({"knowledge": ["V > 0"]}, {"knowledge": ()}, {"bounds": {"t": (0, 30)}}):
        with pytest.raises(RunFileError, match=r"`(knowledge|bounds)` was"):
            SPLRegressor(
                **{
                    **known,
                    **other,
                    "bounds": other.get("bounds", known["bounds"]) if other.get("knowledge") != () else None,
                },
                **FEW,
            ).fit(X, Y)


def test_a_run_that_is_continued_finds_what_one_without_a_break_finds(tmp_path):
    path = tmp_path / "run.spl"
    known = {"knowledge": ["V > 0", "V -> 0 as t -> inf"], "random_state": 0, "timeout": None}
    SPLRegressor(**known, max_evaluations=700, run_file=path).fit(X, Y)
    continued = SPLRegressor(**known, max_evaluations=1500, run_file=path).fit(X, Y)
    assert (
        continued.equations_["equation"].tolist()
        == SPLRegressor(**known, max_evaluations=1500).fit(X, Y).equations_["equation"].tolist()
    )
