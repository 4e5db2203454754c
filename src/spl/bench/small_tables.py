"""Small noisy tables of simple laws, and searches on them: what the parts `rivals` and `suggest` of `spl bench trust` share."""

import time
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spl.bench.structure import has_structure_of_law
from spl.bench.trials import Trial
from spl.datasets.small_laws import N_SMALL_ROWS, SmallLaw, load_small_law, measure_small_law
from spl.errors import DoubtfulResult
from spl.estimators.regressor import SPLRegressor
from spl.formulas.program import Program

MAX_EVALUATIONS = 10_000  # of each search: a count, so that results repeat
N_TEST_ROWS = 1_000
TEST_SEED = 999  # of the exact rows by which formulas are judged; no table has it


@dataclass(frozen=True, slots=True, eq=False)
class SmallTable:
    """A table of a law as it was measured."""

    law: SmallLaw
    table: NDArray[np.float64]  # [N, D]
    target: NDArray[np.float64]  # [N]

    @classmethod
    def of(cls, trial: Trial) -> "SmallTable":
        """Return the table of a trial: the law is its problem."""
        law, random = load_small_law(trial.problem), make_random(trial, 0)
        table = law.draw_rows(random, N_SMALL_ROWS)
        return cls(law, table, measure_small_law(law, random, table))

    def measure(self, points: NDArray[np.float64], random: np.random.Generator) -> "SmallTable":
        """Return the table with more rows, measured at these points [n, D]."""
        values = measure_small_law(self.law, random, points)
        return SmallTable(self.law, np.vstack([self.table, points]), np.concatenate([self.target, values]))


@dataclass(frozen=True, slots=True, eq=False)
class SmallFit:
    """A search on a small table."""

    model: SPLRegressor
    law: SmallLaw
    seconds: float

    @property
    def program(self) -> Program:
        """The formula that it chose."""
        return self.model.discovery_.front[self.model.best_index_].program

    def is_law(self, program: Program) -> bool:
        """Return whether a formula is the law, but for the values of its numbers."""
        rows = self.law.draw_rows(np.random.default_rng(TEST_SEED), N_TEST_ROWS)
        return has_structure_of_law(program, rows, self.law.truth_at(rows))


def fit_small_table(rows: SmallTable, trial: Trial) -> SmallFit:
    """Search a table with the defaults."""
    model = SPLRegressor(max_evaluations=MAX_EVALUATIONS, timeout=trial.timeout, n_jobs=1, random_state=trial.seed)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)
        model.fit(pd.DataFrame(rows.table, columns=list(rows.law.variables)), rows.target)
    return SmallFit(model, rows.law, time.perf_counter() - began)


def make_random(trial: Trial, use: int) -> np.random.Generator:
    """Return the random numbers of a trial for one of its uses."""
    return np.random.default_rng([trial.seed, use, *trial.problem.encode()])
