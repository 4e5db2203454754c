"""The command `spl`, as people and scripts use it."""

import importlib.metadata
import json
import os
import signal
import subprocess
import sys

import pytest
from tests.cli.command_line import PROCESS, SMALL, run, run_process

import spl
from spl.formulas.operators import BUILT_IN
from spl.kernels.runtime import store

pytestmark = pytest.mark.search

INSTALLED = any(importlib.metadata.distributions(name="symbolic-physics-learner"))
COMMANDS = (
    ["fit"],
    ["dynamics"],
    ["warm-up"],
    ["demo"],
    ["operators"],
    ["grammar", "check"],
    ["bench"],
    ["bench", "nguyen"],
)


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


@pytest.mark.process
def test_help_loads_nothing_that_is_slow():
    code = "import sys, spl.cli.main; sys.exit(bool({'numpy', 'rich', 'pandas', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


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
        (["data.csv", "--target", "y", "--features", "a,name"], "Leave it out of --features, or"),
        (["data.csv", "--target", "y", "--features", "a,,b"], "contains an empty name"),
        (["data.csv", "--target", "y", "--features", "a,a"], "names a column twice"),
        (["data.csv", "--target", "y", "--weights", "v"], "There is no column 'v'"),
        (["gaps.csv", "--target", "y"], "No row of 'gaps.csv' has a number in every column used."),
        (["data.csv", "--target", "y", "--operators", "sine"], "There is no operator 'sine'. Did you mean 'sin'?"),
        (["data.csv", "--target", "y", "--operators", ","], "`operators` must be a list with at least one"),
        (["data.csv", "--target", "y", "--grammar", "no.grammar"], "The grammar file 'no.grammar' cannot be read"),
        (["data.csv", "--target", "y", "--grammar", "bad.grammar"], "There is no operator 'sine'."),
        (["data.csv", "--target", "y", "--grammar", "q.grammar"], "'q'"),
        (
            ["data.csv", "--target", "y", "--grammar", "q.grammar", "--operators", "+"],
            "--grammar cannot be combined with",
        ),
        (["data.csv", "--target", "y", "--selection", "best"], "`selection` must be one of mdl, bic, accurate, knee"),
        (["data.csv", "--target", "y", "--timeout", "-1"], "`timeout` must be more than 0; got -1.0."),
        (["data.csv", "--target", "y", "--timeout", "nan"], "`timeout` must be a number; got nan."),
        (["data.csv", "--target", "y", "--timeout", "soon"], "'soon' is not a valid float"),
        (["data.csv", "--target", "y", "--max-evaluations", "0"], "`max_evaluations` must be 1 or more; got 0."),
        (["data.csv", "--target", "y", "--jobs", "0"], "must be 1 or more, or -1 for all cores; got 0"),
        (["data.csv", "--target", "y", "--seed", "-1"], "must be 0 or more; got -1"),
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


# ---- warm-up


def test_everything_is_compiled_beforehand():
    result = run("warm-up")
    assert result.exit_code == 0
    assert result.stdout.startswith("All kernels are compiled, after ")
    assert str(store.kernel_folder()) in result.stdout.replace("\n", "")
    assert run("warm-up", "--quiet").output == ""


def test_a_form_is_shown_as_a_grammar():
    printed = run("grammar", "--form", "a(T)*exp(-b(p, T)) + C", "--operators", "+,*").stdout
    assert printed.splitlines() == [
        "law -> a*exp(-b) + C",
        "a   -> a + a | a*a | C*a | T | C",
        "b   -> b + b | b*b | C*b | p | T | C",
    ]


def test_a_mistake_in_a_form_is_told():
    result = run("grammar", "--form", "a(T) + a(p)")
    assert "Hole 'a' appears twice" in result.stderr
    assert "Hole 'a' uses a column 'TT'" in run("grammar", "--form", "a(TT)", "--columns", "T").stderr


def test_the_group_of_grammar_commands_shows_its_help():
    assert "spl grammar --form" in run("grammar").stdout
