"""What rows that the search never saw say about a front: the loss of each formula, which one to prefer, and whether it is of use.

A formula is of use if it puts the rows in a better order than chance does, and has a lower loss than a constant. The order is compared
by ranks, so that neither outliers nor the size of the noise matter. What is tested is the formula that the default rule chooses; if
that is a constant, all others at once, because the best of many is found by chance more easily than one.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.noise.models import NoiseModel
from spl.regression.description_length import TINY_LOSS
from spl.regression.fit import evaluate, loss_of
from spl.regression.front import Front
from spl.regression.same_structure import columns_of

N_SHUFFLES = 999  # of the held-out targets: the chance is then known to 0.001
MAX_SHUFFLED = 1_000  # rows; more would show nothing that these do not
LARGEST_CHANCE = 0.05  # above, the formulas of a front are no better than chance
CLEAR_CHANCE = 0.01  # up to here, they are better, even if a constant describes the other rows best
N_GROUPS = 10  # parts of the held-out rows that are left out in turn, to see how far a loss may be off


@dataclass(frozen=True, slots=True)
class HeldOutVerdict:
    """What held-out rows say about the formulas of a front."""

    n_rows: int
    losses: tuple[float, ...]  # of each formula; infinite if it has no value on a row
    constant_loss: float  # of the constant that fits the other rows best
    preferred: int  # the simplest formula whose loss may be the lowest
    tested_loss: float  # of the formula that the default rule chooses; the lowest of all if that is a constant
    chance: float  # that columns without any relation to the target would order the rows as well

    @property
    def is_explained(self) -> bool:
        """Whether what is tested is better than a constant, and better than chance."""
        return self.tested_loss < self.constant_loss and self.chance <= LARGEST_CHANCE

    @property
    def is_clear(self) -> bool:
        """Whether it is so clearly better that this outweighs what the other rows say."""
        return self.is_explained and self.chance <= CLEAR_CHANCE


def judge_front(
    front: Front, chosen: int, constant: Program, held_out: Dataset, noise: NoiseModel | None, floor: float
) -> HeldOutVerdict:
    """Return what held-out rows say about the formulas of a front, which must not be empty.

    Args:
        front: the formulas, fitted to other rows.
        chosen: the row of the front that the default rule chooses.
        constant: the constant that was fitted to the same rows.
        held_out: the rows; those of weight 0 do not count.
        noise: the noise model by which the formulas were fitted; None is least squares.
        floor: an error up to this is rounding error.
    """
    counts = np.flatnonzero(held_out.weights > 0)
    rows = replace(held_out.take(counts), noise=noise)
    losses = tuple(loss_of(candidate.program, rows) for candidate in front)
    tested = [chosen] if columns_of(front[chosen].program) else range(len(front))
    return HeldOutVerdict(
        n_rows=rows.n_rows,
        losses=losses,
        constant_loss=loss_of(constant, rows),
        preferred=_prefer(front, losses, rows, floor),
        tested_loss=min(losses[place] for place in tested),
        chance=order_chance([front[place].program for place in tested], rows),
    )


# ---- which formula -------------------------------------------------------------------------------


def _prefer(front: Front, losses: Sequence[float], rows: Dataset, floor: float) -> int:
    """Return the simplest formula whose loss is within one standard error of the lowest."""
    logarithms = [_logarithm(loss, floor) for loss in losses]
    lowest = min(logarithms)
    if math.isinf(lowest):
        return 0
    best = front[logarithms.index(lowest)].program
    error = _standard_error(np.array([_logarithm(loss_of(best, part), floor) for part in _leave_groups_out(rows)]))
    return next(place for place, logarithm in enumerate(logarithms) if logarithm <= lowest + error)


def _leave_groups_out(rows: Dataset) -> Iterator[Dataset]:
    """Yield the rows without each of some groups; a group has rows from all over the data."""
    n_groups = min(N_GROUPS, rows.n_rows)
    groups = np.arange(rows.n_rows) % n_groups
    for group in range(n_groups):
        yield rows.take(np.flatnonzero(groups != group))


def _logarithm(loss: float, floor: float) -> float:
    return math.log(max(loss, floor, TINY_LOSS))


def _standard_error(without: NDArray[np.float64]) -> float:
    """Return the standard error of a number from its values without each of the groups: the jackknife.

    Examples:
        >>> values = np.arange(10.0)
        >>> without = np.array([np.delete(values, place).mean() for place in range(10)])
        >>> bool(np.isclose(_standard_error(without), values.std(ddof=1) / np.sqrt(10)))
        True
    """
    return math.sqrt((without.size - 1) * float(np.mean((without - without.mean()) ** 2)))


# ---- better than chance --------------------------------------------------------------------------


def order_chance(programs: Iterable[Program], rows: Dataset) -> float:
    """Return how often shuffled targets agree as well with the best of the formulas, by rank, as the targets do; 1 without a column.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> x = np.arange(20.0)
        >>> rows = Dataset.from_arrays(x[:, np.newaxis], np.exp(x), names=["x"])
        >>> [order_chance([parse_expression(text, Vocabulary(("x",)))], rows) for text in ("x**2", "5")]
        [0.001, 1.0]
    """
    random = np.random.default_rng(0)
    if rows.n_rows > MAX_SHUFFLED:
        rows = rows.take(np.sort(random.choice(rows.n_rows, MAX_SHUFFLED, replace=False)))
    values = [evaluate(program, rows.columns) for program in programs if columns_of(program)]
    ranks = [_standard_ranks(each) for each in values if np.isfinite(each).all()]
    if not ranks:
        return 1.0
    table = np.vstack(ranks)  # [K, N]
    target = _standard_ranks(rows.target)
    shuffled = random.permuted(np.tile(target, (N_SHUFFLES, 1)), axis=1)  # [S, N]
    agreement = float((table @ target).max())
    n_as_good = int(np.count_nonzero((shuffled @ table.T).max(axis=1) >= agreement - 1e-9))
    return (1 + n_as_good) / (1 + N_SHUFFLES)


def rank_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of values, from 1; equal ones share theirs.

    Examples:
        >>> rank_values(np.array([5.0, 7.0, 5.0, 9.0]))
        array([1.5, 3. , 1.5, 4. ])
    """
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1))[places])


def _standard_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks with mean 0 and length 1; zeros, if all values are equal."""
    ranks = rank_values(values)
    centred = ranks - ranks.mean()
    length = math.sqrt(float(centred @ centred))
    return np.asarray(centred / length if length > 0 else centred)
