import numpy as np
import pytest
from tests.bench.experiments import lorenz_trial

from spl.bench import lorenz
from spl.bench.equations import Found
from spl.bench.lorenz import (
    DATA,
    LORENZ,
    PAPER_DATA,
    PAPER_STATES,
    SIMULATED,
    compare_equations,
    load_data,
    lorenz_trials,
    true_equations,
)
from spl.datasets import make_lorenz
from spl.errors import SettingError
from spl.regression.fit import evaluate

FALSE = "10*y - 10*x; 28*x - y - x*z + 0.1; x*y"


# ---- the experiment ------------------------------------------------------------------------------


def test_the_truth_is_that_of_the_simulation():
    data = make_lorenz(50, noise=0.0)
    columns = np.ascontiguousarray(data.clean.T)
    values = np.column_stack([evaluate(program, columns) for program in true_equations()])
    np.testing.assert_allclose(values, data.derivatives, rtol=1e-12, atol=1e-9)


def test_levels_of_noise_are_for_simulated_data_alone():
    trials = lorenz_trials(list(DATA), [0.1, 0.2], [0, 1], timeout=60.0, n_threads=2)
    assert [(trial.problem, trial.setting) for trial in trials[:4]] == [
        (PAPER_DATA, "noise=0.05 threads=2"),
        (PAPER_STATES, "noise=0.05 threads=2"),
        (SIMULATED, "noise=0.1 threads=2"),
        (SIMULATED, "noise=0.2 threads=2"),
    ]
    assert len({trial.key for trial in trials}) == len(trials) == 8


def test_data_that_does_not_exist_is_refused():
    with pytest.raises(SettingError, match=r"There is no data 'real' for the Lorenz system\. Choose from: paper,"):
        lorenz_trials(["real"], [0.05], [0], timeout=60.0, n_threads=2)


@pytest.mark.slow
def test_the_seed_draws_the_noise_of_simulated_data():
    first, second = (load_data(lorenz_trial(seed=seed)).states for seed in (0, 1))
    assert first.shape == second.shape == (6000, 3)
    assert not np.array_equal(first, second)


def test_the_papers_derivatives_are_given_or_not(real_data):
    given, alone = (load_data(lorenz_trial(problem)) for problem in (PAPER_DATA, PAPER_STATES))
    assert given.states.shape == given.derivatives.shape == (6000, 3)
    assert alone.derivatives is None
    assert np.array_equal(given.states, alone.states)
    assert np.allclose(np.diff(given.t), 0.01)


@pytest.mark.parametrize(
    ("formulas", "recovered", "error"),
    [
        (("9.9*(y - x)", "x*(28 - z) - y", "x*y - 8/3*z"), True, 0.01),
        (tuple(FALSE.split("; ")), False, None),
    ],
)
def test_what_was_found_is_judged_by_its_terms(monkeypatch, formulas, recovered, error):
    found = Found(formulas=formulas, seconds=1.5, n_evaluations=7, stopped="timeout")
    settings = {}
    monkeypatch.setattr(lorenz, "search_equations", lambda data, **given: settings.update(given) or found)
    monkeypatch.setattr(lorenz, "load_data", lambda trial: None)
    outcome = LORENZ.run(lorenz_trial())
    assert outcome.recovered is recovered
    assert outcome.error == pytest.approx(error)
    assert outcome.formula == "; ".join(formulas)
    assert (outcome.seconds, outcome.evaluations, outcome.stopped) == (1.5, 7, "timeout")
    assert settings == {"timeout": 60.0, "n_threads": 2, "seed": 0, "operators": ("+", "-", "*", "/")}


def test_no_equations_lack_all_terms():
    assert [verdict.n_missing for verdict in compare_equations("")] == [2, 3, 2]


@pytest.mark.search
@pytest.mark.slow
def test_a_trial_is_run():
    outcome = LORENZ.run(lorenz_trial(timeout=8.0))
    assert len(outcome.formula.split("; ")) == 3
    assert outcome.evaluations > 0
