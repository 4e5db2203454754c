import importlib.util
import time

import numpy as np
import pytest
from benchmarks.against import experiment
from benchmarks.against.__main__ import main
from benchmarks.against.experiment import check_tools, make_experiment
from benchmarks.against.tools import TOOLS, find_tool, name_modules

from spl.bench.records import read
from spl.bench.trials import Trial
from spl.datasets import load_nguyen
from spl.errors import SettingError, SplError

pytestmark = pytest.mark.search

LINE = """
from sklearn.linear_model import LinearRegression

est = LinearRegression()


def model(est, X=None):
    return " + ".join(f"{c}*{name}" for c, name in zip(est.coef_, X.columns))
"""
SLEEPER = """
import time
from sklearn.base import BaseEstimator, RegressorMixin


class Sleeper(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        time.sleep(30)


est = Sleeper()


def model(est):
    return ""
"""


AGAINST = make_experiment({})


def trial_of(tool, problem="Nguyen-1", timeout=2.0):
    return Trial(experiment="against", setting="points20", tool=tool, problem=problem, seed=0, timeout=timeout)


def write(path, text):
    path.write_text(text)
    return path


def needs(package):
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"{package} is not installed")


@pytest.mark.parametrize("tool", ["spl", pytest.param("gplearn", marks=needs("gplearn"))])
def test_tools_answer_when_their_time_is_up(tool):
    outcome = AGAINST.run(trial_of(tool, "Nguyen-9c", timeout=0.5))
    assert outcome.formula
    assert outcome.stopped == "timeout"
    assert outcome.evaluations > 0
    assert AGAINST.settings(trial_of(tool))


@needs("pyoperon")
def test_pyoperon_answers_when_its_time_is_up():
    outcome = AGAINST.run(trial_of("pyoperon"))
    assert "x" in outcome.formula
    assert outcome.stopped == "timeout"
    assert outcome.error < 0.5
    assert AGAINST.settings(trial_of("pyoperon"))["allowed_symbols"] == "add,sub,mul,div,sin,cos,exp,log,variable"


def test_every_tool_has_a_file():
    assert all(callable(find_tool(name, {}).solve) for name in TOOLS)


@pytest.mark.skipif(importlib.util.find_spec("pyoperon") is not None, reason="pyoperon is installed")
def test_a_missing_tool_is_named_before_anything_runs():
    with pytest.raises(SplError, match=r"symbolic-physics-learner\[against\]"):
        check_tools(["spl", "pyoperon"], {})


def test_a_module_of_srbench_is_judged_by_its_predictions(tmp_path):
    against = make_experiment({"line": write(tmp_path / "line.py", LINE)})
    outcome = against.run(trial_of("line"))
    assert not outcome.recovered
    assert 0 < outcome.error < 1
    assert outcome.formula.endswith("*x")
    assert outcome.stopped == "finished"


def test_a_true_law_is_recovered_whatever_its_text(tmp_path, monkeypatch):
    against = make_experiment({"line": write(tmp_path / "line.py", LINE)})
    problem = load_nguyen("Nguyen-1")
    rows = np.linspace(-1, 1, 30).reshape(-1, 1)
    line = (rows, 3 * rows[:, 0])
    task = experiment.points20_task(problem)
    changed = type(task)(
        problem=problem, grammar=task.grammar, config=task.config,
        make_train=lambda seed: line, make_test=lambda seed: line,
    )  # fmt: skip
    monkeypatch.setattr(experiment, "points20_task", lambda problem: changed)
    assert against.run(trial_of("line")).recovered


def test_a_module_that_takes_too_long_is_ended(tmp_path):
    against = make_experiment({"sleeper": write(tmp_path / "sleeper.py", SLEEPER)})
    began = time.perf_counter()
    with pytest.raises(SplError, match=r"No answer within 0\.2 s"):
        against.run(trial_of("sleeper", timeout=0.2))
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(("text", "what"), [(None, "no Python file"), ("est = 1", "has no `model`")])
def test_a_module_that_will_not_do_is_refused(tmp_path, text, what):
    path = tmp_path / "tool.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SettingError, match=what):
        check_tools(["tool"], {"tool": path})


def test_an_unknown_tool_is_refused():
    with pytest.raises(SettingError, match="Did you mean 'gplearn'"):
        find_tool("gplern", {})


def test_the_command_prints_one_table_and_keeps_results(tmp_path, capsys):
    path = write(tmp_path / "line.py", LINE)
    results = tmp_path / "results.jsonl"
    options = ["--tools", "spl", "--module", str(path), "--problems", "1", "--seeds", "0"]
    main([*options, "--timeout", "20", "--results", str(results)])
    printed = capsys.readouterr().out
    assert "Nguyen-1" in printed
    assert "1 of 1" in printed
    assert "0 of 1" in printed
    assert [record.trial.tool for record in read(results)] == ["spl", "line"]


def test_the_command_ends_with_a_message_on_mistakes(tmp_path):
    with pytest.raises(SystemExit, match="Error: There is no problem '99'"):
        main(["--problems", "99", "--tools", "spl", "--results", str(tmp_path / "results.jsonl")])


def test_two_tools_of_one_name_are_refused(tmp_path):
    with pytest.raises(SettingError, match="the same name: gplearn"):
        name_modules([tmp_path / "gplearn.py"])
    with pytest.raises(SettingError, match="the same name: tool"):
        name_modules([tmp_path / "a" / "tool.py", tmp_path / "b" / "tool.py"])
