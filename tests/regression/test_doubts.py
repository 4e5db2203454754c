"""Reasons to doubt an answer reach people whichever way they came."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from spl import SPLRegressor
from spl.cli.main import main
from spl.data.dataset import Dataset
from spl.errors import DoubtfulResult
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.doubts import UNEXPLAINED, find_misfit, find_pattern
from spl.regression.fit import fit
from spl.report.from_run import report_of_run
from spl.runs.reader import read_run
from spl.settings import SearchConfig
from spl.web.run_view import describe_run

pytestmark = pytest.mark.search

QUICK = {"operators": ("+", "*"), "max_evaluations": 300, "random_state": 0}


def noise(n_rows=40, seed=3):
    random = np.random.default_rng(seed)
    return random.normal(size=(n_rows, 2)), random.normal(size=n_rows)


def test_python_warns_when_the_columns_explain_nothing():
    with pytest.warns(DoubtfulResult, match="do not explain the target"):
        model = SPLRegressor(**QUICK).fit(*noise())
    assert model.notes_ == [UNEXPLAINED]


@pytest.mark.search
def test_a_mean_that_comes_out_as_zero_is_a_constant_too():
    X, y = noise()
    with pytest.warns(DoubtfulResult, match="do not explain the target"):
        model = SPLRegressor(**QUICK).fit(X, y - np.mean(y))
    assert model.get_best()["equation"] == "0"


def test_a_law_is_not_doubted():
    X, _ = noise()
    assert SPLRegressor(**QUICK).fit(X, X[:, 0] * X[:, 1]).notes_ == []


def test_a_constant_target_is_not_doubted():
    X, _ = noise()
    assert SPLRegressor(**QUICK).fit(X, np.full(len(X), 2.5)).notes_ == []


@pytest.mark.search
@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_the_shell_says_so_on_standard_error(tmp_path, option):
    X, y = noise()
    table = tmp_path / "noise.csv"
    np.savetxt(table, np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    run = tmp_path / "noise.spl"
    options = ["--operators", "+,*", "--max-evaluations", "300", "--run", str(run)]
    answer = CliRunner().invoke(main, ["fit", str(table), "--target", "y", *options, option])
    assert answer.exit_code == 0
    assert f"Note: {UNEXPLAINED}" in answer.stderr
    if option == "--json":
        assert json.loads(answer.stdout)["notes"] == [UNEXPLAINED]
    else:
        assert answer.stdout.startswith("y = ")
        assert len(answer.stdout.splitlines()) == 1


def test_run_file_report_and_studio_say_so(tmp_path):
    path = tmp_path / "noise.spl"
    with pytest.warns(DoubtfulResult):
        SPLRegressor(**QUICK, search=SearchConfig(n_trees=1), run_file=path).fit(*noise())
    run = read_run(path)
    assert run.notes == (UNEXPLAINED,)
    assert UNEXPLAINED in report_of_run(run).notes
    assert UNEXPLAINED in describe_run(run)["notes"]
    shown = CliRunner().invoke(main, ["show", str(path)]).stdout
    assert f"Note: {UNEXPLAINED}" in shown


# ---- repeated measurements, patterns ---------------------------------------------------------------


def repeated(noise_size):
    x = np.repeat(np.linspace(0, 6, 20), 3)
    noise = noise_size * np.random.default_rng(0).normal(size=60)
    return Dataset.from_arrays(x[:, np.newaxis], x + np.sin(x) + noise, names=["x"])


def candidate_of(text, data):
    return fit(parse_expression(text, Vocabulary(("x",))), data)


def test_a_formula_that_misses_the_means_of_repeated_measurements_is_doubted():
    data = repeated(0.05)
    [note] = find_misfit(candidate_of("C*x", data), data)
    assert note.startswith("The formula misses part of the law")


def test_the_law_is_not_doubted_by_repeated_measurements():
    data = repeated(0.05)
    assert find_misfit(candidate_of("x + sin(x)", data), data) == ()


def test_without_repeats_nothing_is_compared():
    x = np.linspace(0, 6, 60)
    data = Dataset.from_arrays(x[:, np.newaxis], x + np.sin(x), names=["x"])
    assert find_misfit(candidate_of("C*x", data), data) == ()


def test_errors_that_follow_a_column_are_noted_and_noise_is_not():
    x = np.linspace(0, 6, 80)
    noise = 0.05 * np.random.default_rng(1).normal(size=80)
    data = Dataset.from_arrays(x[:, np.newaxis], x + np.sin(x) + noise, names=["x"])
    [note] = find_pattern(candidate_of("C*x", data), data, "student")
    assert "neighbouring rows err alike" in note
    assert find_pattern(candidate_of("x + sin(x)", data), data, "student") == ()
