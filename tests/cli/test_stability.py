"""The command `spl stability`."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.command_line import SMALL, run

from spl import SPLDynamics

pytestmark = pytest.mark.search

FEW = ["-n", "2", "--max-evaluations", "50"]


@pytest.fixture
def stored(table):
    """The run of a table in a file."""
    done = run("fit", "data.csv", "--target", "y", "--features", "a,b", "--run", "run.spl", "--quiet", *SMALL)
    assert done.exit_code == 0
    return "run.spl"


def test_it_counts_what_comes_back(stored):
    result = run("stability", stored, *FEW)
    assert result.exit_code == 0, result.output
    assert "Of 2 searches of redrawn targets, 2 found the formula again." in result.stdout
    assert "2 of 2 searches done" in result.stderr


def test_json_is_one_object_and_the_jobs_do_not_matter(stored):
    one, two = (run("stability", stored, *FEW, "--json", "--jobs", jobs) for jobs in (1, 2))
    found = json.loads(one.stdout)
    assert found == json.loads(two.stdout)
    assert (found["asked"], found["done"], found["structure"]) == (2, 2, 1.0)
    assert [each["text"] for each in found["columns"]] == ["a", "b"]
    assert one.stderr == ""


def test_another_row_of_the_front_can_be_asked_for(stored):
    result = run("stability", stored, *FEW, "--index", "0", "--json")
    assert json.loads(result.stdout)["equations"][0]["is_chosen"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.spl"], "There is no run file 'missing.spl'"),
        (["run.spl", "-n", "0"], "0 is not in the range"),
        (["run.spl", "--index", "99"], "must be a row of the front"),
    ],
)
def test_mistakes_have_clear_errors(stored, arguments, message):
    result = run("stability", *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_the_run_of_a_system_is_refused(tmp_path):
    path, t = tmp_path / "system.spl", np.linspace(0, 2, 60)
    SPLDynamics(operators=("+", "*"), timeout=None, max_evaluations=50, run_file=path).fit(np.exp(-t)[:, np.newaxis], t)
    result = run("stability", path)
    assert result.exit_code == 2
    assert "holds the run of a system" in result.output


def test_a_run_with_groups_is_refused(table):
    rows = [f"{metal},{x},{factor * x}" for metal, factor in (("iron", 2), ("lead", 3)) for x in range(1, 9)]
    Path("metals.csv").write_text("\n".join(["metal,x,y", *rows]))
    assert run("fit", "metals.csv", "--target", "y", "--run", "run.spl", "--quiet", *SMALL).exit_code == 0
    result = run("stability", "run.spl", *FEW)
    assert result.exit_code == 2
    assert "`stability` is not available for a model with groups" in result.stderr
