"""Intervals of constants by profile: a constant is moved away from its best value, the others are fitted again, until it is unlikely.

Where a formula is far from linear in its constants, such intervals are lopsided, or open on one side: an exponent may be known to be
at least 2, with no upper limit. The curvature of the likelihood cannot show that.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spl.data.dataset import Dataset
from spl.noise.models import NORMAL
from spl.regression.fit import POLISH_EFFORT, find_scatter, fit
from spl.regression.round_constants import fix_constant
from spl.regression.uncertainty import NumberPlace

MAX_WIDENINGS = 12  # of the distance to the end of an interval; beyond, it is open
WIDENING = 2.0
PRECISION = 1e-3  # of the end of an interval, in half widths
MOST_NATS = 1e300  # in place of an infinite number, for the search of a root


def find_profile_interval(number: NumberPlace, data: Dataset, level: float) -> tuple[float, float]:
    """Return the ends of the interval of a constant, from the likelihood with all other constants at their best.

    Args:
        number: which constant of which formula.
        data: the rows that it was fitted to, with their noise model; all must count.
        level: the chance that the interval holds the constant.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.regression.uncertainty import place_numbers
        >>> x = np.linspace(0.0, 4.0, 30)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], np.exp(-x) + 0.1 * np.cos(50 * x), names=["x"])
        >>> decay = fit(parse_expression("exp(-C*x)", Vocabulary(("x",))).with_constants(np.array([1.0])), data).program
        >>> [number] = place_numbers(decay, data)
        >>> low, high = find_profile_interval(number, data, 0.95)
        >>> high - decay.constants[0] > decay.constants[0] - low  # a fast decay is harder to tell from a faster one
        True
    """
    curvature, place = number.curvature, number.place
    if curvature.is_hidden[place]:
        return -math.inf, math.inf
    if curvature.scatter.is_exact:  # what is left is rounding error, which has no likelihood
        return curvature.interval(place, level)
    rise = _profile(number, data)
    quantile, error = curvature.quantile(level), float(curvature.standard_errors[place])
    limit = rise_at_ends(quantile, curvature.degrees, data.n_rows)
    centre = float(curvature.best[place])
    low, high = (find_end(lambda value: rise(value) - limit, centre, sign * quantile * error) for sign in (-1, 1))
    return low, high


def rise_at_ends(quantile: float, degrees: float, n_rows: int) -> float:
    """Return by how much twice the nats are higher at the ends of an interval.

    Args:
        quantile: how many standard errors the interval would extend if the formula were linear in the constant.
        degrees: of freedom of the noise, whose size is then at its best for each value of the constant; infinite if it is known.
        n_rows: of the data.
    """
    return quantile**2 if math.isinf(degrees) else n_rows * math.log1p(quantile**2 / degrees)


def _profile(number: NumberPlace, data: Dataset) -> Callable[[float], float]:
    """Return the function that says by how much twice the nats rise if a constant has a value and the others fit to it."""
    curvature, place = number.curvature, number.place
    program = curvature.program
    judged = replace(data, noise=data.noise or NORMAL)
    least = find_scatter(fit(program, data, effort=POLISH_EFFORT).program, judged).nats
    others = np.arange(program.n_constants) != place
    along = curvature.covariance[others, place] / curvature.covariance[place, place]
    along *= curvature.units[others] / curvature.units[place]

    def rise(value: float) -> float:
        moved = np.array(program.constants)
        moved[others] += along * (value - moved[place])
        fixed = fix_constant(program.with_constants(moved), number.position, place, value)
        nats = find_scatter(fit(fixed, data, effort=POLISH_EFFORT).program, judged).nats
        return min(2 * (nats - least), MOST_NATS)

    return rise


def find_end(excess: Callable[[float], float], centre: float, step: float) -> float:
    """Return where a function becomes positive on the way from the centre; infinite if it does not."""
    from scipy.optimize import brentq  # slow to import

    inside, outside = centre, centre + step
    for _ in range(MAX_WIDENINGS):
        if excess(outside) > 0:
            break
        inside, outside = outside, centre + WIDENING * (outside - centre)
    else:
        return math.copysign(math.inf, step)
    if excess(inside) > 0:  # the constant is not at its best value
        return centre
    return float(brentq(excess, inside, outside, xtol=PRECISION * abs(step)))
