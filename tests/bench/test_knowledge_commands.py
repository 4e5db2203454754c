"""`spl bench knowledge`: which trials it asks for."""

from click.testing import CliRunner

from spl.bench.knowledge import KNOWLEDGE, KnowledgePlan
from spl.cli.main import main


def run_command(*arguments):
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["bench", "knowledge", *arguments])


def test_all_parts_run_by_default(asked):
    result = run_command("--json")
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is KNOWLEDGE
    assert asked["trials"] == KnowledgePlan().trials()
    assert asked["path"].parts == ("bench-results", "knowledge.jsonl")


def test_options_choose_what_is_run(asked):
    options = ("--parts", "units", "--problems", "nernst", "--noise", "0.1", "--units", "with", "--seeds", "2-3")
    result = run_command("--json", *options, "--timeout", "9")
    assert result.exit_code == 0, result.output
    plan = KnowledgePlan(
        parts=("units",), problems=("nernst",), noise_levels=(0.1,), variants=("with",), seeds=(2, 3), timeout=9.0
    )
    assert asked["trials"] == plan.trials()


def test_help_shows_examples_and_a_mistake_is_one_line():
    assert "    spl bench knowledge " in run_command("--help").stdout
    result = run_command("--parts", "unit")
    assert result.exit_code == 2
    assert "There is no part 'unit'. Did you mean 'units'?" in result.output
