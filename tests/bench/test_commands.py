"""The `spl bench` commands from end to end."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from spl.bench.parts import PARTS, parts_trials
from spl.bench.records import read
from spl.cli.main import main
from spl.datasets import load_nguyen, nguyen_problems

pytestmark = pytest.mark.search

TINY = ["--problems", "1,8", "--seeds", "0-1", "--jobs", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["bench", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


COMMANDS = [
    *("nguyen", "ablation", "noise", "random", "tables", "parts"),
    *("lorenz", "systems", "pendulum", "balls", "report"),
]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_every_command_shows_an_example(command):
    assert "    spl bench " in run(*command, "--help").stdout


def test_nguyen_ends_with_a_table_and_continues_from_its_results(folder):
    first = run("nguyen", *TINY)
    assert first.exit_code == 0
    rows = [line.split() for line in first.stdout.splitlines() if line.startswith("Nguyen-")]
    assert [row[:4] for row in rows] == [["Nguyen-1", "2", "of", "2"], ["Nguyen-8", "2", "of", "2"]]
    assert len(read(folder / "bench-results" / "nguyen-paper.jsonl")) == 4
    again = run("nguyen", *TINY)
    assert "trials done" not in again.stdout
    assert [line for line in again.stdout.splitlines() if line.startswith("Nguyen-")]
    assert len(read(folder / "bench-results" / "nguyen-paper.jsonl")) == 4


def test_json_is_one_object(folder):
    result = run("nguyen", "--problems", "8", "--seeds", "0", "--jobs", "1", "--results", "mine.jsonl", "--json")
    found = json.loads(result.stdout)
    assert (found["experiment"], found["results"]) == ("nguyen", "mine.jsonl")
    assert [(row["problem"], row["trials"], row["recovered"]) for row in found["rows"]] == [("Nguyen-8", 1, 1)]


def test_ablation_ends_with_a_table_of_models(folder):
    result = run("ablation", "--problems", "8", "--seeds", "0", "--jobs", "1", "--timeout", "10")
    assert result.exit_code == 0
    row = next(line.split() for line in result.stdout.splitlines() if line.startswith("Nguyen-8"))
    assert row == ["Nguyen-8", "1", *(10 * ["100"])]


def test_random_ends_with_a_table_of_costs(folder):
    result = run("random", "--formulas", "0", "--noise", "0", "--timeout", "2", "--threads", "1")
    assert result.exit_code == 0
    row = next(line.split() for line in result.stdout.splitlines() if line.startswith("cost 5 to 7"))
    assert row[:5] == ["cost", "5", "to", "7", "1"]
    assert [record.trial.setting for record in read(folder / "bench-results" / "random.jsonl")] == ["noise=0 threads=1"]


def test_a_report_is_printed_or_written_with_figures(folder):
    pytest.importorskip("matplotlib")
    run("nguyen", "--problems", "8", "--seeds", "0", "--jobs", "1")
    assert "| Nguyen-8 | 1 of 1 |" in run("report").stdout
    assert run("report", "bench-results/nguyen-paper.jsonl", "-o", "out").exit_code == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        *("nguyen-paper.png", "nguyen-paper.svg", "report.md")
    ]


def test_parts_runs_40_formulas_and_all_nguyen_problems_for_5_seconds_each(asked):
    run("parts")
    assert asked["experiment"] is PARTS
    assert asked["trials"] == parts_trials(range(40), nguyen_problems(), [0], 5.0)
    assert asked["path"].parts == ("bench-results", "parts.jsonl")


def test_options_of_parts_choose_what_is_run(asked):
    run("parts", "--formulas", "3", "--problems", "12-wide,1c", "--seeds", "1-2", "--timeout", "inf")
    problems = [load_nguyen("Nguyen-12-wide"), load_nguyen("Nguyen-1c")]
    assert asked["trials"] == parts_trials([3], problems, [1, 2], None)


def test_parts_ends_with_a_table_of_variants(asked):
    lines = run("parts", "--formulas", "0-39").stdout.splitlines()
    row = next(line for line in lines if line.startswith("bank: no bank, closers or jumps"))
    assert row.split()[-12:] == [*(2 * ["40", "of", "40", "0.5"]), "19", "of", "19", "0.5"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nguyen", "--problems", "13"], "There is no problem '13'. Choose from: 1, 2,"),
        (["nguyen", "--seeds", "a"], "'a' is not a list of seeds. Write for example 0-99, or 0,3,7-9."),
        (["nguyen", "--jobs", "0"], "or -1 for all cores; got 0."),
        (["nguyen", "--jobs", "5000"], "the number of cores"),
        (["nguyen", "--timeout", "0"], "must be more than 0, or inf for no limit; got 0.0."),
        (["nguyen", "--timeout", "nan"], "must be more than 0, or inf for no limit; got nan."),
        (["nguyen", "--setting", "hard"], "'hard' is not one of 'paper', 'points20'."),
        (["nguyen", "--results", "."], "The results '.' cannot be written: Is a directory."),
        (["nguyen", "--results", "damaged.jsonl"], "Line 1 of 'damaged.jsonl' is not a result."),
        (["ablation", "--problems", "1c"], "There is no problem '1c'. Choose from: 1, 2,"),
        (["random", "--formulas", "x"], "'x' is not a list of formulas. Write for example 0-99, or 0,3,7-9."),
        (["random", "--noise", "-1"], "'-1' is not a level of noise. Write for example 0,0.01 for none and 1 percent."),
        (["random", "--threads", "0"], "or -1 for all cores; got 0."),
        (["parts", "--formulas", "x"], "'x' is not a list of formulas. Write for example 0-99, or 0,3,7-9."),
        (["parts", "--problems", "13"], "There is no problem '13'. Choose from: 1, 2,"),
        (["report"], "There are no results in 'bench-results'."),
        (["report", "none.jsonl"], "The results 'none.jsonl' cannot be read: No such file or directory."),
    ],
)
def test_a_mistake_is_one_line_and_status_2(folder, arguments, message):
    (folder / "damaged.jsonl").write_text("nonsense\n")
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr[result.stderr.index("Error: ") :]


def test_ctrl_c_says_how_to_continue(monkeypatch):
    from spl.bench import runner

    def interrupted(*_, **__):
        return runner.Finished(records=[], n_trials=4, is_interrupted=True)

    monkeypatch.setattr(runner, "run_trials", interrupted)
    result = run("nguyen", *TINY)
    assert result.exit_code == 130
    assert result.stderr == (
        f"Interrupted: 0 of 4 trials are done and saved in {os.path.join('bench-results', 'nguyen-paper.jsonl')}. "
        "The same command continues.\n"
    )


def test_help_loads_nothing_that_is_slow():
    code = "import sys, spl.bench.commands; sys.exit(bool({'numpy', 'rich', 'joblib', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
