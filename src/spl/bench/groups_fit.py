"""Searches of tables with groups, and of one group alone: what the parts of `spl bench groups` share."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spl.bench.trials import RECORDED_DIGITS
from spl.datasets.grouped_tables import GroupedTable
from spl.errors import DataRepaired, DoubtfulResult
from spl.estimators.regressor import SPLRegressor
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Program
from spl.formulas.text import to_text


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedFit:
    """The formula chosen for a table with groups."""

    program: Program
    own: tuple[OwnNumber, ...]
    predict: Callable[[GroupedTable], NDArray[np.float64]]
    notes: tuple[str, ...]
    seconds: float
    cpu_seconds: float  # less than the seconds on a busy machine
    n_evaluations: int
    stopped: str

    @property
    def formula(self) -> str:
        """The formula as text; own numbers appear by name."""
        return to_text(self.program, RECORDED_DIGITS)


def fit_groups(names: tuple[str, ...], data: GroupedTable, *, seed: int, timeout: float | None) -> GroupedFit:
    """Search a table with its groups, with the defaults."""

    def predict(rows: GroupedTable) -> NDArray[np.float64]:
        with warnings.catch_warnings(action="ignore"):
            return np.asarray(model.predict(_frame(names, rows.table), groups=_groups(rows)))

    model, *seconds = _fit(names, data.table, data.target, seed, timeout, groups=_groups(data))
    return _describe(model, predict, *seconds)


def fit_one_group(
    names: tuple[str, ...],
    table: NDArray[np.float64],
    target: NDArray[np.float64],
    *,
    seed: int,
    timeout: float | None,
) -> GroupedFit:
    """Search the rows of one group, with the defaults."""

    def predict(rows: GroupedTable) -> NDArray[np.float64]:
        with warnings.catch_warnings(action="ignore"):
            return np.asarray(model.predict(_frame(names, rows.table)))

    model, *seconds = _fit(names, table, target, seed, timeout)
    return _describe(model, predict, *seconds)


def _fit(
    names: tuple[str, ...],
    table: NDArray[np.float64],
    target: NDArray[np.float64],
    seed: int,
    timeout: float | None,
    **more: Any,
) -> tuple[Any, float, float]:
    model = SPLRegressor(timeout=timeout, n_jobs=1, random_state=seed)
    began, cpu_began = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        for expected in (DoubtfulResult, DataRepaired):  # the notes say the same
            warnings.simplefilter("ignore", expected)
        model.fit(_frame(names, table), target, **more)
    return model, time.perf_counter() - began, time.process_time() - cpu_began


def _describe(
    model: Any, predict: Callable[[GroupedTable], NDArray[np.float64]], seconds: float, cpu_seconds: float
) -> GroupedFit:
    found = model.discovery_
    candidate = found.front[model.best_index_]
    return GroupedFit(
        program=candidate.program,
        own=tuple(getattr(candidate, "own", ())),
        predict=predict,
        notes=tuple(model.notes_),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        n_evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


def _frame(names: tuple[str, ...], table: NDArray[np.float64]) -> pd.DataFrame:
    return pd.DataFrame(table, columns=list(names))


def _groups(data: GroupedTable) -> pd.DataFrame:
    return pd.DataFrame(data.labels)
