import sys

import numpy as np
import pytest
from click.testing import CliRunner
from tests.bench.fakes import make_record, make_trial

from spl.bench import runner, systems
from spl.bench.equations import Found
from spl.bench.records import Record
from spl.bench.report import write_report
from spl.bench.sindy import MISSING, SindyConfig
from spl.bench.systems import (
    NOISE_LEVELS,
    SYSTEMS_EXPERIMENT,
    TOOLS,
    errors_of_numbers,
    right_equations,
    systems_trials,
)
from spl.bench.systems_report import errors_table, systems_sections, systems_table
from spl.cli.main import main
from spl.datasets import SYSTEMS
from spl.errors import SettingError, SplError

TRUTHS = {name: "; ".join(make(50, noise=0.0).equations.values()) for name, make in SYSTEMS.items()}


def systems_trial(problem="van_der_pol", noise=0.01, **changes):
    fields = {"experiment": "systems", "setting": f"noise={noise:g} threads=2", "timeout": 60.0}
    return make_trial(problem, **(fields | changes))


# ---- what is right -------------------------------------------------------------------------------


@pytest.mark.search
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_truth_is_right_and_its_numbers_have_no_error(system):
    assert all(right_equations(system, TRUTHS[system]))
    assert max(errors_of_numbers(system, TRUTHS[system])) < 1e-5


@pytest.mark.parametrize(
    ("system", "formula", "expected"),
    [
        ("van_der_pol", "1.1*y; y*(2.1 - 1.9*x**2) - x", [True, True]),
        ("van_der_pol", "y + 0.001; 2*(1 - x**2)*y", [False, False]),
        ("michaelis_menten", "0.5 - 1.6/(1 + 0.31/substrate); 1.4*substrate/(substrate + 0.2)", [True, False]),
        ("michaelis_menten", "0.5 - 1.6*sin(substrate); 0", [False, False]),
        ("damped_pendulum", "omega; -0.1*omega - 9.5*cos(theta - 1.57)", [True, True]),
        ("damped_pendulum", "sin(omega); -9.81*theta - 0.2*omega", [False, False]),
    ],
)
def test_an_equation_is_right_if_only_its_numbers_are_not(system, formula, expected):
    assert right_equations(system, formula) == expected


@pytest.mark.parametrize(
    ("formula", "is_right"),
    [
        ("0.43*infected", True),
        ("0.43*(1 - susceptible - recovered)", True),
        ("0.43*infected*(susceptible + infected + recovered)", True),
        ("0.43*infected + 0.01*susceptible", False),
    ],
)
def test_shares_that_add_up_to_1_may_be_written_in_several_ways(formula, is_right):
    first, second, _ = TRUTHS["sir"].split("; ")
    assert right_equations("sir", f"{first}; {second}; {formula}")[2] is is_right


def test_a_text_without_all_equations_has_none_that_is_right():
    assert right_equations("van_der_pol", "") == [False, False]


def test_numbers_that_are_no_coefficients_have_errors_too():
    formula = "0.6 - 1.5*substrate/(0.33 + substrate); 1.5*substrate/(0.3 + substrate) - 0.5*product"
    first, second = errors_of_numbers("michaelis_menten", formula)
    assert first == pytest.approx(0.1, abs=1e-3)
    assert second < 1e-5


# ---- the experiment ------------------------------------------------------------------------------


def test_tools_run_in_turn_on_the_same_data(monkeypatch):
    monkeypatch.setattr(systems, "require_pysindy", lambda: None)
    trials = systems_trials(["sir", "duffing"], [0.0, 0.1], [0, 1], tools=TOOLS, timeout=60.0, n_threads=2)
    assert [trial.tool for trial in trials[:3]] == list(TOOLS)
    assert {(trial.problem, trial.setting, trial.seed) for trial in trials[:3]} == {("sir", "noise=0 threads=2", 0)}
    assert len({trial.key for trial in trials}) == len(trials) == 2 * 2 * 2 * 3


@pytest.mark.parametrize(
    ("names", "tools", "message"),
    [
        (["duffin"], ["spl"], r"There is no system 'duffin'\. Did you mean 'duffing'\? Known are: lorenz,"),
        (["duffing"], ["sindy"], r"There is no tool 'sindy'\.(.*) Known are: spl, pysindy, pysindy-weak\."),
    ],
)
def test_names_that_do_not_exist_are_refused(names, tools, message):
    with pytest.raises(SettingError, match=message):
        systems_trials(names, [0.0], [0], tools=tools, timeout=60.0, n_threads=2)


def test_pysindy_is_asked_for_only_if_it_is_a_tool(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysindy", None)
    assert systems_trials(["sir"], [0.0], [0], tools=["spl"], timeout=60.0, n_threads=2)
    with pytest.raises(SplError, match="pysindy is not installed"):
        systems_trials(["sir"], [0.0], [0], tools=["pysindy"], timeout=60.0, n_threads=2)


def test_our_search_is_given_measured_states_and_inputs_and_no_hint(monkeypatch):
    seen = {}

    def search(data, **settings):
        seen.update(settings, data=data)
        return Found(formulas=("omega", "2*u - 9.81*sin(theta)"), seconds=1.0, n_evaluations=5, stopped="timeout")

    monkeypatch.setattr(systems, "search_equations", search)
    outcome = SYSTEMS_EXPERIMENT.run(systems_trial("driven_pendulum", seed=3))
    expected = SYSTEMS["driven_pendulum"](noise=0.01, seed=3)
    assert np.array_equal(seen["data"].states, expected.states)
    assert np.array_equal(seen["data"].u, expected.u)
    assert seen["data"].names == ("theta", "omega", "u")
    assert {name: seen[name] for name in seen if name != "data"} == {"timeout": 60.0, "n_threads": 2, "seed": 3}
    assert (outcome.recovered, outcome.error) == (False, None)


def test_a_recovered_system_has_the_largest_error_of_its_numbers(monkeypatch):
    found = Found(formulas=("1.01*y", "2*y - 2.1*x**2*y - x"), seconds=1.0, n_evaluations=5, stopped="timeout")
    monkeypatch.setattr(systems, "search_equations", lambda data, **_: found)
    outcome = SYSTEMS_EXPERIMENT.run(systems_trial())
    assert outcome.recovered
    assert outcome.error == pytest.approx(0.05)


@pytest.mark.parametrize("tool", ["pysindy", "pysindy-weak"])
def test_pysindy_is_run_on_the_same_data_and_judged_by_the_same_rule(tool):
    pytest.importorskip("pysindy", reason="pysindy is not installed")
    trial = systems_trial(noise=0.0, tool=tool)
    outcome = SYSTEMS_EXPERIMENT.run(trial)
    assert outcome.recovered
    assert outcome.error < 0.02
    assert (outcome.evaluations, outcome.stopped) == (None, "fitted")
    assert SYSTEMS_EXPERIMENT.settings(trial)["is_weak"] is (tool == "pysindy-weak")


@pytest.mark.search
@pytest.mark.slow
def test_a_trial_of_ours_is_run():
    outcome = SYSTEMS_EXPERIMENT.run(systems_trial(timeout=8.0))
    assert len(outcome.formula.split("; ")) == 2
    assert SYSTEMS_EXPERIMENT.settings(systems_trial())["truth"] == ["y", "2*(1 - x**2)*y - x"]


# ---- the report ----------------------------------------------------------------------------------


def record_of(trial, **outcome):
    record = make_record(trial, **outcome)
    truth = TRUTHS[trial.problem].split("; ")
    return Record(
        trial=record.trial, outcome=record.outcome, commit=record.commit, versions=record.versions,
        machine=record.machine, settings={"truth": truth},
    )  # fmt: skip


RECORDS = [
    record_of(systems_trial(), formula=TRUTHS["van_der_pol"], error=0.012, seconds=10.0),
    record_of(systems_trial(seed=1), formula="y; x", recovered=False, error=None, seconds=20.0),
    record_of(systems_trial(tool="pysindy"), formula=TRUTHS["van_der_pol"], error=0.002, seconds=0.5),
    record_of(systems_trial(noise=0.1), formula="", recovered=False, error=None, seconds=60.0),
    record_of(systems_trial("lorenz"), formula=TRUTHS["lorenz"], error=0.001, seconds=30.0),
]


def test_cells_count_right_equations_of_all_trials():
    table = systems_table(RECORDS)
    assert table.headings == ("system", "spl 0.01", "spl 0.1", "sindy 0.01", "sindy 0.1")
    assert table.rows == (("lorenz", "3/3", "", "", ""), ("van_der_pol", "3/4", "0/2", "2/2", ""))
    assert table.total == ("all", "6/7", "0/2", "2/2", "")


def test_errors_are_those_of_recovered_systems():
    table = errors_table(RECORDS)
    assert table.headings[-2:] == ("spl s", "sindy s")
    assert table.rows[1] == ("van_der_pol", "1.2", "", "0.2", "", "20", "0.5")


def test_failures_name_each_wrong_equation_of_ours():
    assert systems_sections(RECORDS)[0].failures == (
        "van_der_pol, noise 0.01, seed 1: `2*(1 - x**2)*y - x` was the truth, found was `x`",
        "van_der_pol, noise 0.1, seed 0: nothing (stopped: exact)",
    )


def test_a_report_has_both_sections_with_the_settings_of_pysindy():
    text = write_report(RECORDS, None)
    assert "## Well-known systems: right equations" in text
    assert "## Well-known systems: largest errors of numbers, and seconds" in text
    assert f"threshold {SindyConfig().threshold:g}" in text


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """Take note of what the command asks for, and give it results that cost nothing."""
    calls = {}

    def run_nothing(experiment, trials, path, **options):
        calls.update(experiment=experiment, trials=trials, path=path)
        records = [record_of(trial, formula=TRUTHS[trial.problem]) for trial in trials]
        return runner.Finished(records=records, n_trials=len(trials), is_interrupted=False)

    monkeypatch.setattr(runner, "run_trials", run_nothing)
    monkeypatch.setattr(systems, "require_pysindy", lambda: None)
    return calls


def run_command(*arguments):
    return CliRunner(env={"COLUMNS": "120"}).invoke(main, ["bench", "systems", *arguments])


def test_by_default_it_runs_all_systems_at_four_levels_with_all_tools(asked, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    result = run_command("--threads", "1")
    assert result.exit_code == 0, result.output
    assert asked["experiment"] is SYSTEMS_EXPERIMENT
    assert asked["trials"] == systems_trials(list(SYSTEMS), NOISE_LEVELS, [0], tools=TOOLS, timeout=60.0, n_threads=1)
    assert asked["path"].parts == ("bench-results", "systems.jsonl")


def test_without_pysindy_a_note_says_what_is_missing(asked, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = run_command("--systems", "duffing", "--threads", "1")
    assert result.stderr.endswith(f"Note: {MISSING}\n")
    assert {trial.tool for trial in asked["trials"]} == {"spl"}


def test_options_choose_what_is_run(asked):
    run_command(
        "--systems", "sir,duffing", "--noise", "0.2", "--tools", "pysindy-weak", "--seeds", "2", "--threads", "1"
    )
    assert asked["trials"] == systems_trials(
        ["sir", "duffing"], [0.2], [2], tools=["pysindy-weak"], timeout=60.0, n_threads=1
    )


def test_help_shows_examples_and_a_mistake_is_one_line():
    assert "    spl bench systems " in run_command("--help").stdout
    result = run_command("--systems", "duffin", "--tools", "spl")
    assert result.exit_code == 2
    assert "Did you mean 'duffing'?" in result.stderr
