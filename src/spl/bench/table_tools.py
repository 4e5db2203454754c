"""Fits a table with one of the tools: ours with its defaults, gplearn or pyoperon. All search the same operators on one core."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spl.bench.gplearn import GplearnConfig, fit_gplearn, require_gplearn
from spl.bench.pyoperon import PyoperonConfig, fit_pyoperon, require_pyoperon
from spl.bench.trials import OURS, RECORDED_DIGITS
from spl.errors import DataRepaired, DoubtfulResult, SettingError, explain_unknown
from spl.estimators.regressor import SPLRegressor
from spl.formulas.edits import drop_one_term
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate
from spl.settings import SearchConfig

GPLEARN, PYOPERON = "gplearn", "pyoperon"
TABLE_TOOLS = (OURS, GPLEARN, PYOPERON)
_REQUIRE = {GPLEARN: require_gplearn, PYOPERON: require_pyoperon}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTask:
    """A table for a tool. Only ours uses a noise model and standard deviations."""

    names: tuple[str, ...]
    table: NDArray[np.float64]  # [N, D]
    target: NDArray[np.float64]  # [N]
    seed: int
    timeout: float | None  # seconds; None for no limit
    noise_model: str = "auto"
    sigma: NDArray[np.float64] | None = None  # [N]: known standard deviations of the target


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFit:
    """The formula that a tool chose for a table."""

    formula: str
    readings: tuple[Program, ...]  # the formula, and the same without what the tool always adds
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # of rows [N, D], by the tool itself
    seconds: float
    n_evaluations: int
    stopped: str
    details: dict[str, Any] = field(default_factory=dict)


def check_tools(tools: tuple[str, ...], timeout: float | None) -> None:
    """Raise a clear error unless all tools are known and installed, and have the time limit that they need."""
    for tool in tools:
        if tool not in TABLE_TOOLS:
            raise SettingError(explain_unknown("tool", tool, TABLE_TOOLS))
        if tool == OURS:
            continue
        if timeout is None:
            raise SettingError(f"{tool} needs a time limit. Set --timeout to a number, or leave {tool} out of --tools.")
        _REQUIRE[tool]()


def fit_table(tool: str, task: TableTask) -> TableFit:
    """Return the formula that a tool chooses for a table."""
    fits = {OURS: _fit_ours, GPLEARN: _fit_gplearn, PYOPERON: _fit_pyoperon}
    return fits[tool](task)


def describe_tool(tool: str, timeout: float | None) -> dict[str, object]:
    """Return the settings of a tool."""
    if tool == GPLEARN:
        return _gplearn_config().to_dict()
    if tool == PYOPERON:
        return _pyoperon_config(timeout).to_dict()
    return SearchConfig().to_dict()


def _fit_ours(task: TableTask) -> TableFit:
    settings: dict[str, Any] = {
        "noise": task.noise_model,
        "timeout": task.timeout,
        "n_jobs": 1,
        "random_state": task.seed,
    }
    model: Any = SPLRegressor(**settings)
    frame = pd.DataFrame(task.table, columns=list(task.names))
    began = time.perf_counter()
    with warnings.catch_warnings():
        for expected in (DoubtfulResult, DataRepaired):  # the notes say the same
            warnings.simplefilter("ignore", expected)
        model.fit(frame, task.target, sigma=task.sigma)
    seconds = time.perf_counter() - began
    found = model.discovery_
    program = found.front[model.best_index_].program
    return TableFit(
        formula=to_text(program, RECORDED_DIGITS),
        readings=(program,),
        predict=lambda rows: evaluate(program, np.ascontiguousarray(rows.T)),
        seconds=seconds,
        n_evaluations=found.n_evaluations,
        stopped=found.stopped,
        details={"noise": model.noise_.name, "notes": list(model.notes_)},
    )


def _fit_gplearn(task: TableTask) -> TableFit:
    require_gplearn()  # imports it before the clock starts
    began = time.perf_counter()
    found = fit_gplearn(
        task.table, task.target, names=task.names, config=_gplearn_config(), seed=task.seed, timeout=task.timeout
    )
    return TableFit(
        formula=to_text(found.program, RECORDED_DIGITS),
        readings=(found.program,),
        predict=found.predict,
        seconds=time.perf_counter() - began,
        n_evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


def _fit_pyoperon(task: TableTask) -> TableFit:
    require_pyoperon()  # imports it before the clock starts
    began = time.perf_counter()
    found = fit_pyoperon(
        task.table, task.target, names=task.names, config=_pyoperon_config(task.timeout), seed=task.seed
    )
    seconds = time.perf_counter() - began
    program = parse_expression(found.formula, Vocabulary(task.names))
    return TableFit(
        formula=found.formula,
        readings=(program, *without_offset(program)),
        predict=found.predict,
        seconds=seconds,
        n_evaluations=found.n_evaluations,
        stopped="timeout",
    )


def without_offset(program: Program) -> tuple[Program, ...]:
    """Return a formula of pyoperon without the offset that it always has: `0.1 + 2*sin(x)` as `2*sin(x)`.

    Examples:
        >>> program = parse_expression("(-0.01) + (2.0 * sin((1.5 * x)))", Vocabulary(("x",)))
        >>> [to_text(other) for other in without_offset(program)]
        ['2*sin(1.5*x)']
    """
    return tuple(drop_one_term(program))[:1]  # the first term of the outermost sum


def _gplearn_config() -> GplearnConfig:
    return GplearnConfig(operators=DEFAULT_OPERATORS, max_generations=None)


def _pyoperon_config(timeout: float | None) -> PyoperonConfig:
    assert timeout is not None  # check_tools asks for one
    return PyoperonConfig(operators=DEFAULT_OPERATORS, timeout=timeout)
