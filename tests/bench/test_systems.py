import sys

import numpy as np
import pytest
from tests.bench.experiments import SYSTEM_TRUTHS, systems_trial

from spl.bench import systems
from spl.bench.equations import Found
from spl.bench.systems import (
    SYSTEMS_EXPERIMENT,
    SYSTEMS_TOOLS,
    errors_of_numbers,
    right_equations,
    systems_trials,
)
from spl.datasets import SYSTEMS
from spl.errors import SettingError, SplError

# ---- what is right -------------------------------------------------------------------------------


@pytest.mark.search
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_truth_is_right_and_its_numbers_have_no_error(system):
    assert all(right_equations(system, SYSTEM_TRUTHS[system]))
    assert max(errors_of_numbers(system, SYSTEM_TRUTHS[system])) < 1e-5


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
    first, second, _ = SYSTEM_TRUTHS["sir"].split("; ")
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
    trials = systems_trials(["sir", "duffing"], [0.0, 0.1], [0, 1], tools=SYSTEMS_TOOLS, timeout=60.0, n_threads=2)
    assert [trial.tool for trial in trials[:3]] == list(SYSTEMS_TOOLS)
    assert {(trial.problem, trial.setting, trial.seed) for trial in trials[:3]} == {("sir", "noise=0 threads=2", 0)}
    assert len({trial.key for trial in trials}) == len(trials) == 2 * 2 * 2 * 3


@pytest.mark.parametrize(
    ("names", "tools", "message"),
    [
        (["duffin"], ["spl"], r"There is no system 'duffin'\. Did you mean 'duffing'\? Choose from: lorenz,"),
        (["duffing"], ["sindy"], r"There is no tool 'sindy'\.(.*) Choose from: spl, pysindy, pysindy-weak\."),
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
