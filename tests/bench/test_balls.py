import numpy as np
import pytest
from tests.bench.experiments import balls_trial

from spl.bench import balls
from spl.bench.balls import BALLS, FALL_MODELS, balls_trials, fit_model
from spl.bench.fall_law import FALL_GRAMMARS
from spl.datasets import BallDrop, Drop
from spl.errors import SettingError

T = np.linspace(0, 3, 46)


@pytest.fixture
def one_ball(monkeypatch):
    """Drop one ball without air resistance, so that the law is known."""
    data = BallDrop((Drop("Golf Ball", 1, T, 48 - 4.5 * T**2),))
    monkeypatch.setattr(balls, "_fetch_once", lambda: data)
    balls._search_once.cache_clear()
    yield
    balls._search_once.cache_clear()


# ---- trials --------------------------------------------------------------------------------------


def test_models_are_fitted_once_and_searches_run_with_every_seed():
    trials = balls_trials(["Golf Ball", "Baseball"], [0, 1, 2], ["paper", "drag"], 5.0)
    assert len({trial.key for trial in trials}) == len(trials)
    assert sum(trial.tool in FALL_MODELS for trial in trials) == 3 * 2 * 2
    assert sum(trial.tool == "spl" for trial in trials) == 3 * 2 * 2 * 2


def test_a_grammar_that_does_not_exist_is_refused():
    with pytest.raises(
        SettingError, match=r"There is no grammar 'luck' for falling balls\. Choose from: paper, drag, groups\."
    ):
        balls_trials(["Golf Ball"], [0], ["luck"], 5.0)


# ---- the models ----------------------------------------------------------------------------------


@pytest.mark.search
@pytest.mark.parametrize(
    ("name", "constants"),
    [
        ("model-1", [48.0, 0.5, -4.9, 0.3]),
        ("model-2", [100.0, -20.0, -52.0, -0.4]),
        ("model-3", [48.0, -40.0, 0.45]),
    ],
)
def test_a_model_finds_its_own_constants(name, constants):
    t = np.linspace(0, 2, 30)
    model = FALL_MODELS[name]
    found = fit_model(model, t, model.predict(np.array(constants), t))
    assert np.allclose(model.predict(found, T), model.predict(np.array(constants), T), atol=1e-3)


@pytest.mark.search
@pytest.mark.parametrize("tool", ["model-1", "model-3"])
def test_a_model_is_judged_on_the_rest_of_the_drop(one_ball, tool):
    outcome = BALLS.run(balls_trial("drop 1", tool))
    assert outcome.recovered
    assert outcome.error < 1e-4
    assert BALLS.settings(balls_trial("drop 1", tool)) == {"model": FALL_MODELS[tool].text}


# ---- the search ----------------------------------------------------------------------------------


@pytest.mark.search
@pytest.mark.parametrize("grammar", FALL_GRAMMARS)
def test_a_search_predicts_a_simple_fall(one_ball, grammar):
    outcome = BALLS.run(balls_trial(f"{grammar}: drop 1"))
    assert outcome.recovered
    assert outcome.error < 1e-6
