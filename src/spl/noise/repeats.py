"""Repeated measurements: rows with equal inputs. How much their targets differ is noise, whatever the law."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.noise.models import MeasuredRows, NoiseModel

Array = NDArray[np.float64]

MIN_FREE = 10  # repeats beyond the first of each input: fewer say little about the noise
DOUBTFUL_CHANCE = 1e-3  # a formula is doubted if its misfit is less likely than this, given the scatter of the repeats


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """Rows that were measured more than once."""

    rows: NDArray[np.intp]  # [M], of the data
    group: NDArray[np.intp]  # [M], which of the inputs each has
    target: Array  # [M]
    means: Array  # [M], of the targets with the same inputs
    n_free: int  # rows beyond the first of each input

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, if it is the same everywhere."""
        return math.sqrt(float(np.sum((self.target - self.means) ** 2)) / self.n_free)

    def nats(self, model: NoiseModel, floor: float) -> float:
        """Return how many nats it takes to describe the scatter of the repeats around their means by a noise model."""
        share = self.target.size / self.n_free
        spread = self.means + (self.target - self.means) * math.sqrt(
            share
        )  # means follow their rows: as much as is free
        rows = MeasuredRows(spread, np.ones(spread.size), floor)
        return model.scatter(rows, self.means).nats / share + 0.5 * model.n_numbers * math.log(self.n_free)


def find_repeats(columns: Array, target: Array) -> Repeats | None:
    """Return the repeated measurements of a table; None if there are too few, or if all of them agree.

    Args:
        columns: [D, N].
        target: [N].

    Examples:
        >>> x = np.repeat(np.arange(10.0), 3)
        >>> y = x + np.tile([-0.1, 0.0, 0.1], 10)
        >>> round(find_repeats(x[np.newaxis], y).deviation, 3)
        0.1
    """
    _, group, counts = np.unique(columns, axis=1, return_inverse=True, return_counts=True)
    group = group.ravel()
    rows = np.flatnonzero(counts[group] > 1)
    n_free = rows.size - int(np.sum(counts > 1))
    if n_free < MIN_FREE:
        return None
    means = np.bincount(group, weights=target) / counts
    found = Repeats(rows, group[rows], target[rows], means[group[rows]], n_free)
    size = float(np.max(np.abs(target))) or 1.0
    return found if found.deviation > np.finfo(float).eps * size else None


def misfit_chance(repeats: Repeats, values: Array, precisions: Array, n_numbers: int) -> float:
    """Return how likely a formula that is right would be as far from the means of the repeats as this one is (an F test).

    Args:
        repeats: the repeated measurements.
        values: of the formula in their rows [M].
        precisions: of these rows, by the noise model [M].
        n_numbers: fitted numbers of the formula.
    """
    from scipy.stats import f as fisher

    n_groups = np.unique(repeats.group).size
    n_checked = n_groups - n_numbers
    within = float(np.sum(precisions * (repeats.target - repeats.means) ** 2)) / repeats.n_free
    between = float(np.sum(precisions * (repeats.means - values) ** 2))
    if n_checked <= 0 or within <= 0.0:
        return 1.0
    return float(fisher.sf(between / n_checked / within, n_checked, repeats.n_free))
