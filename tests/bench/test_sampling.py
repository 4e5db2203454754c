"""Systems that are sampled a few times per turn: trials, conditions, and what is right."""

import sys

import numpy as np
import pytest
from tests.bench.experiments import SAMPLED_TRUTHS, sampling_trial

from spl.bench import systems
from spl.bench.equations import Found
from spl.bench.sampling import SAMPLING, SAMPLING_TOOLS, SamplingCondition, sampling_trials, true_system
from spl.datasets import SAMPLED_SYSTEMS
from spl.errors import SettingError, SplError


@pytest.mark.search
@pytest.mark.parametrize("system", SAMPLED_SYSTEMS)
def test_the_truth_is_right_and_its_numbers_have_no_error(system):
    truth = true_system(system)
    assert all(truth.are_right(SAMPLED_TRUTHS[system]))
    assert max(truth.errors_of_numbers(SAMPLED_TRUTHS[system])) < 1e-5


@pytest.mark.parametrize(
    ("system", "formula", "expected"),
    [
        ("fitzhugh_nagumo", "v - 0.3*v**3 - w + 0.4; 0.07*v - 0.06*w + 0.05", [True, True]),
        ("fitzhugh_nagumo", "v - 0.3*v**3 - w; 0.07*v - 0.06*w + 0.05*v**2", [False, False]),
        ("rosenzweig_macarthur", "prey - 0.4*prey**2 - 1.1*prey*predator/(0.3 + prey); prey - predator", [True, False]),
        ("thomas", "sin(y) - 0.19*x; z - 0.2*y; cos(x - 1.57) - 0.2*z", [True, False, True]),
        ("hyperchaotic_rossler", "-y - z; x + 0.2*y + w; 3.1 + x*z; 0.05*w", [True, True, True, False]),
    ],
)
def test_an_equation_is_right_if_only_its_numbers_are_not(system, formula, expected):
    assert true_system(system).are_right(formula) == expected


def test_tools_run_in_turn_on_the_same_data(monkeypatch):
    monkeypatch.setattr(systems, "require_pysindy", lambda: None)
    trials = sampling_trials(["thomas", "lorenz"], [10, 5], [0.0, 0.01], [0, 1], tools=SAMPLING_TOOLS, timeout=60.0)
    assert [trial.tool for trial in trials[:2]] == ["spl", "pysindy"]
    assert {(trial.problem, trial.setting) for trial in trials[:2]} == {("thomas", "samples=10 noise=0")}
    assert len({trial.key for trial in trials}) == len(trials) == 2 * 2 * 2 * 2 * 2


@pytest.mark.parametrize(
    ("names", "rates", "tools", "message"),
    [
        (["lorentz"], [5], ["spl"], r"There is no system 'lorentz'\. Did you mean 'lorenz'\? Choose from: lorenz,"),
        (["duffing"], [5], ["spl"], r"There is no system 'duffing'\."),
        (["lorenz"], [5], ["pysindy-weak"], r"There is no tool 'pysindy-weak'\.(.*) Choose from: spl, pysindy\."),
        (["lorenz"], [5, 1], ["spl"], "A turn must have 2 samples or more; got 1"),
    ],
)
def test_what_cannot_be_run_is_refused(names, rates, tools, message):
    with pytest.raises(SettingError, match=message):
        sampling_trials(names, rates, [0.0], [0], tools=tools, timeout=60.0)


def test_pysindy_is_asked_for_only_if_it_is_a_tool(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysindy", None)
    assert sampling_trials(["lorenz"], [5], [0.0], [0], tools=["spl"], timeout=60.0)
    with pytest.raises(SplError, match="pysindy is not installed"):
        sampling_trials(["lorenz"], [5], [0.0], [0], tools=["pysindy"], timeout=60.0)


def test_a_setting_that_is_no_condition_is_refused():
    with pytest.raises(SettingError, match=r"'noise=0\.1 threads=2' is not a condition of sampling"):
        SamplingCondition.of("noise=0.1 threads=2")


def test_our_search_is_given_the_samples_and_one_thread(monkeypatch):
    seen = {}

    def search(data, **settings):
        seen.update(settings, data=data)
        return Found(formulas=("1 + x**2*y - 4*x", "3.3*x - x**2*y"), seconds=1.0, n_evaluations=5, stopped="timeout")

    monkeypatch.setattr(systems, "search_equations", search)
    outcome = SAMPLING.run(sampling_trial(samples=7, noise=0.01, seed=3))
    expected = SAMPLED_SYSTEMS["brusselator"].sample(7, noise=0.01, seed=3)
    assert np.array_equal(seen["data"].states, expected.states)
    assert np.array_equal(seen["data"].t, expected.t)
    assert {name: seen[name] for name in seen if name != "data"} == {"timeout": 60.0, "n_threads": 1, "seed": 3}
    assert outcome.recovered
    assert outcome.error == pytest.approx(0.1)


def test_pysindy_is_run_on_the_same_data_and_judged_by_the_same_rule():
    pytest.importorskip("pysindy", reason="pysindy is not installed")
    trial = sampling_trial("lotka_volterra", samples=5, tool="pysindy")
    outcome = SAMPLING.run(trial)
    assert not outcome.recovered
    assert outcome.stopped == "fitted"
    assert SAMPLING.settings(trial)["truth"] == SAMPLED_TRUTHS["lotka_volterra"].split("; ")


@pytest.mark.search
@pytest.mark.slow
def test_a_trial_of_ours_is_run():
    outcome = SAMPLING.run(sampling_trial("lotka_volterra", samples=40, timeout=5.0))
    assert len(outcome.formula.split("; ")) == 2
