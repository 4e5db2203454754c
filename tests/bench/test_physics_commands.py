"""`spl bench balls` and `spl bench pendulum`: which trials they ask for."""

import numpy as np
from click.testing import CliRunner

from spl.bench.balls import BALLS, balls_trials
from spl.bench.pendulum import PENDULUM, pendulum_trials
from spl.cli.main import main
from spl.datasets import BallDrop, Drop


def run_command(*arguments):
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["bench", *arguments])
    assert result.exit_code == 0, result.output


def test_balls_runs_all_balls_with_both_grammars_and_groups_and_ten_seeds(asked, monkeypatch):
    t = np.linspace(0, 3, 46)
    data = BallDrop((Drop("Golf Ball", 1, t, t), Drop("Golf Ball", 2, t, t)))
    monkeypatch.setattr("spl.datasets.fetch_ball_drop", lambda: data)
    run_command("balls")
    assert asked["experiment"] is BALLS
    assert asked["trials"] == balls_trials(["Golf Ball"], range(10), ["paper", "drag", "groups"], 2.0)
    assert asked["path"].parts == ("bench-results", "balls.jsonl")


def test_pendulum_runs_five_seeds_of_both_settings(asked):
    run_command("pendulum")
    assert asked["experiment"] is PENDULUM
    assert asked["trials"] == pendulum_trials(["prepared", "raw"], range(5), 60.0)
    assert asked["path"].parts == ("bench-results", "pendulum.jsonl")
