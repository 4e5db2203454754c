"""The command `spl fit`, as people and scripts use it."""

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.cli.command_line import SMALL, run

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate
from spl.regression.front import SELECTIONS

pytestmark = pytest.mark.search

JSON_KEYS = {
    "target": str,
    "equation": str,
    "sympy": str,
    "latex": str,
    "loss": float,
    "r2": float,
    "r2_without_outliers": type(None),
    "cost": int,
    "units": type(None),
    "numbers": list,
    "residual_checks": list,
    "shapes": list,
    "front": list,
    "rivals": list,
    "validation": type(None),
    "noise": dict,
    "outliers": list,
    "seconds": float,
    "seed": int,
    "evaluations": int,
    "stopped": str,
    "notes": list,
}


def test_the_help_names_every_rule_of_selection():
    assert set(SELECTIONS) <= set(re.findall(r"\w+", run("fit", "--help").stdout))


def test_a_fit_loads_neither_scikit_learn_nor_pandas(table):
    code = (
        "import sys; from spl.cli.main import main; "
        f"main(['fit', 'data.csv', '--target', 'y', '--features', 'a,b', '--quiet', *{SMALL}], standalone_mode=False); "
        "print(sorted({'sklearn', 'pandas'} & set(sys.modules)))"
    )
    table.drop(columns="name").to_csv("data.csv", index=False)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_the_front_ends_with_the_equation_and_a_summary(table):
    result = run("fit", "data.csv", "--target", "y", "--features", "a,b", *SMALL)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert any(line.split() == ["cost", "loss", "score", "equation"] for line in lines)
    marked = [line for line in lines if line.startswith("*")]
    assert len(marked) == 1
    [equation] = [line for line in lines if line.startswith("y = ")]
    assert marked[0].endswith(equation.removeprefix("y = "))
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
    entries = {"cost", "loss", "score", "cv_loss", "validation_loss", "equation"}
    assert {frozenset(row) for row in found["front"]} == {frozenset(entries)}
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
    reason = "Note: Column 'name' is the same in all rows.\n"
    assert result.stderr == "Note: 1 column of text left out: name.\n" + reason


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
    result = run("fit", "data.csv", "--target", "y", "--json")
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


@pytest.fixture
def not_compiled(monkeypatch):
    """Let the kernels seem to be missing."""
    monkeypatch.setattr("spl.kernels.runtime.building.are_all_stored", lambda: False)
    monkeypatch.setattr("spl.display.compilation.are_all_stored", lambda: False)
    monkeypatch.setattr("spl.display.compilation.compile_once", lambda watch, look: look())


def test_compilation_is_announced_on_standard_error_with_a_first_formula(table, not_compiled):
    result = run("fit", "data.csv", "--target", "y", *SMALL)
    assert "Compiling the kernels; this happens once" in result.stderr
    assert "(a first look, before the search)" in result.stderr
    assert "first look" not in result.stdout


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_programs_that_read_the_answer_see_nothing_of_it(table, not_compiled, option):
    assert "Compiling" not in run("fit", "data.csv", "--target", "y", option, *SMALL).stderr


def test_compilation_is_not_announced_when_it_is_done(table):
    run("fit", "data.csv", "--target", "y", "--quiet", *SMALL)
    assert "Compiling" not in run("fit", "data.csv", "--target", "y", "--quiet", *SMALL).stderr


# ---- noise ---------------------------------------------------------------------------------------


@pytest.fixture
def noisy(tmp_path, monkeypatch, rng):
    """A folder with the table of y = 3*x, one row of which is far off, with error bars of x and y."""
    monkeypatch.chdir(tmp_path)
    x = np.arange(1.0, 61.0)
    y = 3 * x + 0.1 * rng.normal(size=60)
    y[10] = 500.0
    frame = pd.DataFrame({"x": x, "y": y, "dx": 0.01, "dy": 0.1, "unit": "m"})
    frame.to_csv("noisy.csv", index=False)
    return frame


def test_the_noise_model_and_the_outliers_are_printed_with_their_lines(noisy):
    lines = run(
        "fit", "noisy.csv", "--target", "y", "--features", "x", "--noise", "student", *SMALL
    ).stdout.splitlines()
    assert lines[-3].startswith("Noise: student, ")
    assert lines[-3].endswith(" besides the outliers (as asked for).")
    assert lines[-2] == "Outliers: 1 of 60 rows: line 12."


def test_outliers_in_json_are_lines_of_the_file(noisy):
    options = ["--target", "y", "--features", "x", "--noise", "student", "--json", *SMALL]
    found = json.loads(run("fit", "noisy.csv", *options).stdout)
    assert (found["outliers"], found["noise"]["name"]) == ([12], "student")
    assert found["r2"] < found["r2_without_outliers"]


def test_only_the_equation_is_printed_if_nothing_else_is_wanted(noisy):
    result = run("fit", "noisy.csv", "--target", "y", "--features", "x", "--noise", "student", "--quiet", *SMALL)
    assert result.stdout.count("\n") == 1


def test_columns_of_error_bars_are_no_features(noisy):
    result = run("fit", "noisy.csv", "--target", "y", "--sigma", "dy", "--sigma-x", "x=dx", "--json", *SMALL)
    assert not set(re.findall(r"\bd[xy]\b", json.dumps(json.loads(result.stdout)["front"])))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--noise", "gauss"], "`noise` must be one of auto, normal, relative, student, poisson, binomial"),
        (["--noise", "poisson"], "The target is not a count in 59 of 60 rows: "),
        (["--noise", "binomial"], "The target is not a share in 60 of 60 rows"),
        (["--sigma", "nix"], "There is no column 'nix'"),
        (["--sigma", "unit"], "The column 'unit' of 'noisy.csv' holds text"),
        (["--sigma", "dy", "--weights", "dx"], "Give error bars or weights, not both"),
        (["--sigma-x", "x"], "'x' is not COLUMN=BARS"),
        (["--sigma-x", "x=-1"], "The error bars of column 'x' must be 0 or more; line 2 has -1."),
    ],
)
def test_a_mistake_about_noise_is_one_clear_line(noisy, options, message):
    result = run("fit", "noisy.csv", "--target", "y", *options, *SMALL)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_counts_with_error_bars_contradict_each_other(noisy):
    noisy.assign(y=np.arange(60)).to_csv("counts.csv", index=False)
    result = run("fit", "counts.csv", "--target", "y", "--sigma", "dy", "--noise", "poisson", *SMALL)
    assert "The noise model 'poisson' itself says how far the target scatters." in result.stderr


def test_a_run_file_shows_the_same_noise_and_outliers(noisy):
    options = ["--target", "y", "--features", "x", "--noise", "student", "--run", "run.spl"]
    printed = run("fit", "noisy.csv", *options, *SMALL).stdout.splitlines()
    shown = run("show", "run.spl").stdout.splitlines()
    assert shown[-2:] == printed[-3:-1]
    found = json.loads(run("show", "run.spl", "--json").stdout)
    assert (found["noise"]["name"], found["outliers"]) == ("student", [12])
    resumed = run("resume", "run.spl").stdout.splitlines()
    assert resumed[-2] == "Outliers: 1 of 60 rows: line 12."


# ---- validation ----------------------------------------------------------------------------------


def split_file(table):
    """Write a part of the table to another file, and the rest over it."""
    table[["a", "b", "y"]][:40].to_csv("data.csv", index=False)
    table[["a", "b", "y"]][40:].to_csv("other.csv", index=False)


@pytest.mark.parametrize("given", ["other.csv", "0.25"])
def test_validation_rows_are_in_the_front_and_in_json(table, given):
    split_file(table)
    fit = ["fit", "data.csv", "--target", "y", "--validation", given, "--selection", "validation", *SMALL]
    lines = run(*fit).stdout.splitlines()
    assert any(line.split() == ["cost", "loss", "validation", "score", "equation"] for line in lines)
    found = json.loads(run(*fit, "--json").stdout)
    n_rows = 20 if given == "other.csv" else 10
    assert found["validation"]["rows"] == n_rows
    assert found["validation"]["is_explained"]
    assert found["front"][found["validation"]["preferred"]]["equation"] == found["equation"]
    assert all(entry["cv_loss"] >= 0 and entry["validation_loss"] >= 0 for entry in found["front"])


def test_a_run_keeps_its_validation_rows_when_it_is_shown_and_continued(table):
    split_file(table)
    run("fit", "data.csv", "--target", "y", "--validation", "other.csv", "--run", "run.spl", *SMALL)
    shown = json.loads(run("show", "run.spl", "--json").stdout)
    assert shown["validation"]["rows"] == 20
    assert all(entry["validation_loss"] is not None for entry in shown["front"])
    assert "validation" in run("show", "run.spl").stdout
    resumed = json.loads(run("resume", "run.spl", "--timeout", "1", "--json").stdout)
    assert resumed["validation"]["rows"] == 20


def test_a_target_that_nothing_explains_on_the_validation_rows_is_said_so(table, rng):
    split_file(table)
    table.assign(y=rng.permutation(table["y"]))[["a", "b", "y"]].to_csv("other.csv", index=False)
    result = run("fit", "data.csv", "--target", "y", "--validation", "other.csv", "--json", *SMALL)
    assert "The columns do not explain the target of the validation rows" in result.stderr
    assert any("validation rows" in note for note in json.loads(result.stdout)["notes"])


def test_dates_of_both_files_are_counted_from_the_same_moment(table):
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60), unit="D")
    frame = pd.DataFrame({"when": days, "y": 0.5 * 86400 * np.arange(60.0)})
    frame[:40].to_csv("data.csv", index=False)
    frame[40:].to_csv("other.csv", index=False)
    result = run("fit", "data.csv", "--target", "y", "--validation", "other.csv", "--json", *SMALL)
    assert min(json.loads(result.stdout)["validation"]["losses"]) < 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--validation", "missing.csv"], "missing.csv"),
        (["--validation", "narrow.csv"], "There is no column 'b' in 'narrow.csv'"),
        (["--validation", "short.csv"], "There are 3 rows for validation; at least 5 are needed"),
        (["--validation", "1.5"], "must be a share of the rows between 0 and 1"),
        (["--validation", "0.02"], "both need at least 5"),
        (["--selection", "validation"], "no rows were held out"),
    ],
)
def test_mistakes_of_validation_have_clear_errors(table, options, message):
    split_file(table)
    table[["a", "y"]].to_csv("narrow.csv", index=False)
    table[["a", "b", "y"]][:3].to_csv("short.csv", index=False)
    result = run("fit", "data.csv", "--target", "y", *options, *SMALL)
    assert result.exit_code == 2
    assert message in result.stderr


def test_statements_are_kept_and_judged(table):
    know = ["--know", "y > -100", "--know", "depends on a", "--bounds", "a=-3:3"]
    found = json.loads(run("fit", "data.csv", "--target", "y", "--features", "a,b", *know, *SMALL, "--json").stdout)
    assert [shape["statement"] for shape in found["shapes"]] == ["y > -100", "depends on a"]
    assert {shape["status"] for shape in found["shapes"]} <= {"proved", "checked"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--know", "increasing in A"], "Did you mean 'a'?"),
        (["--know", "y > 0", "--bounds", "a"], "is not COLUMN=LOW:HIGH"),
        (["--know", "y > 0", "--bounds", "a=1:0"], "the lower one first"),
        (["--know", "y > 0", "--bounds", "c=0:1"], "no such column"),
        (["--bounds", "a=0:1"], "no statements"),
        (["--know", "y > 0", "--groups", "name"], "cannot be combined with --groups"),
    ],
)
def test_wrong_statements_are_refused_in_words(table, options, message):
    result = run("fit", "data.csv", "--target", "y", "--features", "a,b", *options, *SMALL)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())


# ---- forms and guesses -----------------------------------------------------------------------------


def write_decay():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.uniform(0.5, 3.0, (60, 2)), columns=["p", "T"])
    table["k"] = 2 * table["T"] * np.exp(-table["p"]) + 0.8
    table.to_csv("decay.csv", index=False)


FIT_DECAY = ["fit", "decay.csv", "--target", "k", "--operators", "+,*"]


def test_a_form_is_found_with_its_parts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_decay()
    form = ["--form", "a(T)*exp(-b(p)) + C", "--max-evaluations", "3000"]
    printed = run(*FIT_DECAY, *form).stdout
    assert "Its parts:\n  a(T) = 2*T\n  b(p) = p\n" in printed
    described = json.loads(run(*FIT_DECAY, *form, "--json").stdout)
    assert described["form"] == "a(T)*exp(-b(p)) + C"
    assert described["parts"] == {"a(T)": "2*T", "b(p)": "p"}


def test_a_form_without_holes_is_fitted_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_decay()
    described = json.loads(run(*FIT_DECAY, "--form", "C*T*exp(-C*p) + C", "--json").stdout)
    assert described["stopped"] == "fitted"
    assert [round(abs(number["value"]), 6) for number in described["numbers"]] == [2.0, 1.0, 0.8]


def test_a_run_with_a_form_and_guesses_is_resumed_and_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_decay()
    asked = ["--form", "a(T)*exp(-b(p)) + C", "--guess", "3*T*exp(-2*p)", "--guess", "T + 1"]
    assert run(*FIT_DECAY, *asked, "--max-evaluations", "500", "--run", "decay.spl", "--quiet").exit_code == 0
    assert "a(T) = 2*T" in run("resume", "decay.spl", "--timeout", "60").stdout
    assert "a(T) = 2*T" in run("show", "decay.spl").stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--form", "a(TT)"], "Hole 'a' uses a column 'TT' that does not exist. Did you mean 'T'?"),
        (["--form", "a(T)", "--grammar", "rules.txt"], "--grammar cannot be combined with --form"),
        (["--form", "y = a(T)"], "Leave out what is before the '='."),
        (["--guess", "2*q"], "The guess '2*q' cannot be read."),
        (["--guess", "sin(p)"], "no formula has 'sin'. Allow this operator"),
    ],
)
def test_mistakes_in_forms_and_guesses_are_told(options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_decay()
    result = run(*FIT_DECAY, *options)
    assert result.exit_code != 0
    assert words in result.stderr
