"""`spl bench random`: the default settings on random formulas, exact and noisy.

All formulas have the default operators with constants, the default search and the same time limit. Without noise, a formula is
recovered if the chosen one equals it to 1e-6 on 1,000 points that the search never saw. With noise its numbers cannot be exact, so
it is recovered if the chosen one has its structure, which `structure` checks on those points.
"""

import functools
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.bench.records import Record
from spl.bench.structure import has_structure_of_law
from spl.bench.trials import RECORDED_DIGITS, Experiment, Outcome, Trial, is_recovered, noise_of, relative_error
from spl.data.dataset import Dataset
from spl.datasets.random_formulas import RandomFormula, load_random_formula
from spl.errors import SettingError
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.regression.discover import discover
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

RANDOM_NOISE_LEVELS = (0.0, 0.001, 0.01, 0.1)  # standard deviation of the noise / root mean square of the exact values
ACCURATE_SHARE = 1e-3  # unexplained share of the variance up to which a formula is accurate: R² of 0.999
RANDOM_RULE = (
    "Recovered, without noise: equal to the truth to 1e-6 on 1,000 points that the search never saw. With noise: equal on half of "
    "those points once its numbers are fitted to the exact values of the other half, and no longer equal if any of its terms is left "
    "out or any of its numbers is set to 0."
)
ACCURACY_RULE = "Accurate: R² above 0.999 on the exact values of those points, with its numbers as found."


@dataclass(frozen=True, slots=True)
class Condition:
    """The noise and the number of threads of a trial.

    Examples:
        >>> Condition(0.01, 2).setting
        'noise=0.01 threads=2'
        >>> Condition.of("noise=0.01 threads=2")
        Condition(noise=0.01, n_threads=2)
    """

    noise: float
    n_threads: int

    @property
    def setting(self) -> str:
        """The name of the condition in a trial."""
        return f"noise={self.noise:g} threads={self.n_threads}"

    @classmethod
    def of(cls, setting: str) -> "Condition":
        """Return the condition with this name."""
        match = re.fullmatch(r"noise=(\S+) threads=(\d+)", setting)
        if match is None:
            raise SettingError(
                f"'{setting}' is not a condition of random formulas. Write for example 'noise=0.01 threads=2'."
            )
        return cls(float(match[1]), int(match[2]))


def random_trials(
    formulas: Sequence[int],
    noise_levels: Sequence[float],
    seeds: Sequence[int],
    *,
    timeout: float | None,
    n_threads: int,
) -> list[Trial]:
    """Return the trials, seed by seed: all formulas, each with all levels of noise."""
    return [
        Trial(
            experiment="random",
            setting=Condition(noise, n_threads).setting,
            tool="spl",
            problem=f"random-{formula:03d}",
            seed=seed,
            timeout=timeout,
        )
        for seed in seeds
        for formula in formulas
        for noise in noise_levels
    ]


def run_random(trial: Trial) -> Outcome:
    """Search the formula of a trial with the default settings."""
    return run_formula(trial, SearchConfig())


def run_formula(trial: Trial, config: SearchConfig) -> Outcome:
    """Search the formula of a trial with these settings, and test it on exact data that the search never saw."""
    condition = Condition.of(trial.setting)
    law = _load(trial.problem)
    table, target = law.make_train(trial.seed, noise=condition.noise)
    data = Dataset.from_arrays(table, target, names=law.variables)
    grammar = Grammar.from_operators(DEFAULT_OPERATORS, law.variables)
    began = time.perf_counter()
    found = discover(
        RegressionRequest(
            data,
            grammar,
            config=config,
            noise=noise_of(config),
            limits=Limits(timeout=trial.timeout),
            n_jobs=condition.n_threads,
            seed=trial.seed,
        )
    )
    seconds = time.perf_counter() - began
    program = found.front[found.front.choose("mdl", found.n_rows, found.floor)].program
    test_table, truth = law.make_test(trial.seed)
    values = evaluate(program, np.ascontiguousarray(test_table.T))
    return Outcome(
        formula=to_text(program, RECORDED_DIGITS),
        recovered=is_law(program, test_table, truth, is_noisy=condition.noise > 0),
        error=unexplained_error(values, truth),
        seconds=seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


def random_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search, and the kind of the true formula."""
    law = _load(trial.problem)
    return SearchConfig().to_dict() | {
        "truth": law.expression,
        "cost": law.cost,
        "n_variables": len(law.variables),
        "has_constants": law.has_constants,
    }


RANDOM = Experiment(name="random", run=run_random, settings=random_settings)


def is_law(program: Program, table: NDArray[np.float64], truth: NDArray[np.float64], *, is_noisy: bool) -> bool:
    """Return whether a formula found in exact or noisy data counts as recovered, by exact points [N, D] that the search never saw."""
    if is_noisy:
        return has_structure_of_law(program, table, truth)
    return is_recovered(relative_error(evaluate(program, np.ascontiguousarray(table.T)), truth))


def is_accurate(error: float | None) -> bool:
    """Return whether a formula with this error predicts well, recovered or not."""
    return error is not None and error**2 <= ACCURATE_SHARE


def rate_of_accurate(records: Sequence[Record]) -> float:
    """Return the share of records whose formula predicts well; there must be at least one."""
    return sum(is_accurate(record.outcome.error) for record in records) / len(records)


def unexplained_error(values: NDArray[np.float64], truth: NDArray[np.float64]) -> float | None:
    """Return the root mean square error over the standard deviation of the truth; None if any value is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.sqrt(np.mean((values - truth) ** 2)) / np.std(truth))
    return error if np.isfinite(error) else None


@functools.cache
def _load(name: str) -> RandomFormula:
    return load_random_formula(name)
