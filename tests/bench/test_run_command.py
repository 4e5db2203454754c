"""Running the trials of a command, and showing their results."""

import json

import pytest
from tests.bench.fakes import make_record, make_trial

from spl.bench import runner
from spl.bench.options import RunOptions
from spl.bench.run_command import INTERRUPTED_STATUS, run_and_show
from spl.bench.trials import Experiment

EXPERIMENT = Experiment(name="nguyen", run=None, settings=None)
TRIALS = [make_trial("Nguyen-1", seed) for seed in range(3)]


@pytest.fixture
def done(monkeypatch, tmp_path):
    """Pretend that `n_done` trials were done; return what the runner was asked for."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("spl.regression.warm_up.compile_once", lambda say: None)
    asked = {}

    def prepare(n_done):
        def run_trials(experiment, trials, path, **options):
            asked.update(options, path=path)
            records = [make_record(trial) for trial in trials[:n_done]]
            return runner.Finished(records=records, n_trials=len(trials), is_interrupted=n_done < len(trials))

        monkeypatch.setattr(runner, "run_trials", run_trials)
        return asked

    return prepare


def options(**changes):
    return RunOptions(**({"jobs": 1, "results": "r.jsonl", "is_fresh": False, "is_json": False} | changes))


def test_results_end_with_a_table_and_where_they_are(done, capsys):
    asked = done(3)
    run_and_show(EXPERIMENT, TRIALS, "name", options(is_fresh=True))
    output = capsys.readouterr().out
    assert "3 of 3" in output
    assert output.endswith("Results: r.jsonl. For a document with figures: spl bench report r.jsonl -o DIR\n")
    assert (asked["n_jobs"], asked["is_fresh"]) == (1, True)


def test_json_is_one_object_and_nothing_else(done, capsys):
    done(3)
    run_and_show(EXPERIMENT, TRIALS, "name", options(is_json=True))
    [row] = json.loads(capsys.readouterr().out)["rows"]
    assert (row["problem"], row["trials"], row["recovered"]) == ("Nguyen-1", 3, 3)


def test_an_interrupted_run_says_what_is_saved_and_shows_no_table(done, capsys):
    done(1)
    with pytest.raises(SystemExit) as ended:
        run_and_show(EXPERIMENT, TRIALS, "name", options())
    assert ended.value.code == INTERRUPTED_STATUS
    captured = capsys.readouterr()
    assert captured.err == "Interrupted: 1 of 3 trials are done and saved in r.jsonl. The same command continues.\n"
    assert "Nguyen" not in captured.out


def test_without_a_named_file_results_go_to_the_folder_of_results(done):
    asked = done(3)
    run_and_show(EXPERIMENT, TRIALS, "name", options(results=None))
    assert asked["path"].parts == ("bench-results", "name.jsonl")
