"""The parts `laws`, `pairs` and `sizes` of `spl bench groups`: laws with own numbers, searched with the defaults.

Beside each search with groups, the rows of one group alone are searched, by the defaults too.
"""

import resource
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from spl.bench.groups_fit import GroupedFit, fit_groups, fit_one_group
from spl.bench.groups_structure import has_right_sharing, is_grouped_law
from spl.bench.random import is_law, unexplained_error
from spl.bench.trials import OURS, RECORDED_DIGITS, Outcome, Trial
from spl.datasets.grouped_laws import GROUPED_LAWS, PAIRED_LAWS, SIZED_LAWS, load_grouped_law
from spl.datasets.grouped_tables import (
    N_GROUPS,
    N_UNSEEN_GROUP_ROWS,
    GroupedTable,
    make_grouped_table,
    make_grouped_test,
)
from spl.formulas.text import to_text

GROUPS_NOISE_LEVELS = (0.0, 0.01, 0.1)  # as shares of the root mean square of the exact values
SIZES = (3, 100, 1_000)  # groups
SIZED_NOISE_LEVELS = (0.0, 0.01)
ALL_GROUPS, ONE_GROUP = "groups", "one"  # which rows are searched
N_ALONE_TEST_ROWS = 1_000
_BYTES_PER_KIB, _BYTES_PER_MB = 1024, 1e6


def laws_trials(seed: int, timeout: float | None) -> list[Trial]:
    """Return the trials of the part `laws`: each with all groups, then with one group alone."""
    return [
        _make_trial(f"part=laws noise={noise:g} data={data}", law.name, seed, timeout)
        for law in GROUPED_LAWS
        for noise in GROUPS_NOISE_LEVELS
        for data in (ALL_GROUPS, ONE_GROUP)
    ]


def pairs_trials(seed: int, timeout: float | None) -> list[Trial]:
    """Return the trials of the part `pairs`: laws with two groupings."""
    return [
        _make_trial(f"part=pairs noise={noise:g} data={ALL_GROUPS}", law.name, seed, timeout)
        for law in PAIRED_LAWS
        for noise in GROUPS_NOISE_LEVELS
    ]


def sizes_trials(seed: int, timeout: float | None) -> list[Trial]:
    """Return the trials of the part `sizes`."""
    return [
        _make_trial(f"part=sizes noise={noise:g} groups={n_groups}", name, seed, timeout)
        for name in SIZED_LAWS
        for noise in SIZED_NOISE_LEVELS
        for n_groups in SIZES
    ]


def _make_trial(setting: str, problem: str, seed: int, timeout: float | None) -> Trial:
    return Trial(experiment="groups", setting=setting, tool=OURS, problem=problem, seed=seed, timeout=timeout)


def run_laws(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search a law; recovered, if the law was found with the right numbers shared."""
    run = _run_alone if values["data"] == ONE_GROUP else _run_groups
    return run(trial, float(values["noise"]), N_GROUPS)


def run_sizes(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search a law in a process of its own, whose peak memory is recorded."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_run_measured, trial, float(values["noise"]), int(values["groups"])).result()


def _run_measured(trial: Trial, noise: float, n_groups: int) -> Outcome:
    from spl.regression.warm_up import warm_up

    warm_up()
    outcome = _run_groups(trial, noise, n_groups)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _BYTES_PER_KIB
    outcome.details["megabytes"] = round(peak / _BYTES_PER_MB)
    return outcome


def _run_groups(trial: Trial, noise: float, n_groups: int) -> Outcome:
    law = load_grouped_law(trial.problem)
    data = make_grouped_table(law, n_groups, noise=noise, seed=trial.seed)
    unseen = make_grouped_test(law, n_groups, seed=trial.seed)
    found = fit_groups(law.variables, data, seed=trial.seed, timeout=trial.timeout)
    predicted = found.predict(unseen)
    return Outcome(
        formula=found.formula,
        recovered=is_grouped_law(found.program, found.own, predicted, law, unseen, is_noisy=noise > 0),
        error=unexplained_error(predicted, unseen.exact),
        seconds=found.seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
        details=_describe(found) | {"right_sharing": has_right_sharing(found.own, law)},
    )


def _describe(found: GroupedFit) -> dict[str, object]:
    own = {number.name: number.grouping for number in found.own}
    return {"own": own, "notes": list(found.notes), "cpu_seconds": round(found.cpu_seconds, 2)}


def _run_alone(trial: Trial, noise: float, n_groups: int) -> Outcome:
    """Search the rows of the first group; recovered, if the law was found with the numbers of this group."""
    law = load_grouped_law(trial.problem)
    data = make_grouped_table(law, n_groups, noise=noise, seed=trial.seed)
    rows = data.rows_of(law.groupings[0], data.labels[law.groupings[0]][0])
    found = fit_one_group(law.variables, data.table[rows], data.target[rows], seed=trial.seed, timeout=trial.timeout)
    table = law.draw_rows(np.random.default_rng([trial.seed, N_UNSEEN_GROUP_ROWS]), N_ALONE_TEST_ROWS)
    own = {name: np.full(N_ALONE_TEST_ROWS, values[rows][0]) for name, values in data.own.items()}
    truth = law.truth_at(table, own)
    return Outcome(
        formula=to_text(found.program, RECORDED_DIGITS),
        recovered=is_law(found.program, table, truth, is_noisy=noise > 0),
        error=unexplained_error(
            found.predict(GroupedTable(table=table, target=truth, exact=truth, labels={}, own=own)), truth
        ),
        seconds=found.seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
        details=_describe(found),
    )
