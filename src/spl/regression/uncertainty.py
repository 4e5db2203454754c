"""How well the data determines the numbers of a formula, from the curvature of the likelihood at its constants.

Constants are fitted by weighted least squares. So the information on them is the sum over rows of slope * curvature * slope', where
the curvature is the second derivative of the row's nats by its value: for most noise models, the inverse variance. If the size of the
noise is estimated, it has as many degrees of freedom as there are more rows than constants, and quantiles are those of Student's
distribution. A loss of the user is no likelihood: there, the scatter of the rows' own pulls says how far constants scatter (Huber's
sandwich).
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from spl.data.dataset import Dataset
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.nice_numbers import write_nice_number
from spl.formulas.printed_numbers import FITTED_KIND, PrintedNumber, number_positions, printed_numbers
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.noise.models import IMPOSSIBLE, NOISE_MODELS, NORMAL, NoiseModel, Scatter
from spl.regression.constant_slopes import slopes_by_constants
from spl.regression.fit import evaluate, find_scatter
from spl.regression.noise_choice import NoiseChoice
from spl.regression.round_constants import simple_number_within
from spl.units.number_units import units_of_numbers
from spl.units.table_units import TableUnits

Numbers = NDArray[np.float64]

LEVEL = 0.95  # of intervals, unless told otherwise
SINGULAR = 1e-12  # smaller eigenvalues of the scaled information belong to constants that the data does not determine
SAME_VALUE = 1e-4  # of what each constant alone would change: if all together change a value by less, it is the same
HIDDEN = 1e-6  # a constant with a larger part in these eigenvectors is unknown
SIMPLE_WITHIN_ERRORS = 2.0  # standard errors within which a simple number may be meant
SHOWN_DIGITS = 6  # of the numbers in the terms
BAR_FACTORS = ("factor of the error bars", "scale")  # numbers of the noise by which error bars are multiplied
UNDETERMINED = "the data does not determine it"


@dataclass(frozen=True, slots=True)
class KnownNumber:
    """A number of a formula as it is printed, and how well it is known."""

    value: float  # with its sign in print
    standard_error: float  # before rounding; NaN if there is none, inf if the data does not determine the number
    lower: float  # end of its interval: the value itself, if it is exact
    upper: float
    kind: str  # "fitted", "rounded" to a simple number that the data does not distinguish from it, or "exact"
    simple: str  # the number in its simplest form that the data allows, such as 2/3 or pi; "" if there is none
    note: str  # in words: what is wrong with it; usually ""
    term: str  # that it is part of, with the number in square brackets
    unit: str = ""  # "1" for a pure number; "" if it is not known


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """The likelihood of a formula near its constants."""

    program: Program
    scatter: Scatter  # of the rows around it
    units: Numbers  # [C], of the constants in what follows: with them, squares neither overflow nor vanish
    covariance: Numbers  # [C, C], of the constants; directions that the data does not determine are left out
    hidden: Numbers  # [H, C], directions in which the data does not determine the constants
    is_hidden: NDArray[np.bool_]  # [C], whether the data does not determine a constant
    step: Numbers  # [C], to the constants at which the likelihood is highest; 0 if it is there
    degrees: float  # of freedom of the noise, if its size is estimated; infinite if it is known

    @property
    def standard_errors(self) -> Numbers:
        """The standard error of each constant [C]; infinite if the data does not determine it."""
        return np.where(self.is_hidden, np.inf, self.units * np.sqrt(np.diag(self.covariance)))

    @property
    def best(self) -> Numbers:
        """The constants at which the likelihood is highest [C]: those of the formula, unless it is rounded."""
        return np.asarray(self.program.constants + self.units * self.step)

    def value_errors(self, slopes: Numbers) -> Numbers:
        """Return the standard errors of values with these slopes [C, N] by the constants; infinite where no data determines them."""
        scaled = slopes * self.units[:, np.newaxis]
        errors = np.sqrt(np.maximum(np.einsum("cn,cd,dn->n", scaled, self.covariance, scaled), 0.0))
        sizes = np.abs(self.hidden) @ np.abs(scaled)
        is_open = (np.abs(self.hidden @ scaled) > SAME_VALUE * sizes).any(axis=0)
        return np.where(is_open, np.inf, errors)

    def quantile(self, level: float) -> float:
        """Return how many standard errors an interval extends to both sides."""
        chance = 0.5 * (1 + level)
        return float(ndtri(chance) if math.isinf(self.degrees) else stdtrit(self.degrees, chance))

    def interval(self, place: int, level: float) -> tuple[float, float]:
        """Return the ends of the interval of a constant."""
        if self.is_hidden[place]:
            return -math.inf, math.inf
        centre = float(self.best[place])
        half = self.quantile(level) * float(self.standard_errors[place])
        return centre - half, centre + half


# ---- rows ----------------------------------------------------------------------------------------


def rows_of_fit(data: Dataset, choice: NoiseChoice, asked: NoiseModel | str) -> Dataset:
    """Return the rows that count, with the noise model by which the formulas of a front were fitted.

    Args:
        data: all rows.
        choice: the noise model of the answer.
        asked: the noise model that was asked for, or "auto": only it holds a loss of the user.
    """
    model = asked if isinstance(asked, NoiseModel) else NOISE_MODELS[choice.name]
    is_plain = model is NORMAL and data.sigma is None and data.sigma_columns is None
    rows = data if np.all(data.weights > 0) else data.take(np.flatnonzero(data.weights > 0))
    return replace(rows, noise=None if is_plain else model)


# ---- curvature -----------------------------------------------------------------------------------


def measure_curvature(program: Program, data: Dataset) -> Curvature:
    """Return how the likelihood depends on the constants of a formula near their values. All rows must count.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.regression.fit import fit
        >>> x = np.linspace(-1.0, 1.0, 50)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 2 * x + np.cos(50 * x), names=["x"])
        >>> line = fit(parse_expression("C*x", Vocabulary(("x",))), data).program
        >>> measure_curvature(line, data).standard_errors.round(2)
        array([0.17])
    """
    model = data.noise or NORMAL
    with np.errstate(all="ignore"):  # numbers may be too large or too small for their squares
        scatter = find_scatter(program, replace(data, noise=model))
        slopes = slopes_by_constants(program, data.columns)
        if scatter is IMPOSSIBLE or not np.isfinite(slopes).all():
            return _unknown(program, scatter)
        units = _find_units(slopes, scatter.precisions)
        scaled = slopes * units[:, np.newaxis]
        inverse, hidden = _invert_information(scaled, scatter)
        pulls = scaled * (scatter.precisions * (data.target - evaluate(program, data.columns)))  # [C, N]
        covariance = inverse if model.loss is None else inverse @ (pulls @ pulls.T) @ inverse
        step = inverse @ pulls.sum(axis=1)
    degrees = math.inf
    if not _is_size_known(model, scatter, data):
        degrees = data.n_rows - (program.n_constants - len(hidden))
        if degrees <= 0:
            return _unknown(program, scatter)
        covariance = covariance * (data.n_rows / degrees)
    if not (np.isfinite(covariance).all() and np.isfinite(step).all()):
        return _unknown(program, scatter)
    is_hidden = (hidden**2).sum(axis=0) > HIDDEN
    return Curvature(program, scatter, units, covariance, hidden, is_hidden, step, degrees)


def _unknown(program: Program, scatter: Scatter) -> Curvature:
    """Return the curvature if nothing is known about the constants."""
    n = program.n_constants
    nothing = np.zeros(n)
    return Curvature(program, scatter, np.ones(n), np.zeros((n, n)), np.eye(n), np.ones(n, np.bool_), nothing, math.inf)


def _find_units(slopes: Numbers, precisions: Numbers) -> Numbers:
    """Return for each constant [C] the change that the rows notice: the standard error that it would have alone."""
    largest = np.abs(slopes).max(axis=1, initial=0.0)
    largest[largest == 0] = 1.0  # no value depends on this constant
    noticed = np.sqrt(((slopes / largest[:, np.newaxis]) ** 2 * precisions).sum(axis=1))
    return np.asarray(1.0 / np.where(noticed > 0, noticed, 1.0) / largest)


def _invert_information(slopes: Numbers, scatter: Scatter) -> tuple[Numbers, Numbers]:
    """Return the inverse information on the constants, and the directions that it leaves out [H, C]: no data determines them.

    Where the likelihood curves the wrong way, far from its highest point, the precisions stand in.
    """
    if scatter.curvatures is not None:
        inverse, hidden = _invert((slopes * scatter.curvatures) @ slopes.T)
        if not len(hidden):
            return inverse, hidden
    return _invert((slopes * scatter.precisions) @ slopes.T)


def _invert(information: Numbers) -> tuple[Numbers, Numbers]:
    if not np.isfinite(information).all():
        return np.zeros_like(information), np.eye(len(information))
    values, vectors = np.linalg.eigh(information)
    is_seen = values > SINGULAR
    return (vectors[:, is_seen] / values[is_seen]) @ vectors[:, is_seen].T, vectors[:, ~is_seen].T


def _is_size_known(model: NoiseModel, scatter: Scatter, data: Dataset) -> bool:
    """Return whether the size of the noise is known: of counts and shares, and of error bars that are large enough."""
    if model.n_numbers == 0:
        return True
    return data.sigma is not None and all(scatter.numbers.get(name, 1.0) <= 1.0 for name in BAR_FACTORS)


# ---- numbers -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class NumberPlace:
    """Where a number of a formula is a constant: of the formula itself, or of the one in which rounded numbers are constants too."""

    printed: PrintedNumber
    position: int  # of its token
    curvature: Curvature
    place: int  # among the constants of the curvature
    sign: float  # in print, compared with the constant

    def turn(self, interval: tuple[float, float]) -> tuple[float, float]:
        """Return an interval of the constant as one of the printed number."""
        low, high = sorted(self.sign * end for end in interval)
        return low, high


def place_numbers(program: Program, data: Dataset, given: Collection[float] = ()) -> list[NumberPlace | PrintedNumber]:
    """Return for each printed number where it is a constant; the number alone if it is exact.

    The errors of fitted numbers are those with rounded numbers as they are. A rounded number has the error that it would have if it
    were fitted along with all others; where that is infinite, others can replace it, and it is exact by choice.

    Args:
        program: the formula.
        data: the rows that it was fitted to, with their noise model.
        given: numbers that come from the grammar: these are exact.
    """
    fitted = measure_curvature(program, data)
    free = free_numbers(program, given)
    freed = fitted if free.n_constants == program.n_constants else measure_curvature(free, data)
    places: list[NumberPlace | PrintedNumber] = []
    for printed, position in zip(printed_numbers(program, SHOWN_DIGITS), number_positions(program), strict=True):
        curvature = fitted if program.tokens[position] == CONSTANT_TOKEN else freed
        place = curvature.program.count_constants(position)
        is_constant = curvature.program.tokens[position] == CONSTANT_TOKEN
        if not is_constant or (curvature is not fitted and curvature.is_hidden[place]):
            places.append(printed)
            continue
        sign = -1.0 if printed.value == -curvature.program.constants[place] != 0 else 1.0
        places.append(NumberPlace(printed, position, curvature, place, sign))
    return places


def free_numbers(program: Program, given: Collection[float] = ()) -> Program:
    """Return the formula with constants in place of its numbers, but for those that the grammar gives."""
    has_literals = any(token >> tk.KIND_SHIFT == tk.LITERAL for token in program.tokens)
    return literals_to_constants(program, given) if has_literals else program


def know_numbers(
    program: Program,
    data: Dataset,
    given: Collection[float] = (),
    level: float = LEVEL,
    units: TableUnits | None = None,
) -> list[KnownNumber]:
    """Return the numbers of a formula in the order they are printed in, with standard errors and intervals.

    Args:
        program: the formula, fitted.
        data: the rows that it was fitted to, with their noise model; all must count.
        given: numbers that come from the grammar: these are exact.
        level: the chance that an interval holds the number.
        units: of the columns and the target, if the numbers are to have theirs.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.regression.fit import fit
        >>> x = np.linspace(-1.0, 1.0, 50)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 5 - 2.3 * x + np.cos(50 * x), names=["x"])
        >>> line = fit(parse_expression("5 - C*x", Vocabulary(("x",))), data).program
        >>> for number in know_numbers(line, data):
        ...     print(f"{number.value:.2f} ± {number.standard_error:.2f} in {number.term}: {number.kind}")
        5.00 ± 0.10 in [5] - 2.3*x: rounded
        -2.30 ± 0.17 in [-2.3]*x: fitted
    """
    numbers = [_know(place, level) for place in place_numbers(program, data, given)]
    if units is None:
        return numbers
    return [replace(number, unit=unit) for number, unit in zip(numbers, units_of_numbers(program, units), strict=True)]


def _know(place: NumberPlace | PrintedNumber, level: float) -> KnownNumber:
    if isinstance(place, PrintedNumber):
        value, kind = place.value, place.kind(math.nan)
        return KnownNumber(value, math.nan, value, value, kind, write_nice_number(value, SHOWN_DIGITS), "", place.term)
    value, error = place.printed.value, float(place.curvature.standard_errors[place.place])
    kind = place.printed.kind(error)
    meant = simple_number_within(value, SIMPLE_WITHIN_ERRORS * error) if kind == FITTED_KIND else value
    return KnownNumber(
        value,
        error,
        *place.turn(place.curvature.interval(place.place, level)),
        kind,
        "" if meant is None else write_nice_number(meant, SHOWN_DIGITS),
        UNDETERMINED if math.isinf(error) else "",
        place.printed.term,
    )


def correlate_numbers(program: Program, data: Dataset) -> tuple[list[PrintedNumber], Numbers]:
    """Return the fitted numbers of a formula, and how their errors are correlated [C, C]; NaN for undetermined ones.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.regression.fit import fit
        >>> x = np.linspace(0.0, 1.0, 50)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 5 - 2.3 * x + np.cos(50 * x), names=["x"])
        >>> line = fit(parse_expression("C - C*x", Vocabulary(("x",))), data).program
        >>> correlate_numbers(line, data)[1].round(2)  # the steeper it falls, the higher it begins
        array([[ 1.  , -0.86],
               [-0.86,  1.  ]])
    """
    places = (place for place in place_numbers(program, data) if isinstance(place, NumberPlace))
    fitted = [place for place in places if place.printed.is_fitted]
    if not fitted:
        return [], np.empty((0, 0))
    curvature = fitted[0].curvature
    errors = np.where(curvature.is_hidden, np.nan, np.sqrt(np.diag(curvature.covariance)))
    signed = np.array([place.sign for place in fitted]) / errors
    return [place.printed for place in fitted], curvature.covariance * np.outer(signed, signed)
