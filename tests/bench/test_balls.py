import numpy as np
import pytest
from click.testing import CliRunner
from tests.bench.fakes import make_record, make_trial

from spl.bench import balls, runner
from spl.bench.balls import BALLS, MODELS, balls_trials, fit_model
from spl.bench.balls_report import PAPER, balls_sections, balls_table
from spl.bench.fall_law import GRAMMARS
from spl.bench.report import write_report
from spl.cli.main import main
from spl.datasets import BallDrop, Drop
from spl.errors import SettingError

T = np.linspace(0, 3, 46)


def balls_trial(setting="drag: drop 1", tool="spl", ball="Golf Ball", **changes):
    return make_trial(ball, **({"experiment": "balls", "setting": setting, "tool": tool, "timeout": 5.0} | changes))


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
    assert sum(trial.tool in MODELS for trial in trials) == 3 * 2 * 2
    assert sum(trial.tool == "spl" for trial in trials) == 3 * 2 * 2 * 2


def test_a_grammar_that_does_not_exist_is_refused():
    with pytest.raises(SettingError, match=r"There is no grammar 'luck' of falling balls\. Known are: paper, drag\."):
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
    model = MODELS[name]
    found = fit_model(model, t, model.predict(np.array(constants), t))
    assert np.allclose(model.predict(found, T), model.predict(np.array(constants), T), atol=1e-3)


@pytest.mark.search
@pytest.mark.parametrize("tool", ["model-1", "model-3"])
def test_a_model_is_judged_on_the_rest_of_the_drop(one_ball, tool):
    outcome = BALLS.run(balls_trial("drop 1", tool))
    assert outcome.recovered
    assert outcome.error < 1e-4
    assert BALLS.settings(balls_trial("drop 1", tool)) == {"model": MODELS[tool].text}


# ---- the search ----------------------------------------------------------------------------------


@pytest.mark.search
@pytest.mark.parametrize("grammar", GRAMMARS)
def test_a_search_predicts_a_simple_fall(one_ball, grammar):
    outcome = BALLS.run(balls_trial(f"{grammar}: drop 1"))
    assert outcome.recovered
    assert outcome.error < 1e-6


# ---- the report ----------------------------------------------------------------------------------

RECORDS = [
    make_record(balls_trial(setting, tool, ball, seed=seed), error=error, recovered=recovered)
    for setting, tool, ball, seed, error, recovered in [
        ("drag: drop 1", "spl", "Golf Ball", 0, 0.1, True),
        ("drag: drop 1", "spl", "Golf Ball", 1, 0.4, True),
        ("drag: drop 1", "spl", "Baseball", 0, 0.1, True),
        ("drag: drop 1", "spl", "Baseball", 1, 0.4, False),
        ("drop 1", "model-1", "Golf Ball", 0, 2.0, True),
        ("drop 1", "model-1", "Baseball", 0, None, False),
        ("drop 2", "model-1", "Golf Ball", 0, 0.5, True),
    ]
]


def test_a_row_is_a_ball_with_medians_beside_the_paper():
    drop_1 = [record for record in RECORDS if record.trial.setting.endswith("drop 1")]
    lines = balls_table(drop_1, has_paper=True).to_markdown().splitlines()
    assert lines[0].startswith("| ball | ours drag | model-1 | paper SPL | paper model-1 |")
    assert lines[2] == "| Baseball | 0.25 | inf | 0.3 | 2.8 | 94.6 | 3.51 |"
    assert lines[3] == "| Golf Ball | 0.25 | 2 | 0.009 | 0.214 | 86.1 | 1.68 |"
    assert lines[4].startswith("| **geometric mean** | **0.25** | **inf** |")


def test_the_paper_reaches_the_mean_that_is_to_be_beaten():
    rows = [make_record(balls_trial(ball=ball), error=errors[0]) for ball, errors in PAPER.items()]
    assert balls_table(rows, has_paper=True).total[1:5] == ("0.129", "0.129", "0.655", "68.5")


def test_a_report_has_both_drops_and_what_is_no_fall():
    text = write_report(RECORDS, None)
    for title in ("drop 1: mean squared error after 2 s", "drop 2: mean squared error after 2 s", "both drops"):
        assert f"## Falling balls, {title}" in text
    assert "spl, Baseball, drag: drop 1, seed 1: not a fall: `x` (error 0.4)" in text


def test_time_limits_have_sections_of_their_own():
    assert len(balls_sections([*RECORDS, make_record(balls_trial(timeout=9.0))])) == 4


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_runs_all_balls_with_ten_seeds(monkeypatch):
    data = BallDrop((Drop("Golf Ball", 1, T, T), Drop("Golf Ball", 2, T, T)))
    monkeypatch.setattr("spl.datasets.fetch_ball_drop", lambda: data)
    calls = {}

    def run_nothing(experiment, trials, path, **options):
        calls.update(experiment=experiment, trials=trials, path=path)
        records = [make_record(trial) for trial in trials]
        return runner.Finished(records=records, n_trials=len(trials), is_interrupted=False)

    monkeypatch.setattr(runner, "run_trials", run_nothing)
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["bench", "balls"])
    assert result.exit_code == 0, result.output
    assert calls["experiment"] is BALLS
    assert calls["trials"] == balls_trials(["Golf Ball"], range(10), ["paper", "drag"], 2.0)
    assert calls["path"].parts == ("bench-results", "balls.jsonl")
