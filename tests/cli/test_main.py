"""The command `spl`, as people and scripts use it."""

import importlib.metadata
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import spl
from spl.cli.main import main
from spl.formulas.operators import BUILT_IN
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate
from spl.regression.front import SELECTIONS

pytestmark = pytest.mark.search

INSTALLED = any(importlib.metadata.distributions(name="symbolic-physics-learner"))
COMMANDS = (["fit"], ["dynamics"], ["demo"], ["operators"], ["grammar", "check"], ["bench"], ["bench", "nguyen"])
PROCESS = [sys.executable, "-c", "from spl.cli.main import main; main()"]
SMALL = ["--operators", "+,*", "--max-evaluations", "300"]
JSON_KEYS = {
    "target": str,
    "equation": str,
    "sympy": str,
    "latex": str,
    "loss": float,
    "r2": float,
    "cost": int,
    "front": list,
    "seconds": float,
    "seed": int,
    "evaluations": int,
    "stopped": str,
    "notes": list,
}


@pytest.fixture
def table(tmp_path, monkeypatch, rng):
    """A folder to work in, with a table of y = a*b + a in it."""
    monkeypatch.chdir(tmp_path)
    a, b = rng.uniform(1, 3, (2, 60))
    frame = pd.DataFrame({"a": a, "b": b, "w": 1.0, "name": "p", "y": a * b + a})
    frame.to_csv("data.csv", index=False)
    return frame


def run(*arguments, **options):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], **options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def run_process(*arguments, **options):
    return subprocess.run([*PROCESS, *arguments], capture_output=True, text=True, timeout=120, check=False, **options)


# ---- help


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example(command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert "\n      spl " in result.stdout or "\n    spl " in result.stdout


@pytest.mark.skipif(not INSTALLED, reason="the version is that of the installed distribution")
def test_the_version_is_that_of_the_package():
    assert run("--version").stdout.strip() == f"spl, version {spl.__version__}"


def test_the_help_names_every_rule_of_selection():
    assert set(SELECTIONS) <= set(re.findall(r"\w+", run("fit", "--help").stdout))


@pytest.mark.process
def test_help_loads_nothing_that_is_slow():
    code = "import sys, spl.cli.main; sys.exit(bool({'numpy', 'rich', 'pandas', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.process
def test_a_fit_loads_neither_scikit_learn_nor_pandas(table):
    code = (
        "import sys; from spl.cli.main import main; "
        f"main(['fit', 'data.csv', '--target', 'y', '--features', 'a,b', '--quiet', *{SMALL}], standalone_mode=False); "
        "print(sorted({'sklearn', 'pandas'} & set(sys.modules)))"
    )
    table.drop(columns="name").to_csv("data.csv", index=False)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


# ---- fit


def test_the_front_ends_with_the_equation_and_a_summary(table):
    result = run("fit", "data.csv", "--target", "y", "--features", "a,b", *SMALL)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert any(line.split() == ["cost", "loss", "score", "equation"] for line in lines)
    marked = [line for line in lines if line.startswith("*")]
    assert len(marked) == 1
    assert lines[-3].startswith("y = ")
    assert marked[0].endswith(lines[-3].removeprefix("y = "))
    assert lines[-1].startswith("R2 ")
    assert "evaluations; stopped: " in lines[-1]


def test_progress_is_one_line_for_each_better_formula(table):
    lines = run("fit", "data.csv", "--target", "y", "--features", "a,b", *SMALL).stdout.splitlines()
    progress = lines[: lines.index("")]
    assert progress
    assert all(" s  loss " in line and " y = " in line for line in progress)


def test_json_is_one_object_of_the_promised_form(table):
    result = run("fit", "data.csv", "--target", "y", "--features", "a,b", "--json", "--seed", 3, *SMALL)
    found = json.loads(result.stdout)
    assert {key: type(value) for key, value in found.items()} == JSON_KEYS
    assert result.stdout.count("\n") == 1
    assert {frozenset(row) for row in found["front"]} == {frozenset({"cost", "loss", "score", "equation"})}
    assert found["equation"] in [row["equation"] for row in found["front"]]
    assert (found["seed"], found["target"]) == (3, "y")


def test_the_equation_in_json_has_the_loss_it_claims(table):
    found = json.loads(run("fit", "data.csv", "--target", "y", "--features", "a,b", "--json", *SMALL).stdout)
    program = parse_expression(found["equation"], Vocabulary(("a", "b")))
    residual = table["y"] - evaluate(program, table[["a", "b"]].to_numpy().T)
    assert np.sqrt(np.mean(residual**2)) == pytest.approx(found["loss"], rel=1e-6, abs=1e-12)
    assert 1 - found["loss"] ** 2 / np.var(table["y"]) == pytest.approx(found["r2"])


def test_the_law_is_found(table):
    found = json.loads(
        run("fit", "data.csv", "--target", "y", "--features", "a,b", "--operators", "+ *", "--json").stdout
    )
    assert found["stopped"] == "exact"
    assert found["r2"] == pytest.approx(1.0)
    assert found["cost"] <= 5


def test_one_seed_gives_one_answer_for_any_number_of_jobs(table):
    answers = [
        json.loads(run("fit", "data.csv", "--target", "y", "--jobs", jobs, "--json", *SMALL).stdout) for jobs in (1, 2)
    ]
    assert answers[0] | {"seconds": 0} == answers[1] | {"seconds": 0}


def test_a_constant_target_gives_valid_json(table):
    table.assign(y=2.0).to_csv("data.csv", index=False)
    found = json.loads(run("fit", "data.csv", "--target", "y", "--json", *SMALL).stdout)
    assert found["r2"] is None


def test_quiet_prints_the_equation_alone(table):
    result = run("fit", "data.csv", "--target", "y", "--quiet", *SMALL)
    assert result.stdout.startswith("y = ")
    assert result.stdout.count("\n") == 1
    assert result.stderr == "Note: 1 column of text left out: name.\n"


def test_standard_input_is_a_table_too(table):
    result = run("fit", "-", "--target", "y", "--features", "a,b", "--quiet", *SMALL, input=table.to_csv(index=False))
    assert result.stdout.startswith("y = ")


def test_the_rule_of_selection_decides_which_formula_is_chosen(table, rng):
    table.assign(y=table["y"] + rng.normal(0, 1.0, len(table))).to_csv("data.csv", index=False)
    found = json.loads(run("fit", "data.csv", "--target", "y", "--selection", "accurate", "--json", *SMALL).stdout)
    assert found["equation"] == found["front"][-1]["equation"]


def test_without_constants_no_constant_is_fitted(table):
    found = json.loads(
        run("fit", "data.csv", "--target", "y", "--features", "a,b", "--no-constants", "--json", *SMALL).stdout
    )
    assert found["front"]
    assert not any("." in row["equation"] for row in found["front"])


def test_a_grammar_file_holds_for_every_formula(table, tmp_path):
    (tmp_path / "law.grammar").write_text("f -> a * g\ng -> b | C")
    found = json.loads(
        run("fit", "data.csv", "--target", "y", "--grammar", "law.grammar", "--json", "--timeout", "3").stdout
    )
    assert found["front"]
    assert all("a" in row["equation"] and "sin" not in row["equation"] for row in found["front"])


def test_what_is_left_out_is_noted_on_standard_error(table):
    table.loc[3, "a"] = np.nan
    table.to_csv("data.csv", index=False)
    result = run("fit", "data.csv", "--target", "y", "--json", *SMALL)
    assert "Note: 1 column of text left out: name." in result.stderr
    assert "Note: 1 row of 60 with missing or infinite values left out (line 5)." in result.stderr
    json.loads(result.stdout)


def spoil(table, cell):
    """Write the table with a cell of text in line 17."""
    spoiled = table.astype({"a": object})
    spoiled.loc[15, "a"] = cell
    spoiled.to_csv("data.csv", index=False)


def test_text_in_a_column_of_numbers_stops_with_line_and_value(table):
    spoil(table, "bad")
    result = CliRunner().invoke(main, ["fit", "data.csv", "--target", "y", "--json"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Column 'a' has text in 1 of 60 cells (line 17: 'bad'). Fix the cell, or pass --missing" in result.stderr


@pytest.mark.parametrize(
    ("cell", "options"), [("-", []), ("bad", ["--missing", "worse,bad"]), ("-9999", ["--missing=-9999.0"])]
)
def test_a_mark_for_a_missing_value_is_noted_in_every_output(table, cell, options):
    spoil(table, cell)
    note = f"Column 'a': 1 cell is read as missing (line 17: '{cell}')."
    result = run("fit", "data.csv", "--target", "y", "--json", *options, *SMALL)
    assert note in json.loads(result.stdout)["notes"]
    assert f"Note: {note}" in result.stderr
    assert f"Note: {note}" in run("fit", "data.csv", "--target", "y", "--quiet", *options, *SMALL).stderr


def test_rows_of_weight_zero_do_not_count(table):
    table.loc[:9, ["y", "w"]] = 1e6, 0.0
    table.to_csv("data.csv", index=False)
    found = json.loads(run("fit", "data.csv", "--target", "y", "--weights", "w", "--operators", "+,*", "--json").stdout)
    assert found["r2"] == pytest.approx(1.0)


def test_compilation_is_announced_on_standard_error(table, monkeypatch):
    monkeypatch.setattr("spl.kernels.runtime.compiler.kernels_are_compiled", lambda: False)
    result = run("fit", "data.csv", "--target", "y", "--quiet", *SMALL)
    assert "Compiling the kernels (once per installation" in result.stderr
    assert result.stdout.startswith("y = ")


def test_compilation_is_not_announced_when_it_is_done(table):
    run("fit", "data.csv", "--target", "y", "--quiet", *SMALL)
    assert "Compiling" not in run("fit", "data.csv", "--target", "y", "--quiet", *SMALL).stderr


# ---- mistakes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv", "--target", "y"], "There is no file 'nowhere.csv'."),
        (["dat.csv", "--target", "y"], "There is no file 'dat.csv'. Did you mean 'data.csv'?"),
        ([".", "--target", "y"], "'.' is a directory."),
        (["empty.csv", "--target", "y"], "'empty.csv' is empty."),
        (["binary.csv", "--target", "y"], "'binary.csv' is not text."),
        (["broken.parquet", "--target", "y"], "'broken.parquet' cannot be read as Parquet"),
        (["data.csv", "--target", "q"], "There is no column 'q' in 'data.csv'. The columns are: a, b, w, name, y."),
        (["data.csv", "--target", "names"], "Did you mean 'name'?"),
        (["data.csv", "--target", "name"], "The column 'name' of 'data.csv' holds text"),
        (["data.csv", "--target", "y", "--features", "a,y"], "The target 'y' is also among the features."),
        (["data.csv", "--target", "y", "--features", "a,name"], "Leave it out of --features."),
        (["data.csv", "--target", "y", "--features", "a,,b"], "has an empty name in it"),
        (["data.csv", "--target", "y", "--features", "a,a"], "names a column twice"),
        (["data.csv", "--target", "y", "--weights", "v"], "There is no column 'v'"),
        (["gaps.csv", "--target", "y"], "No row of 'gaps.csv' has a number in every column that is used."),
        (["data.csv", "--target", "y", "--operators", "sine"], "There is no operator 'sine'. Did you mean 'sin'?"),
        (["data.csv", "--target", "y", "--operators", ","], "`operators` must be a list with at least one"),
        (["data.csv", "--target", "y", "--grammar", "no.grammar"], "The grammar file 'no.grammar' cannot be read"),
        (["data.csv", "--target", "y", "--grammar", "bad.grammar"], "There is no operator 'sine'."),
        (["data.csv", "--target", "y", "--grammar", "q.grammar"], "'q'"),
        (["data.csv", "--target", "y", "--grammar", "q.grammar", "--operators", "+"], "--grammar says it all"),
        (["data.csv", "--target", "y", "--selection", "best"], "`selection` must be one of mdl, bic, accurate, knee"),
        (["data.csv", "--target", "y", "--timeout", "-1"], "`timeout` must be more than 0; it is -1.0."),
        (["data.csv", "--target", "y", "--timeout", "nan"], "`timeout` must be a number; it is nan."),
        (["data.csv", "--target", "y", "--timeout", "soon"], "'soon' is not a valid float"),
        (["data.csv", "--target", "y", "--max-evaluations", "0"], "`max_evaluations` must be 1 or more; it is 0."),
        (["data.csv", "--target", "y", "--jobs", "0"], "0 is neither 1 or more nor -1"),
        (["data.csv", "--target", "y", "--seed", "-1"], "-1 is below 0"),
        (["data.csv"], "Missing option '--target'"),
        (["data.csv", "--target", "y", "--operator", "+"], "No such option"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error_and_status_2(table, tmp_path, arguments, message):
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "binary.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nonsense")
    (tmp_path / "gaps.csv").write_text("a,b,y\n1,,2\n,2,3\n")
    (tmp_path / "bad.grammar").write_text("f -> sine(a) | a")
    (tmp_path / "q.grammar").write_text("f -> f + f | q")
    result = run("fit", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    error = result.stderr[result.stderr.index("Error: ") :]
    assert message in error
    assert "Traceback" not in result.stderr


def test_a_mistake_leaves_json_output_empty(table):
    result = run("fit", "data.csv", "--target", "q", "--json")
    assert (result.exit_code, result.stdout) == (2, "")


def test_an_unknown_command_is_a_usage_error():
    assert run("fits").exit_code == 2


# ---- grammar, operators


def test_a_good_grammar_is_explained(tmp_path):
    (tmp_path / "law.grammar").write_text("f -> f + f | C * f | sin(x)")
    result = run("grammar", "check", tmp_path / "law.grammar", "--columns", "x,y")
    assert result.exit_code == 0
    assert "variables  x" in result.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f -> f + f | sine(x)", "There is no operator 'sine'. Did you mean 'sin'?"),
        ("f -> f + f", "'f'"),
        ("f -> q", "'q'"),
    ],
)
def test_what_is_wrong_with_a_grammar_is_said(tmp_path, text, message):
    (tmp_path / "law.grammar").write_text(text)
    result = run("grammar", "check", tmp_path / "law.grammar", "--columns", "x,y")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


def test_a_missing_grammar_file_is_named():
    result = run("grammar", "check", "no.grammar")
    assert (result.exit_code, result.stderr) == (
        2,
        "Error: The grammar file 'no.grammar' cannot be read: No such file or directory.\n",
    )


def test_all_operators_are_listed():
    assert [line.split()[0] for line in run("operators").stdout.splitlines()[1:]] == list(BUILT_IN)


# ---- the process


@pytest.mark.process
def test_the_command_works_as_a_process(table):
    done = run_process("fit", "data.csv", "--target", "y", "--features", "a,b", "--json", *SMALL)
    assert done.returncode == 0
    assert json.loads(done.stdout)["target"] == "y"
    assert done.stderr == ""


@pytest.mark.process
def test_a_mistake_shows_no_traceback_in_a_process(table):
    done = run_process("fit", "data.csv", "--target", "q")
    assert done.returncode == 2
    assert done.stderr == "Error: There is no column 'q' in 'data.csv'. The columns are: a, b, w, name, y.\n"


@pytest.mark.process
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_with_the_best_so_far_and_status_0(table, rng, jobs):
    table.assign(y=rng.standard_normal(len(table))).to_csv("data.csv", index=False)
    arguments = ["fit", "data.csv", "--target", "y", "--features", "a,b", "--jobs", jobs, "--timeout", "60"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*PROCESS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert " y = " in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert "stopped: interrupted; this is the best so far." in output
    assert all(line.startswith("Note: ") for line in errors.splitlines())


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments", [["operators"], ["fit", "data.csv", "--target", "y", "--features", "a,b", *SMALL]]
)
def test_a_closed_pipe_ends_quietly(table, arguments):
    with subprocess.Popen([*PROCESS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert errors == ""
