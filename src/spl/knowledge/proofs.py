"""Proofs that a formula keeps a statement everywhere in a box, not only at the points where it was tried.

Signs, bounds and slopes are proved by interval arithmetic: the box is divided until the bounds over every part show it, or until there
are too many parts. Symmetries are proved by the rules of algebra, limits by bounds over all large values of a column.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.knowledge.box import Box
from spl.knowledge.intervals import Interval, IntervalArithmetic
from spl.knowledge.jets import follow
from spl.knowledge.limits import LIMIT_SHARE, ROUNDED_BREACH
from spl.knowledge.same_form import compare_forms
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
from spl.knowledge.values import exchange_columns, turn_column

Numbers = NDArray[np.float64]

MAX_PARTS = 16_384  # of a box at the same time
MAX_ROUNDS = 40  # in which parts are halved
FAR_STEPS = (1e3, 1e6, 1e9, 1e15, 1e30, 1e60, 1e100)  # sizes of a column beyond which a limit may hold

_ARITHMETIC = IntervalArithmetic()


def is_proved(statement: Statement, program: Program, box: Box, size: float) -> bool:
    """Return whether a formula is proved to keep a statement that it keeps at all points where it was tried.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> box = Box(("x",), np.array([1.0]), np.array([9.0]))
        >>> known = Monotone("increasing in x", column="x", sign=1)
        >>> is_proved(known, parse_expression("x/(2 + x)", Vocabulary(("x",))), box, 1.0)
        True
    """
    part = box.narrow(statement.region, statement.text)
    with np.errstate(all="ignore"):
        match statement:
            case Compared():
                return all(_is_side_proved(statement, k, program, part, size) for k in range(len(statement.sides)))
            case Monotone() | Curved():
                return _is_slope_proved(statement, program, part, size)
            case Mirrored():
                turned = turn_column(program, box.names.index(statement.column))
                return compare_forms(program, turned) == statement.sign
            case Symmetric():
                places = [box.names.index(name) for name in statement.columns]
                pairs = pairwise(places)
                return all(compare_forms(program, exchange_columns(program, *pair)) == 1 for pair in pairs)
            case Dependent():
                return True  # a single difference shows it
            case Limit():
                return _is_limit_proved(statement, program, part, size)
    raise AssertionError(statement)


# ---- dividing a box --------------------------------------------------------------------------------


def bound(program: Program, low: Numbers, high: Numbers, by: int | None = None, order: int = 0) -> Interval:
    """Return bounds of the values of a program, or of a derivative, over boxes with these ends [D, M]; NaN where undefined.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> found = bound(parse_expression("x*y", Vocabulary(("x", "y"))), np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]]))
        >>> found.low.round(6), found.high.round(6)
        (array([2.]), array([15.]))
    """
    with np.errstate(all="ignore"):
        columns = [Interval(*ends) for ends in zip(low, high, strict=True)]
        jet = follow(program, columns, _ARITHMETIC, by, order)
        if order == 0:
            return jet.value
        found = jet.slope if order == 1 else jet.bend
        found = _ARITHMETIC.constant(0.0, jet.value) if found is None else found
        is_undefined = np.isnan(jet.value.low) | np.isnan(jet.value.high)
        return Interval(*(np.where(is_undefined, np.nan, end) for end in found))


def _holds_everywhere(shows: Callable[[Numbers, Numbers], NDArray[np.bool_]], box: Box, columns: list[int]) -> bool:
    """Return whether the bounds over all parts of a box [D, M] show a claim; parts are halved along some columns until they do."""
    low, high = box.low[:, np.newaxis].copy(), box.high[:, np.newaxis].copy()
    width = box.width
    for _ in range(MAX_ROUNDS):
        is_open = ~shows(low, high)
        if not is_open.any():
            return True
        low, high = low[:, is_open], high[:, is_open]
        divisible = [column for column in columns if box.low[column] < box.high[column]]
        if not divisible or 2 * low.shape[1] > MAX_PARTS:
            return False
        shares = (high[divisible] - low[divisible]) / width[divisible, np.newaxis]
        longest = np.array(divisible)[np.argmax(shares, axis=0)]
        at = np.arange(low.shape[1])
        middle = 0.5 * (low[longest, at] + high[longest, at])
        lower_high, upper_low = high.copy(), low.copy()
        lower_high[longest, at], upper_low[longest, at] = middle, middle
        low, high = np.hstack([low, upper_low]), np.hstack([lower_high, high])
    return False


def _columns_of(*programs: Program) -> list[int]:
    tokens = {token for program in programs for token in program.tokens}
    return sorted(token & tk.PAYLOAD_MASK for token in tokens if token >> tk.KIND_SHIFT == tk.VARIABLE)


# ---- statements ------------------------------------------------------------------------------------


def _is_side_proved(statement: Compared, side: int, program: Program, box: Box, size: float) -> bool:
    relation, other = statement.sides[side]
    low, high = box.low.copy(), box.high.copy()
    for name, value in statement.at:
        low[box.names.index(name)] = high[box.names.index(name)] = value
    part = Box(box.names, low, high)

    def shows(low: Numbers, high: Numbers) -> NDArray[np.bool_]:
        found = _ARITHMETIC.sub(bound(program, low, high), bound(other, low, high))
        match relation:
            case ">":
                return np.asarray(found.low > 0)
            case ">=":
                return np.asarray(found.low >= -ROUNDED_BREACH * size)
            case "<":
                return np.asarray(found.high < 0)
            case "<=":
                return np.asarray(found.high <= ROUNDED_BREACH * size)
        return np.asarray((found.low >= -ROUNDED_BREACH * size) & (found.high <= ROUNDED_BREACH * size))

    return _holds_everywhere(shows, part, _columns_of(program, other))


def _is_slope_proved(statement: Monotone | Curved, program: Program, box: Box, size: float) -> bool:
    place = box.names.index(statement.column)
    order = 1 if isinstance(statement, Monotone) else 2
    tolerance = ROUNDED_BREACH * size / float(box.width[place]) ** order

    def shows(low: Numbers, high: Numbers) -> NDArray[np.bool_]:
        found = bound(program, low, high, place, order)
        return np.asarray(found.low >= -tolerance if statement.sign > 0 else found.high <= tolerance)

    return _holds_everywhere(shows, box, _columns_of(program))


def _is_limit_proved(statement: Limit, program: Program, box: Box, size: float) -> bool:
    """Return whether bounds over all values of a column beyond some size, or at its value, leave nothing but the limit."""
    place = box.names.index(statement.column)
    is_far = math.isinf(statement.to)
    goal = statement.value
    if isinstance(goal, float):
        return False  # floating-point numbers end where growth has only begun

    def is_proved_beyond(least: float) -> bool:
        ends = sorted((least, statement.to)) if is_far else [statement.to, statement.to]
        low, high = box.low.copy(), box.high.copy()
        low[place], high[place] = ends

        def shows(low: Numbers, high: Numbers) -> NDArray[np.bool_]:
            found = _ARITHMETIC.sub(bound(program, low, high), bound(goal, low, high))
            return np.asarray((found.low >= -LIMIT_SHARE * size) & (found.high <= LIMIT_SHARE * size))

        others = [column for column in _columns_of(program, goal) if column != place]
        return _holds_everywhere(shows, Box(box.names, low, high), others)

    if not is_far:
        return is_proved_beyond(statement.to)
    scale = math.copysign(max(abs(box.low[place]), abs(box.high[place])) or 1.0, statement.to)
    return any(is_proved_beyond(step * scale) for step in FAR_STEPS)
