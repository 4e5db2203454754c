"""The equations of a system in the experiments: searched, recorded as one text, read back, compared with the true ones."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.bench.trials import RECORDED_DIGITS
from spl.errors import ExpressionError, SearchInterrupted
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.terms import linear_terms

BREAK = "; "  # between equations


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Measured:
    """The data of a search: states [N, D] at times [N], with inputs [N, U] and derivatives [N, D] where known."""

    t: NDArray[np.float64]
    states: NDArray[np.float64]
    names: tuple[str, ...]  # of states and inputs
    u: NDArray[np.float64] | None = None
    derivatives: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a search."""

    formulas: tuple[str, ...]  # right-hand sides, one per state
    seconds: float
    n_evaluations: int
    stopped: str


def search_equations(data: Measured, *, timeout: float | None, n_threads: int, seed: int, **settings: Any) -> Found:
    """Search the equations of a system with `SPLDynamics`; other settings are its defaults."""
    from spl.estimators.dynamics import SPLDynamics  # slow to import

    model = SPLDynamics(timeout=timeout, n_jobs=n_threads, random_state=seed, **settings)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SearchInterrupted)  # the outcome says so
        model.fit(data.states, data.t, x_dot=data.derivatives, u=data.u, feature_names=data.names)
    seconds = time.perf_counter() - began
    searches = model.discovery_.searches
    reasons = dict.fromkeys(search.stopped for search in searches)
    return Found(
        formulas=tuple(model.equations(RECORDED_DIGITS)),
        seconds=seconds,
        n_evaluations=sum(search.n_evaluations for search in searches),
        stopped="interrupted" if model.discovery_.is_interrupted else ", ".join(reasons),
    )


def read_equations(formula: str, names: Sequence[str]) -> list[Program]:
    """Return the programs of equations recorded as one text.

    Examples:
        >>> [len(program) for program in read_equations("y; -2*x", ("x", "y"))]
        [1, 3]
        >>> read_equations("", ("x", "y"))
        []
    """
    words = Vocabulary(tuple(names))
    return [parse_expression(text, words) for text in formula.split(BREAK) if text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How the terms of an equation differ from the true ones."""

    n_false: int | None  # terms that are not in the truth; None with numbers inside terms, as in x/(x + 0.3)
    n_missing: int  # terms of the truth that were not found
    error: float | None  # the largest relative error of a coefficient; None unless the terms are right

    @property
    def is_right(self) -> bool:
        """Whether the terms are exactly the true ones."""
        return self.n_false == 0 and self.n_missing == 0


def compare_terms(found: Program, truth: Program) -> Comparison:
    """Return how the terms of an equation, multiplied out, differ from the true ones, which have no numbers inside them.

    Examples:
        >>> found, truth = read_equations("9.9*(y - x) + 0.1; 10*y - 10*x", ("x", "y"))
        >>> compare_terms(found, truth)
        Comparison(n_false=1, n_missing=0, error=None)
        >>> compare_terms(read_equations("9.5*(y - x)", ("x", "y"))[0], truth).error
        0.05...
    """
    true_terms = linear_terms(truth)
    try:
        terms = {name: value for name, value in linear_terms(found).items() if value != 0}  # 0 alone has the term 1
    except ExpressionError:
        return Comparison(n_false=None, n_missing=len(true_terms), error=None)
    n_false, n_missing = len(terms.keys() - true_terms), len(true_terms.keys() - terms)
    error = None
    if n_false == n_missing == 0:
        error = max((abs(terms[name] / value - 1) for name, value in true_terms.items()), default=0.0)
    return Comparison(n_false=n_false, n_missing=n_missing, error=error)


def largest(errors: Sequence[float | None]) -> float | None:
    """Return the largest error; None if there are none, or one is not known.

    Examples:
        >>> largest([0.1, 0.2]), largest([0.1, None]), largest([])
        (0.2, None, None)
    """
    known = [error for error in errors if error is not None]
    return max(known) if known and len(known) == len(errors) else None
