"""Sums of a few simple terms, quotients of such sums, and sums with a fraction that are close to a target, by least squares.

Most laws of motion are of this kind. A search on smoothed derivatives may miss the right one, because it keeps one formula per cost
and smoothing makes another one look better. So sums of all sizes are proposed in addition; the trajectories decide. Terms and
formulas keep to the grammar.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.dynamics.column_subsets import (
    N_BEST,
    SAME_DIRECTION,
    eliminate_columns,
    find_best_few,
    measure_misfit,
    pursue_columns,
    solve_least_squares,
)
from spl.dynamics.simple_terms import (
    Term,
    evaluate_term,
    has_quotients,
    has_sums,
    is_allowed,
    write_fraction,
    write_quotient,
    write_sum,
)
from spl.formulas.grammar import Grammar
from spl.formulas.operators import is_function
from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs import tokens as tk
from spl.units.table_units import TableUnits

Numbers = NDArray[np.float64]

MAX_PRODUCT_DEGREE = 3  # of products of variables
MAX_ELIMINATED = 150  # terms that elimination starts with
MAX_LIBRARY_TERMS = 300
MAX_FRACTION_TOKENS = 3  # of each term above and below a fraction bar: products of two variables
MAX_DIVISORS = 6  # terms that are tried below a fraction bar, with a number added
N_FRACTIONS = 10  # sums with a fraction that are proposed per size: their numbers are only approximate
DIVISOR_GAPS = (0.02, 5.0, 8)  # distances of a divisor from 0: smallest and largest share of its range, and how many
SCAN_ROWS = 1000  # about as many rows are enough to compare fractions


@dataclass(frozen=True, slots=True, eq=False)
class TermLibrary:
    """Simple terms that a grammar allows, with their values on the rows of a dataset."""

    vocabulary: Vocabulary
    terms: tuple[Term, ...]
    values: Numbers  # [N, terms]
    n_polynomial: int  # how many of the first terms are products of variables
    has_quotients: bool

    @classmethod
    def build(cls, grammar: Grammar, data: Dataset, units: TableUnits | None = None) -> "TermLibrary":
        """Collect products of variables, functions of one variable, and products of these; nothing if the grammar has no sums.

        With units, each of them has the unit of the target, together with its factor.
        """
        words = grammar.vocabulary
        products = list(product_terms(words, words.variables))
        functions = list(function_terms(grammar, words.variables))
        if not has_sums(grammar):
            products, functions = [], []
        kept = _Columns(data.n_rows)
        for term in (*products, *functions):
            if len(kept.values) < MAX_LIBRARY_TERMS and is_allowed(grammar, term, units):
                kept.add(term, evaluate_term(term, words, data))
        n_polynomial = sum(term in products for term in kept.terms)
        values = np.column_stack(kept.values) if kept.values else np.empty((data.n_rows, 0))
        return cls(words, tuple(kept.terms), values, n_polynomial, has_quotients(grammar))

    def propose(self, target: Numbers) -> Iterator[Program]:
        """Yield sums of 1 to `MAX_SUBSET` terms close to a target [N], and quotients of sums, with numbers from least squares."""
        if not self.terms:
            return
        polynomial = range(min(self.n_polynomial, MAX_ELIMINATED))
        for chosen in eliminate_columns(self.values, target, polynomial):
            yield self._write_sum(chosen, target)
        few = list(find_best_few(self.values, target))
        if len(few) < N_BEST:  # squares of the data overflow
            return
        forward = list(pursue_columns(self.values, target, few[-N_BEST]))
        for chosen in (*few, *forward, *eliminate_columns(self.values, target, forward[-1])):
            yield self._write_sum(chosen, target)
        if self.has_quotients:
            yield from self._quotients(target, polynomial)
            yield from self._saturations(target)

    def _write_sum(self, chosen: Sequence[int], target: Numbers) -> Program:
        factors = solve_least_squares(self.values, target, chosen)
        return write_sum(self.vocabulary, [(self.terms[k], value) for k, value in zip(chosen, factors, strict=True)])

    def _quotients(self, target: Numbers, above: Sequence[int]) -> Iterator[Program]:
        """Yield p / q: with q = 1 + r, the equation y = p - y*r is linear in the numbers of p and r."""
        below = [k for k in above if self.terms[k]][: MAX_ELIMINATED - len(above)]
        table = np.hstack([self.values[:, list(above)], -target[:, np.newaxis] * self.values[:, below]])
        for chosen in eliminate_columns(table, target, range(table.shape[1])):
            factors = solve_least_squares(table, target, chosen)
            pairs = list(zip(chosen, factors, strict=True))
            upper = [(self.terms[above[k]], value) for k, value in pairs if k < len(above)]
            lower = [(self.terms[below[k - len(above)]], value) for k, value in pairs if k >= len(above)]
            if upper and lower and lower[0][1] != 0:
                yield write_quotient(self.vocabulary, upper, lower)

    def _saturations(self, target: Numbers) -> Iterator[Program]:
        """Yield sums of up to three terms, some of them divided by a term plus a number: a + b*x/(c + x). The number is scanned."""
        above = [k for k in range(self.n_polynomial) if len(self.terms[k]) <= MAX_FRACTION_TOKENS]
        rows = slice(None, None, 1 + target.size // SCAN_ROWS)
        values, goal = self.values[rows], target[rows]
        best: dict[tuple[int, tuple[int, ...]], tuple[float, float]] = {}  # error and number of each divisor and set
        for divisor in [k for k in above if self.terms[k]][:MAX_DIVISORS]:
            for shift in _shifts(values[:, divisor]):
                table = _with_fractions(values, above, divisor, shift)
                for chosen in find_best_few(table, goal):
                    error = measure_misfit(table[:, list(chosen)], goal)
                    key = (divisor, chosen)
                    if max(chosen) >= len(above) and error < best.get(key, (np.inf, 0.0))[0]:
                        best[key] = error, shift
        for size in (1, 2, 3):
            found = sorted((error, key, shift) for key, (error, shift) in best.items() if len(key[1]) == size)
            for _, (divisor, chosen), shift in found[:N_FRACTIONS]:
                yield self._write_saturation(chosen, above, divisor, shift, target)

    def _write_saturation(
        self, chosen: Sequence[int], above: Sequence[int], divisor: int, shift: float, target: Numbers
    ) -> Program:
        table = _with_fractions(self.values, above, divisor, shift)
        factors = solve_least_squares(table, target, chosen)
        pairs = list(zip(chosen, factors, strict=True))
        plain = [(self.terms[above[k]], value) for k, value in pairs if k < len(above)]
        over = [(self.terms[above[k - len(above)]], value) for k, value in pairs if k >= len(above)]
        fraction = write_fraction(self.vocabulary, over, shift, self.terms[divisor])
        if not plain:
            return fraction
        rest = write_sum(self.vocabulary, plain)
        return Program((tk.ADD, *rest.tokens, *fraction.tokens), self.vocabulary, rest.constants + fraction.constants)


class _Columns:
    """Terms whose values are finite and not proportional to those of another term."""

    def __init__(self, n_rows: int) -> None:
        self.terms: list[Term] = []
        self.values: list[Numbers] = []
        self._directions = np.empty((0, n_rows))

    def add(self, term: Term, values: Numbers) -> None:
        with np.errstate(over="ignore"):
            size = float(np.linalg.norm(values))
        if not np.isfinite(size) or size == 0:
            return
        direction = values / size
        if self._directions.size and np.max(np.abs(self._directions @ direction)) > 1 - SAME_DIRECTION:
            return
        self.terms.append(term)
        self.values.append(values)
        self._directions = np.vstack([self._directions, direction])


# ---- terms ---------------------------------------------------------------------------------------


def product_terms(words: Vocabulary, names: Sequence[str]) -> Iterator[Term]:
    """Yield the number 1 and products of variables, those of few variables first."""
    variables = [words.variable_token(name) for name in names]
    yield ()
    for degree in range(1, MAX_PRODUCT_DEGREE + 1):
        for factors in combinations_with_replacement(variables, degree):
            yield (tk.MUL,) * (degree - 1) + factors


def function_terms(grammar: Grammar, names: Sequence[str]) -> Iterator[Term]:
    """Yield functions of one variable, and products of two such, or of one and a variable."""
    words = grammar.vocabulary
    used = dict.fromkeys(token for rule in grammar.rules for token in rule.tokens if is_function(token))
    functions = [token for token in used if words.arity_of(token) == 1 and words.operator_of(token).traits.is_smooth]
    variables = [(words.variable_token(name),) for name in names]
    single = [(function, *variable) for function in functions for variable in variables]
    yield from single
    for first in (*variables, *single):
        for second in single:
            yield (tk.MUL, *first, *second)


# ---- fractions -----------------------------------------------------------------------------------


def _with_fractions(values: Numbers, above: Sequence[int], divisor: int, shift: float) -> Numbers:
    """Return columns of a table, then the same columns divided by another one plus a number."""
    columns = values[:, list(above)]
    return np.hstack([columns, columns / (values[:, [divisor]] + shift)])


def _shifts(values: Numbers) -> Iterator[float]:
    """Yield numbers that move all values to one side of 0 when added, close to it and far from it."""
    low, high = float(values.min()), float(values.max())
    for gap in (high - low) * np.geomspace(*DIVISOR_GAPS):
        yield gap - low
        yield -gap - high
