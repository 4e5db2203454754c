"""How often 95 % intervals hold the truth: of constants, of predicted values and of new measurements. `python -m benchmarks.coverage`

The true formula is fitted to many simulated tables, without a search. Intervals should cover in 95 % of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import NORMAL, POISSON, RELATIVE, STUDENT, NoiseModel
from spl.regression.fit import POLISH_EFFORT, evaluate, fit
from spl.regression.prediction_errors import predict_limits
from spl.regression.profile_intervals import find_profile_interval
from spl.regression.uncertainty import LEVEL, NumberPlace, place_numbers

N_NEW = 5  # rows that are predicted in each table


@dataclass(frozen=True)
class Law:
    """A formula with its true constants, and where its columns are measured."""

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
    Law("C*x + C", (2.3, -0.7), -1.0, 3.0),
    Law("C*x**2 + C*sin(x)", (0.8, 2.1), -2.0, 3.0),
    Law("C*exp(-C*x)", (3.0, 0.6), 0.0, 4.0),
    Law("C*x/(C + x)", (5.0, 1.4), 0.1, 8.0),
    Law("C*sin(C*x + C)", (1.7, 2.2, 0.4), 0.0, 5.0),
    Law("C*x*y + C*sqrt(y)", (1.2, 3.4), 0.5, 4.0, n_columns=2),
)
DECAY = LAWS[2]
NOISES = (0.02, 0.2)  # as shares of the standard deviation of the law
SIZES = (20, 200)  # rows


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


def report(n_tables: int) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| law | noise | rows | constants | mean | new | constants by profile |"
    yield "|---|---|---|---|---|---|---|"
    normal = [(law, NORMAL, noise) for law in LAWS for noise in NOISES]
    others = [(DECAY, RELATIVE, 0.1), (DECAY, STUDENT, 0.1), (DECAY, POISSON, 0.0)]
    for law, model, noise in (*normal, *others):
        for n_rows in SIZES:
            found = measure_coverage(law, noise, n_rows, n_tables, model=model, has_profile=True).shares
            cells = " | ".join(f"{share:.1%}" for share in found)
            yield f"| `{law.text}` | {model}, {noise:.0%} | {n_rows} | {cells} |"


if __name__ == "__main__":
    for line in report(200):
        print(line, flush=True)
