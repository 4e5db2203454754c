"""Each tool on a table. Our own estimator is replaced by a fake, except in the last tests."""

import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from spl.bench import table_tools
from spl.bench.table_tools import TableTask, check_tools, describe_tool, fit_table, without_offset
from spl.bench.trials import OURS
from spl.datasets import load_law, make_law_table
from spl.errors import DoubtfulResult, SettingError, SplError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text

LINE = TableTask(
    names=("p", "q"),
    table=np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]]),
    target=np.array([3.0, 5.0, 7.0]),
    seed=4,
    timeout=3.0,
)


class FakeRegressor:
    """Takes what SPLRegressor takes, and always finds 2*p + 1."""

    calls: list[dict[str, object]]

    def __init__(self, **settings):
        self.calls.append(settings)

    def fit(self, X, y, sigma=None):
        self.calls.append({"columns": list(X.columns), "y": y, "sigma": sigma})
        warnings.warn("The rows cannot tell.", DoubtfulResult, stacklevel=2)
        program = parse_expression("2*p + 1", Vocabulary(tuple(X.columns)))
        self.discovery_ = SimpleNamespace(
            front=[SimpleNamespace(program=program)], n_evaluations=7, stopped="timeout", n_rows=len(y)
        )
        self.best_index_ = 0
        self.noise_ = SimpleNamespace(name="relative")
        self.notes_ = ["The rows cannot tell."]
        return self


@pytest.fixture
def calls(monkeypatch):
    found: list[dict[str, object]] = []
    monkeypatch.setattr(FakeRegressor, "calls", found, raising=False)
    monkeypatch.setattr(table_tools, "SPLRegressor", FakeRegressor)
    return found


# ---- ours ----------------------------------------------------------------------------------------


def test_ours_runs_with_its_defaults_on_one_core(calls):
    fit_table(OURS, LINE)
    assert calls[0] == {"noise": "auto", "timeout": 3.0, "n_jobs": 1, "random_state": 4}
    assert calls[1]["columns"] == ["p", "q"]
    assert calls[1]["sigma"] is None


def test_ours_may_be_told_the_noise(calls):
    sigma = np.ones(3)
    told = TableTask(
        names=LINE.names, table=LINE.table, target=LINE.target, seed=0, timeout=None, noise_model="normal", sigma=sigma
    )
    fit_table(OURS, told)
    assert calls[0]["noise"] == "normal"
    assert calls[1]["sigma"] is sigma


def test_the_fit_of_ours_says_what_the_model_says_without_a_warning(calls):
    found = fit_table(OURS, LINE)
    assert (found.formula, found.n_evaluations, found.stopped) == ("2*p + 1", 7, "timeout")
    assert found.details == {"noise": "relative", "notes": ["The rows cannot tell."]}
    np.testing.assert_allclose(found.predict(LINE.table), [3, 5, 7])


# ---- the other tools -----------------------------------------------------------------------------


@pytest.mark.search
@pytest.mark.slow
@pytest.mark.parametrize("tool", ["gplearn", "pyoperon"])
def test_other_tools_search_the_same_operators(tool):
    pytest.importorskip(tool, reason=f"{tool} is not installed")
    law = load_law("drag")
    rows = make_law_table(law, "even", seed=0)
    found = fit_table(tool, TableTask(names=law.variables, table=rows.table, target=rows.target, seed=0, timeout=2.0))
    assert found.readings[0].vocabulary.variables == law.variables
    assert np.isfinite(found.predict(rows.table)).all()
    assert found.details == {}
    assert describe_tool(tool, 2.0)[tool]


def test_the_offset_that_pyoperon_always_adds_may_be_left_out():
    program = parse_expression("(0.001 + (2.0 * (a + (3.0 * b))))", Vocabulary(("a", "b")))
    assert [to_text(other) for other in without_offset(program)] == ["2*(a + 3*b)"]
    assert without_offset(parse_expression("a*b", Vocabulary(("a", "b")))) == ()


@pytest.mark.parametrize(
    ("tools", "timeout", "message"),
    [
        (("spl", "gplern"), 30.0, r"There is no tool 'gplern'\. Did you mean 'gplearn'\?"),
        (("eureqa",), 30.0, "Choose from: spl, gplearn, pyoperon"),
        (("gplearn",), None, "gplearn needs a time limit"),
    ],
)
def test_tools_that_cannot_run_are_refused(tools, timeout, message):
    with pytest.raises(SettingError, match=message):
        check_tools(tools, timeout)


@pytest.mark.parametrize("tool", ["gplearn", "pyoperon"])
def test_a_tool_must_be_installed(tool, monkeypatch):
    monkeypatch.setitem(sys.modules, tool, None)
    with pytest.raises(SplError, match=f"{tool} is not installed"):
        check_tools((OURS, tool), 30.0)


# ---- with the estimator --------------------------------------------------------------------------


@pytest.mark.search
@pytest.mark.parametrize(("variant", "model"), [("even", "normal"), ("counts", "poisson")])
def test_our_default_names_the_noise(variant, model):
    law = load_law("gutenberg_richter")
    rows = make_law_table(law, variant, seed=0)
    task = TableTask(names=law.variables, table=rows.table, target=rows.target, seed=0, timeout=5.0)
    found = fit_table(OURS, task)
    assert found.details["noise"] == model
    assert all(isinstance(note, str) for note in found.details["notes"])


@pytest.mark.search
def test_known_standard_deviations_are_used():
    law = load_law("kleiber")
    rows = make_law_table(law, "relative", seed=0)
    task = TableTask(
        names=law.variables,
        table=rows.table,
        target=rows.target,
        seed=0,
        timeout=5.0,
        noise_model="normal",
        sigma=rows.deviations,
    )
    found = fit_table(OURS, task)
    errors = (found.predict(rows.table) - rows.exact) / rows.deviations
    assert np.max(np.abs(errors)) < 1
