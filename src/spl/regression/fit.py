"""Fitting and evaluating single programs on a dataset, by least squares or by the likelihood of its noise model.

A fit by likelihood repeats least squares with the weights that the noise model derives from the values of the formula.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.evaluate import BLOCK, evaluate_all
from spl.kernels.programs.fit import FitEffort, fit_program
from spl.kernels.programs.normal_equations import FIT_WORK, FitTable
from spl.kernels.programs.number_precision import number_nats
from spl.kernels.programs.rounding_error import is_program_stable
from spl.kernels.runtime.compiler import make_scratch
from spl.noise.models import IMPOSSIBLE, LARGEST_VALUE_SHARE, Scatter, weighted_mean
from spl.regression.candidate import Candidate
from spl.regression.description_length import TINY_LOSS
from spl.regression.packing import pack_alphabet, pack_program, pack_table

REFIT_EFFORT = FitEffort(n_starts=1, n_scans=0, max_iterations=20, tolerance=1e-9)
POLISH_EFFORT = FitEffort(n_starts=1, n_scans=0, max_iterations=100, tolerance=1e-14)
LAST_EFFORT = FitEffort(
    n_starts=1, n_scans=0, max_iterations=3, tolerance=1e-9
)  # on all rows, from a fit to many of them
MAX_REWEIGHTINGS = 6  # of a fit by likelihood
SETTLED_NATS = 0.05  # by which reweighting must improve a fit to go on
INPUT_STEP = 0.1  # error bars of a column by which it is moved to see what its errors do to the target
SMALLEST_SPREAD = 1e-100  # of a target whose squared errors are finite and not 0; constants of others are not fitted


def evaluate(program: Program, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a program on columns [D, N]; NaN where it leaves its domain.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> evaluate(parse_expression("x**2 + 1", Vocabulary(("x",))), np.array([[1.0, 2.0]]))
        array([2., 5.])
    """
    out = np.empty(columns.shape[1])
    tokens = np.array(program.tokens, np.int32)
    constants = np.array(program.constants or (0.0,), np.float64)
    stack = np.empty((tokens.size + 1) // 2 * BLOCK)
    evaluate_all(
        tokens, tokens.size, constants, pack_alphabet(program.vocabulary), np.ascontiguousarray(columns), out, stack
    )
    return out


def root_mean_square_error(program: Program, dataset: Dataset) -> float:
    """Return the weighted error of a program as it is; infinity if it leaves its domain on any row that counts."""
    return _root_mean_square_error(evaluate(program, dataset.columns), dataset)


def _root_mean_square_error(values: NDArray[np.float64], dataset: Dataset) -> float:
    counts = dataset.weights > 0
    with np.errstate(over="ignore", invalid="ignore"):
        residual = (dataset.target - values)[counts]
        largest = float(np.max(np.abs(residual)))
    if not 0 < largest < np.inf:
        return 0.0 if largest == 0 else np.inf
    unit = 2.0 ** (math.frexp(largest)[1] - 1)  # so that squares neither overflow nor vanish
    square = np.mean(dataset.weights[counts] * (residual / unit) ** 2) * counts.sum() / dataset.n_rows
    return unit * float(np.sqrt(square))


def fit(
    program: Program, dataset: Dataset, *, effort: FitEffort = REFIT_EFFORT, seed: int = 0, reward: float = 0.0
) -> Candidate:
    """Fit the constants of a program, starting from those it has; never raises the loss.

    A formula whose rounding error is what fits has an infinite loss.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> line = parse_expression("C * x", Vocabulary(("x",)))
        >>> fit(line, Dataset.from_arrays([[1.0], [2.0]], [3.0, 6.0], names=["x"])).program.constants
        (3.0,)
    """
    if dataset.noise is not None:
        return _fit_by_likelihood(program, dataset, effort, seed, reward)
    before = root_mean_square_error(program, dataset) if np.all(np.isfinite(program.constants)) else np.inf
    fitted = Candidate(program, before, reward)
    if not _can_be_fitted(dataset):
        return fitted
    table = pack_table(dataset)
    if program.constants:
        error, constants = run_kernel(program, table, effort, seed)
        loss = float(np.sqrt(error / dataset.n_rows))
        if loss < before:
            fitted = Candidate(program.with_constants(constants), loss, reward)
    return _price_numbers(fitted, table) if _is_stable(fitted.program, table) else replace(fitted, loss=np.inf)


def _can_be_fitted(dataset: Dataset) -> bool:
    return SMALLEST_SPREAD < dataset.spread < 1 / SMALLEST_SPREAD


# ---- by likelihood -------------------------------------------------------------------------------


def loss_of(program: Program, dataset: Dataset) -> float:
    """Return the loss of a program as it is: its root mean square error, or the error of even noise that would be as likely."""
    if dataset.noise is None:
        return root_mean_square_error(program, dataset)
    return find_scatter(program, dataset).equivalent_error(dataset.floor)


def loss_of_values(
    values: NDArray[np.float64], dataset: Dataset, input_variance: NDArray[np.float64] | None = None
) -> float:
    """Return the loss of predicted values [N], as `loss_of` does for those of a formula.

    `input_variance` [N] is what errors of the columns add to the variance of the target; see `find_input_variance`.
    """
    if dataset.noise is None:
        return _root_mean_square_error(values, dataset)
    return _find_scatter(values, dataset, input_variance).equivalent_error(dataset.floor)


def find_scatter(program: Program, dataset: Dataset) -> Scatter:
    """Return how the rows scatter around a formula, according to the noise model of the dataset. All rows must count.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.noise.models import RELATIVE
        >>> x = np.geomspace(1.0, 1000.0, 50)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], x * (1 + 0.1 * np.cos(50 * x)), names=["x"])
        >>> scatter = find_scatter(parse_expression("x", Vocabulary(("x",))), replace(data, noise=RELATIVE))
        >>> round(scatter.numbers["relative error"], 2)
        0.07
    """
    if not np.all(np.isfinite(program.constants)):
        return IMPOSSIBLE
    with np.errstate(all="ignore"):
        values = evaluate(program, dataset.columns)
    return _find_scatter(values, dataset, find_input_variance(program, dataset))


def _find_scatter(values: NDArray[np.float64], dataset: Dataset, input_variance: NDArray[np.float64] | None) -> Scatter:
    assert dataset.noise is not None
    with np.errstate(all="ignore"):
        largest = LARGEST_VALUE_SHARE * (float(np.abs(dataset.target).max()) or 1.0)
        if not np.all(np.abs(values) < largest):  # NaN is not
            return IMPOSSIBLE
        scatter = dataset.noise.scatter(dataset.measured_rows(input_variance), values)
    return scatter if scatter.nats < np.inf and np.all(np.isfinite(scatter.precisions)) else IMPOSSIBLE


def find_input_variance(program: Program, dataset: Dataset) -> NDArray[np.float64] | None:
    """Return what the errors of the columns add to the variance of the target: sum over columns of (df/dx * sigma)**2.

    None if the columns have no error bars.
    """
    if dataset.sigma_columns is None:
        return None
    variance = np.zeros(dataset.n_rows)
    with np.errstate(all="ignore"):
        for column, sigma in enumerate(dataset.sigma_columns):
            if sigma.any():
                moved = [dataset.columns.copy() for _ in range(2)]
                moved[0][column] -= INPUT_STEP * sigma
                moved[1][column] += INPUT_STEP * sigma
                low, high = (evaluate(program, columns) for columns in moved)
                slope = (high - low) / (2 * INPUT_STEP)
                variance += np.where(np.isfinite(slope), slope, 0.0) ** 2
    return variance


def weigh(dataset: Dataset, precisions: NDArray[np.float64]) -> Dataset:
    """Return the rows for least squares, with weights that are proportional to the precisions."""
    return replace(dataset, weights=precisions / precisions.mean(), noise=None)


def _fit_by_likelihood(program: Program, dataset: Dataset, effort: FitEffort, seed: int, reward: float) -> Candidate:
    scatter = find_scatter(program, dataset)
    rows = replace(dataset, noise=None) if scatter is IMPOSSIBLE else weigh(dataset, scatter.precisions)
    if not _can_be_fitted(dataset):
        return Candidate(program, scatter.equivalent_error(dataset.floor), reward)
    for _ in range(MAX_REWEIGHTINGS if program.constants else 0):
        _, constants = run_kernel(program, pack_table(rows), effort, seed)
        moved = program.with_constants(constants)
        found = find_scatter(moved, dataset)
        gain = scatter.nats - found.nats
        if not gain > 0:
            break
        program, scatter, rows = moved, found, weigh(dataset, found.precisions)
        if gain < SETTLED_NATS:
            break
    return _price_by_likelihood(Candidate(program, np.inf, reward), scatter, dataset)


def _price_by_likelihood(candidate: Candidate, scatter: Scatter, dataset: Dataset) -> Candidate:
    """Return the candidate with its loss and the price of its numbers; infinite, if its rounding error is what fits."""
    if scatter is IMPOSSIBLE:
        return replace(candidate, loss=np.inf)
    table = pack_table(weigh(dataset, scatter.precisions))
    if not _is_stable(candidate.program, table):
        return replace(candidate, loss=np.inf)
    deviation = float(1.0 / np.sqrt(scatter.precisions.mean()))
    priced = _price_numbers(replace(candidate, loss=deviation), table)
    return replace(priced, loss=scatter.equivalent_error(dataset.floor))


# ---- numbers ---------------------------------------------------------------------------------------


def price_numbers(candidate: Candidate, dataset: Dataset) -> Candidate:
    """Return the candidate with the price of its numbers in a description of the dataset; see `kernels/programs/number_precision`.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> x = np.linspace(-1.0, 1.0, 50)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 2 * x + np.cos(50 * x), names=["x"])
        >>> line = fit(parse_expression("C*x", Vocabulary(("x",))), data)
        >>> round(line.number_nats, 2)  # about ln(2 / 0.17): its value over its standard error
        2.46
    """
    if dataset.noise is not None:
        return _price_by_likelihood(candidate, find_scatter(candidate.program, dataset), dataset)
    return _price_numbers(candidate, pack_table(dataset))


def _price_numbers(candidate: Candidate, table: FitTable) -> Candidate:
    free = candidate.program
    if any(token >> tk.KIND_SHIFT == tk.LITERAL for token in free.tokens):
        free = numbers_to_constants(free, has_factors=False)
    if not free.constants:
        return replace(candidate, number_nats=0.0)
    if not np.isfinite(candidate.loss):
        return candidate
    alphabet, work = pack_alphabet(free.vocabulary), make_scratch(FIT_WORK)
    nats = number_nats(pack_program(free), alphabet, table, max(candidate.loss, TINY_LOSS), work)
    return replace(candidate, number_nats=float(nats) if np.isfinite(nats) else None)


def fit_constant(dataset: Dataset, vocabulary: Vocabulary) -> Candidate:
    """Return the constant closest to the target, which every formula has to beat.

    Examples:
        >>> fit_constant(Dataset.from_arrays([[1.0], [2.0]], [3.0, 5.0]), Vocabulary(("x0",))).program.constants
        (4.0,)
    """
    find_centre = weighted_mean if dataset.noise is None else dataset.noise.centre
    centre = find_centre(dataset.target, dataset.weights)
    return fit(Program((CONSTANT_TOKEN,), vocabulary, (centre,)), dataset)


def is_stable(program: Program, dataset: Dataset) -> bool:
    """Return whether the rounding error of a formula is small compared with the spread of the target.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays(np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0), names=["x", "y"])
        >>> words = Vocabulary(("x", "y"))
        >>> is_stable(parse_expression("1e12*(y + (x - (x + y)))", words), data), is_stable(parse_expression("x*y", words), data)
        (False, True)
    """
    return _is_stable(program, pack_table(dataset))


def _is_stable(program: Program, table: FitTable) -> bool:
    if len(program) > tk.MAX_PROGRAM_LENGTH or not np.all(np.isfinite(program.constants)):
        return True  # longer than any formula of a search; or without a value, so that its loss is infinite anyway
    alphabet = pack_alphabet(program.vocabulary)
    return bool(is_program_stable(pack_program(program), alphabet, table, make_scratch(FIT_WORK)))


def run_kernel(program: Program, table: FitTable, effort: FitEffort, seed: int) -> tuple[float, NDArray[np.float64]]:
    """Return the squared error of a fit to a table by least squares, and the constants; infinity if none lies in the domain."""
    work = make_scratch(FIT_WORK)
    random: NDArray[Any] = np.array([seed], np.uint64)
    alphabet = pack_alphabet(program.vocabulary)
    error = fit_program(pack_program(program), alphabet, table, effort, work, random)
    return float(error), work.best[: program.n_constants].copy()
