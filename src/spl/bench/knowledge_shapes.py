"""The part `shapes` of `spl bench knowledge`: how far off a formula is outside of the data, with and without statements on its shape.

Each law is searched twice on the same few noisy rows: without knowledge, and with statements that hold where it is asked. What counts
is the error on rows far outside of the data, without noise.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from spl.bench.trials import OURS, Outcome, Trial
from spl.datasets.shaped_laws import SHAPED_LAWS, ShapedLaw
from spl.errors import FormulaNotFound
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.knowledge.knowledge import Judge, Knowledge
from spl.noise.models import AUTO
from spl.regression.discover import discover
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest
from spl.settings import Limits

SHAPES_EVALUATIONS = 20_000  # per search, unless a time limit is given
GOOD_ERROR = 0.1  # of the spread of the law outside of the data: a formula with a smaller error extrapolates well
FORMULA_DIGITS = 5


def shapes_trials(timeout: float | None, seeds: Sequence[int]) -> list[Trial]:
    """Return the trials: every law without and with what is known of it.

    Examples:
        >>> [trial.setting for trial in shapes_trials(None, (0,))][:2]
        ['part=shapes know=no', 'part=shapes know=yes']
    """
    return [
        Trial(
            experiment="knowledge",
            setting=f"part=shapes know={know}",
            tool=OURS,
            problem=name,
            seed=seed,
            timeout=timeout,
        )
        for name in SHAPED_LAWS
        for seed in seeds
        for know in ("no", "yes")
    ]


def run_shapes(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search a table of a law, and ask the chosen formula outside of the data."""
    law = SHAPED_LAWS[trial.problem]
    data = law.table(trial.seed)
    knowledge = Knowledge.read(law.knowledge, law.columns, law.target, asked_bounds(law))
    request = RegressionRequest(
        data,
        Grammar.from_operators(DEFAULT_OPERATORS, law.columns),
        target=law.target,
        limits=Limits(timeout=trial.timeout, max_evaluations=SHAPES_EVALUATIONS if trial.timeout is None else None),
        seed=trial.seed,
        noise=AUTO,
        knowledge=knowledge if values["know"] == "yes" else None,
    )
    began = time.perf_counter()
    try:
        found = discover(request)
    except FormulaNotFound as failure:
        seconds = time.perf_counter() - began
        return Outcome(
            formula="",
            recovered=False,
            error=None,
            seconds=seconds,
            evaluations=None,
            stopped="nothing found",
            details={"why": str(failure)},
        )
    program = found.front[found.choose("mdl")].program
    error = error_beyond(law, program)
    verdicts = Judge(knowledge, data).judge(program)
    details: dict[str, Any] = {
        "error_inside": _relative_error(evaluate(program, data.columns), law.values(data.columns)),
        "shapes": {verdict.statement: verdict.status for verdict in verdicts},
        "notes": list(found.notes),
    }
    return Outcome(
        formula=to_text(program, FORMULA_DIGITS),
        recovered=error < GOOD_ERROR,
        error=error if math.isfinite(error) else None,
        seconds=time.perf_counter() - began,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
        details=details,
    )


def asked_bounds(law: ShapedLaw) -> dict[str, tuple[float, float]]:
    """Return the ranges in which the statements hold: where the law is measured, and where it is asked.

    Examples:
        >>> asked_bounds(SHAPED_LAWS["saturation"])
        {'s': (0.2, 12.0)}
    """
    bounds = {}
    for name, (low, high) in law.measured.items():
        least, most = law.beyond.get(name, (low, high))
        bounds[name] = min(low, least), max(high, most)
    return bounds


def error_beyond(law: ShapedLaw, program: Program) -> float:
    """Return the root mean square error of a formula outside of the data, as a share of the spread of the law there."""
    columns, truth = law.rows_beyond()
    return _relative_error(evaluate(program, columns), truth)


def _relative_error(values: np.ndarray, truth: np.ndarray) -> float:
    """Return the root mean square error as a share of the spread of the truth; infinite where a value is missing."""
    with np.errstate(all="ignore"):
        error = float(np.sqrt(np.mean((values - truth) ** 2)) / truth.std())
    return error if math.isfinite(error) else math.inf
