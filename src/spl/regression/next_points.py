"""Which points to measure next: those that separate a formula from its rivals, several at once.

A measurement tells two formulas apart if their values differ by more than the noise, and by more than fitting their numbers again
could make up for. So the difference of two formulas is treated as a random function: its mean is the present difference, and its
covariance is that of the noise and of the numbers of both, with values linear in the numbers. Points are chosen one by one. After
each, the difference is what is left of it if the point had been measured, so that the next point separates what the others do not.

How well two formulas are separated is the Bhattacharyya distance of what they predict: the mean squared difference over eight, and
more where one of them leaves its values open and the other does not, as a law does beside a formula in which one of its numbers is
fixed. The sum over all pairs of sqrt(weight * weight) * exp(-distance) bounds the chance to choose the wrong one. Each point is the
one that lowers this sum most.
Points keep some distance from each other: none of the formulas may be right, and measurements side by side would not show it.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.errors import SettingError, explain_unknown, show_value
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.regression.constant_slopes import slopes_by_constants
from spl.regression.fit import evaluate
from spl.regression.prediction_errors import predict_noise
from spl.regression.rivals import Rival, box_places
from spl.regression.uncertainty import Curvature, free_numbers, measure_curvature

Numbers = NDArray[np.float64]

MAX_COMPARED = 24  # rivals, those with the greatest weights
GREATEST_DIFFERENCE = (
    30.0  # standard deviations of the noise: more says no more, and near a pole it would hide all else
)
SPACING = 0.4  # over the number of points: least distance of two points in some column, relative to its range
MAX_POINTS = 100  # at once
NO_RIVALS = (
    "No other formula fits nearly as well: these points reduce the errors of its numbers the most. Points that test the "
    "formula itself lie outside of the data."
)
NOTHING_OPEN = (
    "No other formula fits nearly as well, and the formula has no numbers to determine: these points are the farthest from the "
    "data."
)


@dataclass(frozen=True, slots=True, eq=False)
class NextPoints:
    """Points to measure, and what they are good for."""

    points: Numbers  # [n, D], the most useful first
    note: str  # in words, if they do not separate formulas; else ""


def suggest_points(
    best: Program, rivals: Sequence[Rival], rows: Dataset, n_points: int, bounds: Mapping[str, tuple[float, float]]
) -> NextPoints:
    """Return points that separate a formula from its rivals; without rivals, those that determine its numbers best.

    Columns that no formula depends on stay at their medians.

    Args:
        best: the formula.
        rivals: others that the data cannot tell from it.
        rows: that they were fitted to, with their noise model; all must count.
        n_points: how many.
        bounds: for columns that may be measured elsewhere than in the range of the data: lowest and highest value.
    """
    programs = [best, *(each.candidate.program for each in rivals[:MAX_COMPARED])]
    places = _places_to_measure(programs, rows, bounds)
    with np.errstate(all="ignore"):
        has_value = np.isfinite(evaluate(best, places))
    places = np.ascontiguousarray(places[:, has_value])
    if places.shape[1] < n_points:
        raise SettingError("The formula has no value on most of the box between the bounds. Choose other `bounds`.")
    noise = predict_noise(best, rows, places)
    models = [_Model.make(program, rows, places, noise) for program in programs]
    if len(models) > 1:
        weights = [
            max(1.0 - sum(each.weight for each in rivals), 0.0),
            *(each.weight for each in rivals[:MAX_COMPARED]),
        ]
        return NextPoints(places[:, _separate(models, weights, _Spread(places, n_points))].T, "")
    if models[0].features.any():
        return NextPoints(places[:, _determine(models[0], _Spread(places, n_points))].T, NO_RIVALS)
    return NextPoints(places[:, _fill_gaps(rows.columns, places, n_points)].T, NOTHING_OPEN)


class _Spread:
    """Chooses places one by one, none of them close to another."""

    def __init__(self, places: Numbers, n_places: int) -> None:
        lows, highs = places.min(axis=1, keepdims=True), places.max(axis=1, keepdims=True)
        self._inside = (places - lows) / np.where(highs > lows, highs - lows, 1.0)
        self._is_free = np.ones(places.shape[1], np.bool_)
        self._n_places = n_places
        self.chosen: list[int] = []

    @property
    def is_full(self) -> bool:
        """Whether there are enough places."""
        return len(self.chosen) == self._n_places

    def take_best(self, scores: Numbers) -> int:
        """Choose the free place with the highest score [M]; if no place is free, any that was not chosen."""
        if not self._is_free.any():
            self._is_free[:] = True
            self._is_free[self.chosen] = False
        at = int(np.argmax(np.where(self._is_free, scores, -np.inf)))
        self.chosen.append(at)
        distances = np.abs(self._inside - self._inside[:, [at]]).max(axis=0)
        self._is_free &= distances > SPACING / self._n_places
        return at


def check_bounds(bounds: object, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return bounds by column; raise a clear error unless they are pairs of numbers, the lower one first.

    Examples:
        >>> check_bounds({"x": (0, 5)}, ["x", "y"])
        {'x': (0.0, 5.0)}
        >>> check_bounds({"x": (5, 0)}, ["x", "y"])
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: The bounds of 'x' must be two numbers, the lower one first; got (5, 0).
    """
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        raise SettingError(f'`bounds` must be a dictionary such as {{"x": (0, 5)}}; got {show_value(bounds)}.')
    checked: dict[str, tuple[float, float]] = {}
    for name, ends in bounds.items():
        if name not in names:
            raise SettingError(explain_unknown("column", str(name), names))
        try:
            low, high = (float(end) for end in ends)
        except (TypeError, ValueError):
            low, high = math.nan, math.nan
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise SettingError(
                f"The bounds of '{name}' must be two numbers, the lower one first; got {show_value(ends)}."
            )
        checked[str(name)] = low, high
    return checked


def _places_to_measure(
    programs: Sequence[Program], rows: Dataset, bounds: Mapping[str, tuple[float, float]]
) -> Numbers:
    """Return places [D, M] in the box of the data or of the bounds; columns that no formula has stay at their medians."""
    lows, highs = rows.columns.min(axis=1), rows.columns.max(axis=1)
    for name, (low, high) in bounds.items():
        column = rows.names.index(name)
        lows[column], highs[column] = low, high
    used = {
        token & tk.PAYLOAD_MASK for each in programs for token in each.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE
    }
    free = sorted(used)
    middles = np.clip(np.median(rows.columns, axis=1), lows, highs)
    inside = box_places(lows[free], highs[free]) if free else np.zeros((0, 1))
    places = np.repeat(middles[:, np.newaxis], inside.shape[1], axis=1)
    places[free] = inside
    return places


# ---- separating formulas ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """A formula at many places, in standard deviations of the noise."""

    values: Numbers  # [M]; NaN where it has none
    features: Numbers  # [M, C], by which the errors of its numbers change its values: features @ features.T is their covariance

    @classmethod
    def make(cls, program: Program, rows: Dataset, places: Numbers, noise: Numbers) -> "_Model":
        with np.errstate(all="ignore"):
            values = evaluate(program, places) / noise
            curvature = measure_curvature(free_numbers(program), rows)
            features = slopes_by_constants(curvature.program, places).T / noise[:, np.newaxis] @ _root(curvature)
        has_value = np.isfinite(values) & np.isfinite(features).all(axis=1)
        return cls(np.where(has_value, values, np.nan), np.where(has_value[:, np.newaxis], features, 0.0))


def _root(curvature: Curvature) -> Numbers:
    """Return a matrix [C, C] whose square is the covariance of the constants."""
    values, vectors = np.linalg.eigh(curvature.covariance)
    return np.asarray(curvature.units[:, np.newaxis] * vectors * np.sqrt(np.maximum(values, 0.0)))


class _Variances:
    """The variances of measurements that a formula predicts, or of their differences; they shrink with each point that was chosen."""

    def __init__(self, features: Numbers) -> None:
        self._features = features
        self._covariance = np.eye(features.shape[1])
        self.at_places = self._find()  # [M], of a measurement at each place, noise included

    def measure(self, at: int) -> Numbers:
        """Add a place. Return by how much the values at all places follow a measurement there [M]."""
        seen = self._covariance @ self._features[at]
        shares = self._features @ seen / self.at_places[at]
        self._covariance = self._covariance - np.outer(seen, seen) / self.at_places[at]
        self.at_places = self._find()
        return np.asarray(shares)

    def _find(self) -> Numbers:
        return np.asarray(1.0 + np.einsum("mc,cd,md->m", self._features, self._covariance, self._features))


class _Pair:
    """The difference of two formulas as a random function, given the points that were chosen."""

    def __init__(self, one: _Model, other: _Model) -> None:
        difference = one.values - other.values
        difference = np.where(np.isfinite(difference), difference, GREATEST_DIFFERENCE)  # only one of them has a value
        self._difference = np.clip(difference, -GREATEST_DIFFERENCE, GREATEST_DIFFERENCE)
        self._mean = _Variances(np.hstack([one.features, other.features]) / math.sqrt(2.0))  # of both covariances
        self._own = [_Variances(one.features), _Variances(other.features)]
        self._distance = 0.0

    def distances(self) -> Numbers:
        """Return how well the formulas are separated [M] if each place in turn is measured too."""
        return np.asarray(self._distance + self._gains())

    def measure(self, at: int) -> None:
        """Add a place."""
        self._distance += float(self._gains()[at])
        self._difference = self._difference - self._mean.measure(at) * self._difference[at]
        for own in self._own:
            own.measure(at)

    def _gains(self) -> Numbers:
        by_values = self._difference**2 / self._mean.at_places / 8
        of_each = sum(np.log(own.at_places) for own in self._own)
        return np.asarray(by_values + 0.5 * np.log(self._mean.at_places) - 0.25 * of_each)


def _separate(models: Sequence[_Model], weights: Sequence[float], spread: _Spread) -> list[int]:
    """Return the places that separate the formulas best, one after the other."""
    pairs, prices = [], []
    for (one, weight), (other, weight_of_other) in itertools.combinations(zip(models, weights, strict=True), 2):
        if weight * weight_of_other > 0:
            pairs.append(_Pair(one, other))
            prices.append(0.5 * math.log(weight * weight_of_other))
    while not spread.is_full:
        confusion = np.logaddexp.reduce([price - pair.distances() for price, pair in zip(prices, pairs, strict=True)])
        at = spread.take_best(-confusion)
        for pair in pairs:
            pair.measure(at)
    return spread.chosen


# ---- without rivals --------------------------------------------------------------------------------


def _determine(model: _Model, spread: _Spread) -> list[int]:
    """Return the places after whose measurement the values of a formula are best known, averaged over all places."""
    features, covariance = model.features, np.eye(model.features.shape[1])
    while not spread.is_full:
        seen = features @ covariance  # [M, C]
        variances = 1.0 + np.einsum("mc,mc->m", seen, features)
        at = spread.take_best(np.einsum("mc,cd,md->m", seen, features.T @ features, seen) / variances)
        covariance = covariance - np.outer(seen[at], seen[at]) / variances[at]
    return spread.chosen


def _fill_gaps(measured: Numbers, places: Numbers, n_points: int) -> list[int]:
    """Return the places that are the farthest from the rows and from each other."""
    lows = np.minimum(measured.min(axis=1), places.min(axis=1))[:, np.newaxis]
    widths = np.maximum(measured.max(axis=1), places.max(axis=1))[:, np.newaxis] - lows
    widths[widths == 0] = 1.0
    inside = ((places - lows) / widths).T
    nearest = np.full(len(inside), np.inf)
    for row in ((measured - lows) / widths).T:
        nearest = np.minimum(nearest, ((inside - row) ** 2).sum(axis=1))
    chosen: list[int] = []
    for _ in range(n_points):
        at = int(np.argmax(nearest))
        chosen.append(at)
        nearest = np.minimum(nearest, ((inside - inside[at]) ** 2).sum(axis=1))
    return chosen
