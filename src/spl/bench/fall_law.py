"""One law for all falls: searched on each drop separately, chosen by how well it predicts all drops.

Thirty noisy points cannot distinguish the shapes of falls, but hundreds can. So the structure of the law is chosen on the first 2
seconds of all drops together: fitted to the points before `PREDICTED_FROM`, compared on those from there to `TRAIN_SECONDS`. Each
drop has its own numbers.
"""

import functools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.datasets.measured import Drop
from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.kernels.programs.fit import FitEffort
from spl.regression.discover import discover
from spl.regression.fit import evaluate, fit
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

Numbers = NDArray[np.float64]

TRAIN_SECONDS = 2.0
PREDICTED_FROM = 1.4  # s: laws are compared by their predictions for the last third of the training range
FALL_EFFORT = FitEffort(
    n_starts=4, n_scans=0, max_iterations=60, tolerance=1e-10
)  # the numbers of one ball are far from those of another
LEAST_SQUARE = 1e-12  # m2: an exact prediction counts as this in geometric means
# What a falling ball can do: gravity pulls it down, and air resistance is never stronger than gravity.
HORIZON = 2.0  # times the training range, from 0: where motions are checked
MAX_FALL = 11.0  # m/s2: gravity, and an eighth more because cameras are not exact
N_CHECKED_TIMES = 81

# paper: the rules of its published code. drag: sums of terms from the theory of drag, with the same operators.
FALL_GRAMMARS: Mapping[str, str] = MappingProxyType(
    {
        "paper": "f -> f + f | f - f | f * f | f / f | f * C | 1 | t | t*t | t*t*t | exp(f) | log(C * cosh(f))",
        "drag": """
            height -> C + fall
            fall   -> fall + fall | C * t | C * t*t | C * t*t*t | C * exp(C * t)
                    | C * log(cosh(C * t)) | C * log(cosh(C * t + C))
            """,
    }
)
MAX_FALL_RULES: Mapping[str, int] = MappingProxyType({"paper": 20, "drag": 5})  # of a derivation
LITERALS = (1.0,)  # numbers in the rules that are not constants


@dataclass(frozen=True, slots=True)
class FallSearch:
    """The result of searches on all drops: laws, the best first, and the effort of each search."""

    laws: tuple[Program, ...]
    seconds: Mapping[tuple[str, int], float]  # by ball and number of the drop
    n_evaluations: Mapping[tuple[str, int], int]

    def choose(self, drop: Drop) -> Program:
        """Return the best law that this ball can follow, with its numbers; the best of all if it can follow none."""
        points = training_points(drop)

        def with_numbers(law: Program) -> Program:
            return fit(law, points, effort=FALL_EFFORT).program

        possible = filter(is_possible, map(with_numbers, self.laws))
        return next(possible, None) or with_numbers(self.laws[0])


def search_config(grammar: str) -> SearchConfig:
    """Return the settings of a search with one of the grammars."""
    return SearchConfig(max_rules=MAX_FALL_RULES[grammar], patience=None)


def search_falls(
    drops: Sequence[Drop], grammar: str, *, seed: int, timeout: float | None, n_jobs: int = 1
) -> FallSearch:
    """Search a law on each drop, and rank all laws by how well they predict all drops."""
    searches = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_search_one)(drop, grammar, seed, timeout) for drop in drops
    )
    laws = {law.tokens: law for search in searches for law in search.laws}
    ranked = sorted(laws.values(), key=lambda law: prediction_error(law, drops))
    return FallSearch(
        tuple(ranked),
        {(drop.ball, drop.number): search.seconds for drop, search in zip(drops, searches, strict=True)},
        {(drop.ball, drop.number): search.n_evaluations for drop, search in zip(drops, searches, strict=True)},
    )


@dataclass(frozen=True, slots=True)
class _Searched:
    laws: tuple[Program, ...]
    seconds: float
    n_evaluations: int


def _search_one(drop: Drop, grammar: str, seed: int, timeout: float | None) -> _Searched:
    began = time.perf_counter()
    found = discover(
        RegressionRequest(
            training_points(drop),
            Grammar.from_text(FALL_GRAMMARS[grammar]),
            config=search_config(grammar),
            limits=Limits(timeout=timeout),
            seed=seed,
        )
    )
    # A factor that is 1 for this ball may differ for another.
    laws = tuple(numbers_to_constants(candidate.program, kept=LITERALS) for candidate in found.front)
    return _Searched(laws, time.perf_counter() - began, found.n_evaluations)


def prediction_error(law: Program, drops: Iterable[Drop]) -> float:
    """Return the geometric mean over drops of the mean squared error on the end of the training range, in square metres."""
    errors = []
    for drop in drops:
        program = fit(law, training_points(drop, PREDICTED_FROM), effort=FALL_EFFORT).program
        is_end = (drop.time_s > PREDICTED_FROM) & (drop.time_s <= TRAIN_SECONDS)
        errors.append(mean_square(evaluate(program, drop.time_s[None, is_end]), drop.height_m[is_end]))
    return geometric_mean(errors)


def training_points(drop: Drop, end: float = TRAIN_SECONDS) -> Dataset:
    """Return the first seconds of a drop."""
    is_before = drop.time_s <= end
    return Dataset.from_arrays(drop.time_s[is_before, None], drop.height_m[is_before], names=("t",))


def mean_square(values: Numbers, truth: Numbers) -> float:
    """Return the mean squared error; infinity if any value is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.mean((values - truth) ** 2))
    return error if np.isfinite(error) else np.inf


def geometric_mean(errors: Sequence[float]) -> float:
    """Return the geometric mean of errors.

    Examples:
        >>> round(geometric_mean([0.1, 10.0]), 9), geometric_mean([0.1, np.inf])
        (1.0, inf)
    """
    return float(np.exp(np.mean(np.log(np.maximum(errors, LEAST_SQUARE)))))


# ---- what a falling ball can do ------------------------------------------------------------------


def is_possible(program: Program) -> bool:
    """Return whether a formula of `t` can be a fall."""
    times = horizon()
    return can_fall(times, evaluate(program, times[None]))


@functools.cache
def horizon() -> Numbers:
    """Return evenly spaced times, half of them after the training range."""
    return np.linspace(0.0, HORIZON * TRAIN_SECONDS, N_CHECKED_TIMES)


def can_fall(t: Numbers, height: Numbers) -> bool:
    """Return whether heights [N] at evenly spaced times [N] can be a fall.

    The ball always accelerates downwards, never by more than gravity, and moves down in the second half. In the first half it may
    still be in the hand, or be thrown up.

    Examples:
        >>> t = np.linspace(0, 4, 21)
        >>> can_fall(t, 48 - 4.9 * t**2), can_fall(t, 48 - 4.9 * t**2 + 3 * t**3), can_fall(t, np.exp(20 * t))
        (True, False, False)
    """
    if not np.all(np.isfinite(height)):
        return False
    step = t[1] - t[0]
    speeds = np.diff(height) / step
    accelerations = np.diff(speeds) / step
    slack = 1e-6 * MAX_FALL  # rounding errors
    is_pulled = np.all(accelerations <= slack) and np.all(accelerations >= -MAX_FALL - slack)
    return bool(is_pulled and np.all(speeds[len(speeds) // 2 :] <= 0))
