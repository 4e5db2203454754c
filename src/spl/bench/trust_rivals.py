"""The part `rivals` of `spl bench trust`: where the chosen formula is wrong, is the law among its rivals?

Twenty simple laws, 15 rows and 10 % noise: too little to be sure of the law. A formula is the law if it is correct except for the
values of its numbers, which `structure` checks on 1,000 rows that the search never saw.
"""

from collections.abc import Sequence

from spl.bench.small_tables import SmallTable, fit_small_table
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
    model, program = found.model, found.program
    rivals = find_rivals(model.discovery_, model.best_index_, model._rows_of_fit())
    is_right = found.is_law(program)
    law = next((rival for rival in rivals if found.is_law(rival.candidate.program)), None)
    return Outcome(
        formula=to_text(program, RECORDED_DIGITS),
        recovered=is_right or law is not None,
        error=None,
        seconds=found.seconds,
        evaluations=model.discovery_.n_evaluations,
        stopped=model.discovery_.stopped,
        details={
            "is_right": is_right,
            "rivals": len(rivals),
            "weight_of_best": 1.0 - sum(rival.weight for rival in rivals),
            "nats_of_law": None if law is None else law.nats,
            "rank_of_law": None if law is None else rivals.index(law),
            "weight_of_law": None if law is None else law.weight,
        },
    )
