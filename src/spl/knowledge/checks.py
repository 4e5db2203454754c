"""Checks of a statement at many points: of a formula's values, its derivatives, and its values along lines.

Each check measures a formula at points: how far it stays from breaking the statement (a margin, negative where it breaks it), or for
an equality how far it is off. Rounding is allowed for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spl.errors import KnowledgeError, shorten
from spl.formulas.program import Program
from spl.formulas.text import quote_name
from spl.knowledge.box import Box
from spl.knowledge.limits import LIMIT_SHARE, ROUNDED_BREACH, approach_value, measure_limit
from spl.knowledge.statements import (
    Compared,
    Curved,
    Dependent,
    Limit,
    Mirrored,
    Monotone,
    Statement,
    Symmetric,
)
from spl.knowledge.values import derivatives_at, exchange_columns, is_smooth, turn_column, uses_column, values_at

Numbers = NDArray[np.float64]

N_QUICK = 40  # points of a first look
N_LINES, N_ALONG = 24, 17  # lines along a column, and points on each
N_LIMIT_POINTS = 12  # points from which a limit is approached

Measure = Callable[[Program, Numbers], Numbers]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """One way to try a statement: a measure at points of the box."""

    points: Numbers  # [D, M]
    measure: (
        Measure  # of a program at points [D, M]: margins [M], or for an equality deviations [M]; NaN where undefined
    )
    tolerance: float
    is_equality: bool = False
    is_strict: bool = False  # whether a margin of 0 breaks the statement
    skips_gaps: bool = False  # whether points where the measure is undefined say nothing

    def margins(self, program: Program, points: Numbers | None = None) -> Numbers:
        """Return how far a formula stays from breaking the statement [M]; negative where it breaks it, NaN where it is undefined."""
        measured = self.measure(program, self.points if points is None else points)
        return -np.abs(measured) if self.is_equality else measured

    def breaches(self, margins: Numbers) -> NDArray[np.bool_]:
        """Return at which points [M] a formula breaks the statement."""
        kept = margins > 0 if self.is_strict else margins >= -self.tolerance
        return ~(kept | (np.isnan(margins) & self.skips_gaps))

    def is_broken(self, program: Program, *, is_quick: bool) -> bool:
        """Return whether a formula breaks the statement at any point, or at the first of them."""
        points = self.points[:, :N_QUICK] if is_quick else self.points
        return bool(self.breaches(self.margins(program, points)).any())


def make_checks(statement: Statement, box: Box, rows: Numbers, size: float) -> tuple[Check, ...]:
    """Return the checks of a statement; the first of them is the most telling one.

    Args:
        statement: what is known.
        box: where it holds, before its own region is taken into account.
        rows: the columns of the data [D, N].
        size: the size of the target.
    """
    part = box.narrow(statement.region, statement.text)
    match statement:
        case Compared():
            return _compare(statement, part, rows, size)
        case Monotone() | Curved():
            return _slopes(statement, part, rows, size)
        case Mirrored():
            return (_mirror(statement, part, rows, size),)
        case Symmetric():
            return _exchange(statement, part, rows, size)
        case Dependent():
            return (_depend(statement, part, rows, size),)
        case Limit():
            return (_tend(statement, part, rows, size),)
    raise AssertionError(statement)


# ---- values --------------------------------------------------------------------------------------


def _compare(statement: Compared, box: Box, rows: Numbers, size: float) -> tuple[Check, ...]:
    points = box.points(rows)
    fixed = [(box.names.index(name), value) for name, value in statement.at]
    for place, value in fixed:
        points[place] = value
    towards = {place: _inwards(box, place, value) for place, value in fixed}
    checks = []
    for relation, other in statement.sides:
        sign = -1.0 if relation.startswith("<") else 1.0

        def measure(program: Program, at: Numbers, other: Program = other, sign: float = sign) -> Numbers:
            values, others = values_at(program, at), values_at(other, at)
            gaps = np.isnan(values)
            if fixed and gaps.any():  # as x**3/(exp(x) - 1) at 0: its limit counts
                values[gaps] = approach_value(program, at[:, gaps], towards, others[gaps])
            return sign * (values - others)

        is_strict, is_equality = relation in "<>", relation == "="
        checks.append(Check(points, measure, ROUNDED_BREACH * size, is_equality, is_strict))
    return tuple(checks)


def _inwards(box: Box, place: int, value: float) -> float:
    """Return a step from a value of a column towards the middle of the box."""
    middle = 0.5 * (box.low[place] + box.high[place])
    step = max(box.width[place], abs(value))
    return float(step if middle >= value else -step)


def _depend(statement: Dependent, box: Box, rows: Numbers, size: float) -> Check:
    place = _varying(statement.column, box, statement.text)
    points = box.points(rows)

    def measure(program: Program, at: Numbers) -> Numbers:
        """Return the largest change of f along the column, at every point."""
        if not uses_column(program, place):
            return np.zeros(at.shape[1])
        changes = [
            values_at(program, _moved(at, place, box.low[place] + share * (box.high[place] - box.low[place])))
            for share in (0.02, 0.31, 0.77, 0.98)
        ]
        spread = np.ptp(np.array(changes), axis=0)
        largest = float(np.nanmax(spread)) if np.isfinite(spread).any() else 0.0
        return np.full(at.shape[1], largest - ROUNDED_BREACH * size if largest <= ROUNDED_BREACH * size else largest)

    return Check(points, measure, 0.0, is_strict=True)


# ---- slopes --------------------------------------------------------------------------------------


def _slopes(statement: Monotone | Curved, box: Box, rows: Numbers, size: float) -> tuple[Check, ...]:
    """Return checks of the derivative at points, and of values along lines, where kinks, jumps and poles show."""
    place = _varying(statement.column, box, statement.text)
    order = 1 if isinstance(statement, Monotone) else 2
    sign, points = float(statement.sign), box.points(rows)
    tolerance = ROUNDED_BREACH * size / float(box.width[place]) ** order
    steps = np.linspace(0.0, 1.0, N_ALONG)[np.newaxis, :]
    along = box.low[place] + (box.high[place] - box.low[place]) * np.clip(steps, 1e-9, 1 - 1e-9)

    def derivative(program: Program, at: Numbers) -> Numbers:
        if not uses_column(program, place):
            return np.zeros(at.shape[1])
        found = sign * derivatives_at(program, at, place, order)
        return np.where(np.isnan(values_at(program, at)), -np.inf, found)

    def differences(program: Program, at: Numbers) -> Numbers:
        if is_smooth(program) or not uses_column(program, place):
            return np.full(at.shape[1], np.nan)
        lines = np.repeat(at, N_ALONG, axis=1)
        lines[place] = np.tile(along[0], at.shape[1])
        values = values_at(program, lines).reshape(at.shape[1], N_ALONG)
        steepness = np.diff(values, axis=1) / np.diff(along)
        if order == 2:
            middles = 0.5 * (along[:, 1:] + along[:, :-1])
            steepness = np.diff(steepness, axis=1) / np.diff(middles)
        least = np.min(sign * steepness, axis=1)
        return np.where(np.isnan(values).any(axis=1), -np.inf, least)

    lines = points[:, :: max(points.shape[1] // N_LINES, 1)]
    # Differences of rounded values along a line are less precise than derivatives
    coarse = tolerance * N_ALONG**order
    return (
        Check(points, derivative, tolerance, skips_gaps=True),
        Check(np.ascontiguousarray(lines), differences, coarse, skips_gaps=True),
    )


# ---- symmetries ----------------------------------------------------------------------------------


def _mirror(statement: Mirrored, box: Box, rows: Numbers, size: float) -> Check:
    place = box.names.index(statement.column)

    def measure(program: Program, at: Numbers) -> Numbers:
        values = values_at(program, at)
        return values - statement.sign * values_at(turn_column(program, place), at)

    return Check(box.points(rows), measure, ROUNDED_BREACH * size, is_equality=True)


def _exchange(statement: Symmetric, box: Box, rows: Numbers, size: float) -> tuple[Check, ...]:
    """Return a check for each pair of neighbours: their exchanges make up all others."""
    places = [box.names.index(name) for name in statement.columns]
    points = box.points(rows)

    def check(one: int, other: int) -> Check:
        def measure(program: Program, at: Numbers) -> Numbers:
            return values_at(program, at) - values_at(exchange_columns(program, one, other), at)

        return Check(points, measure, ROUNDED_BREACH * size, is_equality=True)

    return tuple(check(one, other) for one, other in pairwise(places))


# ---- limits --------------------------------------------------------------------------------------


def _tend(statement: Limit, box: Box, rows: Numbers, size: float) -> Check:
    place = box.names.index(statement.column)
    points = np.ascontiguousarray(box.points(rows)[:, : 5 * N_LIMIT_POINTS : 5])
    inwards = 1.0 if np.isinf(statement.to) else _inwards(box, place, statement.to)

    def measure(program: Program, at: Numbers) -> Numbers:
        return measure_limit(program, at, statement, place, inwards, size)

    return Check(points, measure, LIMIT_SHARE * size, is_equality=True)


def _moved(points: Numbers, place: int, value: float) -> Numbers:
    moved = points.copy()
    moved[place] = value
    return moved


def _varying(column: str, box: Box, text: str) -> int:
    """Return the place of a column; raise a clear error if it has a single value in the box."""
    place = box.names.index(column)
    if not box.low[place] < box.high[place]:
        name = quote_name(column)
        raise KnowledgeError(
            f"'{shorten(text, 80)}' cannot be checked: {name} has the single value {box.low[place]:g} there. Give bounds for {name}."
        )
    return place
