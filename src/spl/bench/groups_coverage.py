"""The part `coverage` of `spl bench groups`: how often 95 % intervals of own and shared numbers hold the truth.

The true formula is fitted to many simulated tables, without a search: intervals hold if the formula is right.
"""

import time

import numpy as np

from spl.bench.trials import OURS, Outcome, Trial
from spl.bench.trust_coverage import LEAST_COVERAGE, MOST_COVERAGE
from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.datasets.grouped_laws import GroupedLaw, load_grouped_law
from spl.datasets.grouped_tables import GroupedTable, make_grouped_table
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.groups.fit import LAST_JOINT_EFFORT, fit_jointly
from spl.groups.formula import GroupedFormula
from spl.groups.own_rows import know_numbers_of
from spl.groups.rows import GroupedRows

COVERED_LAWS = ("electrode", "allometry", "cooling", "freundlich", "motor", "tide", "harvest")
COVERED_NOISE_LEVELS = (0.01, 0.1)
N_COVERED = 200  # tables per law and level of noise
N_COVERED_GROUPS = 10
COVERED_ROWS = (5, 30)  # rows per group
KINDS = ("shared", "own")


def coverage_trials(seed: int, timeout: float | None) -> list[Trial]:
    """Return the trials: each is about many tables."""
    return [
        Trial(
            experiment="groups",
            setting=f"part=coverage noise={noise:g} rows={n_rows}",
            tool=OURS,
            problem=name,
            seed=seed,
            timeout=timeout,
        )
        for name in COVERED_LAWS
        for noise in COVERED_NOISE_LEVELS
        for n_rows in COVERED_ROWS
    ]


def run_coverage(trial: Trial, values: dict[str, str]) -> Outcome:
    """Measure the coverage of a law; recovered, if that of own and shared numbers is as it should be."""
    law, noise, n_rows = load_grouped_law(trial.problem), float(values["noise"]), int(values["rows"])
    began = time.perf_counter()
    counts = np.zeros((2, len(KINDS)), np.int64)
    for number in range(N_COVERED):
        data = make_grouped_table(law, N_COVERED_GROUPS, n_rows, noise=noise, seed=N_COVERED * trial.seed + number)
        counts += count_held(law, data)
    shares = {kind: round(float(held / total), 4) for kind, held, total in zip(KINDS, *counts, strict=True) if total}
    return Outcome(
        formula=law.expression,
        recovered=all(LEAST_COVERAGE <= share <= MOST_COVERAGE for share in shares.values()),
        error=None,
        seconds=time.perf_counter() - began,
        evaluations=None,
        stopped="done",
        details={"coverage": shares, "tables": N_COVERED},
    )


def count_held(law: GroupedLaw, data: GroupedTable) -> np.ndarray:
    """Return how many intervals of a table hold the truth, and how many there are, of shared and of own numbers [2, 2]."""
    program, truth = _true_program(law)
    groupings = tuple(Grouping.from_labels(data.labels[name], name) for name in law.groupings)
    rows = GroupedRows(Dataset.from_arrays(data.table, data.target, names=law.variables), groupings)
    scopes = tuple(law.groupings.index(number.grouping) for number in law.own)
    own = {
        name: _value_of_groups(data, name, groupings[scope]) for name, scope in zip(law.own_names, scopes, strict=True)
    }
    fitted = fit_jointly(
        GroupedFormula(program, scopes, tuple(own.values()), len(law.variables)), rows, LAST_JOINT_EFFORT
    )
    counts = np.zeros((2, 2), np.int64)
    if fitted is None:
        return counts
    numbers = know_numbers_of(fitted.candidate(rows), rows.data, groupings)
    names = dict(zip((each.name for each in fitted.candidate(rows).own), law.own_names, strict=True))
    true_shared = iter(truth)
    for number in numbers:
        if number.name:
            scope = law.own_names.index(names[number.name])
            place = groupings[scopes[scope]].labels.index(number.group)
            value, kind = float(own[names[number.name]][place]), 1
        else:
            value, kind = abs(next(true_shared)), 0
        low, high = (number.lower, number.upper) if kind else sorted(map(abs, (number.lower, number.upper)))
        counts[:, kind] += (low <= value <= high, 1)
    return counts


def _true_program(law: GroupedLaw) -> tuple[Program, tuple[float, ...]]:
    """Return the law with its shared numbers as constants, and their values."""
    program = literals_to_constants(parse_expression(law.expression, Vocabulary((*law.variables, *law.own_names))))
    return program, program.constants


def _value_of_groups(data: GroupedTable, name: str, grouping: Grouping) -> np.ndarray:
    """Return the true value of an own number for each group."""
    values = np.empty(grouping.n_groups)
    values[grouping.codes] = data.own[name]
    return values
