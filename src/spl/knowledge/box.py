"""The box in which statements hold: that of the data, or bounds that the user gives, and the part of it that a statement names."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.errors import KnowledgeError, shorten, show_value, suggest_name
from spl.formulas.text import quote_name
from spl.knowledge.statements import Range

Numbers = NDArray[np.float64]

N_POINTS = 400  # inside of a box
MAX_CORNERS = 64
BORDER_SHARE = 1e-9  # of the width: points at the border lie so far inside, where slopes are still finite
_LARGEST_BOUND = 1e150


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A range for each column.

    Examples:
        >>> data = Dataset.from_arrays([[1.0, 5.0], [2.0, 9.0]], [3.0, 5.0], names=["x", "y"])
        >>> box = Box.of(data, {"y": (0.0, 10.0)})
        >>> box.low, box.high
        (array([1., 0.]), array([ 2., 10.]))
    """

    names: tuple[str, ...]
    low: Numbers  # [D]
    high: Numbers  # [D]

    @classmethod
    def of(cls, data: Dataset, bounds: Mapping[str, tuple[float, float]]) -> "Box":
        """Return the box of the rows that count, with other ranges where there are bounds."""
        columns = data.columns[:, data.weights > 0]
        low, high = columns.min(axis=1), columns.max(axis=1)
        for name, (least, most) in bounds.items():
            place = data.names.index(name)
            low[place], high[place] = least, most
        return cls(data.names, low, high)

    def narrow(self, region: Sequence[Range], text: str) -> "Box":
        """Return the part of the box in a region; raise a clear error if there is none."""
        low, high = self.low.copy(), self.high.copy()
        for part in region:
            place = self.names.index(part.column)
            low[place], high[place] = max(low[place], part.low), min(high[place], part.high)
            if not low[place] <= high[place]:
                name = quote_name(part.column)
                raise KnowledgeError(
                    f"'{shorten(text, 80)}' is about no part of the box: {name} lies between {self.low[place]:g} and "
                    f"{self.high[place]:g}. Widen it with bounds for {name}, or change the statement."
                )
        return replace(self, low=low, high=high)

    @property
    def width(self) -> Numbers:
        """The width of each range [D]; the size of the number, or 1, where a range is a single number."""
        width = self.high - self.low
        return np.where(width > 0, width, np.where(self.high != 0, np.abs(self.high), 1.0))

    def holds(self, columns: Numbers) -> NDArray[np.bool_]:
        """Return which of the points [D, M] lie in the box [M]."""
        low, high = self.low[:, np.newaxis], self.high[:, np.newaxis]
        return np.asarray(((columns >= low) & (columns <= high)).all(axis=0))

    def points(self, rows: Numbers) -> Numbers:
        """Return points of the box [D, M]: its corners and its middle, points inside of it, and the rows of a table that lie in it."""
        inside = _spread_evenly(len(self.low), N_POINTS)
        shares = np.hstack([_corners(len(self.low)), np.full((len(self.low), 1), 0.5), inside])
        shares = np.clip(shares, BORDER_SHARE, 1 - BORDER_SHARE)
        low, high = self.low[:, np.newaxis], self.high[:, np.newaxis]
        return np.ascontiguousarray(np.hstack([low + (high - low) * shares, rows[:, self.holds(rows)]]))


def _spread_evenly(n_columns: int, n_points: int) -> Numbers:
    """Return points of the unit cube [D, M] without gaps and clusters: multiples of irrational steps (Roberts' sequence)."""
    root = 2.0
    for _ in range(60):  # of x**(D + 1) = x + 1
        root = (1 + root) ** (1 / (n_columns + 1))
    steps = root ** -np.arange(1.0, n_columns + 1)
    return np.asarray((0.5 + steps[:, np.newaxis] * np.arange(1, n_points + 1)) % 1.0)


def _corners(n_columns: int) -> Numbers:
    """Return corners of the unit cube [D, M]: all, or some where there are many, among them the lowest and the highest."""
    if 2**n_columns <= MAX_CORNERS:
        return np.array([[(corner >> k) & 1 for corner in range(2**n_columns)] for k in range(n_columns)], float)
    some = np.random.default_rng(0).integers(0, 2, (n_columns, MAX_CORNERS)).astype(float)
    some[:, 0], some[:, 1] = 0.0, 1.0
    return some


def read_bounds(entries: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return bounds of columns from texts `COLUMN=LOW:HIGH`; raise a clear error for anything else.

    Examples:
        >>> read_bounds(["x=0:10", "flow rate=-1:1"])
        {'x': (0.0, 10.0), 'flow rate': (-1.0, 1.0)}
    """
    bounds: dict[str, tuple[float, float]] = {}
    for entry in entries:
        name, _, ends = (part.strip() for part in entry.rpartition("="))
        low, _, high = ends.partition(":")
        try:
            pair = float(low), float(high)
        except ValueError:
            pair = None
        if not name or pair is None:
            raise KnowledgeError(f"{shorten(entry)!r} is not COLUMN=LOW:HIGH. Write for example: x=0:10")
        if name in bounds:
            raise KnowledgeError(f"The bounds of '{shorten(name)}' are given twice. Name each column once.")
        bounds[name] = pair
    return bounds


def check_bounds(bounds: Any, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return bounds of columns as numbers; raise a clear error for anything else.

    Examples:
        >>> check_bounds({"x": (0, 10)}, ["x", "y"])
        {'x': (0.0, 10.0)}
        >>> check_bounds({"x": (10, 0)}, ["x", "y"])
        Traceback (most recent call last):
        ...
        spl.errors.KnowledgeError: The bounds of 'x' must be two numbers, the lower one first; got (10, 0).
    """
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        raise KnowledgeError(
            f"`bounds` must give two numbers per column, such as {{'x': (0, 10)}}; got {show_value(bounds)}."
        )
    checked = {}
    for name, ends in bounds.items():
        if name not in names:
            listed = ", ".join(shorten(quote_name(other)) for other in names[:20])
            remedy = suggest_name(str(name), names) or f" Columns: {listed}."
            raise KnowledgeError(f"There are bounds for '{shorten(str(name))}', but no such column.{remedy}")
        pair = tuple(ends) if isinstance(ends, Sequence | np.ndarray) and not isinstance(ends, str) else ()
        if len(pair) != 2 or not all(isinstance(end, Real) and not isinstance(end, bool) for end in pair):
            raise KnowledgeError(
                f"The bounds of '{shorten(str(name))}' must be two numbers, the lower one first; got {show_value(ends)}."
            )
        low, high = (_as_float(end) for end in pair)
        if not (abs(low) <= _LARGEST_BOUND and abs(high) <= _LARGEST_BOUND):
            raise KnowledgeError(
                f"The bounds of '{shorten(str(name))}' must be finite; got {show_value(ends)}. What happens at infinity is a limit: "
                "'f -> 0 as x -> inf'."
            )
        if not low <= high:
            raise KnowledgeError(
                f"The bounds of '{shorten(str(name))}' must be two numbers, the lower one first; got {show_value(ends)}."
            )
        checked[str(name)] = (low, high)
    return checked


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf
