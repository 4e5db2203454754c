"""New targets for the same rows, as if they had been measured once more: drawn from a law and its fitted noise."""

import numpy as np

from spl.noise.models import BINOMIAL, NORMAL, POISSON, RELATIVE, STUDENT, Array
from spl.noise.new_values import FittedNoise, clip_to_targets


def redraw_targets(noise: FittedNoise, random: np.random.Generator) -> Array:
    """Return new targets [N] of the measured rows.

    Counts and shares are drawn from their distributions. Otherwise, each row gets the residual of a random row, in the units of the
    noise there, so that no shape of the noise is assumed; its sign is random, unless the noise follows a loss of the user, which may
    be lopsided. Residuals are enlarged for what the fit of the law took out of them.

    Examples:
        >>> from spl.noise.models import MeasuredRows, Scatter
        >>> rows = MeasuredRows(np.array([1.0, 3.0]), np.ones(2), 0.0)
        >>> noise = FittedNoise(NORMAL, Scatter(0.0, np.ones(2)), rows, np.array([2.0, 2.0]), degrees=np.inf)
        >>> sorted(set(redraw_targets(noise, np.random.default_rng(0)).tolist()))
        [1.0, 3.0]
    """
    if noise.model is POISSON:
        return random.poisson(clip_to_targets(POISSON, noise.values)).astype(np.float64)
    if noise.model is BINOMIAL:
        n_trials = np.maximum(np.rint(noise.rows.mean_weight * noise.rows.weights), 1).astype(np.int64)
        return np.asarray(random.binomial(n_trials, clip_to_targets(BINOMIAL, noise.values)) / n_trials)
    units = _units(noise)
    residuals = (noise.rows.target - noise.values) / units
    drawn = np.sqrt(noise.inflation) * random.choice(residuals, residuals.size)
    if noise.model in (NORMAL, RELATIVE, STUDENT):
        drawn *= random.choice((-1.0, 1.0), drawn.size)
    return np.asarray(noise.values + units * drawn)


def _units(noise: FittedNoise) -> Array:
    """Return the size of the noise in each row [N], up to a factor.

    Where outliers are possible, precisions tell which rows are outliers; what is known before is used instead.
    """
    if noise.model in (NORMAL, RELATIVE):
        return np.asarray(1.0 / np.sqrt(noise.scatter.precisions))
    return np.asarray(1.0 / np.sqrt(noise.rows.weights) if noise.rows.sigma is None else noise.rows.sigma)
