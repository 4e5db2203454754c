"""Trials and results of each experiment, made up for the tests."""

import numpy as np
from tests.bench.fakes import make_record, make_trial

from spl.bench.lorenz import SIMULATED, TRUTH
from spl.bench.records import Record
from spl.bench.trials import Trial
from spl.datasets import SAMPLED_SYSTEMS, SYSTEMS


def balls_trial(setting="drag: drop 1", tool="spl", ball="Golf Ball", **changes):
    return make_trial(ball, **({"experiment": "balls", "setting": setting, "tool": tool, "timeout": 5.0} | changes))


def lorenz_trial(problem=SIMULATED, noise=0.05, **changes):
    fields = {"experiment": "lorenz", "setting": f"noise={noise:g} threads=2", "timeout": 60.0}
    return make_trial(problem, **(fields | changes))


def parts_trial(setting, problem="Nguyen-1", **changes):
    return make_trial(problem, **({"experiment": "parts", "setting": setting, "timeout": 5.0} | changes))


def pendulum_trial(target="domega1", **changes):
    return make_trial(target, **({"experiment": "pendulum", "setting": "prepared", "timeout": 30.0} | changes))


PENDULUM_TRUTH = {
    "domega1": "-0.1*domega2*cos(theta1 - theta2) - 0.1*omega2**2*sin(theta1 - theta2) - 69*sin(theta1)",
    "domega2": "-1.4*domega1*cos(theta1 - theta2) + 1.4*omega1**2*sin(theta1 - theta2) - 93*sin(theta2)",
}


def make_pendulum_rows(n_rows, seed, noise=1.0):
    """Return moments that follow the ideal equations, apart from noise in the accelerations."""
    random = np.random.default_rng(seed)
    theta, omega = random.uniform(-3, 3, (n_rows, 2)), random.normal(0, 8, (n_rows, 2))
    difference = theta[:, 0] - theta[:, 1]
    cosine, sine = np.cos(difference), np.sin(difference)
    forces = np.column_stack(
        [
            -0.1 * omega[:, 1] ** 2 * sine - 69 * np.sin(theta[:, 0]),
            1.4 * omega[:, 0] ** 2 * sine - 93 * np.sin(theta[:, 1]),
        ]
    )
    first = (forces[:, 0] - 0.1 * cosine * forces[:, 1]) / (1 - 0.14 * cosine**2)
    second = forces[:, 1] - 1.4 * cosine * first
    return np.column_stack([theta, omega, first, second]) + random.normal(0, noise, (n_rows, 6)) * [0, 0, 0, 0, 1, 1]


def systems_trial(problem="van_der_pol", noise=0.01, **changes):
    fields = {"experiment": "systems", "setting": f"noise={noise:g} threads=2", "timeout": 60.0}
    return make_trial(problem, **(fields | changes))


SYSTEM_TRUTHS = {name: "; ".join(make(50, noise=0.0).equations.values()) for name, make in SYSTEMS.items()}


def sampling_trial(problem="brusselator", samples=10, noise=0.0, **changes):
    fields = {"experiment": "sampling", "setting": f"samples={samples} noise={noise:g}", "timeout": 60.0}
    return make_trial(problem, **(fields | changes))


SAMPLED_TRUTHS = {name: "; ".join(system.sample(2).equations.values()) for name, system in SAMPLED_SYSTEMS.items()}
TRUTHS = {"systems": SYSTEM_TRUTHS, "sampling": SAMPLED_TRUTHS}  # of experiments with systems


def make_systems_record(trial, **outcome):
    record = make_record(trial, **outcome)
    truth = TRUTHS[trial.experiment][trial.problem].split("; ")
    return Record(
        trial=record.trial, outcome=record.outcome, commit=record.commit, versions=record.versions,
        machine=record.machine, settings={"truth": truth},
    )  # fmt: skip


def make_result(trial: Trial) -> Record:
    """Return a record of a trial in which everything was found."""
    if trial.experiment in TRUTHS:
        return make_systems_record(trial, formula=TRUTHS[trial.experiment][trial.problem])
    formulas = {"lorenz": TRUTH, "pendulum": PENDULUM_TRUTH.get(trial.problem)}
    return make_record(trial, formula=formulas.get(trial.experiment, "x"))
