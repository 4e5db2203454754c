"""Sums of products of two factors, and quotients of such sums, that are close to a target: the laws of mechanics.

Factors are columns and their powers, functions of columns, and sines and cosines of differences and sums of two columns. All of their
products are compared at once (`regression/product_exchange`). Formulas keep to the grammar.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, zip_longest

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.dynamics.simple_terms import (
    START_TOKEN,
    Term,
    evaluate_term,
    has_quotients,
    has_sums,
    is_allowed,
    write_quotient,
    write_sum,
)
from spl.formulas.grammar import Grammar
from spl.formulas.operators import is_function
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.regression.product_exchange import Product, ProductSum, ProductTable, exchange_products

Numbers = NDArray[np.float64]

MAX_EXCHANGE_FACTORS = 130  # a comparison of all their products takes about a millisecond
MAX_SUM_PRODUCTS = 6  # in one formula
N_KEPT = 4  # formulas of each number of products, without and with a quotient
WAVES = (tk.SIN, tk.COS)  # functions of differences and sums of angles


@dataclass(frozen=True, slots=True, eq=False)
class ProductTerms:
    """Factors that a grammar allows, with their values on the rows of a dataset, and which of their products it allows."""

    vocabulary: Vocabulary
    factors: tuple[Term, ...]
    values: Numbers  # [N, F]
    allowed: NDArray[np.bool_]  # [F, F]
    has_quotients: bool

    @classmethod
    def build(cls, grammar: Grammar, data: Dataset) -> "ProductTerms":
        """Collect factors, group by group, as long as there are at most `MAX_EXCHANGE_FACTORS`; none if the grammar has no sums."""
        words = grammar.vocabulary
        kept: dict[Term, Numbers] = {}
        for group in _groups(grammar, words) if has_sums(grammar) else ():
            new = {term: evaluate_term(term, words, data) for term in group if is_allowed(grammar, term)}
            usable = {term: values for term, values in new.items() if np.all(np.isfinite(values))}
            if len(kept) + len(usable) <= MAX_EXCHANGE_FACTORS:
                kept |= usable
        factors = tuple(kept)
        allowed = _find_allowed(grammar, factors)
        values = np.column_stack(list(kept.values())) if kept else np.empty((data.n_rows, 0))
        return cls(words, factors, values, allowed, has_quotients(grammar))

    def propose(
        self, target: Numbers, rng: np.random.Generator, must_stop: Callable[[], bool] = lambda: False
    ) -> Iterator[Program]:
        """Yield sums of 1 to `MAX_SUM_PRODUCTS` products close to a target [N], and quotients of such sums, by increasing size."""
        with np.errstate(over="ignore", under="ignore"):
            is_usable = 0 < target @ target < np.inf
        if not self.factors or not is_usable:
            return
        kinds = (False, True)[: 1 + self.has_quotients]
        searches = [self._search(target, rng, must_stop, has_quotients=each) for each in kinds]
        for of_one_size in zip_longest(*searches, fillvalue=()):
            for found in (each for sums in of_one_size for each in sums):
                yield from self._write(found, target)

    def _search(
        self, target: Numbers, rng: np.random.Generator, must_stop: Callable[[], bool], *, has_quotients: bool
    ) -> Iterator[list[ProductSum]]:
        costs = [len(factor) for factor in self.factors]
        table = ProductTable(
            self.values, target, rng, costs=costs, is_allowed=self.allowed, has_quotients=has_quotients
        )
        return exchange_products(table, MAX_SUM_PRODUCTS, rng, n_kept=N_KEPT, must_stop=must_stop)

    def _write(self, found: ProductSum, target: Numbers) -> Iterator[Program]:
        """Yield the formula with numbers from least squares, unless it has nothing above the bar or its values are too large."""
        above = [product for product in found.products if not product.is_below]
        below = [product for product in found.products if product.is_below]
        with np.errstate(over="ignore", invalid="ignore"):
            upper, lower = self._evaluate(above), self._evaluate(below)
            times_target = target[:, np.newaxis] * lower
            along = (target @ times_target) / (target @ target)  # taken out: it would explain the target by itself
            table = np.hstack([upper, np.outer(target, along) - times_target])
        if not above or not np.all(np.isfinite(table)):
            return
        numbers = np.linalg.lstsq(table, target, rcond=None)[0]
        upper_terms = list(zip(map(self._term, above), numbers, strict=False))
        if not below:
            yield write_sum(self.vocabulary, upper_terms)
            return
        factors = numbers[len(above) :]
        largest_first = np.argsort(-np.abs(factors) * np.linalg.norm(lower, axis=0))
        lower_terms = [(self._term(below[k]), float(factors[k])) for k in largest_first]
        if lower_terms[0][1] != 0:
            yield write_quotient(self.vocabulary, upper_terms, lower_terms, number=float(1 - along @ factors))

    def _term(self, product: Product) -> Term:
        return _multiply(self.factors[product.first], self.factors[product.second])

    def _evaluate(self, products: Sequence[Product]) -> Numbers:
        firsts, seconds = [each.first for each in products], [each.second for each in products]
        return np.asarray(self.values[:, firsts] * self.values[:, seconds])


def _find_allowed(grammar: Grammar, factors: Sequence[Term]) -> NDArray[np.bool_]:
    """Return which pairs of factors the grammar allows as a term [F, F]; only the upper triangle is filled."""
    is_free = grammar.derives_template((tk.MUL, CONSTANT_TOKEN, tk.MUL, START_TOKEN, START_TOKEN), 0)
    is_formula = [is_free and (not term or grammar.derives_template(term, 0)) for term in factors]
    allowed = np.zeros((len(factors), len(factors)), dtype=bool)
    for one, two in combinations_with_replacement(range(len(factors)), 2):
        allowed[one, two] = (is_formula[one] and is_formula[two]) or is_allowed(
            grammar, _multiply(factors[one], factors[two])
        )
    return allowed


def _multiply(first: Term, second: Term) -> Term:
    return (tk.MUL, *first, *second) if first and second else first or second


def _groups(grammar: Grammar, words: Vocabulary) -> Iterator[list[Term]]:
    """Yield factors in groups, the most common in laws of motion first."""
    used = dict.fromkeys(token for rule in grammar.rules for token in rule.tokens if is_function(token))
    functions = [token for token in used if words.arity_of(token) == 1 and words.operator_of(token).traits.is_smooth]
    waves = [token for token in functions if token in WAVES]
    columns: list[Term] = [(words.variable_token(name),) for name in words.variables]
    differences: list[Term] = [(tk.SUB, *one, *two) for one, two in combinations(columns, 2)]
    sums: list[Term] = [(tk.ADD, *one, *two) for one, two in combinations(columns, 2)]
    yield [(), *columns]
    yield [(tk.MUL, *one, *one) for one in columns]
    yield _apply(waves, columns)
    yield _apply([token for token in functions if token not in WAVES], columns)
    yield _multiply_waves(waves, columns)
    yield _apply(waves, differences)
    yield [(tk.MUL, *one, tk.MUL, *one, *one) for one in columns]
    yield _apply(waves, sums)
    yield _multiply_waves(waves, differences)
    yield _multiply_waves(waves, sums)


def _apply(functions: Sequence[int], arguments: Sequence[Term]) -> list[Term]:
    return [(function, *argument) for argument in arguments for function in functions]


def _multiply_waves(waves: Sequence[int], arguments: Sequence[Term]) -> list[Term]:
    """Return sin(a)*cos(a), which is half of sin(2*a)."""
    return [(tk.MUL, one, *each, two, *each) for each in arguments for one, two in combinations(waves, 2)]
