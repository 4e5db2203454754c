import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.bench.fakes import CALLS, FAKE, make_trial

from spl.bench.records import read
from spl.bench.runner import run_trials

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
TRIALS = [make_trial(problem, seed) for seed in range(3) for problem in ("a", "b")]
SLOW = """
from pathlib import Path
from spl.bench.runner import run_trials
from tests.bench.fakes import FAKE, make_trial

trials = [make_trial(problem) for problem in ("a", "b", "slow", "slow too")]
finished = run_trials(FAKE, trials, Path("results.jsonl"), n_jobs={n_jobs}, watch=lambda tally: print(tally.n_done, flush=True))
print("interrupted" if finished.is_interrupted else "done", len(finished.records), flush=True)
"""


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """A function that returns what was run so far, as (problem, seed)."""
    path = tmp_path / "calls"
    path.write_text("")
    monkeypatch.setenv(CALLS, str(path))
    return lambda: path.read_text().splitlines()


def test_every_trial_is_run_and_recorded(calls, tmp_path):
    finished = run_trials(FAKE, TRIALS, tmp_path / "results.jsonl")
    assert [record.trial for record in finished.records] == TRIALS
    assert finished.records == read(tmp_path / "results.jsonl")
    assert all(record.settings == {"eta": 0.5} and record.commit for record in finished.records)
    assert (finished.n_trials, finished.is_interrupted) == (6, False)


def test_nothing_is_run_twice(calls, tmp_path):
    run_trials(FAKE, TRIALS[:3], tmp_path / "results.jsonl")
    finished = run_trials(FAKE, TRIALS, tmp_path / "results.jsonl")
    assert len(finished.records) == 6
    assert len(calls()) == 6


def test_a_trial_that_is_asked_for_twice_is_run_once(calls, tmp_path):
    run_trials(FAKE, [TRIALS[0], TRIALS[0]], tmp_path / "results.jsonl")
    assert len(calls()) == 1


def test_only_the_trials_that_were_asked_for_are_returned(calls, tmp_path):
    run_trials(FAKE, TRIALS, tmp_path / "results.jsonl")
    finished = run_trials(FAKE, TRIALS[2:4], tmp_path / "results.jsonl")
    assert [record.trial for record in finished.records] == TRIALS[2:4]


def test_a_fresh_run_begins_anew(calls, tmp_path):
    for _ in range(2):
        run_trials(FAKE, TRIALS, tmp_path / "results.jsonl", is_fresh=True)
    assert len(calls()) == 12
    assert len(read(tmp_path / "results.jsonl")) == 6


def test_processes_give_the_same_records_as_one(calls, tmp_path):
    one = run_trials(FAKE, TRIALS, tmp_path / "one.jsonl", n_jobs=1)
    two = run_trials(FAKE, TRIALS, tmp_path / "two.jsonl", n_jobs=2)
    assert len(two.records) == 6
    assert {record.trial: record.outcome for record in two.records} == {r.trial: r.outcome for r in one.records}


def test_an_error_of_the_search_is_an_outcome(calls, tmp_path):
    finished = run_trials(FAKE, [make_trial("impossible"), TRIALS[0]], tmp_path / "results.jsonl")
    outcome = finished.records[0].outcome
    assert (outcome.recovered, outcome.formula, outcome.error) == (False, "", None)
    assert outcome.stopped == "No formula stays inside its domain."
    assert len(finished.records) == 2


def test_a_mistake_of_ours_raises_and_keeps_what_was_done(calls, tmp_path):
    with pytest.raises(ZeroDivisionError):
        run_trials(FAKE, [TRIALS[0], make_trial("broken")], tmp_path / "results.jsonl")
    assert len(read(tmp_path / "results.jsonl")) == 1


def test_a_search_that_was_interrupted_is_not_recorded_and_ends_the_run(calls, tmp_path):
    trials = [make_trial("stopped", seed) for seed in range(4)]
    finished = run_trials(FAKE, trials, tmp_path / "results.jsonl")
    assert finished.is_interrupted
    assert [record.trial.seed for record in read(tmp_path / "results.jsonl")] == [0, 1]


def test_a_watcher_sees_how_far_the_trials_are(calls, tmp_path):
    tallies = []
    run_trials(FAKE, TRIALS, tmp_path / "results.jsonl", watch=tallies.append)
    assert [tally.n_done for tally in tallies] == list(range(7))
    assert tallies[-1].n_recovered == 4
    assert tallies[0].seconds_left is None
    assert tallies[1].seconds_left == pytest.approx(5 * 0.5)
    assert tallies[-1].seconds_left == 0.0
    assert [tally.next_trial for tally in tallies] == [*TRIALS, None]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_run_at_once_and_the_same_call_continues_it(calls, tmp_path, n_jobs):
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with subprocess.Popen(
        [sys.executable, "-c", SLOW.format(n_jobs=n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment,
        start_new_session=True,  # Ctrl-C goes to the whole group, as from a terminal
    ) as process:
        while process.stdout.readline().strip() != "2":
            assert process.poll() is None, process.stderr.read()
        if n_jobs == 1:
            time.sleep(0.5)  # until the slow one sleeps
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert time.monotonic() - began < 3
    assert errors == ""
    assert output.split() in (["interrupted", "2"], ["3", "interrupted", "3"])
    before = calls()
    run_trials(FAKE, [make_trial("a"), make_trial("b"), make_trial("c")], tmp_path / "results.jsonl")
    assert calls()[len(before) :] == ["c 0"]
