"""A smooth model of a few columns, for screening: what do these columns explain of a target, whatever the formula?

The model is kernel ridge regression. Its kernel is a product over the columns, so the model is a sum of smooth functions of each
column, of each pair of columns, and so on. Each row is predicted from all others, so the errors are honest without a second sample.
"""

from collections.abc import Sequence

import numpy as np

from spl.regression.column_terms import Numbers, Terms

# Set by judgement, not tuned.
REACHES = (0.1, 0.5)  # variance of the functions of one column, relative to the constant: more of it, more interactions
NOISE_LEVELS = (1e-5, 1e-3, 1e-2, 1e-1, 1.0)  # that are tried, relative to the mean of the kernel's diagonal
STEEPNESS = 2.0  # a wave of frequency k has the variance k**-STEEPNESS


def find_unexplained(terms: Terms, chosen: Sequence[int], targets: Numbers, weights: Numbers) -> Numbers:
    """Return what the chosen columns leave of each target: for each row, its error when it is predicted from the others.

    A model that predicts worse than the mean is not used.

    Args:
        terms: of all columns, from `column_terms.make_terms`.
        chosen: the columns of the model.
        targets: [M, N], with weighted mean 0.
        weights: of the rows [N], all above 0.

    Examples:
        >>> from spl.regression.column_terms import make_terms, standardize
        >>> x = np.random.default_rng(0).uniform(-1, 1, (2, 200))
        >>> target = standardize(x[0] ** 2 * x[1], np.ones(200))[np.newaxis]
        >>> terms = make_terms(x, np.ones(200))
        >>> [round(float(np.mean(find_unexplained(terms, chosen, target, np.ones(200)) ** 2)), 1) for chosen in ([], [0], [0, 1])]
        [1.0, 1.0, 0.0]
    """
    best = targets.copy()
    if not chosen:
        return best
    least = np.sum(weights * best**2, axis=1)
    root = np.sqrt(weights)
    for reach in REACHES:
        kernel = _make_kernel(terms[list(chosen)].astype(np.float64), reach)
        scale, basis = np.linalg.eigh(root[:, np.newaxis] * kernel * root)
        goal = (targets * root) @ basis
        for level in NOISE_LEVELS:
            inverse = 1.0 / (np.maximum(scale, 0.0) + level * np.mean(np.diag(kernel)))
            errors = (goal * inverse) @ basis.T / ((basis**2) @ inverse) / root
            square = np.sum(weights * errors**2, axis=1)
            better = square < least
            best[better], least[better] = errors[better], square[better]
    return best


def _make_kernel(terms: Numbers, reach: float) -> Numbers:
    """Return the covariance of all pairs of rows [N, N]."""
    variance = np.maximum(np.arange(terms.shape[1]), 1.0) ** -STEEPNESS
    variance *= reach / variance.sum()
    kernel = np.ones((terms.shape[2], terms.shape[2]))
    for own in terms:
        kernel *= 1.0 + (own.T * variance) @ own
    return kernel
