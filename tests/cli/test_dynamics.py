"""The command `spl dynamics`, as people and scripts use it."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.integrate import solve_ivp
from tests.dynamics.coupled_rates import T as COUPLED_T
from tests.dynamics.coupled_rates import make_coupled_states

from spl import SPLDynamics
from spl.cli.main import main
from spl.datasets import make_double_pendulum
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate
from spl.report.from_run import report_of_run
from spl.runs.reader import read_run

pytestmark = pytest.mark.search

PROCESS = [sys.executable, "-c", "from spl.cli.main import main; main()"]
JSON_KEYS = {
    "states": list,
    "inputs": list,
    "order": int,
    "discrete": bool,
    "implicit": bool,
    "equations": list,
    "noise": dict,
    "derivative": str,
    "followed_until": float,
    "samples": int,
    "runs": int,
    "notes": list,
    "seconds": float,
    "seed": int,
    "interrupted": bool,
    "identifiability": dict,
}
EQUATION_KEYS = {"state", "left_side", "equation", "sympy", "latex", "solved", "r2", "numbers", "front"}


@pytest.fixture
def table(tmp_path, monkeypatch, rng):
    """A folder to work in, with a table of x' = 2*y, y' = -2*x in it, and a grammar of few formulas."""
    monkeypatch.chdir(tmp_path)
    t = np.linspace(0, 12, 500)
    frame = pd.DataFrame({"t": t, "x": np.sin(2 * t), "y": np.cos(2 * t), "run": np.where(t < 6, "one", "two")})
    frame[["x", "y"]] += rng.normal(0, 0.02, (500, 2))
    frame.to_csv("data.csv", index=False)
    (tmp_path / "linear.grammar").write_text("f -> C*x + C*y | C*x | C*y")
    return frame


SMALL = ("--time", "t", "--states", "x,y", "--grammar", "linear.grammar", "--timeout", "4", "--jobs", "2")


def run(*arguments, **options):
    result = CliRunner().invoke(main, ["dynamics", *(str(argument) for argument in arguments)], **options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_the_method_the_equations_and_their_numbers_are_printed(table):
    result = run("data.csv", *SMALL)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert any(line.startswith("Derivatives by smoothing splines, because there is noise.") for line in lines)
    place = next(k for k, line in enumerate(lines) if line.startswith("dx/dt = "))
    assert lines[place].endswith("*y")
    assert lines[place + 1].startswith("dy/dt = -")
    assert "Numbers with standard errors, each in its term:" in lines
    assert sum("R2" in line for line in lines) == 2
    terms = [line.split("  ")[-1] for line in lines if "±" in line]
    assert [term.strip().replace("[", "").replace("]", "") for term in terms] == [
        line.split(" = ")[1] for line in lines[place : place + 2]
    ]
    assert lines[-2].startswith("A simulation from the first sample follows the data")
    assert result.stderr == ""


def test_json_is_one_object_of_the_promised_form(table):
    result = run("data.csv", *SMALL, "--json", "--seed", 3)
    found = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    assert {key: type(value) for key, value in found.items()} == JSON_KEYS
    assert [set(equation) for equation in found["equations"]] == [EQUATION_KEYS] * 2
    assert (found["states"], found["derivative"], found["seed"], found["samples"]) == (["x", "y"], "spline", 3, 500)
    assert found["noise"] == pytest.approx({"x": 0.02, "y": 0.02}, rel=0.2)
    program = parse_expression(found["equations"][0]["equation"], Vocabulary(("x", "y")))
    assert evaluate(program, np.array([[0.0], [1.0]]))[0] == pytest.approx(2.0, rel=0.02)


def test_quiet_prints_the_equations_alone(table):
    result = run("data.csv", *SMALL, "--quiet")
    assert [line.partition(" = ")[0] for line in result.stdout.splitlines()] == ["dx/dt", "dy/dt"]
    assert result.stderr == ""


def test_runs_are_told_apart_by_a_column_of_text(table):
    table.loc[table["run"] == "two", "t"] -= 6
    table.loc[30:40, "x"] = np.nan
    table.to_csv("data.csv", index=False)
    result = run("data.csv", *SMALL, "--group", "run", "--json")
    assert json.loads(result.stdout)["runs"] == 3
    assert "Note: Trajectory 1 of 2: 11 of 250 samples with missing values left out." in result.stderr


def test_times_may_be_dates_and_what_was_repaired_is_noted_everywhere(table, tmp_path):
    when = pd.Timestamp("2024-03-01 12:00") + pd.to_timedelta(table["t"], unit="s")
    spoiled = table.assign(t=when.astype(str), x=table["x"].astype(object))
    spoiled.loc[15, "x"] = "bad"
    spoiled.to_csv("data.csv", index=False)
    result = run("data.csv", *SMALL, "--missing", "bad", "--json", "--run", "run.spl")
    notes = json.loads(result.stdout)["notes"]
    assert "Column 'x': 1 cell is read as missing (line 17: 'bad')." in notes
    assert any(note.startswith("Column 't' is in seconds since 2024-03-01 12:00:00") for note in notes)
    assert all(f"Note: {note}" in result.stderr for note in notes)
    assert list(read_run("run.spl").notes) == notes


def test_the_weak_form_a_map_and_order_two_are_options(table):
    assert json.loads(run("data.csv", *SMALL, "--weak", "--json").stdout)["derivative"] == "weak"
    mapped = json.loads(run("data.csv", *SMALL, "--discrete", "--json").stdout)
    assert (mapped["derivative"], mapped["equations"][0]["left_side"]) == ("map", "x[k+1]")
    options = ("--time", "t", "--states", "x", "--operators", "+,*", "--timeout", 3, "--order", 2, "--json")
    second = json.loads(run("data.csv", *options).stdout)
    assert (second["order"], second["equations"][0]["left_side"]) == (2, "d2x/dt2")


def test_equations_without_constants_are_an_option(table):
    result = run(
        "data.csv", "--time", "t", "--operators", "+,-", "--no-constants", "--states", "x,y", "--timeout", 3, "--json"
    )
    equations = [row["equation"] for row in json.loads(result.stdout)["equations"]]
    assert not any("." in equation for equation in equations), equations
    both = run("data.csv", *SMALL, "--no-constants")
    assert both.exit_code == 2
    assert "cannot be combined with --operators or --no-constants" in both.stderr


def test_inputs_are_columns_too(table):
    found = json.loads(
        run(
            "data.csv", "--time", "t", "--states", "x", "--inputs", "y", *SMALL[4:], "--derivative", "savgol", "--json"
        ).stdout
    )
    assert (found["states"], found["inputs"], found["derivative"]) == (["x"], ["y"], "savgol")


def test_a_plot_is_written(table, tmp_path):
    pytest.importorskip("matplotlib")
    result = run("data.csv", *SMALL, "--plot", "plot.png")
    assert result.stdout.endswith("The plot is in plot.png.\n")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_equations_that_fit_as_well_are_listed_in_every_door(table, tmp_path):
    (tmp_path / "products.grammar").write_text("f -> f + f | C*t\nt -> t*t | x | y")
    words = ("data.csv", *SMALL[:4], "--grammar", "products.grammar", "--timeout", "6")
    printed = run(*words, "--run", "law.spl")
    assert "The trajectories do not determine the equations: others fit as well." in printed.stdout
    assert "Equations that fit as well, each in place of one of these:" in printed.stdout
    found = json.loads(run(*words, "--json").stdout)["identifiability"]
    assert not found["unique"]
    assert found["rivals"]
    assert "others fit as well" in run(*words, "--quiet").stderr
    system = report_of_run(read_run(tmp_path / "law.spl")).system
    assert "others fit as well" in system.identifiability[0]
    assert len(system.rivals) >= 1


def test_a_band_is_drawn_if_it_is_asked_for(table, tmp_path):
    pytest.importorskip("matplotlib")
    sizes = []
    for draws in ((), ("--draws", "20")):
        assert run("data.csv", *SMALL, "--plot", "plot.svg", *draws).exit_code == 0
        sizes.append((tmp_path / "plot.svg").read_text().count("FillBetweenPolyCollection"))
    assert sizes[0] < sizes[1]


def test_standard_input_is_a_table_too(table):
    assert run("-", *SMALL, "--quiet", input=table.to_csv(index=False)).stdout.startswith("dx/dt = ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.csv"], "Missing option '--time'"),
        (["no.csv", "--time", "t"], "There is no file 'no.csv'."),
        (["data.csv", "--time", "s"], "There is no column 's' in 'data.csv'."),
        (["data.csv", "--time", "t", "--states", "x,run"], "Leave it out of --states."),
        (["data.csv", "--time", "t", "--states", "x,x"], "names a column twice"),
        (["data.csv", "--time", "t", "--states", "x,t"], "The column 't' is the time and a state."),
        (["unsorted.csv", "--time", "t"], "The time 't' goes back from 12 to 11.976 in line 3 of 'unsorted.csv'. Sort"),
        (["twice.csv", "--time", "t"], "The time 't' is 0 twice, again in line 3 of 'twice.csv'."),
        (["short.csv", "--time", "t"], "has 3 samples; at least 5 are needed."),
        (["data.csv", "--time", "t", "--derivative", "splin"], "Did you mean 'spline'?"),
        (["data.csv", "--time", "t", "--order", "3"], "`order` must be 1 or 2; got 3."),
        (["data.csv", "--time", "t", "--order", "2", "--discrete"], "A map has order 1."),
        (["data.csv", "--time", "t", "--weak", "--derivative", "savgol"], "--weak needs no derivatives"),
        (["data.csv", "--time", "t", "--weak", "--discrete"], "A map has no derivatives"),
        (
            ["data.csv", "--time", "t", "--grammar", "linear.grammar", "--operators", "+"],
            "--grammar cannot be combined with",
        ),
        (["data.csv", "--time", "t", "--states", "x", "--grammar", "linear.grammar"], "'y'"),
        (["data.csv", "--time", "t", "--operators", "sine"], "There is no operator 'sine'. Did you mean 'sin'?"),
        (["data.csv", "--time", "t", "--timeout", "0"], "`timeout` must be more than 0; got 0.0."),
        (["data.csv", "--time", "t", "--jobs", "0"], "must be 1 or more, or -1 for all cores; got 0"),
        (["data.csv", "--time", "t", "--seed", "-1"], "must be 0 or more; got -1"),
        (["data.csv", "--time", "t", "--plot", "plot.docx"], "The plot must end in .png, .pdf, .svg"),
        (["data.csv", "--time", "t", "--plot", "nowhere/plot.png"], "The folder of the plot"),
        (["data.csv", "--time", "t", "--draws", "20"], "add --plot FILE"),
        (["data.csv", "--time", "t", "--plot", "plot.png", "--draws", "1"], "--draws takes a number, 2 or more"),
    ],
)
def test_a_mistake_is_one_line_on_standard_error_and_status_2(table, arguments, message):
    table[::-1].to_csv("unsorted.csv", index=False)
    table.assign(t=np.where(np.arange(500) == 1, 0.0, table["t"])).to_csv("twice.csv", index=False)
    table[:3].to_csv("short.csv", index=False)
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr[result.stderr.index("Error: ") :]
    assert "Traceback" not in result.stderr


def test_ctrl_c_in_the_first_search_ends_with_the_best_so_far_and_status_0(table, rng):
    table.assign(x=rng.standard_normal(500).cumsum()).to_csv("data.csv", index=False)
    arguments = ["dynamics", "data.csv", "--time", "t", "--states", "x,y", "--timeout", "600"]
    with subprocess.Popen(
        [*PROCESS, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        assert " dx/dt = " in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "\ndy/dt = " in output
    assert output.endswith("interrupted, this is the best so far.\n")


def test_a_doubtful_system_is_marked_in_every_door(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    t = np.linspace(0, 12, 300)
    pd.DataFrame({"t": t, "x": np.sin(t)}).to_csv("data.csv", index=False)
    words = [
        "data.csv",
        "--time",
        "t",
        "--operators",
        "+,*",
        "--max-evaluations",
        200,
        "--timeout",
        "inf",
        "--run",
        "x.spl",
    ]
    quiet = run(*words, "--quiet")
    assert quiet.stdout.startswith("dx/dt = ")
    assert "Note: The equation of x explains" in quiet.stderr
    told = json.loads(run(*words, "--json").stdout)
    assert "order=2" in told["notes"][-1]
    shown = CliRunner().invoke(main, ["show", "x.spl"])
    assert "Note: The equation of x explains" in shown.stdout
    resumed = CliRunner().invoke(main, ["resume", "x.spl", "--quiet", "--timeout", "5"])
    assert "Note: The equation of x explains" in resumed.stderr
    assert "The equation of x explains" in " ".join(report_of_run(read_run("x.spl")).notes)


def test_the_numbers_are_the_same_in_every_door(table):
    words = ["data.csv", *SMALL, "--run", "x.spl"]
    told = json.loads(run(*words, "--json").stdout)
    numbers = [number for equation in told["equations"] for number in equation["numbers"]]
    assert numbers
    assert [number for of_state in read_json("show", "x.spl", "--json")["numbers"] for number in of_state] == numbers
    lines = run(*words).stdout.splitlines()
    report = report_of_run(read_run("x.spl"))
    model = SPLDynamics.from_run("x.spl")
    assert model.constants_.value.tolist() == [number["value"] for number in numbers]
    for number in numbers:
        assert any(line.startswith("  ") and line.endswith(f"  {number['term']}") for line in lines)
        assert any(f" in {number['term']}" in quality for _, _, quality in report.system.equations)


def read_json(*words):
    return json.loads(CliRunner().invoke(main, list(words)).stdout)


# ---- rates on both sides -------------------------------------------------------------------------

PENDULUM_RULES = """
    f -> C*g + C*g + C*g | omega1 | omega2
    g -> omega1'*cos(a) | omega2'*cos(a) | omega1**2*sin(a) | omega2**2*sin(a) | sin(theta1) | sin(theta2)
    a -> theta1 - theta2
"""
IMPLICIT = ["dynamics", "pendulum.csv", "--time=t", "--implicit", "--grammar=rates.txt", "--max-evaluations=1000"]


@pytest.fixture
def pendulum(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = make_double_pendulum(300)
    pd.DataFrame(data.states, columns=list(data.names)).assign(t=data.t).to_csv("pendulum.csv", index=False)
    (tmp_path / "rates.txt").write_text(PENDULUM_RULES)


def test_equations_with_rates_are_printed_as_found_and_solved(pendulum):
    result = CliRunner().invoke(main, [*IMPLICIT, "--run=pendulum.spl"])
    assert result.exit_code == 0, result.output
    found, _, solved = result.output.partition("Solved for the rates:")
    assert "omega2' = " in found
    assert "omega1'*cos(theta1 - theta2)" in found
    assert "domega2/dt = (" in solved
    shown = CliRunner().invoke(main, ["show", "pendulum.spl"]).output
    assert "Solved for the rates:" in shown
    stored = json.loads(CliRunner().invoke(main, ["show", "pendulum.spl", "--json"]).output)
    assert "omega1'" in stored["equations"][3]
    assert "omega1'" not in stored["solved"][3]
    code = CliRunner().invoke(main, ["export", "pendulum.spl", "--format=python"]).output
    namespace = {}
    exec(code, namespace)
    truth = make_double_pendulum(300)
    slopes = np.gradient(truth.states, truth.t, axis=0)
    np.testing.assert_allclose(namespace["derivatives"](truth.states.T).T[5:-5], slopes[5:-5], atol=0.2)
    report = report_of_run(read_run("pendulum.spl"))
    assert [text.partition(" = ")[0] for text, _ in report.system.solved] == ["domega1/dt", "domega2/dt"]


def test_json_has_both_forms(pendulum):
    result = json.loads(CliRunner().invoke(main, [*IMPLICIT, "--json"]).stdout)
    assert result["implicit"] is True
    explicit, implicit = result["equations"][0], result["equations"][2]
    assert explicit["solved"] is None
    assert implicit["left_side"] == "omega1'"
    assert "omega2'" in implicit["equation"]
    assert "omega2'" not in implicit["solved"]["equation"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--discrete"], "A map has no rates"),
        (["--weak"], "The weak form has no derivatives"),
        (["--order=2"], "There is no variable 'omega1''"),
    ],
)
def test_rates_where_there_are_none_are_refused(pendulum, options, message):
    result = CliRunner().invoke(main, [*IMPLICIT, *options])
    assert result.exit_code != 0
    assert message in result.output


def test_rates_may_be_left_to_the_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(make_coupled_states(), columns=["x", "y"]).assign(t=COUPLED_T).to_csv("coupled.csv", index=False)
    options = [
        "--time=t",
        "--operators=+,-,*",
        "--max-evaluations=300",
        "--timeout=inf",
        "--implicit",
        "auto",
        "--json",
    ]
    result = CliRunner().invoke(main, ["dynamics", "coupled.csv", *options])
    assert json.loads(result.stdout)["implicit"] is True
    assert "Note: The equations have rates on both sides" in result.stderr


@pytest.mark.parametrize("words", [["--implicit=maybe", "pendulum.csv"], ["--implicit", "maybe", "pendulum.csv"]])
def test_another_value_of_implicit_is_refused_with_the_remedy(pendulum, words):
    result = CliRunner().invoke(main, ["dynamics", "--time=t", *words])
    assert "Invalid value for '--implicit': It takes auto, yes or no; got 'maybe'." in result.output
    assert "write --implicit=yes" in result.output


def test_rates_without_the_option_are_refused_with_the_remedy(pendulum):
    result = CliRunner().invoke(main, [option for option in IMPLICIT if option != "--implicit"])
    assert "`--implicit`" in result.output


SWING = ["--time", "t", "--order", "2", "--units", "theta=rad", "--max-evaluations", "60", "--timeout", "inf"]


@pytest.fixture
def swing(tmp_path):
    t = np.linspace(0, 8, 200)
    path = tmp_path / "swing.csv"
    found = solve_ivp(lambda _, y: [y[1], -19.6133 * np.sin(y[0])], (0, 8), [2, 0], t_eval=t, rtol=1e-10, atol=1e-10)
    pd.DataFrame({"t": t, "theta": found.y[0]}).to_csv(path, index=False)
    return str(path)


def test_equations_have_the_units_of_their_states(swing, tmp_path):
    run = str(tmp_path / "swing.spl")
    known = ["--time-unit", "s", "--known", "g=9.80665 m/s**2", "--known", "l=0.5 m", "--operators", "+,-,*,/,sin"]
    found = CliRunner().invoke(main, ["dynamics", swing, *SWING, *known, "--run", run])
    assert "d2theta/dt2 = -(g*sin(theta)/l)" in found.output
    units = "Units: theta in rad; time in s; g = 9.80665 m/s**2, l = 0.5 m."
    assert units in found.output
    assert units in CliRunner().invoke(main, ["show", run]).output
    assert "9.80665*sin(theta)/0.5" in CliRunner().invoke(main, ["export", run, "--format", "python"]).output
    assert units in "".join(report_of_run(read_run(run)).system.followed)


def test_fitted_numbers_may_have_units(swing):
    free = ["--time-unit", "s", "--constants", "any", "--operators", "+,*,sin", "--json"]
    found = json.loads(CliRunner().invoke(main, ["dynamics", swing, *SWING, *free]).stdout)
    [equation] = found["equations"]
    assert [number["unit"] for number in equation["numbers"]] == ["1/s**2"]
    assert found["inputs"] == []
    assert found["units"] == {"columns": {"theta": "rad"}, "time": "s", "known": {}, "numbers": "any"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (SWING, "The time has no unit. Give it one (`time_unit`, --time-unit)"),
        (["--time", "t", "--time-unit", "s"], "--time-unit needs the units of the columns"),
        (
            ["--time", "t", "--units", "theta=rad", "--time-unit", "s"],
            "The equation of 'theta': No formula can have the unit",
        ),
        ([*SWING, "--constants", "any", "--no-constants"], "--no-constants cannot be combined with --constants any"),
    ],
)
def test_mistakes_with_units_are_explained(swing, options, message):
    found = CliRunner().invoke(main, ["dynamics", swing, *options])
    assert found.exit_code != 0
    assert message in " ".join(found.output.split())
