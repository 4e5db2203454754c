"""`spl bench pendulum`: the equations of a filmed double pendulum (Section 4.3 of the paper).

prepared   the paper's samples: 5,000 rows of runs 0 to 4 to learn from, 2,000 rows of runs 5 and 6 for validation
raw        starting from the camera tracks: angles, smoothing, derivatives; the same runs, and run 7 as a test

Grammar and prior knowledge are the paper's, with two differences: the term that the paper assumes to be known is in every
formula, not one rule among others, and a formula may have 40 rules, not 20. As in the paper, validation rows decide among the
formulas that a search found, after dropping from each the terms that do not help on these rows. An equation counts as found if
it contains the three terms of the ideal pendulum. The error of an outcome is the root mean square error over the spread of the
target, on the validation rows or the test run.
"""

import functools
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from spl.bench.trials import OURS, Experiment, Outcome, Trial
from spl.data.dataset import Dataset
from spl.datasets.measured import PENDULUM_COLUMNS, fetch_double_pendulum
from spl.datasets.pendulum_tracks import PendulumRun, smooth_track
from spl.errors import ExpressionError, SettingError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.terms import linear_terms
from spl.regression.discover import discover
from spl.regression.fit import evaluate
from spl.regression.front import Front
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

Numbers = NDArray[np.float64]

PENDULUM_SETTINGS = ("prepared", "raw")
TRAIN_RUNS, VALID_RUNS, TEST_RUN = (0, 1, 2, 3, 4), (5, 6), 7
ROWS_PER_RUN = 1000  # drawn from each track; neighbouring rows are almost the same
MIN_GAIN = 0.01  # a term stays if it lowers the error on the validation rows by this share
NEAR_LOSS = 10.0  # times the lowest loss of a front: formulas with larger losses are ignored
COEFFICIENT_DIGITS = 6  # significant digits of a coefficient in the records
PENDULUM_GRAMMAR = """
    law   -> C * {other} * cos(theta1 - theta2) + f                       # known to be part of the equation
    f     -> f + f | f * f | C * f | C | speed | cos(angle) | sin(angle) | sign(rate)
    speed -> speed * speed | omega1 | omega2 | {other}
    angle -> angle + angle | angle - angle | theta1 | theta2
    rate  -> rate + rate | rate - rate | omega1 | omega2 | {other}
    """
IDEAL: Mapping[str, str] = MappingProxyType(
    {
        "domega1": "domega2*cos(theta1 - theta2) + omega2**2*sin(theta1 - theta2) + sin(theta1)",
        "domega2": "domega1*cos(theta1 - theta2) + omega1**2*sin(theta1 - theta2) + sin(theta2)",
    }
)
OTHER_ACCELERATION: Mapping[str, str] = MappingProxyType({"domega1": "domega2", "domega2": "domega1"})


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Rows [N, 6] with the columns `PENDULUM_COLUMNS`."""

    train: Numbers
    valid: Numbers
    test: Numbers  # on which the error of an outcome is measured


@dataclass(frozen=True, slots=True)
class Equation:
    """Terms with coefficients, and the root mean square error on the validation rows."""

    terms: Mapping[str, float]
    error: float

    @property
    def text(self) -> str:
        """The equation as a formula."""
        parts = [
            f"{value:.{COEFFICIENT_DIGITS}g}" + ("" if term == "1" else f"*{term}")
            for term, value in self.terms.items()
        ]
        return " + ".join(parts).replace("+ -", "- ")


def pendulum_trials(settings: Sequence[str], seeds: Sequence[int], timeout: float | None) -> list[Trial]:
    """Return the trials, seed by seed: both equations of each setting."""
    for setting in settings:
        if setting not in PENDULUM_SETTINGS:
            raise SettingError(
                f"There is no setting '{setting}' for the pendulum. Choose from: {', '.join(PENDULUM_SETTINGS)}."
            )
    return [
        Trial(experiment="pendulum", setting=setting, tool=OURS, problem=target, seed=seed, timeout=timeout)
        for seed in seeds
        for setting in settings
        for target in IDEAL
    ]


def run_pendulum(trial: Trial) -> Outcome:
    """Search an equation on one core, and test it on rows that its coefficients were not fitted to."""
    samples = load_samples(trial.setting)
    names = columns_for(trial.problem)
    began = time.perf_counter()
    found = discover(
        RegressionRequest(
            Dataset.from_arrays(_columns(samples.train, names).T, _column(samples.train, trial.problem), names=names),
            Grammar.from_text(PENDULUM_GRAMMAR.format(other=OTHER_ACCELERATION[trial.problem]), variables=names),
            config=pendulum_config(),
            limits=Limits(timeout=trial.timeout),
            seed=trial.seed,
        )
    )
    equation = choose_equation(found.front, samples, trial.problem)
    return Outcome(
        formula=equation.text,
        recovered=has_ideal_terms(equation.terms, trial.problem),
        error=relative_rms(equation.text, samples.test, trial.problem),
        seconds=time.perf_counter() - began,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


def pendulum_config() -> SearchConfig:
    """Return the settings of the search: no discount, as in the paper; room for three terms and damping."""
    return SearchConfig(max_rules=40, eta=1.0, patience=None)


def pendulum_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search."""
    return {"grammar": PENDULUM_GRAMMAR.format(other=OTHER_ACCELERATION[trial.problem]), **pendulum_config().to_dict()}


PENDULUM = Experiment(name="pendulum", run=run_pendulum, settings=pendulum_settings)


# ---- rows ----------------------------------------------------------------------------------------


def columns_for(target: str) -> tuple[str, ...]:
    """Return the variables of an equation: angles, angular velocities, and the other acceleration.

    Examples:
        >>> columns_for("domega1")
        ('theta1', 'theta2', 'omega1', 'omega2', 'domega2')
    """
    return (*PENDULUM_COLUMNS[:4], OTHER_ACCELERATION[target])


@functools.cache
def load_samples(setting: str) -> Samples:
    """Return the rows of a setting; the tracks are smoothed once per process."""
    if setting == "prepared":
        data = fetch_double_pendulum()
        return Samples(data.train, data.test, data.test)
    tracks = fetch_double_pendulum(raw=True)
    random = np.random.default_rng(0)
    train = [_draw(smooth_track(tracks[number]), random) for number in TRAIN_RUNS]
    valid = [_draw(smooth_track(tracks[number]), random) for number in VALID_RUNS]
    return Samples(np.vstack(train), np.vstack(valid), load_test_run().table)


@functools.cache
def load_test_run() -> PendulumRun:
    """Return the run that is used neither for training nor for choosing."""
    return smooth_track(fetch_double_pendulum(raw=True)[TEST_RUN])


def _draw(run: PendulumRun, random: np.random.Generator) -> Numbers:
    return run.table[np.sort(random.choice(len(run.table), min(ROWS_PER_RUN, len(run.table)), replace=False))]


def _column(table: Numbers, name: str) -> Numbers:
    return table[:, PENDULUM_COLUMNS.index(name)]


def _columns(table: Numbers, names: Iterable[str]) -> Numbers:
    return np.vstack([_column(table, name) for name in names])


# ---- choosing ------------------------------------------------------------------------------------


def has_ideal_terms(terms: Iterable[str], target: str) -> bool:
    """Return whether the terms include the three of the ideal pendulum.

    Examples:
        >>> has_ideal_terms(["sin(theta1)", "omega1"], "domega1")
        False
    """
    return set(ideal_terms(target)) <= set(terms)


@functools.cache
def ideal_terms(target: str) -> tuple[str, ...]:
    """Return the three terms of the ideal pendulum, spelled like found terms."""
    return tuple(linear_terms(parse_expression(IDEAL[target], Vocabulary(columns_for(target)))))


def predict(text: str, table: Numbers, target: str) -> Numbers:
    """Return the accelerations [N] that an equation gives for rows [N, 6]."""
    names = columns_for(target)
    return evaluate(parse_expression(text, Vocabulary(names)), _columns(table, names))


def relative_rms(text: str, table: Numbers, target: str) -> float | None:
    """Return the root mean square error of an equation over the spread of the target; None if it is not finite."""
    truth = _column(table, target)
    error = float(np.sqrt(np.mean((predict(text, table, target) - truth) ** 2)) / truth.std())
    return error if np.isfinite(error) else None


def choose_equation(front: Front, samples: Samples, target: str) -> Equation:
    """Return the best equation on the validation rows, after dropping from each the terms that do not help there.

    Among equally good equations, the one with the fewest terms wins.
    """
    near = [candidate for candidate in front if candidate.loss <= NEAR_LOSS * front[-1].loss]
    equations = []
    for candidate in near:
        try:
            equations.append(drop_idle_terms(terms_of(candidate.program), samples, target))
        except ExpressionError:
            continue  # numbers inside terms
    if not equations:
        raise ExpressionError("None of the formulas found is a sum of terms. Allow more time.")
    best = min(equation.error for equation in equations)
    good = [equation for equation in equations if equation.error <= (1 + MIN_GAIN) * best]
    return min(good, key=lambda equation: (len(equation.terms), equation.error))


def terms_of(program: Program) -> tuple[str, ...]:
    """Return the terms of a formula; the square of a sign counts as 1 (0 was never measured).

    Examples:
        >>> words = Vocabulary(columns_for("domega1"))
        >>> terms_of(parse_expression("2*omega2*sign(omega1)*(sign(omega1) + 3)", words))
        ('omega2*sign(omega1)', 'omega2')
    """
    plain = [re.sub(r"sign\([^()]*\)\*\*2", "1", term) for term in linear_terms(program)]
    return tuple(linear_terms(parse_expression(" + ".join(plain), Vocabulary(program.vocabulary.variables))))


def drop_idle_terms(terms: Iterable[str], samples: Samples, target: str) -> Equation:
    """Fit the coefficients of terms to the training rows; drop, one by one, those that do not help on the validation rows."""
    kept = list(terms)
    values = {term: (predict(term, samples.train, target), predict(term, samples.valid, target)) for term in kept}
    truth = _column(samples.train, target), _column(samples.valid, target)
    equation = _fit_terms(kept, values, truth)
    while len(kept) > 1:
        shorter = [_fit_terms([t for t in kept if t != term], values, truth) for term in kept]
        best = min(shorter, key=lambda one: one.error)
        if best.error > (1 + MIN_GAIN) * equation.error:
            break
        equation, kept = best, list(best.terms)
    return equation


def _fit_terms(
    terms: Sequence[str], values: Mapping[str, tuple[Numbers, Numbers]], truth: tuple[Numbers, Numbers]
) -> Equation:
    train, valid = (np.column_stack([values[term][part] for term in terms]) for part in (0, 1))
    coefficients = np.linalg.lstsq(train, truth[0], rcond=None)[0]
    error = float(np.sqrt(np.mean((valid @ coefficients - truth[1]) ** 2)))
    return Equation(dict(zip(terms, coefficients.tolist(), strict=True)), error)
