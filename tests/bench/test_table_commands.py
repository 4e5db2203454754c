"""`spl bench tables`: which trials it asks for."""

import pytest
from click.testing import CliRunner

from spl.bench import tables
from spl.bench.gplearn import NO_GPLEARN
from spl.bench.pyoperon import NO_PYOPERON
from spl.bench.tables import TABLES, TablesPlan
from spl.cli.main import main


def run_command(*arguments):
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["bench", "tables", *arguments])


@pytest.fixture
def has_tools(monkeypatch):
    """Let the command believe that all tools are installed."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr(tables, "check_tools", lambda tools, timeout: None)


def test_all_parts_run_with_all_tools_by_default(asked, has_tools):
    result = run_command()
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is TABLES
    assert asked["trials"] == TablesPlan(tools=("spl", "gplearn", "pyoperon")).trials()
    assert asked["path"].parts == ("bench-results", "tables.jsonl")


def test_options_choose_what_is_run(asked, has_tools):
    result = run_command(
        *("--parts", "noise,unrelated", "--laws", "hill,darcy", "--variants", "counts", "--tools", "spl,gplearn"),
        *("--seeds", "2-3", "--timeout", "5", "--rows", "50", "--tables", "3"),
    )
    assert result.exit_code == 0, result.output
    plan = TablesPlan(
        parts=("noise", "unrelated"),
        laws=("hill", "darcy"),
        variants=("counts",),
        tools=("spl", "gplearn"),
        seeds=(2, 3),
        timeout=5.0,
        n_rows=50,
        n_unrelated=3,
    )
    assert asked["trials"] == plan.trials()


def test_without_the_other_tools_a_note_says_what_is_missing(asked, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = run_command("--parts", "wide")
    assert f"Note: {NO_GPLEARN}\nNote: {NO_PYOPERON}\n" in result.output
    assert {trial.tool for trial in asked["trials"]} == {"spl"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--laws", "hil", "--tools", "spl"], "There is no law 'hil'"),
        (["--parts", "noises", "--tools", "spl"], "There is no part 'noises'"),
        (["--tools", "gplearn", "--timeout", "inf"], "gplearn needs a time limit"),
    ],
)
def test_help_shows_examples_and_a_mistake_is_one_line(options, message):
    assert "    spl bench tables " in run_command("--help").stdout
    result = run_command(*options)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1
