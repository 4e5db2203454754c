"""Rivals of a formula: others that the data cannot tell from it, by how much their descriptions differ, and where they disagree.

The search keeps them; see `rival_collection`. A difference of n nats means that the formula is e**n times as likely, given the data
and the prices of both. The rule of choice is more careful with numbers than these odds: they could fit noise.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.errors import count_noun
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.regression.candidate import Candidate
from spl.regression.description_length import plain_length
from spl.regression.discover import Discovery
from spl.regression.fit import evaluate
from spl.regression.prediction_errors import predict_noise
from spl.regression.rival_collection import compare_by, points_to_compare, structure_of

Numbers = NDArray[np.float64]

WITHIN_NATS = 6.0  # of the best: the data favours the best by a factor of up to 400
MAX_FITTED_ROWS = 10_000  # rows on which rounded numbers are fitted again to tell formulas apart
N_PLACES = 1_000  # random points in the box among which the one with the greatest difference is found
MAX_CORNER_COLUMNS = 6  # boxes of more columns have too many corners to try
NOTED_DIGITS = 4  # of numbers in a warning
NOT_KEPT = (
    "No rivals were kept: the search has not ended, or an older version of spl wrote its run file. "
    "Continue it, or search again."
)


@dataclass(frozen=True, slots=True)
class Rival:
    """A formula that the data cannot tell from the best one."""

    candidate: Candidate
    nats: float  # by which its description is longer; less than 0 if it is shorter, and the rule of choice was more careful
    weight: float  # exp(-nats), such that those of all rivals and the best formula add up to 1
    place: tuple[float, ...]  # [D], the point in the box of the data where it differs most from the best formula
    difference: float  # there, in standard deviations of the noise; infinite if only one of them has a value


def find_rivals(found: Discovery, chosen: int, rows: Dataset, within: float = WITHIN_NATS) -> list[Rival]:
    """Return the rivals of a formula of the front, the shortest description first.

    Args:
        found: what a search found.
        chosen: the place of the formula in the front.
        rows: that the front was fitted to, with their noise model; all must count.
        within: by how many nats descriptions may be longer.
    """
    best = found.front[chosen]

    def nats(candidate: Candidate) -> float:
        return plain_length(candidate, found.n_rows, found.floor) - plain_length(best, found.n_rows, found.floor)

    near = [(nats(each), each) for each in found.rivals if nats(each) <= within]
    few = rows if rows.n_rows <= MAX_FITTED_ROWS else rows.sample(MAX_FITTED_ROWS, np.random.default_rng(0))
    points = points_to_compare(few)
    values = compare_by(best, few, points)
    noise = max(best.loss, found.floor)
    others = [
        (difference, each)
        for difference, each in sorted(near, key=lambda pair: pair[0])
        if structure_of(each.program) != structure_of(best.program)
        and not compare_by(each, few, points).are_those_of(values, noise)
    ]
    least = min([0.0, *(difference for difference, _ in others)])  # far below 0 for a poor formula: exp of it overflows
    total = math.exp(least) + sum(math.exp(least - difference) for difference, _ in others)
    places = box_places(rows.columns.min(axis=1), rows.columns.max(axis=1))
    here = _Comparison(best.program, rows, np.hstack([rows.columns, places]))
    return [
        Rival(each, difference, math.exp(least - difference) / total, *here.compare(each.program))
        for difference, each in others
    ]


class _Comparison:
    """Compares formulas with the best one at many points."""

    def __init__(self, best: Program, rows: Dataset, points: Numbers) -> None:
        self._points = points
        self._values = evaluate(best, points)
        self._noise = predict_noise(best, rows, points)

    def compare(self, other: Program) -> tuple[tuple[float, ...], float]:
        """Return where another formula differs most, and by how many standard deviations of the noise."""
        at, difference = _differ_most(self._values, evaluate(other, self._points), self._noise)
        return tuple(self._points[:, at].tolist()), difference


def _differ_most(values: Numbers, others: Numbers, noise: Numbers) -> tuple[int, float]:
    """Return the place of the greatest difference over the noise, and that; infinite where only one of the two has a value."""
    with np.errstate(all="ignore"):
        differences = np.abs(others - values) / noise
    is_one_sided = np.isfinite(values) != np.isfinite(others)
    differences = np.where(is_one_sided, np.inf, np.where(np.isfinite(differences), differences, 0.0))
    at = int(np.argmax(differences))
    return at, float(differences[at])


def box_places(lows: Numbers, highs: Numbers, n_places: int = N_PLACES) -> Numbers:
    """Return places [D, M] in a box: its corners, if there are not too many, and random points.

    Examples:
        >>> box_places(np.array([0.0]), np.array([2.0]), n_places=1)[:, :2]
        array([[0., 2.]])
    """
    n_columns = len(lows)
    corners = np.zeros((n_columns, 0))
    if n_columns <= MAX_CORNER_COLUMNS:
        corners = np.array(np.meshgrid(*[[0.0, 1.0]] * n_columns, indexing="ij")).reshape(n_columns, -1)
    inside = np.random.default_rng(0).uniform(size=(n_columns, n_places))
    return lows[:, np.newaxis] + (highs - lows)[:, np.newaxis] * np.hstack([corners, inside])


def explain_disagreement(best: Program, rivals: list[Rival], rows: Dataset, columns: Numbers) -> str:
    """Return in words which rival differs most from the formula on columns [D, M], if by more than the noise; else nothing."""
    if not rivals or not columns.shape[1]:
        return ""
    values, noise = evaluate(best, columns), predict_noise(best, rows, columns)
    found = [(_differ_most(values, evaluate(each.candidate.program, columns), noise), each) for each in rivals]
    n_differing = sum(difference > 1 for (_, difference), _ in found)
    if not n_differing:
        return ""
    (at, difference), worst = max(found, key=lambda pair: pair[0][1])
    [other] = evaluate(worst.candidate.program, np.ascontiguousarray(columns[:, [at]]))
    size = (
        f"by {difference:.2g} standard deviations of the noise"
        if math.isfinite(difference)
        else "in whether it has a value"
    )
    return (
        f"{count_noun(n_differing, 'other formula')} that the data cannot tell from it {'differs' if n_differing == 1 else 'differ'} "
        f"there, {size}: {to_text(worst.candidate.program, NOTED_DIGITS)} gives {other:.{NOTED_DIGITS}g} in place of "
        f"{values[at]:.{NOTED_DIGITS}g}."
    )
