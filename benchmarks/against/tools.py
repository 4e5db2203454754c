"""What every tool is given, what it must give back, and where the tools are."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from spl.bench.nguyen import Task
from spl.errors import SettingError, SplError, suggest_name

TOOLS = {"spl": "ours", "gplearn": "gplearn", "pyoperon": "pyoperon"}  # the file here that runs each
SRBENCH = "srbench"  # the file that runs modules given by path


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A problem for a tool: rows [N, D], their targets [N], and what the formula may contain."""

    task: Task
    table: NDArray[np.float64]
    target: NDArray[np.float64]
    operators: tuple[str, ...]  # such as "+" and "sin"
    seed: int
    timeout: float  # seconds
    module: Path | None = None  # of a tool that is given by path

    @property
    def variables(self) -> tuple[str, ...]:
        return self.task.problem.variables

    @property
    def has_constants(self) -> bool:
        return self.task.problem.has_constants


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The formula that a tool chose. It is judged by `predict` on points that the tool never saw."""

    formula: str
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # of rows [N, D]
    n_evaluations: int | None  # None if the tool does not say
    stopped: str


class OutOfTime(SplError):
    """A tool that gave no answer within its time."""


def find_tool(name: str, modules: Mapping[str, Path]) -> ModuleType:
    """Return the file that runs a tool: it has `require(module)`, `solve(job)` and `describe(job)`."""
    file = SRBENCH if name in modules else TOOLS.get(name)
    if file is None:
        known = f" Choose from: {', '.join(TOOLS)}."
        raise SettingError(f"There is no tool '{name}'.{suggest_name(name, TOOLS) or known}")
    return importlib.import_module(f"benchmarks.against.{file}")


def name_modules(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the paths by the names under which tables show them."""
    modules = {path.stem: path for path in paths}
    names = [path.stem for path in paths]
    twice = [name for name in modules if name in TOOLS or names.count(name) > 1]
    if twice:
        raise SettingError(f"Two tools have the same name: {', '.join(twice)}. Rename the file.")
    return modules
