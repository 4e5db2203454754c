"""What is on the page of a report: plain records of text and numbers. Names and settings are as the user wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the data in numbers."""

    name: str
    role: str  # "target", "variable", "state", "input", "time"
    low: float
    middle: float  # the median
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """What a formula predicts, on the rows that are drawn."""

    measured: Numbers
    predicted: Numbers
    n_rows: int  # of the data
    undefined: str  # where the formula has no value, and why; nothing if it has one on all rows
    r2: float | None  # on all rows; None if the target is constant or there are rows outside


@dataclass(frozen=True, slots=True, eq=False)
class Equation:
    """One formula of a front."""

    cost: int
    loss: float
    score: float
    text: str
    mathml: str
    code: Mapping[str, str]  # by language
    fit: Fit | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Learning:
    """How the best loss fell while the search went on."""

    seconds: Numbers
    losses: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The search of one formula: its front, and which formula was chosen."""

    name: str  # what the formulas give: the target, or the left-hand side of an equation
    equations: tuple[Equation, ...]
    chosen: int
    floor: float
    learning: Learning | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A state over time, or two states against each other: measured, and simulated with the equations."""

    title: str
    x_label: str
    y_label: str
    measured: tuple[Numbers, Numbers]
    simulated: tuple[Numbers, Numbers]
    is_over_time: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SystemPart:
    """The equations of a system together."""

    equations: tuple[tuple[str, str, str], ...]  # text, MathML, quality of each
    trajectories: tuple[Curve, ...]
    portraits: tuple[Curve, ...]
    followed: str = ""  # how long a simulation follows the data
    code: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """All that the page says."""

    title: str  # of the window
    heading: str
    summary: str
    columns: tuple[Column, ...]
    n_rows: int
    grammar: tuple[tuple[str, str], ...]  # a heading, may be empty, and the rules
    searches: tuple[Search, ...]
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    system: SystemPart | None = None
    notes: tuple[str, ...] = ()
