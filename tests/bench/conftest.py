"""What a command of `spl bench` asks for, without running it."""

import pytest
from tests.bench.experiments import make_result

from spl.bench import runner


@pytest.fixture
def asked(monkeypatch):
    """Record what a command asks for, and give it results that cost nothing."""
    calls = {}

    def run_nothing(experiment, trials, path, **options):
        calls.update(experiment=experiment, trials=trials, path=path)
        records = [make_result(trial) for trial in trials]
        return runner.Finished(records=records, n_trials=len(trials), is_interrupted=False)

    monkeypatch.setattr(runner, "run_trials", run_nothing)
    return calls
