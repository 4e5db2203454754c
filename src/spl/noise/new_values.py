"""Within which limits a new measurement lies, given the value of a law and how well that is known."""

import math
from dataclasses import dataclass

import numpy as np

from spl.noise.models import BINOMIAL, NORMAL, POISSON, RELATIVE, Array, MeasuredRows, NoiseModel, Scatter

KNOWN_VARIANCE = 1e-9  # of a rate or chance, relative to the noise: below, the law is as good as known
LEAST_COUNT_VARIANCE = 0.25  # of counts near 0, which are never measured more precisely than to half a count
TWO_THIRDS = 0.6827  # share of normal errors below one standard deviation


@dataclass(frozen=True, slots=True, eq=False)
class FittedNoise:
    """How measured rows scatter around the values of a law."""

    model: NoiseModel
    scatter: Scatter
    rows: MeasuredRows
    values: Array  # [N], of the law
    degrees: float  # of freedom, if the size of the noise is estimated; infinite if it is known

    @property
    def inflation(self) -> float:
        """By how much the variance of the residuals is too small, because the law was fitted to them."""
        return self.values.size / self.degrees if math.isfinite(self.degrees) else 1.0


def clip_to_targets(model: NoiseModel, values: Array) -> Array:
    """Return values within what a noise model can produce on average: counts are 0 or more, shares between 0 and 1."""
    if model is POISSON:
        return np.maximum(values, 0.0)
    return np.clip(values, 0.0, 1.0) if model is BINOMIAL else values


def limit_new_values(
    noise: FittedNoise, values: Array, errors: Array, level: float, quantile: float
) -> tuple[Array, Array]:
    """Return the lower and upper limits [M] between which new measurements lie with a chance of `level`.

    With weights or error bars, a new measurement is one of average weight. Of shares, it has as many trials as the average row.

    Args:
        noise: how the measured rows scatter.
        values: of the law, where the new measurements are [M].
        errors: standard errors of these values [M].
        level: the chance.
        quantile: standard errors within which the law lies with that chance.

    Examples:
        >>> scatter = POISSON.scatter(MeasuredRows(np.array([3.0, 4.0]), np.ones(2), 0.0), np.array([3.5, 3.5]))
        >>> rows = MeasuredRows(np.array([3.0, 4.0]), np.ones(2), 0.0)
        >>> noise = FittedNoise(POISSON, scatter, rows, np.array([3.5, 3.5]), math.inf)
        >>> limit_new_values(noise, np.array([3.5]), np.array([0.0]), 0.95, 1.96)
        (array([0.]), array([8.]))
    """
    if noise.model is POISSON:
        return _limit_counts(values, errors, level)
    if noise.model is BINOMIAL:
        return _limit_shares(values, errors, level, max(1, round(noise.rows.mean_weight)))
    if noise.model in (NORMAL, RELATIVE):
        half = quantile * np.sqrt(errors**2 + _new_variances(noise, values))
    else:
        half = np.sqrt((quantile * errors) ** 2 + _usual_error(noise, level) ** 2)
    return values - half, values + half


def deviations_of_new(noise: FittedNoise, values: Array) -> Array:
    """Return the standard deviations of new measurements around values of a law [M].

    With outliers and own losses, which have no standard deviation to speak of, it is the error that two thirds of the rows stay below.

    Examples:
        >>> rows = MeasuredRows(np.array([3.0, 4.0]), np.ones(2), 0.0)
        >>> noise = FittedNoise(POISSON, POISSON.scatter(rows, np.array([3.5, 3.5])), rows, np.array([3.5, 3.5]), math.inf)
        >>> deviations_of_new(noise, np.array([100.0])).round(1)
        array([10.])
    """
    if noise.model is POISSON:
        return np.asarray(np.sqrt(np.maximum(values, 0.0) + LEAST_COUNT_VARIANCE))
    if noise.model is BINOMIAL:
        n_trials = max(1, round(noise.rows.mean_weight))
        shares = np.clip(values, 0.0, 1.0)
        return np.asarray(np.sqrt((shares * (1 - shares) + LEAST_COUNT_VARIANCE / n_trials) / n_trials))
    if noise.model in (NORMAL, RELATIVE):
        return np.asarray(np.sqrt(_new_variances(noise, values)))
    return np.full(values.size, _usual_error(noise, TWO_THIRDS))


def _new_variances(noise: FittedNoise, values: Array) -> Array:
    """Return the variances of normal errors around values: the part that grows with the value, and the average of the rest."""
    numbers = noise.scatter.numbers
    even, relative = numbers.get("even error", 0.0), numbers.get("relative error", 0.0)
    weights = noise.rows.weights if noise.rows.sigma is None else 1.0
    rest = np.mean(weights / noise.scatter.precisions - even**2 - (relative * noise.values) ** 2)
    return np.asarray(noise.inflation * (even**2 + (relative * values) ** 2 + max(float(rest), 0.0)))


def _usual_error(noise: FittedNoise, level: float) -> float:
    """Return the error that a share `level` of the rows stays below: it needs no formula for the tails."""
    errors = np.sort(np.abs(noise.rows.target - noise.values) * np.sqrt(noise.rows.weights))
    place = min(math.ceil((errors.size + 1) * level), errors.size)
    return math.sqrt(noise.inflation) * float(errors[place - 1])


def _limit_counts(rates: Array, errors: Array, level: float) -> tuple[Array, Array]:
    """Return limits of counts whose rate has a standard error: if that is gamma distributed, counts are negative binomial."""
    from scipy.stats import nbinom, poisson  # slow to import

    variances = np.maximum(errors**2, KNOWN_VARIANCE * rates)
    limits = []
    for chance in (0.5 * (1 - level), 0.5 * (1 + level)):
        with np.errstate(all="ignore"):
            of_known = poisson.ppf(chance, rates)
            of_unknown = nbinom.ppf(chance, rates**2 / variances, rates / (rates + variances))
        limits.append(np.where(errors**2 > KNOWN_VARIANCE * rates, of_unknown, of_known))
    return limits[0], limits[1]


def _limit_shares(chances: Array, errors: Array, level: float, n_trials: int) -> tuple[Array, Array]:
    """Return limits of shares whose chance has a standard error: if that is beta distributed, counts are beta-binomial."""
    from scipy.stats import betabinom, binom  # slow to import

    noise = chances * (1 - chances)
    variances = np.clip(errors**2, KNOWN_VARIANCE * noise, 0.5 * noise)
    limits = []
    for share in (0.5 * (1 - level), 0.5 * (1 + level)):
        with np.errstate(all="ignore"):
            of_known = binom.ppf(share, n_trials, chances)
            strength = noise / variances - 1
            of_unknown = betabinom.ppf(share, n_trials, chances * strength, (1 - chances) * strength)
        limits.append(np.where(errors**2 > KNOWN_VARIANCE * noise, of_unknown, of_known) / n_trials)
    return limits[0], limits[1]
