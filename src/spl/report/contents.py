"""The contents of a report: plain records of text and numbers. Names and settings appear as the user wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spl.report.groups import GroupsPart

Numbers = NDArray[np.float64]

CODE_NAMES = {"python": "Python", "latex": "LaTeX", "c": "C"}  # export formats on the page, and their headings


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """The range and the median of a column of the data."""

    name: str
    role: str  # "target", "variable", "named constant", "state", "input", "time"
    low: float
    median: float
    high: float
    unit: str = ""  # "1" for a pure number; "" without units


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Measured and predicted values on the rows that are drawn."""

    measured: Numbers
    predicted: Numbers
    n_rows: int  # of the data
    undefined: str  # where the formula is undefined, and why; empty if it has a value on all rows
    r2: float | None  # on all rows; None if the target is constant or the formula undefined on some rows
    r2_without_outliers: float | None = None  # on the rows that are not outliers; None if there are none
    is_outlier: NDArray[np.bool_] | None = None  # for each row that is drawn; None if there are none


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
class LearningCurve:
    """The best loss over time."""

    seconds: Numbers
    losses: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class SearchPart:
    """The search for one formula: its front, and the chosen formula."""

    name: str  # left-hand side of the formulas: the target, or the derivative of a state
    equations: tuple[Equation, ...]
    chosen: int
    floor: float
    learning: LearningCurve | None = None
    loss_words: str = "root mean square error"  # what a loss is
    unit: str = ""  # of the target, if it is known


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A state over time, or two states against each other: measured, and simulated from the equations."""

    title: str
    x_label: str
    y_label: str
    measured: tuple[Numbers, Numbers]
    simulated: tuple[Numbers, Numbers]
    is_over_time: bool = False


@dataclass(frozen=True, slots=True)
class NumberRow:
    """A number of a formula with its 95 % interval."""

    term: str  # that it is part of, with the number in square brackets
    text: str  # with its standard error
    interval: str  # as text; empty if it has none
    value: float
    lower: float  # the value itself, if the number is exact; infinite, if the data does not determine it
    upper: float
    simple: str = ""  # the simplest form that the data allows
    simple_value: float | None = None  # of that, where it is not the number itself
    unit: str = ""  # "1" for a pure number; "" without units


@dataclass(frozen=True, slots=True, eq=False)
class SliceChart:
    """A formula along one column, with its 95 % bands and the rows that are drawn."""

    column: str
    is_whole: bool  # whether the points are the measured values
    x: Numbers  # [M]
    values: Numbers  # [M], of the formula
    law: Numbers  # [M, 2], band of the law
    new: Numbers  # [M, 2], band of new measurements
    point_x: Numbers
    point_y: Numbers
    is_outlier: NDArray[np.bool_] | None = None  # for each point; None if there are none
    unit: str = ""  # of the column, if it is known


@dataclass(frozen=True, slots=True)
class RivalRow:
    """Another formula that the data cannot rule out."""

    nats: float
    weight: float
    loss: float
    place: str  # where it differs most, and by how much
    text: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check of the residuals."""

    name: str
    chance: str
    is_doubtful: bool
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class HowSurePart:
    """How sure a formula is: in words, and what these rest on."""

    equation: str
    words: tuple[str, ...]
    target: str = ""
    numbers: tuple[NumberRow, ...] = ()
    slices: tuple[SliceChart, ...] = ()
    n_more_slices: int = 0  # columns of the formula that have no chart
    rivals: tuple[RivalRow, ...] = ()
    n_more_rivals: int = 0
    checks: tuple[CheckRow, ...] = ()
    shapes: tuple[tuple[str, str, str], ...] = ()  # statements about the law: text, status and margin in words
    target_unit: str = ""  # if it is known


@dataclass(frozen=True, slots=True, eq=False)
class SystemPart:
    """The equations of a system."""

    equations: tuple[tuple[str, str, str], ...]  # text, MathML and quality of each
    trajectories: tuple[Curve, ...]
    portraits: tuple[Curve, ...]
    followed: str = ""  # how long a simulation follows the data
    solved: tuple[tuple[str, str], ...] = ()  # text and MathML of those with rates on the right, solved for the rates
    code: Mapping[str, str] = field(default_factory=dict)
    identifiability: tuple[str, ...] = ()  # whether other equations fit as well, in words
    rivals: tuple[tuple[str, str], ...] = ()  # their text and MathML
    numbers: tuple[NumberRow, ...] = ()  # of all equations; the terms begin with the state


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Everything on the page."""

    title: str  # of the window
    heading: str
    summary: str
    columns: tuple[ColumnSummary, ...]
    n_rows: int
    grammar: tuple[tuple[str, str], ...]  # heading (may be empty) and rules
    searches: tuple[SearchPart, ...]
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    noise: tuple[tuple[str, str], ...] = ()  # the noise model of a table: what it is, how large, why, and the outliers
    system: SystemPart | None = None
    how_sure: HowSurePart | None = None  # about the chosen formula of a table
    groups: GroupsPart | None = None  # of a table whose chosen formula has own numbers
    notes: tuple[str, ...] = ()
