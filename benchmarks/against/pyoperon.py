"""pyoperon: its defaults but for the number of optimiser steps, until the time is up.

Every variable has a fitted coefficient in operon, and the whole formula a scale and an offset, also where the others may use no
numbers. It computes in single precision.
"""

import importlib.metadata
from pathlib import Path

import numpy as np
from benchmarks.against.tools import Answer, Job

from spl.errors import SplError

MISSING = 'pyoperon is not installed. To compare with it: pip install "symbolic-physics-learner[against]"'
SYMBOLS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}  # all others have the same name as ours
OPTIMIZER_ITERATIONS = 5  # its default is 0, which leaves coefficients as they are drawn
NO_LIMIT = 10**12  # only time ends a run
DECIMALS = 9


def require(module: Path | None) -> None:
    try:
        import pyoperon.sklearn  # noqa: F401
    except ImportError:
        raise SplError(MISSING) from None


def describe(job: Job) -> dict[str, object]:
    return _settings(job) | {"pyoperon": importlib.metadata.version("pyoperon")}


def _settings(job: Job) -> dict[str, object]:
    symbols = [SYMBOLS.get(operator, operator) for operator in job.operators]
    leaves = ["constant", "variable"] if job.has_constants else ["variable"]
    return {
        "allowed_symbols": ",".join([*symbols, *leaves]),
        "optimizer_iterations": OPTIMIZER_ITERATIONS,
        "generations": NO_LIMIT,
        "max_evaluations": NO_LIMIT,
        "max_time": max(1, int(job.timeout)),  # whole seconds
        "n_threads": 1,
    }


def solve(job: Job) -> Answer:
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(**_settings(job), random_state=job.seed).fit(job.table, job.target)
    return Answer(
        formula=model.get_model_string(model.model_, precision=DECIMALS, names=list(job.variables)),
        predict=lambda rows: np.asarray(model.predict(rows), dtype=np.float64),
        n_evaluations=model.stats_["evaluation_count"],
        stopped="timeout",
    )
