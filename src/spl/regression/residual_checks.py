"""Checks of what a formula leaves over: if it is the law, its residuals are noise and nothing else.

Each check gives the chance that noise alone looks as doubtful. Whether residuals follow the order of the rows, a column or the
predicted value is seen from neighbours in that order: the rank version of von Neumann's ratio, by Bartels (1982), which assumes no
shape of the noise and of the pattern.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from spl.data.dataset import Dataset
from spl.errors import count_noun
from spl.formulas.program import Program
from spl.formulas.text import quote_name
from spl.noise.models import IMPOSSIBLE, NORMAL, RELATIVE
from spl.regression.fit import evaluate, find_scatter
from spl.regression.held_out import rank_values

Numbers = NDArray[np.float64]

MIN_CHECKED = 10  # rows: with fewer, the distribution of the ratio is too coarse
MAX_NORMAL_ROWS = 2_000  # of the check for normality, which otherwise sees the slightest difference
MAX_CHECKED = 100_000  # rows of the other checks, spread over all: sorting more takes seconds and shows no more
DOUBTFUL = 0.01  # chance below which a check is doubtful; divided by the number of columns where each is checked


@dataclass(frozen=True, slots=True)
class ResidualCheck:
    """One check of the residuals."""

    name: str  # "normality", "order", "spread" or "column"
    column: str  # that is checked; "" for the other checks
    chance: float  # that noise alone looks as doubtful
    is_doubtful: bool
    words: str  # what the check says, and what it means if it is doubtful


def check_residuals(program: Program, data: Dataset) -> tuple[ResidualCheck, ...]:
    """Return the checks of a formula; none with fewer than ten rows, or if the formula fits to rounding error.

    Args:
        program: the formula, fitted.
        data: the rows that it was fitted to, in the order they were taken, with their noise model; all must count.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> x = np.linspace(0.0, 3.0, 60)
        >>> noise = 0.1 * np.random.default_rng(0).standard_normal(60)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], x**2 + noise, names=["x"])
        >>> for text in ("x**2", "2.9*x - 1.4"):
        ...     print([check.name for check in check_residuals(parse_expression(text, Vocabulary(("x",))), data) if check.is_doubtful])
        []
        ['normality', 'order', 'spread', 'column']
    """
    return () if why_unchecked(program, data) else tuple(_make_checks(program, data))


def why_unchecked(program: Program, data: Dataset) -> str:
    """Return in words why there is nothing to check; empty if there is.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[0.0], [1.0]], [0.0, 1.0], names=["x"])
        >>> why_unchecked(parse_expression("x", Vocabulary(("x",))), data)
        'there are only 2 rows'
    """
    if data.n_rows < MIN_CHECKED:
        return f"there {'is' if data.n_rows == 1 else 'are'} only {count_noun(data.n_rows, 'row')}"
    scatter = find_scatter(program, replace(data, noise=data.noise or NORMAL))
    if scatter is IMPOSSIBLE:
        return "there are rows that the formula cannot have produced"
    is_exact = scatter.is_exact or not np.abs(data.target - evaluate(program, data.columns)).max() > data.floor
    return "the formula fits to rounding error" if is_exact else ""


def _make_checks(program: Program, data: Dataset) -> Iterator[ResidualCheck]:
    scatter = find_scatter(program, replace(data, noise=data.noise or NORMAL))
    sizes = _inverse_sizes(data, scatter.precisions)
    few = np.arange(0, data.n_rows, -(-data.n_rows // MAX_CHECKED))
    data = data.take(few)
    values = evaluate(program, data.columns)
    residuals = (data.target - values) * sizes[few]
    if (data.noise or NORMAL) in (NORMAL, RELATIVE):
        yield _check_normality(residuals)
    in_order = np.arange(residuals.size) if data.places is None else np.argsort(data.places.numbers, kind="stable")
    yield _check(
        "order",
        neighbour_chance(residuals[in_order]),
        "Errors of rows that follow each other are not alike.",
        "Errors of rows that follow each other are alike: something drifted while the rows were taken, or the formula misses a change "
        "along them. Intervals are then too narrow.",
    )
    yield _check(
        "spread",
        neighbour_chance(np.abs(residuals)[_sorted_by(values)]),
        "The errors are as large for all predicted values as the noise model says.",
        "The size of the errors changes with the predicted value, in another way than the noise model says. Try other noise models, "
        "or give error bars.",
    )
    for name, column in zip(data.names, data.columns, strict=True):
        if np.ptp(column) > 0:
            yield _check(
                "column",
                neighbour_chance(residuals[_sorted_by(column)]),
                f"The errors do not follow {quote_name(name)}.",
                f"The errors follow {quote_name(name)}: the formula misses part of how the target depends on it.",
                column=name,
                limit=DOUBTFUL / len(data.names),
            )


def _check(
    name: str, chance: float, fine: str, doubtful: str, *, column: str = "", limit: float = DOUBTFUL
) -> ResidualCheck:
    is_doubtful = chance < limit
    return ResidualCheck(name, column, chance, is_doubtful, doubtful if is_doubtful else fine)


def _check_normality(residuals: Numbers) -> ResidualCheck:
    from scipy.stats import shapiro  # slow to import

    if residuals.size > MAX_NORMAL_ROWS:
        residuals = np.random.default_rng(0).choice(residuals, MAX_NORMAL_ROWS, replace=False)
    chance = float(shapiro(residuals).pvalue) if np.ptp(residuals) > 0 else 0.0
    return _check(
        "normality",
        chance,
        "The errors are distributed as normal ones are.",
        "The errors are not distributed as normal ones are: look for outliers and for errors on one side. Intervals of new "
        "measurements may be wrong; those of numbers hardly suffer if there are many rows.",
    )


def neighbour_chance(residuals: Numbers) -> float:
    """Return the chance that noise has neighbours as alike as these are; small if they follow each other smoothly.

    Examples:
        >>> waves = np.sin(np.linspace(0, 6, 50))
        >>> neighbour_chance(waves) < 1e-6, neighbour_chance(waves * (-1) ** np.arange(50)) > 0.5
        (True, True)
    """
    ranks = rank_values(residuals)
    n = ranks.size
    spread = float(np.sum((ranks - ranks.mean()) ** 2))
    if spread == 0:
        return 1.0
    ratio = float(np.sum(np.diff(ranks) ** 2)) / spread
    variance = 4 * (n - 2) * (5 * n * n - 2 * n - 9) / (5 * n * (n + 1) * (n - 1) ** 2)
    return float(ndtr((ratio - 2) / math.sqrt(variance)))


def _sorted_by(column: Numbers) -> NDArray[np.intp]:
    """Return the rows in the order of a column; equal ones in random order, so that the order they were taken in has no say."""
    shuffled = np.random.default_rng(0).permutation(column.size)
    return np.asarray(shuffled[np.argsort(column[shuffled], kind="stable")])


def _inverse_sizes(data: Dataset, precisions: Numbers) -> Numbers:
    """Return one over the size of the noise in each row, up to a factor; where there are outliers, they must not be made small."""
    model = data.noise or NORMAL
    if model.n_numbers == 0 or model in (NORMAL, RELATIVE):
        return np.sqrt(precisions)
    return np.asarray(np.sqrt(data.weights) if data.sigma is None else 1.0 / data.sigma)
