"""What own numbers cost in a description of the data.

The values of an own number are written down in the code of a normal distribution, whose mean and width are numbers too: values that
differ by no more than their errors then cost what one shared number costs, and how far they differ, not how large they are, is
paid for. This is Laplace's approximation of the likelihood of a model in which groups are drawn from a population. With values that
differ only by chance, the best width is 0, and nothing is gained however many groups there are. Values of one sign may instead be
written down by their logarithms, if that is shorter: rates often differ by orders of magnitude.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.kernels.programs.prices import MOST_ERRORS
from spl.regression.description_length import MIN_ROWS_LEFT, count_numbers, formula_nats

Array = NDArray[np.float64]

# What it costs to say that a number is own, besides its mean and width: which of the numbers are own is a choice among many, made for
# each of many formulas. Set so that labels without meaning make a number own in less than one table of a hundred.
OWN_NATS = 2.0
LOGARITHM_NATS = math.log(2)  # to say that the logarithms of a number are written down
N_WIDTH_STEPS = 8  # of the iteration for the widths of populations
LEAST_WIDTH = 1e-6  # of a population, in standard errors
RIDGE = 1e-12
MOST_ROUNDING = 1e-6  # of a sum of squares, per row
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Numbers and their normal equations."""

    shared: Array  # [S, S]
    own: tuple[Array, ...]  # of each grouping: [G, O, O]
    cross: tuple[Array, ...]  # of each grouping: [G, O, S]
    constants: Array  # [S], shared values
    values: tuple[Array, ...]  # of each grouping: [G, O]


class Price(NamedTuple):
    """The nats of all numbers of a formula."""

    numbers: float  # of shared ones, and of means and widths of own ones
    groups: float  # of how the own numbers of the groups differ


def price_blocks(blocks: Blocks, *, square: float, n_rows: int) -> Price:
    """Return what the numbers cost.

    Args:
        blocks: numbers and their normal equations.
        square: the sum of squared errors, at least that of rounding.
        n_rows: of the data.

    Examples:
        >>> values, information = np.array([[1.0], [2.0], [3.0]]), np.full((3, 1, 1), 1e4)
        >>> none = np.zeros((3, 1, 0))
        >>> blocks = Blocks(np.zeros((0, 0)), (information,), (none,), np.zeros(0), (values,))
        >>> [round(nats, 1) for nats in price_blocks(blocks, square=100.0, n_rows=100)]
        [5.6, 14.8]
    """
    variance = square / n_rows
    beyond, groups, numbers = 0.0, 0.0, _price_shared(blocks, variance)
    for information, values in zip(blocks.own, blocks.values, strict=True):
        is_known = np.einsum("goo->go", information).sum(axis=1) > 0
        if is_known.any():
            misfit, volume, means = _price_shortest(information[is_known] / variance, values[is_known], n_rows)
            beyond += misfit
            groups += volume
            numbers += means
    return Price(numbers, groups + 0.5 * n_rows * math.log1p(beyond / n_rows))


def nats_of_candidate(price: Price, program: Program, n_own: int, n_rows: int) -> float:
    """Return the price of numbers that gives a candidate its description length.

    That one grows by the share of rows that numbers use up, in which an own number counts once: what groups differ by was compared
    with the rows they have.
    """
    n_shared = count_numbers(program)
    factors = [n_rows / max(n_rows - n - 2, MIN_ROWS_LEFT) for n in (n_shared, n_shared + n_own)]
    formula = formula_nats(program)
    return ((formula + price.numbers) * factors[1] + price.groups) / factors[0] - formula


def _price_shortest(information: Array, values: Array, n_rows: int) -> tuple[float, float, float]:
    """Return the price of a population, of each number by its values or by their logarithms, whichever is shorter."""
    n_own = values.shape[1]
    are_logarithms = np.zeros(n_own, dtype=bool)
    best = _price_population(information, values, are_logarithms, n_rows)
    for place in np.flatnonzero((values > 0).all(axis=0) | (values < 0).all(axis=0)):
        with_place = are_logarithms | (np.arange(n_own) == place)
        price = _price_population(information, values, with_place, n_rows)
        if _nats_of(price, n_rows) < _nats_of(best, n_rows):
            best, are_logarithms = price, with_place
    return best


def _nats_of(price: tuple[float, float, float], n_rows: int) -> float:
    misfit, volume, means = price
    return 0.5 * n_rows * math.log1p(misfit / n_rows) + volume + means


def _price_population(
    information: Array, values: Array, are_logarithms: NDArray[np.bool_], n_rows: int
) -> tuple[float, float, float]:
    """Return by how many squared standard errors values of a population fit worse; the nats of own values [G, O]; and those of the
    means and widths of the populations.

    `information` [G, O, O] is that of each group on its numbers, in units of the noise. `are_logarithms` [O] says which numbers are
    written down by their logarithms. The mean of these costs what a number costs whose logarithm it is, so that a factor of 1 in all
    groups is no cheaper than another.
    """
    slope = np.where(are_logarithms, np.abs(values), 1.0)  # of the values by what is written down
    information = information * slope[:, :, np.newaxis] * slope[:, np.newaxis, :]
    values = np.where(are_logarithms, np.log(slope), values)
    n_own = values.shape[1]
    precision = np.maximum(np.einsum("goo->go", information), TINY)
    mean, width = _find_populations(values, 1.0 / precision)
    width = np.maximum(width, LEAST_WIDTH / np.sqrt(precision.max(axis=0)))
    scaled = information * width[:, np.newaxis] * width  # T H T
    inside = scaled + np.eye(n_own)
    away = (values - mean) / width
    # d' (T**2 + H**-1)**-1 d as a sum of two squares, so that nothing cancels whether the width or the errors are larger
    size = np.sqrt(np.einsum("goo->go", inside))
    unit = inside / size[:, :, np.newaxis] / size[:, np.newaxis, :]  # exact laws have entries of 1e28
    unit += RIDGE * np.eye(n_own)  # for numbers that others can replace
    by_errors = np.linalg.solve(unit, (away / size)[:, :, np.newaxis])[:, :, 0] / size  # the rest is how groups differ
    chi = np.einsum("go,gop,gp->g", by_errors, scaled, by_errors) + ((away - by_errors) ** 2).sum(axis=1)
    volume = 0.5 * float(np.linalg.slogdet(unit)[1].sum()) + float(np.log(size).sum())
    error = np.sqrt(1.0 / np.maximum((1.0 / (width**2 + 1.0 / precision)).sum(axis=0), TINY))
    with np.errstate(over="ignore"):
        n_errors = np.where(are_logarithms, 1.0, mean) / error
        means = np.log(np.minimum(np.hypot(1.0, n_errors), MOST_ERRORS)).sum()
    misfit = float(chi.sum())
    if (
        not misfit >= -MOST_ROUNDING * n_rows
    ):  # a sum of squares: with numbers that replace each other, rounding is all that is left
        misfit = math.inf
    numbers = float(means) + LOGARITHM_NATS * int(are_logarithms.sum())
    return max(misfit, 0.0), volume, numbers + n_own * (OWN_NATS + 0.5 * math.log(n_rows))


def _find_populations(values: Array, variances: Array) -> tuple[Array, Array]:
    """Return the mean and the width [O] of the population of each own number, from values [G, O] with these variances."""
    n_groups = len(values)
    mean = values.mean(axis=0)
    square = np.maximum(((values - mean) ** 2).mean(axis=0), TINY)
    for _ in range(N_WIDTH_STEPS):
        weights = 1.0 / (square + variances)
        mean = (weights * values).sum(axis=0) / weights.sum(axis=0)
        ratio = (weights * (values - mean) ** 2).sum(axis=0) / max(n_groups - 1, 1)
        square = np.maximum(square * np.minimum(ratio, 4.0), TINY)
    return mean, np.sqrt(square)


def _price_shared(blocks: Blocks, variance: float) -> float:
    """Return the nats of the shared numbers; see `kernels/programs/number_precision`."""
    n_shared = len(blocks.constants)
    if not n_shared:
        return 0.0
    information = blocks.shared.copy()
    for own, cross in zip(blocks.own, blocks.cross, strict=True):
        size = np.einsum("goo->go", own).max(axis=1)
        ridge = np.where(1e-12 * size > TINY, 1e-12 * size, 1.0)[:, np.newaxis, np.newaxis] * np.eye(own.shape[1])
        information -= np.einsum("gos,got->st", cross, np.linalg.solve(own + ridge, cross))
    length = np.sqrt(np.maximum(np.diag(information), 0.0) / variance)
    with np.errstate(over="ignore"):
        n_errors = np.minimum(np.abs(blocks.constants) * length, MOST_ERRORS)
    unit = np.where(length > 0, n_errors / np.maximum(length, TINY), 0.0)
    inside = information / variance * unit[:, np.newaxis] * unit + np.eye(n_shared)
    return 0.5 * max(float(np.linalg.slogdet(inside)[1]), 0.0)
