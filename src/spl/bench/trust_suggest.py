"""The part `suggest` of `spl bench trust`: is the law found more often with five suggested points than with five random ones?

Where the formula of a table of the part `rivals` is wrong, the table gets five more rows, measured at suggested or at random points
within the ranges of the law, and both tables are searched again.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.bench.small_tables import SmallFit, SmallTable, fit_small_table, make_random
from spl.bench.trials import OURS, RECORDED_DIGITS, Outcome, Trial
from spl.bench.trust_rivals import describe_rivals
from spl.datasets.small_laws import SMALL_LAW_NAMES
from spl.errors import DoubtfulResult
from spl.formulas.text import to_text

N_MORE_ROWS = 5


def suggest_trials(timeout: float | None, seeds: Sequence[int]) -> list[Trial]:
    """Return the trials, seed by seed."""
    return [
        Trial(experiment="trust", setting="part=suggest", tool=OURS, problem=name, seed=seed, timeout=timeout)
        for seed in seeds
        for name in SMALL_LAW_NAMES
    ]


def run_suggest(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search a table, and if the formula is wrong, measure more points and search again; recovered, if the law is found in the end."""
    rows = SmallTable.of(trial)
    first = fit_small_table(rows, trial)
    details: dict[str, Any] = describe_rivals(first) | {"first": to_text(first.program, RECORDED_DIGITS)}
    last = first
    if not details["is_right"]:
        last = fit_small_table(rows.measure(_suggest(first), make_random(trial, 2)), trial)
        points = rows.law.draw_rows(make_random(trial, 1), N_MORE_ROWS)
        other = fit_small_table(rows.measure(points, make_random(trial, 2)), trial)
        details |= {
            "with_random": to_text(other.program, RECORDED_DIGITS),
            "random_is_right": other.is_law(other.program),
        }
    return Outcome(
        formula=to_text(last.program, RECORDED_DIGITS),
        recovered=last.is_law(last.program),
        error=None,
        seconds=last.seconds,
        evaluations=last.model.discovery_.n_evaluations,
        stopped=last.model.discovery_.stopped,
        details=details,
    )


def _suggest(first: SmallFit) -> NDArray[np.float64]:
    """Return suggested points [n, D] within the ranges of the law."""
    bounds = {name: (each.low, each.high) for name, each in first.law.ranges.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # there may be no rivals
        return np.asarray(first.model.suggest(N_MORE_ROWS, bounds))
