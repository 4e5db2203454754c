"""`spl bench groups`: which trials it asks for."""

from click.testing import CliRunner

from spl.bench.groups import GROUPS, GroupsPlan
from spl.cli.main import main


def run_command(*arguments):
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["bench", "groups", *arguments])


def test_all_parts_run_by_default(asked):
    result = run_command()
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is GROUPS
    assert asked["trials"] == GroupsPlan().trials()
    assert asked["path"].parts == ("bench-results", "groups.jsonl")


def test_options_choose_what_is_run(asked):
    result = run_command("--parts", "laws", "--problems", "tide", "--seeds", "2-3", "--timeout", "9")
    assert result.exit_code == 0, result.output
    assert asked["trials"] == GroupsPlan(parts=("laws",), problems=("tide",), seeds=(2, 3), timeout=9.0).trials()


def test_help_shows_examples_and_a_mistake_is_one_line():
    assert "    spl bench groups " in run_command("--help").stdout
    result = run_command("--parts", "law")
    assert result.exit_code == 2
    assert "There is no part 'law'. Did you mean 'laws'?" in result.output
