import numpy as np
import pytest
from tests.bench.experiments import make_trial

from spl.bench.ablation import ABLATION, ABLATION_MODELS, ablation_problems, ablation_trials, paper_rate, run_ablation
from spl.datasets import load_nguyen


def settings_of(model):
    return ABLATION.settings(make_trial("Nguyen-1", experiment="ablation", setting=model, timeout=5.0))


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        ("SPL", {}),
        ("A", {"adaptive_scaling": False}),
        ("B", {"eta": 1.0}),
        ("C", {"max_modules": 0}),
        ("D", {"adaptive_scaling": False, "eta": 1.0, "max_modules": 0}),
    ],
)
def test_a_model_goes_without_what_the_paper_says_and_nothing_else(model, changes):
    assert settings_of(model) == settings_of("SPL") | changes
    assert set(changes.items()) == set(settings_of(model).items()) - set(settings_of("SPL").items())


@pytest.mark.parametrize(
    ("place", "average"),
    list(enumerate([0.935, 0.9058, 0.8967, 0.4983, 0.4892])),
    ids=[model.name for model in ABLATION_MODELS],
)
def test_published_rates_average_as_the_paper_says(place, average):
    assert np.mean(ABLATION_MODELS[place].paper) == pytest.approx(average, abs=2e-3)


def test_the_model_that_lacks_nothing_has_the_rates_of_the_problems():
    problems = ablation_problems()
    assert [problem.name for problem in problems] == [f"Nguyen-{number}" for number in range(1, 13)]
    assert [paper_rate(ABLATION_MODELS[0], problem.name) for problem in problems] == [p.paper_spl for p in problems]


def test_every_model_is_tried_on_every_problem_with_every_seed():
    trials = ablation_trials([load_nguyen("Nguyen-1"), load_nguyen("Nguyen-2")], [0, 1], 20.0)
    assert len({trial.key for trial in trials}) == len(trials) == 5 * 2 * 2


@pytest.mark.search
def test_a_model_is_run():
    outcome = run_ablation(make_trial("Nguyen-8", experiment="ablation", setting="D", timeout=20.0))
    assert outcome.recovered
