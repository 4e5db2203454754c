"""The contents of a report: plain records of text and numbers. Names and settings appear as the user wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

CODE_NAMES = {"python": "Python", "latex": "LaTeX", "c": "C"}  # export formats on the page, and their headings


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """The range and the median of a column of the data."""

    name: str
    role: str  # "target", "variable", "state", "input", "time"
    low: float
    median: float
    high: float


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


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A state over time, or two states against each other: measured, and simulated from the equations."""

    title: str
    x_label: str
    y_label: str
    measured: tuple[Numbers, Numbers]
    simulated: tuple[Numbers, Numbers]
    is_over_time: bool = False


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
    notes: tuple[str, ...] = ()
