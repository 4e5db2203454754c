"""The part `suggest` of `spl bench trust`: is the law found more often with five suggested points than with five random ones?

A table of the part `rivals` gets five more rows, measured at suggested or random points within the ranges of the law, and is searched
again. Whether the law was found before is told by the trials with suggested points, which begin with a search.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spl.bench.small_tables import SmallFit, SmallTable, fit_small_table, make_random
from spl.bench.trials import OURS, RECORDED_DIGITS, Outcome, Trial
from spl.datasets.small_laws import SMALL_LAW_NAMES
from spl.errors import DoubtfulResult, SettingError
from spl.formulas.text import to_text

N_MORE_ROWS = 5
SUGGESTED, RANDOM = "suggested", "random"


def suggest_trials(timeout: float | None, seeds: Sequence[int]) -> list[Trial]:
    """Return the trials, seed by seed, suggested and random points in turn."""
    return [
        Trial(
            experiment="trust",
            setting=f"part=suggest points={points}",
            tool=OURS,
            problem=name,
            seed=seed,
            timeout=timeout,
        )
        for seed in seeds
        for name in SMALL_LAW_NAMES
        for points in (SUGGESTED, RANDOM)
    ]


def run_suggest(trial: Trial, values: dict[str, str]) -> Outcome:
    """Measure more points of a table, and search it; recovered, if the chosen formula is the law."""
    rows = SmallTable.of(trial)
    if values.get("points") == SUGGESTED:
        first = fit_small_table(rows, trial)
        points = _suggest(first)
        before = {"was_right": first.is_law(first.program), "first": to_text(first.program, RECORDED_DIGITS)}
    elif values.get("points") == RANDOM:
        points, before = rows.law.draw_rows(make_random(trial, 1), N_MORE_ROWS), {}
    else:
        raise SettingError(f"'{trial.setting}' is not a setting of trust. Write: part=suggest points={SUGGESTED}")
    found = fit_small_table(rows.measure(points, make_random(trial, 2)), trial)
    return Outcome(
        formula=to_text(found.program, RECORDED_DIGITS),
        recovered=found.is_law(found.program),
        error=None,
        seconds=found.seconds,
        evaluations=found.model.discovery_.n_evaluations,
        stopped=found.model.discovery_.stopped,
        details=before,
    )


def _suggest(first: SmallFit) -> NDArray[np.float64]:
    """Return suggested points [n, D] within the ranges of the law."""
    bounds = {name: (each.low, each.high) for name, each in first.law.ranges.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # there may be no rivals
        return np.asarray(first.model.suggest(N_MORE_ROWS, bounds))
