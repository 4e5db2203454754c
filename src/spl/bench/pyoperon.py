"""pyoperon, genetic programming with fitted coefficients: its settings, its run, its answer.

Its defaults but for the number of optimiser steps, until the time is up. Every variable has a fitted coefficient in operon, and the
whole formula a scale and an offset. It computes in single precision.
"""

import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.errors import SplError

NO_PYOPERON = 'pyoperon is not installed. To compare with it: pip install "symbolic-physics-learner[against]"'
SYMBOLS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}  # all others have the same name as ours
OPTIMIZER_ITERATIONS = 5  # its default is 0, which leaves coefficients as they are drawn
NO_LIMIT = 10**12  # only time ends a run
OPERON_DECIMALS = 9  # of the numbers in its formula


@dataclass(frozen=True, slots=True, kw_only=True)
class PyoperonConfig:
    """What a formula of pyoperon may contain, and how long it searches; all others are pyoperon's defaults.

    Examples:
        >>> PyoperonConfig(operators=("+", "sin"), timeout=30.0).to_parameters()["allowed_symbols"]
        'add,sin,constant,variable'
    """

    operators: tuple[str, ...]
    timeout: float  # seconds; pyoperon uses all of them, rounded down to whole ones
    has_constants: bool = True

    def to_parameters(self) -> dict[str, object]:
        """Return the parameters of pyoperon's estimator."""
        symbols = [SYMBOLS.get(operator, operator) for operator in self.operators]
        leaves = ["constant", "variable"] if self.has_constants else ["variable"]
        return {
            "allowed_symbols": ",".join([*symbols, *leaves]),
            "optimizer_iterations": OPTIMIZER_ITERATIONS,
            "generations": NO_LIMIT,
            "max_evaluations": NO_LIMIT,
            "max_time": max(1, int(self.timeout)),
            "n_threads": 1,
        }

    def to_dict(self) -> dict[str, object]:
        """Return the parameters by name, and the version of pyoperon."""
        return self.to_parameters() | {"pyoperon": importlib.metadata.version("pyoperon")}


@dataclass(frozen=True, slots=True, kw_only=True)
class PyoperonFit:
    """The result of a run of pyoperon."""

    formula: str
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]]  # of rows [N, D], by pyoperon itself
    n_evaluations: int


def require_pyoperon() -> None:
    """Raise a clear error if pyoperon is not installed."""
    try:
        import pyoperon.sklearn  # noqa: F401
    except ImportError:
        raise SplError(NO_PYOPERON) from None


def fit_pyoperon(
    table: NDArray[np.float64], target: NDArray[np.float64], *, names: Sequence[str], config: PyoperonConfig, seed: int
) -> PyoperonFit:
    """Evolve formulas for rows [N, D] on one core until the time is up."""
    require_pyoperon()
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(**config.to_parameters(), random_state=seed).fit(table, target)
    return PyoperonFit(
        formula=model.get_model_string(model.model_, precision=OPERON_DECIMALS, names=list(names)),
        predict=lambda rows: np.asarray(model.predict(rows), dtype=np.float64),
        n_evaluations=model.stats_["evaluation_count"],
    )
