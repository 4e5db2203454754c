"""Runs with numbers of their own in the shell: found, kept, shown, reported and exported."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from tests.dynamics.own_examples import LABELS, make_growth

from spl.cli.main import main

pytestmark = pytest.mark.search

SEARCH = ["dynamics", "dishes.csv", "--time", "t", "--states", "mass", "--group", "dish", "--operators", "+,-,*"]


def call(*words):
    return CliRunner().invoke(main, list(words))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of growth in four dishes, and the run in which its law was found."""
    folder = tmp_path_factory.mktemp("dishes")
    data = make_growth(noise=0.01)
    rows = [
        f"{t},{x},{label}"
        for label, run in zip(LABELS, data.runs, strict=True)
        for t, x in zip(run.t.tolist(), run.x[:, 0].tolist(), strict=True)
    ]
    (folder / "dishes.csv").write_text("\n".join(["t,mass,dish", *rows]))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = call(
            *SEARCH, "--own", "auto", "--timeout", "inf", "--max-evaluations", "3000", "--run", "dishes.spl", "--json"
        )
    assert found.exit_code == 0, found.output
    (folder / "found.json").write_text(found.stdout)
    return folder


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def test_json_has_the_own_numbers(here):
    [number] = json.loads((here / "found.json").read_text())["own_numbers"]
    assert [run["run"] for run in number["runs"]] == list(LABELS)
    values = np.array([run["value"] for run in number["runs"]])
    np.testing.assert_allclose(values / values[0], np.array([0.5, 0.8, 1.1, 1.4]) / 0.5, rtol=0.02)


@pytest.mark.parametrize(
    "words", [("show", "dishes.spl"), ("resume", "dishes.spl"), ("export", "dishes.spl", "--format", "julia")]
)
def test_each_command_prints_the_number_of_each_run(here, words):
    printed = call(*words)
    assert printed.exit_code == 0, printed.output
    assert "k1" in printed.output
    value = json.loads((here / "found.json").read_text())["own_numbers"][0]["runs"][0]["value"]
    assert f"{value:.2g}"[:3] in printed.output


def test_the_report_has_the_numbers_of_the_runs(here):
    assert call("report", "dishes.spl", "-o", "dishes.html").exit_code == 0
    assert "k1 by run: a " in (here / "dishes.html").read_text()


def test_own_numbers_need_several_runs(here):
    failed = call("dynamics", "dishes.csv", "--time", "t", "--states", "mass", "--own", "auto")
    assert failed.exit_code != 0
    assert "separate runs with --group" in failed.output


def test_own_numbers_of_one_run_are_refused(here):
    lines = (here / "dishes.csv").read_text().splitlines()
    (here / "one.csv").write_text("\n".join(lines[:60]))
    failed = call("dynamics", "one.csv", "--time", "t", "--states", "mass", "--own", "auto")
    assert failed.exit_code != 0
    assert "There is one trajectory" in failed.output
