"""Sums of a few simple terms, quotients of such sums, and sums with a fraction, that come near a target: found by least squares.

Most laws of motion are of this kind. A search on smoothed derivatives may miss the right one, because it keeps one formula of each
cost and smoothing makes another look better. So sums of all sizes are proposed beside what the search found; trajectories decide.
Terms and formulas keep to the grammar.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.operators import is_function
from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs import tokens as tk

Numbers = NDArray[np.float64]
Term = tuple[int, ...]  # tokens without a factor; the empty one is the number 1
Evaluate = Callable[[Program, Numbers], Numbers]

MAX_DEGREE = 3  # of products of variables
MAX_SIZE = 10  # terms of a sum, or of a quotient in all
MAX_ALL = 150  # terms that elimination can begin with
MAX_TERMS = 300
N_BEST = 4  # sets of one, two and three terms that are proposed
LONGEST_ABOVE = 3  # tokens of a term over a shifted one, and of that: products of two variables
MAX_DIVISORS = 6  # terms that a number is added to below
N_FRACTIONS = 10  # sums with a fraction of each size that are proposed: their numbers are only about right yet
GAPS = (0.02, 5.0, 8)  # how far from 0 they are kept: least and largest share of their range, and how many
SCAN_ROWS = 1000  # about so many rows are enough to compare them
SAME = 1e-9  # terms whose directions differ by less are the same
_START = tk.SYMBOL << tk.KIND_SHIFT
_NUMBER = tk.CONSTANT << tk.KIND_SHIFT


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """Simple terms that a grammar allows, with their values on rows."""

    vocabulary: Vocabulary
    terms: tuple[Term, ...]
    values: Numbers  # [N, terms]
    n_polynomial: int  # the first so many are products of variables
    has_quotients: bool

    @classmethod
    def build(cls, grammar: Grammar, data: Dataset, evaluate: Evaluate) -> "Library":
        """Collect products of variables, functions of one variable, and products of these; none if the grammar has no sums."""
        words = grammar.vocabulary
        products = list(_products(words))
        functions = list(_function_terms(grammar, words))
        if not _has_sums(grammar):
            products, functions = [], []
        kept = _Columns(data.n_rows)
        for term in (*products, *functions):
            if len(kept.values) < MAX_TERMS and _is_allowed(grammar, term):
                kept.add(term, _values(term, words, data, evaluate))
        n_polynomial = sum(term in products for term in kept.terms)
        has_quotients = grammar.derives_template((tk.DIV, _START, _START), 0)
        values = np.column_stack(kept.values) if kept.values else np.empty((data.n_rows, 0))
        return cls(words, tuple(kept.terms), values, n_polynomial, has_quotients)

    def propose(self, target: Numbers) -> Iterator[Program]:
        """Yield sums of 1 to `MAX_SIZE` terms near a target [N], and quotients of sums; their numbers are those of least squares."""
        if not self.terms:
            return
        polynomial = range(min(self.n_polynomial, MAX_ALL))
        for chosen in _eliminate(self.values, target, polynomial):
            yield self._write_sum(chosen, target)
        few = list(_best_few(self.values, target))
        if len(few) < N_BEST:  # squares of the data are no numbers
            return
        forward = list(_pursue(self.values, target, few[-N_BEST]))
        for chosen in (*few, *forward, *_eliminate(self.values, target, forward[-1])):
            yield self._write_sum(chosen, target)
        if self.has_quotients:
            yield from self._quotients(target, polynomial)
            yield from self._saturations(target)

    def _write_sum(self, chosen: Sequence[int], target: Numbers) -> Program:
        factors = np.linalg.lstsq(self.values[:, list(chosen)], target, rcond=None)[0]
        return _write(self.vocabulary, [(self.terms[k], value) for k, value in zip(chosen, factors, strict=True)])

    def _quotients(self, target: Numbers, above: Sequence[int]) -> Iterator[Program]:
        """Yield p / q: with q = 1 + r, the equation y = p - y*r is linear in the numbers of p and r."""
        below = [k for k in above if self.terms[k]][: MAX_ALL - len(above)]
        table = np.hstack([self.values[:, list(above)], -target[:, np.newaxis] * self.values[:, below]])
        for chosen in _eliminate(table, target, range(table.shape[1])):
            factors = np.linalg.lstsq(table[:, list(chosen)], target, rcond=None)[0]
            pairs = list(zip(chosen, factors, strict=True))
            upper = [(self.terms[above[k]], value) for k, value in pairs if k < len(above)]
            lower = [(self.terms[below[k - len(above)]], value) for k, value in pairs if k >= len(above)]
            if upper and lower and lower[0][1] != 0:
                yield _write_quotient(self.vocabulary, upper, lower)

    def _saturations(self, target: Numbers) -> Iterator[Program]:
        """Yield sums of up to three terms, some of them over a term plus a number: a + b*x/(c + x). The number is scanned."""
        above = [k for k in range(self.n_polynomial) if len(self.terms[k]) <= LONGEST_ABOVE]
        rows = slice(None, None, 1 + target.size // SCAN_ROWS)
        values, goal = self.values[rows], target[rows]
        best: dict[tuple[int, tuple[int, ...]], tuple[float, float]] = {}  # error and number of each divisor and set
        for divisor in [k for k in above if self.terms[k]][:MAX_DIVISORS]:
            for shift in _shifts(values[:, divisor]):
                table = _beside_and_over(values, above, divisor, shift)
                for chosen in _best_few(table, goal):
                    error = _error_of(table[:, list(chosen)], goal)
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
        table = _beside_and_over(self.values, above, divisor, shift)
        factors = np.linalg.lstsq(table[:, list(chosen)], target, rcond=None)[0]
        pairs = list(zip(chosen, factors, strict=True))
        beside = [(self.terms[above[k]], value) for k, value in pairs if k < len(above)]
        over = [(self.terms[above[k - len(above)]], value) for k, value in pairs if k >= len(above)]
        fraction = _write_fraction(self.vocabulary, over, shift, self.terms[divisor])
        if not beside:
            return fraction
        rest = _write(self.vocabulary, beside)
        return Program((tk.ADD, *rest.tokens, *fraction.tokens), self.vocabulary, rest.constants + fraction.constants)


class _Columns:
    """Terms whose values are finite, vary in their own way, and are not those of another term."""

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
        if self._directions.size and np.max(np.abs(self._directions @ direction)) > 1 - SAME:
            return
        self.terms.append(term)
        self.values.append(values)
        self._directions = np.vstack([self._directions, direction])


# ---- terms ---------------------------------------------------------------------------------------


def _products(words: Vocabulary) -> Iterator[Term]:
    variables = [words.variable_token(name) for name in words.variables]
    yield ()
    for degree in range(1, MAX_DEGREE + 1):
        for factors in combinations_with_replacement(variables, degree):
            yield (tk.MUL,) * (degree - 1) + factors


def _function_terms(grammar: Grammar, words: Vocabulary) -> Iterator[Term]:
    """Yield functions of one variable, and products of two such, or of one and a variable."""
    used = dict.fromkeys(token for rule in grammar.rules for token in rule.tokens if is_function(token))
    functions = [token for token in used if words.arity_of(token) == 1 and words.operator_of(token).traits.is_smooth]
    variables = [(words.variable_token(name),) for name in words.variables]
    single = [(function, *variable) for function in functions for variable in variables]
    yield from single
    for first in (*variables, *single):
        for second in single:
            yield (tk.MUL, *first, *second)


def _has_sums(grammar: Grammar) -> bool:
    return grammar.derives_template((tk.ADD, _START, _START), 0)


def _is_allowed(grammar: Grammar, term: Term) -> bool:
    """Tell whether the grammar has the term with a factor."""
    return grammar.derives_template((tk.MUL, _NUMBER, *term) if term else (_NUMBER,), 0)


def _values(term: Term, words: Vocabulary, data: Dataset, evaluate: Evaluate) -> Numbers:
    return evaluate(Program(term, words), data.columns) if term else np.ones(data.n_rows)


def _write(words: Vocabulary, terms: Iterable[tuple[Term, float]]) -> Program:
    """Return the sum of terms, each with its factor."""
    tokens: Term = ()
    constants: list[float] = []
    for term, factor in terms:
        product = (tk.MUL, _NUMBER, *term) if term else (_NUMBER,)
        tokens = (tk.ADD, *tokens, *product) if tokens else product
        constants.append(float(factor))
    return Program(tokens, words, tuple(constants))


def _write_fraction(words: Vocabulary, over: Sequence[tuple[Term, float]], shift: float, divisor: Term) -> Program:
    """Return a sum over a number plus a term."""
    above = _write(words, over)
    return Program((tk.DIV, *above.tokens, tk.ADD, _NUMBER, *divisor), words, (*above.constants, shift))


def _write_quotient(
    words: Vocabulary, upper: Sequence[tuple[Term, float]], lower: Sequence[tuple[Term, float]]
) -> Program:
    """Return upper / (1 + lower), divided by the first factor below, so that no number is there twice."""
    (first, scale), others = lower[0], lower[1:]
    above = _write(words, [(term, factor / scale) for term, factor in upper])
    rest = _write(words, [((), 1 / scale), *((term, factor / scale) for term, factor in others)])
    return Program((tk.DIV, *above.tokens, tk.ADD, *rest.tokens, *first), words, above.constants + rest.constants)


# ---- least squares -------------------------------------------------------------------------------


def _beside_and_over(values: Numbers, above: Sequence[int], divisor: int, shift: float) -> Numbers:
    """Return columns of a table as they are, then the same over another column plus a number."""
    columns = values[:, list(above)]
    return np.hstack([columns, columns / (values[:, [divisor]] + shift)])


def _error_of(columns: Numbers, target: Numbers) -> float:
    """Return what least squares leave of a target."""
    basis = np.linalg.qr(columns)[0]
    return float(np.linalg.norm(target - basis @ (basis.T @ target)))


def _shifts(values: Numbers) -> Iterator[float]:
    """Yield numbers that added to values leave them all on one side of 0, near to it and far from it."""
    low, high = float(values.min()), float(values.max())
    for gap in (high - low) * np.geomspace(*GAPS):
        yield gap - low
        yield -gap - high


def _eliminate(values: Numbers, target: Numbers, start: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Leave out, one by one, the column that explains least; yield those that are left, at most `MAX_SIZE`."""
    kept = list(start)
    if not kept:
        return
    size = np.linalg.norm(values[:, kept], axis=0)
    q, r = np.linalg.qr(values[:, kept] / size)
    goal, places = q.T @ target, list(range(len(kept)))
    while places:
        if len(places) <= MAX_SIZE:
            yield tuple(kept[k] for k in places)
        inverse = np.linalg.pinv(r[:, places])
        spread = np.linalg.norm(inverse, axis=1)  # of each factor, for noise of deviation 1
        places.pop(int(np.argmin(np.abs(inverse @ goal) / np.maximum(spread, np.finfo(float).tiny))))


def _pursue(values: Numbers, target: Numbers, start: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Take, one by one, the column that explains most of what is left; yield those that are taken, beginning with a few."""
    directions = values / np.linalg.norm(values, axis=0)
    taken = list(start)
    while taken and len(taken) <= MAX_SIZE:
        yield tuple(taken)
        basis = np.linalg.qr(directions[:, taken])[0]
        left = target - basis @ (basis.T @ target)
        rest = directions - basis @ (basis.T @ directions)
        length = np.linalg.norm(rest, axis=0)
        gains = np.where(length > np.sqrt(SAME), np.abs(left @ rest) / np.maximum(length, SAME), -1.0)
        if np.max(gains) <= 0:
            return
        taken.append(int(np.argmax(gains)))


def _best_few(values: Numbers, target: Numbers) -> Iterator[tuple[int, ...]]:
    """Yield the best sets of one, two and three columns, several of each: all sets are looked at."""
    directions = values / np.linalg.norm(values, axis=0)
    gram, goal = directions.T @ directions, directions.T @ target
    singles, pairs, triples = _Best(), _Best(), _Best()
    for first in range(goal.size):
        later = slice(first + 1, None)
        inner = gram[later, later] - np.outer(gram[first, later], gram[first, later])  # what `first` does not explain
        left = goal[later] - gram[first, later] * goal[first]
        own = np.diag(inner)
        explained = goal[first] ** 2
        singles.offer(np.array(explained), (first,))
        pairs.offer(explained + _divide(left**2, own), (first,))
        both = left[:, np.newaxis] ** 2 * own + own[:, np.newaxis] * left**2 - 2 * inner * np.outer(left, left)
        triples.offer(explained + np.triu(_divide(both, np.outer(own, own) - inner**2), 1), (first,))
    for best in (singles, pairs, triples):
        yield from best.sets


def _divide(gain: Numbers, own: Numbers) -> Numbers:
    """Return what columns explain; nothing where they are nearly those that are there."""
    return np.where(own > SAME, gain / np.maximum(own, SAME), 0.0)


class _Best:
    """The few sets of columns that explain most."""

    def __init__(self) -> None:
        self._kept: list[tuple[float, tuple[int, ...]]] = []

    @property
    def sets(self) -> list[tuple[int, ...]]:
        return [members for _, members in self._kept]

    def offer(self, explained: Numbers, first: tuple[int]) -> None:
        """Look at sets: `first` with each of the columns after it that an entry of the array stands for."""
        least = self._kept[-1][0] if len(self._kept) == N_BEST else 0.0
        if explained.size == 0 or explained.max() <= least:
            return
        flat = explained.ravel()
        for place in np.argpartition(flat, -min(N_BEST, flat.size))[-N_BEST:]:
            others = (first[0] + 1 + int(k) for k in np.unravel_index(place, explained.shape))
            self._kept.append((float(flat[place]), (*first, *others)))
        self._kept = sorted(self._kept, reverse=True)[:N_BEST]
