"""Simple terms: which of them a grammar allows, their values, and sums and quotients of them written as programs."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate
from spl.units.table_units import TableUnits

Numbers = NDArray[np.float64]
Term = tuple[int, ...]  # tokens without a factor; the empty one is the number 1

START_TOKEN = tk.SYMBOL << tk.KIND_SHIFT


def has_sums(grammar: Grammar) -> bool:
    """Return whether the grammar adds any two of its formulas."""
    return grammar.derives_template((tk.ADD, START_TOKEN, START_TOKEN), 0)


def has_quotients(grammar: Grammar) -> bool:
    """Return whether the grammar divides any two of its formulas."""
    return grammar.derives_template((tk.DIV, START_TOKEN, START_TOKEN), 0)


def is_allowed(grammar: Grammar, term: Term, units: TableUnits | None = None) -> bool:
    """Return whether the grammar allows the term with a factor, and it has the unit of the target, if there are units."""
    tokens = (tk.MUL, CONSTANT_TOKEN, *term) if term else (CONSTANT_TOKEN,)
    if not grammar.derives_template(tokens, 0):
        return False
    return units is None or units.allow(Program(tokens, grammar.vocabulary, (1.0,)))


def evaluate_term(term: Term, words: Vocabulary, data: Dataset) -> Numbers:
    """Return the values of a term on the rows of a dataset."""
    return evaluate(Program(term, words), data.columns) if term else np.ones(data.n_rows)


def write_sum(words: Vocabulary, terms: Iterable[tuple[Term, float]]) -> Program:
    """Return the sum of terms, each with its factor."""
    tokens: Term = ()
    constants: list[float] = []
    for term, factor in terms:
        product = (tk.MUL, CONSTANT_TOKEN, *term) if term else (CONSTANT_TOKEN,)
        tokens = (tk.ADD, *tokens, *product) if tokens else product
        constants.append(float(factor))
    return Program(tokens, words, tuple(constants))


def write_fraction(words: Vocabulary, over: Sequence[tuple[Term, float]], shift: float, divisor: Term) -> Program:
    """Return a sum divided by a number plus a term."""
    above = write_sum(words, over)
    return Program((tk.DIV, *above.tokens, tk.ADD, CONSTANT_TOKEN, *divisor), words, (*above.constants, shift))


def write_quotient(
    words: Vocabulary, upper: Sequence[tuple[Term, float]], lower: Sequence[tuple[Term, float]], number: float = 1.0
) -> Program:
    """Return upper / (number + lower), both divided by the first factor below, so that no number is redundant."""
    (first, scale), others = lower[0], lower[1:]
    above = write_sum(words, [(term, factor / scale) for term, factor in upper])
    rest = write_sum(words, [((), number / scale), *((term, factor / scale) for term, factor in others)])
    return Program((tk.DIV, *above.tokens, tk.ADD, *rest.tokens, *first), words, above.constants + rest.constants)
