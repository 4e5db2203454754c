"""pyoperon: formulas until the time is up. It fits coefficients also where the others may use no numbers."""

from pathlib import Path

from benchmarks.against.tools import Answer, Job

from spl.bench.pyoperon import PyoperonConfig, fit_pyoperon, require_pyoperon


def require(module: Path | None) -> None:
    require_pyoperon()


def describe(job: Job) -> dict[str, object]:
    return _config_of(job).to_dict()


def solve(job: Job) -> Answer:
    found = fit_pyoperon(job.table, job.target, names=job.variables, config=_config_of(job), seed=job.seed)
    return Answer(formula=found.formula, predict=found.predict, n_evaluations=found.n_evaluations, stopped="timeout")


def _config_of(job: Job) -> PyoperonConfig:
    return PyoperonConfig(operators=job.operators, timeout=job.timeout, has_constants=job.has_constants)
