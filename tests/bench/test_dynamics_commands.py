"""`spl bench lorenz`, `spl bench systems` and `spl bench sampling`: which trials they ask for."""

import pytest
from click.testing import CliRunner

from spl.bench import systems
from spl.bench.lorenz import DATA, LORENZ, LORENZ_NOISE_LEVELS, SIMULATED, lorenz_trials
from spl.bench.sampling import SAMPLING, SAMPLING_NOISE_LEVELS, SAMPLING_RATES, SAMPLING_TOOLS, sampling_trials
from spl.bench.sindy import NO_PYSINDY
from spl.bench.systems import SYSTEMS_EXPERIMENT, SYSTEMS_NOISE_LEVELS, SYSTEMS_TOOLS, systems_trials
from spl.cli.main import main
from spl.datasets import SAMPLED_SYSTEMS, SYSTEMS


def run_command(*arguments):
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["bench", *arguments])


@pytest.fixture
def has_pysindy(monkeypatch):
    """Let the command believe that pysindy is installed."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setattr(systems, "require_pysindy", lambda: None)


def test_lorenz_runs_all_data_with_ten_seeds_by_default(asked):
    result = run_command("lorenz", "--threads", "1")
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is LORENZ
    assert asked["trials"] == lorenz_trials(list(DATA), LORENZ_NOISE_LEVELS, range(10), timeout=60.0, n_threads=1)
    assert asked["path"].parts == ("bench-results", "lorenz.jsonl")
    assert "10 of 10" in result.stdout


def test_options_of_lorenz_choose_what_is_run(asked):
    run_command("lorenz", "--data", "simulated", "--noise", "0.3", "--seeds", "4", "--timeout", "5", "--threads", "1")
    assert asked["trials"] == lorenz_trials([SIMULATED], [0.3], [4], timeout=5.0, n_threads=1)


def test_systems_runs_all_systems_at_four_levels_with_all_tools_by_default(asked, has_pysindy):
    result = run_command("systems", "--threads", "1")
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is SYSTEMS_EXPERIMENT
    assert asked["trials"] == systems_trials(
        list(SYSTEMS), SYSTEMS_NOISE_LEVELS, [0], tools=SYSTEMS_TOOLS, timeout=60.0, n_threads=1
    )
    assert asked["path"].parts == ("bench-results", "systems.jsonl")


def test_without_pysindy_a_note_says_what_is_missing(asked, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = run_command("systems", "--systems", "duffing", "--threads", "1")
    assert f"Note: {NO_PYSINDY}\n" in result.output
    assert {trial.tool for trial in asked["trials"]} == {"spl"}


def test_options_of_systems_choose_what_is_run(asked, has_pysindy):
    options = [
        "--systems",
        "sir,duffing",
        "--noise",
        "0.2",
        "--tools",
        "pysindy-weak",
        "--seeds",
        "2",
        "--threads",
        "1",
    ]
    run_command("systems", *options)
    assert asked["trials"] == systems_trials(
        ["sir", "duffing"], [0.2], [2], tools=["pysindy-weak"], timeout=60.0, n_threads=1
    )


def test_sampling_runs_all_systems_from_fine_to_coarse_with_both_tools_by_default(asked, has_pysindy):
    result = run_command("sampling")
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is SAMPLING
    assert asked["trials"] == sampling_trials(
        list(SAMPLED_SYSTEMS), SAMPLING_RATES, SAMPLING_NOISE_LEVELS, [0], tools=SAMPLING_TOOLS, timeout=60.0
    )
    assert asked["path"].parts == ("bench-results", "sampling.jsonl")
    assert "10/10" in result.stdout


def test_options_of_sampling_choose_what_is_run(asked):
    options = ["--systems", "thomas", "--samples-per-turn", "8,5-6", "--noise", "0.1", "--tools", "spl", "--seeds", "2"]
    run_command("sampling", *options, "--timeout", "5")
    assert asked["trials"] == sampling_trials(["thomas"], [8, 5, 6], [0.1], [2], tools=["spl"], timeout=5.0)


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("sampling", ["--systems", "sir", "--tools", "spl"], "There is no system 'sir'"),
        ("sampling", ["--samples-per-turn", "1", "--tools", "spl"], "A turn must have 2 samples or more; got 1"),
        ("sampling", ["--samples-per-turn", "few", "--tools", "spl"], "'few' is not a list of numbers of samples"),
        ("lorenz", ["--data", "real"], "There is no data 'real'"),
        ("systems", ["--systems", "duffin", "--tools", "spl"], "There is no system 'duffin'"),
    ],
)
def test_help_shows_examples_and_a_mistake_is_one_line(command, options, message):
    assert f"    spl bench {command} " in run_command(command, "--help").stdout
    result = run_command(command, *options)
    assert result.exit_code == 2
    assert message in result.output
    assert len(result.output.splitlines()) == 1
