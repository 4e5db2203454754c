"""Any tool that has a module as SRBench asks for: `est`, a scikit-learn regressor, and `model(est, X)`, its formula as text.

Of such a module `hyper_params` and `eval_kwargs` (with `pre_train`) are not used: the estimator runs as it stands there.
"""

import importlib.util
import inspect
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.against.tools import Answer, Job, OutOfTime
from numpy.typing import NDArray

from spl.errors import SettingError

LIMITS = ("max_time", "time_limit", "timeout", "timeout_in_seconds")  # what estimators call their time limit


def require(module: Path | None) -> None:
    _load(module)


def describe(job: Job) -> dict[str, object]:
    return {"module": str(job.module)} | {key: repr(value) for key, value in _prepare(job).get_params().items()}


def solve(job: Job) -> Answer:
    table = pd.DataFrame(job.table, columns=list(job.variables))
    estimator = _prepare(job)
    with _end_after(job.timeout):
        estimator.fit(table, job.target)

    def predict(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(estimator.predict(pd.DataFrame(rows, columns=table.columns)), dtype=np.float64).ravel()

    return Answer(
        formula=_formula(_load(job.module), estimator, table), predict=predict, n_evaluations=None, stopped="finished"
    )


def _load(path: Path | None) -> ModuleType:
    assert path is not None  # a tool of this kind always has one
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise SettingError(f"There is no Python file '{path}'. Give the path of a module with `est` and `model`.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for part in ("est", "model"):
        if not hasattr(module, part):
            raise SettingError(f"'{path}' has no `{part}`. SRBench asks for `est` and `model(est, X)`.")
    return module


def _prepare(job: Job) -> Any:
    """Return a new estimator with the seed, the time limit and one thread, as far as it has settings for them."""
    from sklearn.base import clone

    estimator = clone(_load(job.module).est)
    known = estimator.get_params()
    wanted = {"random_state": job.seed, "n_jobs": 1} | {limit: max(1, int(job.timeout)) for limit in LIMITS}
    return estimator.set_params(**{key: value for key, value in wanted.items() if key in known})


def _formula(module: ModuleType, estimator: Any, table: pd.DataFrame) -> str:
    takes_table = "X" in inspect.signature(module.model).parameters
    return str(module.model(estimator, table) if takes_table else module.model(estimator))


@contextmanager
def _end_after(seconds: float) -> Iterator[None]:
    """End what runs inside at the time limit, as SRBench does: by an alarm, which Python sees between two of its own steps."""
    if not hasattr(signal, "setitimer"):
        raise SettingError("Time limits of SRBench modules need alarm signals, which this system does not have.")

    def end(*_: object) -> None:
        raise OutOfTime(f"No answer within {seconds:g} s.")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
