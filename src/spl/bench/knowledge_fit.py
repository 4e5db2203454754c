"""One search of a table with or without its units, and when the law first was its choice."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spl.bench.structure import has_structure_of_law
from spl.bench.trials import RECORDED_DIGITS
from spl.datasets.handbook_laws import HandbookLaw
from spl.display.progress import ProgressDisplay
from spl.errors import DataRepaired, DoubtfulResult
from spl.estimators.regressor import SPLRegressor
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.regression.discover import Progress
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest


@dataclass(frozen=True, slots=True)
class Choice:
    """A formula that was the choice during a search, and how much the search had done when it became so."""

    program: Program
    seconds: float
    n_evaluations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeFit:
    """What a search found: programs of the columns, and of named constants if it knew units."""

    program: Program
    front: tuple[Program, ...]
    choices: tuple[Choice, ...]  # in order; the last one is the answer
    notes: tuple[str, ...]
    seconds: float
    cpu_seconds: float  # less than the seconds on a busy machine
    n_evaluations: int
    stopped: str

    @property
    def formula(self) -> str:
        """The formula as text; named constants appear by name."""
        return to_text(self.program, RECORDED_DIGITS)


def fit_handbook_law(
    law: HandbookLaw,
    table: NDArray[np.float64],
    target: NDArray[np.float64],
    *,
    has_units: bool,
    seed: int,
    timeout: float | None,
) -> KnowledgeFit:
    """Search a table [N, D] of a law with the defaults; with its units and named constants, or without both."""
    knowledge: dict[str, Any] = (
        {"units": law.units, "target_unit": law.target_unit, "known": law.known} if has_units else {}
    )
    model = _FollowedRegressor(timeout=timeout, n_jobs=1, random_state=seed, verbose=1, **knowledge)
    frame = pd.DataFrame(table, columns=list(law.variables))
    began, cpu_began = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        for expected in (DoubtfulResult, DataRepaired):  # the notes say the same
            warnings.simplefilter("ignore", expected)
        model.fit(frame, pd.Series(target, name=law.target))
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    found = model.discovery_
    program = found.front[model.best_index_].program
    return KnowledgeFit(
        program=program,
        front=tuple(candidate.program for candidate in found.front),
        choices=(*model.choices, Choice(program, seconds, found.n_evaluations)),
        notes=tuple(model.notes_),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        n_evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


class _FollowedRegressor(SPLRegressor):
    """The estimator with a display that only takes down the choices."""

    def _make_display(self, request: RegressionRequest) -> "_ChoiceList":
        display = _ChoiceList()
        self.choices = display.choices
        return display


@dataclass
class _ChoiceList(ProgressDisplay):
    """Takes down each formula that becomes the choice."""

    choices: list[Choice] = field(default_factory=list)

    def __call__(self, progress: Progress) -> None:
        if not len(progress.front):
            return
        chosen = progress.front.choose("mdl", progress.n_rows, progress.floor)
        program = progress.front[chosen].program
        if not self.choices or self.choices[-1].program.tokens != program.tokens:
            self.choices.append(Choice(program, progress.seconds, progress.n_evaluations))


def with_known(law: HandbookLaw, table: NDArray[np.float64], program: Program) -> NDArray[np.float64]:
    """Return the rows [N, D + K] that a formula reads: the columns, and the values of the named constants that it may have.

    Examples:
        >>> from spl.datasets import load_handbook_law
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> law = load_handbook_law("pump_power")
        >>> program = parse_expression("0.001*rho*g*Q*H/eta", Vocabulary((*law.variables, "g")))
        >>> with_known(law, np.ones((1, 4)), program)
        array([[1.     , 1.     , 1.     , 1.     , 9.80665]])
    """
    names = program.vocabulary.variables[len(law.variables) :]
    values = [float(law.known[name].split()[0]) for name in names]
    return np.hstack([table, np.tile(values, (len(table), 1))])


def values_of(law: HandbookLaw, program: Program, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values [N] of a formula at the rows of a table [N, D]."""
    return evaluate(program, np.ascontiguousarray(with_known(law, table, program).T))


def has_right_structure(
    law: HandbookLaw, program: Program, table: NDArray[np.float64], truth: NDArray[np.float64]
) -> bool:
    """Return whether a formula is the law except for the values of its numbers; named constants keep theirs."""
    return has_structure_of_law(program, with_known(law, table, program), truth)


def first_right_choice(
    law: HandbookLaw, choices: Sequence[Choice], table: NDArray[np.float64], truth: NDArray[np.float64]
) -> Choice | None:
    """Return the first choice that has the structure of the law; None if there is none."""
    verdicts: dict[tuple[int, ...], bool] = {}
    for choice in choices:
        tokens = choice.program.tokens
        if tokens not in verdicts:
            verdicts[tokens] = has_right_structure(law, choice.program, table, truth)
        if verdicts[tokens]:
            return choice
    return None
