"""Records made up for the tests, and trials that cost nothing. Worker processes import this file."""

import os
import time

from spl.bench.records import Record
from spl.bench.trials import Experiment, Outcome, Trial
from spl.errors import FormulaNotFound

CALLS = "SPL_TEST_CALLS"  # names a file to which each call adds a line


def make_trial(problem: str = "Nguyen-1", seed: int = 0, **changes) -> Trial:
    fields = {"experiment": "nguyen", "setting": "paper", "tool": "spl", "timeout": None} | changes
    return Trial(problem=problem, seed=seed, **fields)


def make_outcome(**changes) -> Outcome:
    fields = {
        "formula": "x",
        "recovered": True,
        "error": 0.0,
        "seconds": 0.5,
        "evaluations": 1000,
        "stopped": "exact",
    }
    return Outcome(**(fields | changes))


def make_record(trial: Trial | None = None, *, commit: str = "abc", **outcome) -> Record:
    return Record(
        trial=trial or make_trial(),
        outcome=make_outcome(**outcome),
        commit=commit,
        versions={"python": "3.11", "spl": "0.1.0"},
        machine={"cpu": "a cpu", "cores": 2, "system": "Linux"},
        settings={"eta": 0.99},
    )


def run_fake(trial: Trial) -> Outcome:
    """Return an outcome that depends only on the trial; some problems raise, are slow, or claim to be interrupted."""
    with open(os.environ[CALLS], "a") as file:
        file.write(f"{trial.problem} {trial.seed}\n")
    if trial.problem == "impossible":
        raise FormulaNotFound("No formula stays inside its domain.")
    if trial.problem == "broken":
        raise ZeroDivisionError
    if trial.problem == "slow":
        time.sleep(60)
    if trial.problem == "stopped" and trial.seed == 2:
        return make_outcome(stopped="interrupted")
    return make_outcome(formula=f"x + {trial.seed}", recovered=trial.seed % 2 == 0)


def fake_settings(trial: Trial) -> dict[str, object]:
    return {"eta": 0.5}


FAKE = Experiment(name="nguyen", run=run_fake, settings=fake_settings)
