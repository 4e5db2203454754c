"""Whatever happens to a process, its run loses at most one round."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kill_loop import make_quick_config
from tests.run_examples import NO_LIMIT, RULES, make_data, search_in_file, summary

from spl.formulas.grammar import Grammar
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest
from spl.runs.reader import read_run

pytestmark = pytest.mark.process

N_KILLS = 50


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A run that was killed fifty times at random moments, and what was seen in its file in between."""
    path = tmp_path_factory.mktemp("runs") / "run.spl"
    command = [sys.executable, "-m", "tests.kill_loop", path, str(N_KILLS), "7"]
    folder = Path(__file__).parent.parent
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=300)
    assert result.returncode == 0, result.stderr
    return path, json.loads(result.stdout)


def test_fifty_kills_at_random_moments_lose_nothing_that_was_written(killed):
    path, seen = killed
    assert seen["kills"] == N_KILLS
    assert seen["died"] > N_KILLS / 2
    assert seen["rounds"] > 0  # it went on between the kills
    assert read_run(path).status == "died"


def test_after_fifty_kills_the_run_is_where_an_undisturbed_one_would_be(killed):
    path, _ = killed
    n_rounds = read_run(path).searches[0].history[-1].n_rounds
    config = make_quick_config(n_rounds // make_quick_config(1).n_transplants + 1)
    found = search_in_file(path, config=config)
    undisturbed = discover(
        RegressionRequest(make_data(), Grammar.from_text(RULES), config=config, limits=NO_LIMIT, seed=3)
    )
    assert summary(found) == summary(undisturbed)
    assert (found.n_episodes, found.n_evaluations) == (undisturbed.n_episodes, undisturbed.n_evaluations)
    assert read_run(path).status == "finished"
