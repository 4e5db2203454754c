"""gplearn: generations of 2,000 programs until the time is up. It fits no numbers; it draws them from -10 to 10."""

from pathlib import Path

from benchmarks.against.tools import Answer, Job

from spl.bench.gplearn import GplearnConfig, fit_gplearn, require_gplearn
from spl.bench.trials import RECORDED_DIGITS
from spl.formulas.text import to_text


def require(module: Path | None) -> None:
    require_gplearn()


def describe(job: Job) -> dict[str, object]:
    return _config_of(job).to_dict()


def solve(job: Job) -> Answer:
    found = fit_gplearn(
        job.table, job.target, names=job.variables, config=_config_of(job), seed=job.seed, timeout=job.timeout
    )
    return Answer(
        formula=to_text(found.program, RECORDED_DIGITS),
        predict=found.predict,
        n_evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


def _config_of(job: Job) -> GplearnConfig:
    const_range = (-10.0, 10.0) if job.has_constants else None
    return GplearnConfig(operators=job.operators, const_range=const_range, max_generations=None)
