"""Statements about the shape of a law, such as `increasing in T for p < 3`, as records. `reading` makes them from text."""

from dataclasses import KW_ONLY, dataclass
from typing import Literal

from spl.formulas.program import Program

Relation = Literal["<", "<=", ">", ">=", "="]


@dataclass(frozen=True, slots=True)
class Range:
    """Values of a column, with both ends."""

    column: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that is known about the formula `f`. It holds in a part of the box; without ranges, in all of it."""

    text: str  # as it was written
    _: KW_ONLY
    region: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared(Statement):
    """`f > 0`, `0 < f < 1`, `f(x=0) = 2*y`: f is compared with formulas of the columns, perhaps at given values of some columns."""

    sides: tuple[tuple[Relation, Program], ...]  # `f` stands on the left of each
    at: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Monotone(Statement):
    """`increasing in x` (sign 1) or `decreasing in x` (sign -1); it may be level in places."""

    column: str
    sign: int


@dataclass(frozen=True, slots=True)
class Curved(Statement):
    """`convex in x` (sign 1) or `concave in x` (sign -1); it may be straight in places."""

    column: str
    sign: int


@dataclass(frozen=True, slots=True)
class Mirrored(Statement):
    """`even in x` (sign 1) or `odd in x` (sign -1)."""

    column: str
    sign: int


@dataclass(frozen=True, slots=True)
class Symmetric(Statement):
    """`symmetric in a, b`: exchanging columns changes nothing."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dependent(Statement):
    """`depends on x`: other values of the column give other values of f."""

    column: str


@dataclass(frozen=True, slots=True)
class Limit(Statement):
    """`f -> 0 as x -> inf`: what f tends to, a formula of the other columns or infinity, when a column tends to a value."""

    column: str
    to: float
    value: Program | float  # a number is infinite
