"""`spl bench trust`: which trials it asks for."""

import pytest
from click.testing import CliRunner

from spl.bench.trust import TRUST, TrustPlan
from spl.cli.main import main


def run_command(*arguments):
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["bench", "trust", *arguments])


def test_all_parts_run_by_default(asked):
    result = run_command()
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is TRUST
    assert asked["trials"] == TrustPlan().trials()
    assert asked["path"].parts == ("bench-results", "trust.jsonl")


@pytest.mark.parametrize("part", ["chance", "suggest"])
def test_options_choose_what_is_run(asked, part):
    result = run_command("--parts", part, "--seeds", "2-3", "--timeout", "9")
    assert result.exit_code == 0, result.output
    assert asked["trials"] == TrustPlan(parts=(part,), seeds=(2, 3), timeout=9.0).trials()


def test_help_shows_examples_and_a_mistake_is_one_line():
    assert "    spl bench trust " in run_command("--help").stdout
    result = run_command("--parts", "rival")
    assert result.exit_code == 2
    assert "There is no part 'rival'. Did you mean 'rivals'?" in result.output
