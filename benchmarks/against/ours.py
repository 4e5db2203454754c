"""spl, with the settings of `spl bench nguyen`."""

from pathlib import Path

import numpy as np
from benchmarks.against.tools import Answer, Job

from spl.bench.trials import RECORDED_DIGITS, noise_of
from spl.data.dataset import Dataset
from spl.formulas.text import to_text
from spl.regression.discover import discover
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest
from spl.settings import Limits


def require(module: Path | None) -> None:
    """Nothing is missing: this is our own."""


def describe(job: Job) -> dict[str, object]:
    return job.task.config.to_dict()


def solve(job: Job) -> Answer:
    found = discover(
        RegressionRequest(
            Dataset.from_arrays(job.table, job.target, names=job.variables),
            job.task.grammar,
            config=job.task.config,
            noise=noise_of(job.task.config),
            limits=Limits(timeout=job.timeout),
            seed=job.seed,
        )
    )
    program = found.front[found.front.choose("mdl", found.n_rows, found.floor)].program
    return Answer(
        formula=to_text(program, RECORDED_DIGITS),
        predict=lambda rows: evaluate(program, np.ascontiguousarray(rows.T)),
        n_evaluations=found.n_evaluations,
        stopped=found.stopped,
    )
