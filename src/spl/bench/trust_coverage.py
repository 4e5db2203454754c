"""The part `coverage` of `spl bench trust`: how often 95 % intervals hold the truth.

The true formula is fitted to many simulated tables, without a search: intervals hold if the formula is right. They should hold the
true constants, the values of the law, and new measurements in 95 % of the tables.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.bench.trials import OURS, Outcome, Trial
from spl.data.dataset import Dataset
from spl.errors import SettingError, explain_unknown
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import NOISE_MODELS, NORMAL, POISSON, RELATIVE, STUDENT, NoiseModel
from spl.regression.fit import POLISH_EFFORT, evaluate, fit
from spl.regression.prediction_errors import predict_limits
from spl.regression.profile_intervals import find_profile_interval
from spl.regression.uncertainty import LEVEL, NumberPlace, place_numbers

N_NEW = 5  # rows that are predicted in each table
N_COVERED = 200  # per law, noise and number of rows
NOISES = (0.01, 0.1)  # as shares of the standard deviation of the law
SIZES = (20, 200)  # rows
LEAST_COVERAGE, MOST_COVERAGE = 0.9, 0.99  # within which the share of intervals that hold the truth must lie
KINDS = ("constants", "law", "new", "profile")  # what intervals are about; profile: constants, by the other method
COVERAGE_EXAMPLE = "part=coverage noise=0.1 rows=20 model=normal"


@dataclass(frozen=True)
class Law:
    """A formula with its true constants, and where its columns are measured."""

    name: str
    text: str
    constants: tuple[float, ...]
    low: float
    high: float
    n_columns: int = 1

    @property
    def program(self) -> Program:
        """The formula with its true constants."""
        names = ("x", "y")[: self.n_columns]
        return parse_expression(self.text, Vocabulary(names)).with_constants(np.array(self.constants))


LAWS = (
    Law("line", "C*x + C", (2.3, -0.7), -1.0, 3.0),
    Law("square-wave-sum", "C*x**2 + C*sin(x)", (0.8, 2.1), -2.0, 3.0),
    Law("decay", "C*exp(-C*x)", (3.0, 0.6), 0.0, 4.0),
    Law("saturation", "C*x/(C + x)", (5.0, 1.4), 0.1, 8.0),
    Law("wave", "C*sin(C*x + C)", (1.7, 2.2, 0.4), 0.0, 5.0),
    Law("two-columns", "C*x*y + C*sqrt(y)", (1.2, 3.4), 0.5, 4.0, n_columns=2),
    Law("power", "C*x**C", (1.6, 0.7), 0.5, 6.0),
    Law("arrhenius", "C*exp(-C/x)", (9.0, 2.5), 0.8, 4.0),
    Law("logistic", "C/(1 + exp(C - C*x))", (4.0, 3.0, 1.5), 0.0, 5.0),
    Law("two-step", "C*x*y/(C + y)", (2.5, 1.1), 0.3, 5.0, n_columns=2),
)
LAW_OF = {law.name: law for law in LAWS}
DECAY = LAW_OF["decay"]
OTHER_NOISES = ((RELATIVE, 0.1), (STUDENT, 0.1), (POISSON, 0.0))  # of the decay: noise models and levels


@dataclass(frozen=True)
class Coverage:
    """How many intervals held the truth, of how many."""

    held: NDArray[np.int64]  # of constants, of the law's values, of new measurements, of constants by profile
    total: NDArray[np.int64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The share of intervals that held the truth; NaN if there were none."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.held / self.total)


def measure_coverage(
    law: Law,
    noise: float,
    n_rows: int,
    n_tables: int,
    seed: int = 0,
    *,
    model: NoiseModel = NORMAL,
    has_profile: bool = False,
) -> Coverage:
    """Return how often intervals hold the truth, over tables of a law with noise of this share of its spread."""
    counts = np.zeros((2, 4), np.int64)
    for number in range(n_tables):
        random = np.random.default_rng([seed, number, n_rows, round(1e6 * noise), *law.text.encode()])
        truth = law.program
        columns = random.uniform(law.low, law.high, (law.n_columns, n_rows + N_NEW))
        values = evaluate(truth, columns)
        target = _scatter(random, values, noise, model)
        data = Dataset.from_arrays(columns[:, :n_rows].T, target[:n_rows], names=truth.vocabulary.variables)
        data = data if model is NORMAL else replace(data, noise=model)
        program = fit(truth, data, effort=POLISH_EFFORT).program
        new = np.ascontiguousarray(columns[:, n_rows:])
        places = [place for place in place_numbers(program, data) if isinstance(place, NumberPlace)]
        ends = [place.curvature.interval(place.place, LEVEL) for place in places]
        groups = [
            _hold(ends, law.constants),
            _hold(predict_limits(program, data, new), values[n_rows:]),
            _hold(predict_limits(program, data, new, is_new=True), target[n_rows:]),
            _hold([find_profile_interval(place, data, LEVEL) for place in places], law.constants)
            if has_profile
            else [],
        ]
        counts += [[sum(group) for group in groups], [len(group) for group in groups]]
    return Coverage(*counts)


def _scatter(
    random: np.random.Generator, values: NDArray[np.float64], noise: float, model: NoiseModel
) -> NDArray[np.float64]:
    """Return measurements of these values."""
    deviation = noise * float(values.std())
    if model is POISSON:
        return random.poisson(values).astype(np.float64)
    if model is RELATIVE:
        return values * (1 + noise * random.standard_normal(values.size))
    if model is STUDENT:
        return np.asarray(values + deviation * random.standard_t(2, values.size))
    return np.asarray(values + deviation * random.standard_normal(values.size))


def _hold(intervals: Iterable[Sequence[float]], truths: Iterable[float]) -> list[bool]:
    """Return for each interval whether it holds the truth."""
    return [bool(low <= truth <= high) for (low, high), truth in zip(intervals, truths, strict=True)]


# ---- trials --------------------------------------------------------------------------------------


def coverage_trials(seeds: Sequence[int]) -> list[Trial]:
    """Return the trials: all laws with normal noise, and one with others. Each is about many tables."""
    normal = [(law, NORMAL, noise) for law in LAWS for noise in NOISES]
    others = [(DECAY, model, noise) for model, noise in OTHER_NOISES]
    return [
        Trial(
            experiment="trust",
            setting=f"part=coverage noise={noise:g} rows={n_rows} model={model}",
            tool=OURS,
            problem=law.name,
            seed=seed,
            timeout=None,
        )
        for seed in seeds
        for law, model, noise in (*normal, *others)
        for n_rows in SIZES
    ]


def run_coverage(trial: Trial, values: dict[str, str]) -> Outcome:
    """Measure the coverage of a law; recovered, if all of it is as it should be."""
    law = _find_law(trial.problem)
    try:
        noise, n_rows, model = float(values["noise"]), int(values["rows"]), NOISE_MODELS[values["model"]]
    except (KeyError, ValueError):
        raise SettingError(f"'{trial.setting}' is not a setting of coverage. Write: {COVERAGE_EXAMPLE}") from None
    began = time.perf_counter()
    found = measure_coverage(law, noise, n_rows, N_COVERED, trial.seed, model=model, has_profile=True)
    shares = {kind: round(float(share), 4) for kind, share in zip(KINDS, found.shares, strict=True)}
    return Outcome(
        formula=law.text,
        recovered=all(LEAST_COVERAGE <= share <= MOST_COVERAGE for share in shares.values()),
        error=None,
        seconds=time.perf_counter() - began,
        evaluations=None,
        stopped="done",
        details={"coverage": shares, "tables": N_COVERED},
    )


def _find_law(name: str) -> Law:
    if name not in LAW_OF:
        raise SettingError(explain_unknown("law", name, tuple(LAW_OF)))
    return LAW_OF[name]
