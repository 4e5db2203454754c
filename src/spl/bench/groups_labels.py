"""The part `random-labels` of `spl bench groups`: groups that mean nothing. No number must become own."""

import numpy as np

from spl.bench.groups_fit import fit_groups
from spl.bench.structure import has_structure_of_law
from spl.bench.trials import OURS, Outcome, Trial
from spl.datasets.grouped_tables import GroupedTable
from spl.datasets.small_laws import SMALL_LAWS, load_small_law, measure_small_law

N_TABLES_PER_LAW = 5
LABEL_COUNTS = (2, 3, 5, 10, 20)  # groups, in turn
N_LABELLED_ROWS = 100
N_TEST_ROWS = 1_000
_TEST_SEED = 999  # of the exact rows by which formulas are judged; no table has it


def labels_trials(seed: int, timeout: float | None) -> list[Trial]:
    """Return the trials: five tables of each of twenty laws, with noise of 10 %."""
    return [
        Trial(
            experiment="groups",
            setting=f"part=random-labels groups={LABEL_COUNTS[number]}",
            tool=OURS,
            problem=f"{law.name}-{number}",
            seed=seed,
            timeout=timeout,
        )
        for law in SMALL_LAWS
        for number in range(N_TABLES_PER_LAW)
    ]


def run_labels(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search a table; recovered, if no number is own."""
    law = load_small_law(trial.problem.rpartition("-")[0])
    random = np.random.default_rng([trial.seed, *trial.problem.encode()])
    table = law.draw_rows(random, N_LABELLED_ROWS)
    target = measure_small_law(law, random, table)
    labels = np.array([f"group {code}" for code in random.integers(int(values["groups"]), size=N_LABELLED_ROWS)])
    data = GroupedTable(table=table, target=target, exact=law.truth_at(table), labels={"group": labels}, own={})
    found = fit_groups(law.variables, data, seed=trial.seed, timeout=trial.timeout)
    rows = law.draw_rows(np.random.default_rng(_TEST_SEED), N_TEST_ROWS)
    return Outcome(
        formula=found.formula,
        recovered=not found.own,
        error=None,
        seconds=found.seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
        details={
            "own": {number.name: number.grouping for number in found.own},
            "is_law": not found.own and has_structure_of_law(found.program, rows, law.truth_at(rows)),
            "notes": list(found.notes),
            "cpu_seconds": round(found.cpu_seconds, 2),
        },
    )
