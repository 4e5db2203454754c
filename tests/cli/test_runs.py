import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.run_examples import Limits, make_config, search_in_file

from spl.cli.main import main
from spl.cli.runs import extend_limits
from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.operators import Operator
from spl.regression.request import RegressionRequest
from spl.runs.reader import read_run
from spl.runs.regression import discover_in_file

pytestmark = pytest.mark.process

SPL = [sys.executable, "-c", "from spl.cli.main import main; main()"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    x = np.random.default_rng(0).uniform(1, 3, (40, 2))
    y = np.abs(np.sin(9 * x[:, 0] * x[:, 1])) + np.sin(40 * x[:, 1])
    pd.DataFrame({"mass": x[:, 0], "speed": x[:, 1], "energy": y}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def stored(table):
    path = table.with_name("run.spl")
    call("fit", table, "--target", "energy", "--max-evaluations", 300, "--run", path, "--quiet")
    return path


def call(*arguments, expected=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == expected, result.output
    return result.output


def test_show_prints_how_a_run_stands_and_its_front(stored, table):
    output = call("show", stored)
    assert "energy by mass, speed; 40 rows" in output
    assert str(table) in output
    assert "Finished: the limit on evaluations was reached." in output
    assert "cost" in output


def test_show_prints_settings_and_front_as_json(stored):
    shown = json.loads(call("show", stored, "--json"))
    run = read_run(stored)
    assert [row["cost"] for row in shown["front"]] == [c.cost for c in run.searches[0].front]
    assert [row["loss"] for row in shown["front"]] == [c.loss for c in run.searches[0].front]
    assert shown["front"]
    assert all(row["equation"] for row in shown["front"])
    assert (shown["status"], shown["stopped"], shown["target"]) == ("finished", "evaluations", "energy")
    assert shown["settings"]["limits"]["max_evaluations"] == 300
    assert shown["equation"] == next(row["equation"] for row in shown["front"] if row["chosen"])


def test_show_says_how_sure_the_formula_is(stored):
    output = call("show", stored)
    shown = json.loads(call("show", stored, "--json"))
    assert ("Numbers with standard errors, each in its term:" in output) == bool(shown["numbers"])
    assert ("Doubtful residuals:" in output) == any(check["doubtful"] for check in shown["residual_checks"])
    assert {check["column"] for check in shown["residual_checks"]} == {None, "mass", "speed"}
    assert shown["rivals"] is not None


def test_show_says_why_nothing_is_known_about_formulas_with_own_functions(tmp_path):
    own = Operator("twice", lambda a: 2 * a)
    rules = Grammar.from_text("f -> twice(f) | C * x", [own])
    x = np.linspace(1, 2, 20)
    data = Dataset.from_arrays(x[:, np.newaxis], 3 * x + np.sin(50 * x), names=["x"])
    request = RegressionRequest(data, rules, target="y", limits=Limits(timeout=None, max_evaluations=20))
    discover_in_file(tmp_path / "own.spl", request)
    assert "operators or a loss of your own" in call("show", tmp_path / "own.spl")
    shown = json.loads(call("show", tmp_path / "own.spl", "--json"))
    assert (shown["numbers"], shown["rivals"], shown["residual_checks"]) == (None, None, None)


def test_resume_goes_on_and_says_what_it_found(tmp_path, stored):
    path = tmp_path / "run.spl"
    path.write_bytes(stored.read_bytes())
    found = json.loads(call("resume", path, "--json"))
    assert found["evaluations"] >= 600  # a limit that ended the run is given once more
    assert found["target"] == "energy"
    assert "Finished" in call("show", path)


def test_fit_continues_a_run_that_is_there(tmp_path, table, stored):
    path = tmp_path / "run.spl"
    path.write_bytes(stored.read_bytes())
    arguments = ("fit", table, "--target", "energy", "--run", path, "--json")
    assert json.loads(call(*arguments, "--max-evaluations", 500))["evaluations"] >= 500
    assert "`seed` was 0; got 1" in call(*arguments, "--seed", 1, expected=2)


def test_a_system_is_kept_shown_and_resumed(tmp_path):
    t = np.linspace(0, 6, 120)
    pd.DataFrame({"t": t, "x": np.sin(2 * t), "v": 2 * np.cos(2 * t)}).to_csv(tmp_path / "runs.csv", index=False)
    path = tmp_path / "run.spl"
    call(
        "dynamics", tmp_path / "runs.csv", "--time", "t", "--operators", "+,*", "--timeout", 4, "--run", path, "--quiet"
    )
    shown = json.loads(call("show", path, "--json"))
    assert [state["target"] for state in shown["states"]] == ["x", "v"]
    assert len(shown["equations"]) == 2
    assert "dx/dt" in call("show", path)
    assert "dv/dt" in call("resume", path, "--timeout", 1, "--quiet")


@pytest.mark.parametrize("command", [("show",), ("show", "--json"), ("resume",)])
def test_a_file_that_is_no_run_is_refused_in_one_line(table, command):
    output = call(*command, table, expected=2)
    assert output.strip().splitlines()[-1] == f"Error: '{table}' is not a run of spl. Choose another file."


def test_a_killed_run_is_shown_as_died_and_resumed(tmp_path, table):
    path = tmp_path / "run.spl"
    command = [*SPL, "fit", table, "--target", "energy", "--timeout", "100", "--run", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        process.stdout.readline()  # the first formula
        watcher = subprocess.Popen([*SPL, "show", "--watch", path], stdout=subprocess.PIPE)
        while json.loads(call("show", path, "--json"))["evaluations"] == 0:
            pass
        assert json.loads(call("show", path, "--json"))["status"] == "running"
        process.send_signal(signal.SIGKILL)
    assert b"Died." in watcher.communicate(timeout=60)[0]
    before = json.loads(call("show", path, "--json"))
    assert before["status"] == "died"
    assert json.loads(call("resume", path, "--timeout", "1", "--json"))["evaluations"] >= before["evaluations"]
    assert json.loads(call("show", path, "--json"))["status"] == "finished"


@pytest.mark.parametrize(
    ("seconds", "expected"), [(None, 1.0), (5.0, 5.0), (float("inf"), None)], ids=["again", "more", "none"]
)
def test_limits_are_extended_from_what_the_run_took(tmp_path, seconds, expected):
    search_in_file(tmp_path / "run.spl", config=make_config(None), limits=Limits(timeout=0.5))
    run = read_run(tmp_path / "run.spl")
    limits, _ = extend_limits(run, seconds)
    assert limits.timeout == (run.seconds + expected if seconds == 5.0 else expected)
