"""The part `chance` of `spl bench trust`: are columns without a law called so, and only these?

A quarter of the rows is held out. A table counts as called so if a note says that the columns do not explain the target: because a
constant describes it best, or because the chosen formula is no better than chance on the held-out rows.
"""

import time
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from spl.bench.trials import OURS, RECORDED_DIGITS, Outcome, Trial
from spl.data.dataset import Dataset
from spl.data.hold_out import hold_out
from spl.datasets.law_tables import TABLE_VARIANTS, make_law_table
from spl.datasets.laws import LAWS, load_law
from spl.datasets.unrelated import make_unrelated
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.text import to_text
from spl.noise.models import AUTO
from spl.regression.discover import discover
from spl.regression.doubts import UNCONFIRMED, UNEXPLAINED
from spl.regression.request import RegressionRequest
from spl.settings import Limits

HELD_OUT_SHARE = 0.25
SECONDS = 5.0  # per search, unless there is a time limit
N_UNRELATED = 100  # tables without a law
N_LAW_SEEDS = 5  # tables of each law
SMALLEST_TABLE, LARGEST_TABLE = 20, 200  # rows of a table with a law
NO_LAW, A_LAW = "no", "yes"
CHANCE_KINDS = ("normal", "relative", "student", "poisson")  # of targets without a law, in turn


def chance_trials(timeout: float | None, seeds: Sequence[int]) -> list[Trial]:
    """Return the trials: tables without a law, and as many with one. Each seed has tables of its own."""
    return [
        Trial(
            experiment="trust",
            setting=f"part=chance law={law}",
            tool=OURS,
            problem=problem,
            seed=seed,
            timeout=SECONDS if timeout is None else timeout,
        )
        for seed in seeds
        for problem, law in (*_name_unrelated(seed), *_name_laws(seed))
    ]


def _name_unrelated(seed: int) -> Iterator[tuple[str, str]]:
    for number in range(N_UNRELATED * seed, N_UNRELATED * (seed + 1)):
        yield f"unrelated-{number:03d}", NO_LAW


def _name_laws(seed: int) -> Iterator[tuple[str, str]]:
    for law in LAWS:
        for number in range(N_LAW_SEEDS * seed, N_LAW_SEEDS * (seed + 1)):
            yield f"{law.name}-{number}", A_LAW


def run_chance(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search a table; recovered, if it is called without a law just when it has none."""
    table, target = _make_table(trial, has_law=values.get("law") == A_LAW)
    data, held_out = hold_out(Dataset.from_arrays(table, target), HELD_OUT_SHARE, trial.seed)
    request = RegressionRequest(
        data,
        Grammar.from_operators(DEFAULT_OPERATORS, data.names),
        limits=Limits(timeout=trial.timeout),
        noise=AUTO,
        seed=trial.seed,
        held_out=held_out,
    )
    began = time.perf_counter()
    found = discover(request)
    seconds = time.perf_counter() - began
    verdict = found.held_out
    assert verdict is not None
    is_constant = UNEXPLAINED in found.notes
    is_called_so = is_constant or any(note.startswith(UNCONFIRMED) for note in found.notes)
    return Outcome(
        formula=to_text(found.front[found.choose("mdl")].program, RECORDED_DIGITS),
        recovered=is_called_so != (values.get("law") == A_LAW),
        error=None,
        seconds=seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
        details={
            "rows": data.n_rows,
            "held_out": verdict.n_rows,
            "constant_is_best": is_constant,
            "is_explained": verdict.is_explained,
            "chance": verdict.chance,
            "preferred": verdict.preferred,
        },
    )


def _make_table(trial: Trial, *, has_law: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the columns [N, D] and the target [N] of a trial."""
    name, number = trial.problem.rsplit("-", 1)
    if not has_law:
        return make_unrelated(int(number), CHANCE_KINDS[int(number) % len(CHANCE_KINDS)])
    random = np.random.default_rng([trial.seed, int(number), *name.encode()])
    n_rows = round(np.exp(random.uniform(np.log(SMALLEST_TABLE), np.log(LARGEST_TABLE))))
    variant = TABLE_VARIANTS[int(number) % len(TABLE_VARIANTS)]
    rows = make_law_table(load_law(name), variant, seed=int(number), n_rows=n_rows)
    return rows.table, rows.target
