"""Limits of a formula in numbers: its values on the way to infinity, or to a value of a column."""

import math

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.knowledge.statements import Limit
from spl.knowledge.values import has_own_operators, values_at

Numbers = NDArray[np.float64]

ROUNDED_BREACH = 1e-9  # of the size of f (per width of a column, for slopes): smaller breaches are rounding
LIMIT_SHARE = 1e-6  # of the size of f: what is left of a limit where floating-point numbers end
STEP = 4.0  # from one value to the next
N_FAR_STEPS = 75  # on the way to infinity, or to 0: up to about 1e45 times the size of the column
N_NEAR_STEPS = 20  # on the way to another value: until floating-point numbers cannot tell the difference
N_SETTLED = 3  # values at the end of the way that must agree
SLOW_SHARE = 0.8  # what is left of a difference in the second half of the way, if it vanishes slowly: 0.5 for 1/log(x)
_APPROACH = 2.0 ** -np.arange(3.0, 46.0)  # shares of a step towards a point where a formula is undefined


def measure_limit(program: Program, points: Numbers, limit: Limit, place: int, inwards: float, size: float) -> Numbers:
    """Return how far a formula is from a limit at the end of the way there, from each point [M]; infinite if it does not tend there.

    Args:
        program: the formula.
        points: where the other columns are [D, M].
        limit: the statement.
        place: the column that tends to a value.
        inwards: for a finite value, a step from there to where the box is.
        size: the size of the formula.
    """
    way = _way_to(limit.to, inwards, points[place])
    n_steps = way.shape[1]
    along = np.repeat(points, n_steps, axis=1)
    along[place] = way.ravel()
    values = _trusted_values(program, along, LIMIT_SHARE * size).reshape(way.shape)
    if isinstance(limit.value, float):
        return np.array([_from_infinity(row, limit.value, size) for row in values])
    at_end = points.copy()
    at_end[place] = 0.0  # the limit does not depend on it
    goal = values_at(limit.value, at_end)
    return np.array([_from_value(row, wanted) for row, wanted in zip(values, goal, strict=True)])


def _trusted_values(program: Program, columns: Numbers, tolerance: float) -> Numbers:
    """Return values at points [D, M]; NaN where rounding spoils them, as in exp(x) - 1 near 0: more digits give another value."""
    values = values_at(program, columns)
    if has_own_operators(program):
        return values
    with np.errstate(all="ignore"):
        finer = values_at(program, columns.astype(np.longdouble)).astype(float)
        return np.where(np.abs(values - finer) <= tolerance + ROUNDED_BREACH * np.abs(values), values, np.nan)


def _way_to(to: float, inwards: float, start: Numbers) -> Numbers:
    """Return values of a column [M, K] on the way to a value."""
    if math.isinf(to):
        first = np.maximum(np.abs(start), abs(inwards))[:, np.newaxis]
        return np.asarray(math.copysign(1.0, to) * first * STEP ** np.arange(float(N_FAR_STEPS)))
    n_steps = N_FAR_STEPS if to == 0 else N_NEAR_STEPS
    steps = inwards * STEP ** -np.arange(float(n_steps))
    return np.repeat((to + steps)[np.newaxis, :], start.size, axis=0)


def _known_part(values: Numbers) -> Numbers:
    """Return values on the way up to where the first is undefined: numbers overflow at the end of it."""
    gaps = np.flatnonzero(np.isnan(values))
    return values[: gaps[0]] if gaps.size else values


def _from_value(values: Numbers, goal: float) -> float:
    known = _known_part(values)
    if known.size <= N_SETTLED or not math.isfinite(goal):
        return math.inf
    differences = known - goal
    last = differences[-N_SETTLED:]
    half = abs(differences[differences.size // 2])
    is_shrinking = bool(np.all(np.diff(np.abs(last)) < 0)) and abs(last[-1]) < SLOW_SHARE * half
    if is_shrinking and known.size == values.size:
        return 0.0  # it vanishes slowly, as 1/log(x)
    is_settling = bool(np.all(np.diff(np.abs(last)) <= 0))
    return float(last[-1] if is_settling else last[np.argmax(np.abs(last))])


def _from_infinity(values: Numbers, goal: float, size: float) -> float:
    """Return 0 if values grow beyond all bounds with the right sign, else infinity."""
    known = math.copysign(1.0, goal) * _known_part(values)
    if known.size <= N_SETTLED:
        return math.inf
    rises = np.diff(known)
    is_rising = bool(np.all(rises[-N_SETTLED:] > 0)) and known[-1] > 0
    middle = rises[rises.size // 2]
    is_unbounded = known[-1] > size and rises[-1] > 0.5 * middle  # a bounded one rises less and less
    return 0.0 if is_rising and is_unbounded else math.inf


def approach_value(program: Program, points: Numbers, towards: dict[int, float], goal: Numbers) -> Numbers:
    """Return the limits of a formula at points [D, M] where it is undefined; NaN if it seems to have none.

    They are extrapolated from values at ever smaller distances, and where numbers do not decide, the value nearest to `goal` counts.
    """
    estimates = []
    for share in _APPROACH:
        at = points.copy()
        for place, step in towards.items():
            at[place] += share * step
        estimates.append(values_at(program, at))
    rows = np.array(estimates)  # [K, M]
    once = 2 * rows[1:] - rows[:-1]
    twice = (4 * once[1:] - once[:-1]) / 3
    candidates = np.vstack([rows[-8:], twice])
    candidates = np.where(np.isnan(candidates), np.inf, candidates)
    nearest = np.argsort(np.abs(candidates - goal), axis=0)[1]  # the second nearest: one may be near by chance
    found = np.take_along_axis(candidates, nearest[np.newaxis], axis=0)[0]
    return np.where(np.isfinite(found), found, np.nan)
