"""A view of the data: how much each row counts, which columns, by which noise model formulas are assessed; and the trees there."""

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs.fit import PROBE_ROWS
from spl.noise.models import NORMAL, NoiseModel
from spl.regression.assess import Assessment
from spl.regression.candidate import Candidate
from spl.regression.column_view import ColumnView
from spl.regression.front import Front
from spl.regression.scales import Scales
from spl.regression.schedule import Position, batch_end
from spl.regression.searcher import Searcher
from spl.regression.tidy_front import FrontTidier
from spl.regression.trees import Forest
from spl.settings import SearchConfig
from spl.units.groups import Groups
from spl.units.insertion import insert_numbers
from spl.units.rewriting import to_columns
from spl.units.table_units import TableUnits

# By how much a rough description may be too long, in nats; on more rows than a quick fit sees, in nats per row as well
ROUGH_NATS, ROUGH_NATS_PER_ROW = 20.0, 0.3
MAX_WRITTEN = 20_000  # formulas of groups that are kept in terms of columns
MAX_FORMER_RIVALS = 64  # kept of trees that are replaced; of all such trees together, twice as many


@dataclass(frozen=True, slots=True, eq=False)
class Yardstick:
    """By which rows and which noise model formulas are assessed."""

    noise: NoiseModel | None  # None: even normal noise without error bars, by plain least squares
    data: Dataset  # all rows
    check: Dataset  # the rows on which candidates are assessed
    floor: float  # an error up to this is rounding error

    @property
    def model(self) -> NoiseModel:
        """The noise model."""
        return self.noise or NORMAL


@dataclass(frozen=True, slots=True, eq=False)
class Planting:
    """Trees, and what they see of the data."""

    weights: NDArray[np.float64]  # of the rows of the search
    columns: ColumnView
    groups: Groups | None  # the dimensionless groups of these columns, if there are units
    scales: Scales  # of these columns or groups
    forest: Forest
    loss_factor: float = 1.0  # the error of the target itself for an error of 1 in the groups
    literals: list[float] = field(default_factory=list)  # of the formulas written in columns so far
    _written: dict[Program, Program | None] = field(
        default_factory=dict
    )  # trees offer the same formulas again and again

    def write_in_columns(self, program: Program) -> Program | None:
        """Return a formula of groups as one of these columns; None if it cannot be written."""
        assert self.groups is not None
        if program not in self._written:
            if len(self._written) >= MAX_WRITTEN:
                self._written.clear()
            words = Vocabulary(self.groups.units.names, tuple(self.literals))
            written = self._written[program] = to_columns(program, self.groups, words)
            self.literals[:] = words.literals if written is None else written.vocabulary.literals
        return self._written[program]


@dataclass(slots=True, eq=False)
class View:
    """What a search sees through one noise model, and how far it is there."""

    yardstick: Yardstick
    planting: Planting
    config: SearchConfig
    tidier: FrontTidier
    units: TableUnits | None = None  # of the table
    position: Position = field(default_factory=Position)
    n_restarts: int = 0  # with other weights or columns
    n_before: tuple[int, int] = (0, 0)  # episodes and evaluations before the last restart
    asked: tuple[int, ...] = ()  # the formula whose errors were last compared with the other columns of a wide table
    has_grown: bool = True  # whether the trees came to the end of the batch
    assessment: Assessment = field(default_factory=Assessment)
    assessment_before: Assessment = field(default_factory=Assessment)  # after the batch before
    rivals: tuple[Candidate, ...] = ()  # of the trees before the last restart, in the user's units
    is_late: bool = False  # whether candidates were left out because the time was up

    @property
    def name(self) -> str:
        """The name of its noise model."""
        return self.yardstick.model.name

    @property
    def front(self) -> Front:
        """The front of the candidates seen so far."""
        return self.assessment.front

    @property
    def trees(self) -> list[Searcher]:
        """One searcher per tree."""
        return self.planting.forest.searchers

    @property
    def n_episodes(self) -> int:
        """How many episodes its present trees ran."""
        return sum(tree.n_episodes for tree in self.trees)

    @property
    def n_evaluations(self) -> int:
        """How many distinct programs its present trees fitted or evaluated."""
        return sum(tree.n_evaluations for tree in self.trees)

    @property
    def all_episodes(self) -> int:
        """How many episodes all of its trees ran."""
        return self.n_before[0] + self.n_episodes

    @property
    def all_evaluations(self) -> int:
        """How many programs all of its trees fitted or evaluated."""
        return self.n_before[1] + self.n_evaluations

    @property
    def is_exhausted(self) -> bool:
        """Whether every program in the trees of this round was tried."""
        return all(tree.is_exhausted for tree in self.trees)

    @property
    def is_last_batch(self) -> bool:
        """Whether the present batch is the last one of its round."""
        return batch_end(self.position.batch, self.config.n_episodes) == self.config.n_episodes

    @property
    def choice(self) -> Candidate | None:
        """The formula that it prefers; None if it has none yet."""
        front, measure = self.front, self.yardstick
        return front[front.choose("mdl", measure.data.n_rows, measure.floor)] if len(front) else None

    def express(self, candidate: Candidate, vocabulary: Vocabulary) -> Candidate | None:
        """Return a candidate of its trees as a formula of the whole table; None if its numbers become too large or too many."""
        planting = self.planting
        expressed = planting.scales.express(candidate)
        if expressed is not None and planting.groups is not None:
            program = planting.write_in_columns(expressed.program)
            expressed = (
                None
                if program is None
                else replace(expressed, program=program, loss=expressed.loss * planting.loss_factor)
            )
        if expressed is not None:
            expressed = planting.columns.express(expressed, vocabulary)
        if expressed is not None and self.units is not None and self.units.are_numbers_free:
            program = insert_numbers(expressed.program, self.units)
            expressed = None if program is None else replace(expressed, program=program)
        return expressed

    def rough_rivals(self, vocabulary: Vocabulary, *, has_all: bool = False) -> Iterator[Candidate]:
        """Yield the formulas of its trees that may be rivals, in terms of the whole table, the shortest description first.

        With `has_all`, they need not be rivals: the trees keep others as long as there is room.
        """
        n_rows = self.yardstick.check.n_rows
        reach = ROUGH_NATS + (ROUGH_NATS_PER_ROW * n_rows if n_rows > PROBE_ROWS else 0.0)
        reach = math.inf if has_all else reach
        known: set[tuple[int, ...]] = set()
        for rough in heapq.merge(*(tree.rivals(reach) for tree in self.trees), key=lambda each: each.length):
            expressed = self.express(rough.candidate, vocabulary)
            if expressed is not None and expressed.program.tokens not in known:
                known.add(expressed.program.tokens)
                yield expressed

    def restart(self, planting: Planting, vocabulary: Vocabulary) -> None:
        """Start new trees with other weights or columns; what was found so far stays in the front and among the rivals."""
        latest = islice(self.rough_rivals(vocabulary), MAX_FORMER_RIVALS)
        self.rivals = (*latest, *self.rivals)[: 2 * MAX_FORMER_RIVALS]
        self.n_before = self.all_episodes, self.all_evaluations
        self.n_restarts += 1
        self.planting = planting
        self.position = Position()
        self.assessment = Assessment(self.front)
