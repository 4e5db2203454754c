"""The part `rivals` of `spl bench trust`: where the chosen formula is wrong, is the law among its rivals?

Twenty simple laws, 15 rows and 10 % noise: too little to be sure of the law. A formula is the law if it is correct except for the
values of its numbers, which `structure` checks on 1,000 rows that the search never saw.
"""

from collections.abc import Sequence
from typing import Any

from spl.bench.small_tables import SmallFit, SmallTable, fit_small_table
from spl.bench.trials import OURS, RECORDED_DIGITS, Outcome, Trial
from spl.datasets.small_laws import SMALL_LAW_NAMES
from spl.formulas.text import to_text
from spl.regression.rivals import find_rivals


def rivals_trials(timeout: float | None, seeds: Sequence[int]) -> list[Trial]:
    """Return the trials, seed by seed."""
    return [
        Trial(experiment="trust", setting="part=rivals", tool=OURS, problem=name, seed=seed, timeout=timeout)
        for seed in seeds
        for name in SMALL_LAW_NAMES
    ]


def run_rivals(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search a table; recovered, if the law is the chosen formula or one of its rivals."""
    found = fit_small_table(SmallTable.of(trial), trial)
    details = describe_rivals(found)
    return Outcome(
        formula=to_text(found.program, RECORDED_DIGITS),
        recovered=details["is_right"] or details["nats_of_law"] is not None,
        error=None,
        seconds=found.seconds,
        evaluations=found.model.discovery_.n_evaluations,
        stopped=found.model.discovery_.stopped,
        details=details,
    )


def describe_rivals(found: SmallFit) -> dict[str, Any]:
    """Return whether the chosen formula is the law, and where among the rivals the law is."""
    model = found.model
    rivals = find_rivals(model.discovery_, model.best_index_, model._rows_of_fit())
    law = next((rival for rival in rivals if found.is_law(rival.candidate.program)), None)
    return {
        "is_right": found.is_law(found.program),
        "rivals": len(rivals),
        "weight_of_best": 1.0 - sum(rival.weight for rival in rivals),
        "nats_of_law": None if law is None else law.nats,
        "rank_of_law": None if law is None else rivals.index(law),
        "weight_of_law": None if law is None else law.weight,
    }
