"""Build what completion needs from a grammar and the rows of a search: the bank, its indexes, the terms of the closers, scratch.

The bank is grown once and shared by all trees, which only read it; each tree has its own scratch.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.bank.bank import (
    Bank,
    BankRules,
    evaluate_entries,
    grow_bank,
    grow_sums,
    look_up_entry,
    make_bank,
    spell_entry_tokens,
)
from spl.kernels.bank.term_selection import LEAST_SQUARES, MAX_CLOSER_TERMS
from spl.kernels.bank.value_index import IDENTICAL, N_AXES
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.evaluate import BLOCK, evaluate_all
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.complete import PRODUCT_FORM, TERM_LENGTH, Completion, Frame, make_frame
from spl.kernels.tree.skeleton import SKELETON
from spl.regression.bank_factors import make_factor_table, own_factor_scratch
from spl.regression.bank_indexes import FEWEST_FREE_ROWS, make_power_index, make_spatial_index
from spl.regression.bank_packing import find_form, pack_bank_rules, pack_forms
from spl.regression.packing import pack_alphabet

BANK_ENTRIES = 100_000
ENTRIES_PER_SECOND = 50_000  # of the time limit, so that growing the bank takes a small part of it
MAX_TRIED = 4  # programs tried per place in the bank: some grammars write each function in many ways
BANK_ROWS = 32  # rows on which exact goals are looked up
MAX_BANK_COST = 30
SUM_SHARE = 5  # one sum or difference per symbol is added for this many entries: with 1, and of two products ...
SUM_DEGREE = 3  # ... of up to this many variables ...
MAX_PRODUCTS = 250  # ... as long as there are at most this many products
ONE_SHARE = 8  # one in this many of the sums may be with 1
N_CHEAP = 2048  # cheapest entries that are compared with approximate goals
MAX_MONOMIAL_DEGREE = 6  # of the monomials that are terms of linear combinations
MAX_FUNCTION_COST = 3  # of a function of a variable that is a term, in the bank

Tokens = tuple[int, ...]


def make_completion(
    grammar: Grammar,
    sample: Dataset,
    *,
    n_entries: int = BANK_ENTRIES,
    is_used: bool = True,
    has_factors: bool = True,
) -> Completion:
    """Grow the bank of a grammar and evaluate the terms of the closers; if it is not used, leave everything empty.

    Without `has_factors` the table of factors is empty.
    """
    capacity, n_near, n_terms = (n_entries, N_CHEAP, MAX_CLOSER_TERMS - 2) if is_used else (2, 1, 0)
    n_rows = min(BANK_ROWS, sample.n_rows)
    columns = np.ascontiguousarray(sample.columns[:, :n_rows])
    rules = pack_bank_rules(grammar, capacity)
    bank = _grow(grammar, columns, rules, capacity) if is_used else _empty_bank(grammar, columns, capacity)
    forms, form_length = pack_forms(grammar)
    cheap_values, n_cheap = _evaluate_cheapest(grammar, sample, bank, rules, n_near)
    terms = _TermTable(grammar, sample, bank, rules, min(n_terms, sample.n_rows - FEWEST_FREE_ROWS))
    return Completion(
        bank=bank,
        rules=rules,
        forms=forms,
        form_length=form_length,
        variables=_derived_variables(grammar),
        power_index=make_power_index(bank, columns, rules, form_length[:, PRODUCT_FORM] > 0),
        spatial_index=make_spatial_index(bank, len(grammar.symbols)),
        factor_table=make_factor_table(grammar, sample, bank, rules, form_length, is_used=is_used and has_factors),
        weights=sample.weights,
        cheap_values=cheap_values,
        n_cheap=n_cheap,
        term_values=terms.values,
        term_tokens=terms.tokens,
        term_length=terms.length,
        n_terms=terms.count,
        frame=make_frame(columns, np.ascontiguousarray(sample.target[:n_rows])),
        wide=make_frame(sample.columns, sample.target),
        matrix=np.zeros((MAX_CLOSER_TERMS + 1) * sample.n_rows),
        least_squares=make_record(LEAST_SQUARES),
        skeleton=make_record(SKELETON),
    )


def count_entries(timeout: float | None) -> int:
    """Return how many entries a bank may have: fewer for a time limit of less than 2 s."""
    return BANK_ENTRIES if timeout is None else max(int(min(BANK_ENTRIES, ENTRIES_PER_SECOND * timeout)), 1000)


def own_scratch(completion: Completion) -> Completion:
    """Return the completion with new scratch, for another tree."""

    def renewed(frame: Frame) -> Frame:
        return frame._replace(columns=frame.columns.copy(), rows=frame.rows.copy(), stack=frame.stack.copy())

    nearest = completion.spatial_index

    return completion._replace(
        power_index=completion.power_index._replace(row=completion.power_index.row.copy()),
        spatial_index=nearest._replace(scratch=nearest.scratch.copy(), ranked=nearest.ranked.copy()),
        factor_table=own_factor_scratch(completion.factor_table),
        frame=renewed(completion.frame),
        wide=renewed(completion.wide),
        matrix=np.zeros((MAX_CLOSER_TERMS + 1) * completion.wide.n),
        least_squares=make_record(LEAST_SQUARES),
        skeleton=make_record(SKELETON),
    )


def _empty_bank(grammar: Grammar, columns: NDArray[np.float64], capacity: int) -> Bank:
    bank: Bank = make_bank(columns, len(grammar.symbols), capacity, MAX_BANK_COST, _directions(columns.shape[1]))
    return bank


def _grow_cheapest(grammar: Grammar, columns: NDArray[np.float64], rules: BankRules, capacity: int, room: int) -> Bank:
    bank = _empty_bank(grammar, columns, room)
    grow_bank(bank, rules, pack_alphabet(grammar.vocabulary), MAX_TRIED * capacity)
    return bank


def grow_small_bank(grammar: Grammar, sample: Dataset, capacity: int) -> tuple[Bank, BankRules]:
    """Return a bank with the cheapest programs and nothing else, and the rules that spell them."""
    rules = pack_bank_rules(grammar, capacity)
    columns = np.ascontiguousarray(sample.columns[:, :BANK_ROWS])
    return _grow_cheapest(grammar, columns, rules, capacity, capacity), rules


def spell_entry(bank: Bank, rules: BankRules, entry: int) -> Tokens:
    """Return the tokens of an entry."""
    tokens, origin = np.zeros((2, tk.MAX_PROGRAM_LENGTH), np.int32)
    length = spell_entry_tokens(bank, rules, entry, tokens, origin)
    return tuple(int(token) for token in tokens[:length])


def _grow(grammar: Grammar, columns: NDArray[np.float64], rules: BankRules, capacity: int) -> Bank:
    """Return a bank with `capacity` of the cheapest programs, and some sums besides."""
    n_sums = capacity // SUM_SHARE
    bank = _grow_cheapest(grammar, columns, rules, capacity, capacity + n_sums * len(grammar.symbols))
    alphabet = pack_alphabet(grammar.vocabulary)
    degrees = [d for d in range(1, SUM_DEGREE + 1) if comb(len(columns) + d, d) - 1 <= MAX_PRODUCTS]
    factors = [each for degree in degrees for each in combinations_with_replacement(range(len(columns)), degree)]
    with np.errstate(over="ignore"):
        products = [np.prod(columns[list(each)], axis=0) for each in factors]
    roomy = rules._replace(capacity=bank.n_of + n_sums)
    for symbol in range(len(grammar.symbols)):
        one = look_up_entry(bank, symbol, IDENTICAL, np.ones(columns.shape[1]))
        if one >= 0:
            cheapest = bank.member[symbol, : min(n_sums // ONE_SHARE, bank.n_of[symbol])]
            grow_sums(bank, roomy, alphabet, symbol, np.array([one, *cheapest], np.int64), 1)
        entries = [look_up_entry(bank, symbol, IDENTICAL, values) for values in products if np.isfinite(values).all()]
        found = np.array([entry for entry in entries if entry >= 0], np.int64)
        grow_sums(bank, roomy, alphabet, symbol, found, len(found))
    return bank


def _directions(n: int) -> NDArray[np.float64]:
    """Return directions that are orthogonal to each other and to a constant; always the same ones."""
    random = np.random.default_rng(n)
    basis, _ = np.linalg.qr(np.hstack([np.ones((n, 1)), random.standard_normal((n, N_AXES))]))
    directions = np.zeros((N_AXES, n))
    directions[: basis.shape[1] - 1] = basis.T[1:]
    return directions


def _derived_variables(grammar: Grammar) -> NDArray[np.int64]:
    variables = [tk.VARIABLE << tk.KIND_SHIFT | k for k in range(len(grammar.vocabulary.variables))]
    symbols = range(len(grammar.symbols))
    return np.array([[grammar.derives_template((token,), s) for token in variables] for s in symbols], np.int64)


def _evaluate_cheapest(
    grammar: Grammar, sample: Dataset, bank: Bank, rules: BankRules, n_near: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    n_symbols = len(grammar.symbols)
    near = np.zeros((n_symbols, n_near, sample.n_rows))
    counts = np.zeros(n_symbols, np.int64)
    tokens, origin = np.zeros((2, tk.MAX_PROGRAM_LENGTH), np.int32)
    stack, alphabet = np.zeros(tk.MAX_PROGRAM_LENGTH * BLOCK), pack_alphabet(grammar.vocabulary)
    for symbol in np.flatnonzero(bank.n_of):
        entries = bank.member[symbol, : min(n_near, bank.n_of[symbol])].astype(np.int64)
        evaluate_entries(bank, rules, alphabet, sample.columns, entries, near[symbol], tokens, origin, stack)
        counts[symbol] = entries.size
    return near, counts


class _TermTable:
    """The terms of linear combinations for each symbol: monomials by degree, then functions of one variable."""

    def __init__(self, grammar: Grammar, sample: Dataset, bank: Bank, rules: BankRules, most: int) -> None:
        n_symbols = len(grammar.symbols)
        self.values = np.zeros((n_symbols, MAX_CLOSER_TERMS, sample.n_rows))
        self.tokens = np.zeros((n_symbols, MAX_CLOSER_TERMS, TERM_LENGTH), np.int32)
        self.length = np.zeros((n_symbols, MAX_CLOSER_TERMS), np.int64)
        self.count = np.zeros(n_symbols, np.int64)
        self._grammar, self._bank, self._rules = grammar, bank, rules
        alphabet, stack, row = (
            pack_alphabet(grammar.vocabulary),
            np.zeros(tk.MAX_PROGRAM_LENGTH * BLOCK),
            np.zeros(sample.n_rows),
        )
        for symbol in range(n_symbols if most > 0 else 0):
            for tokens in self._terms(symbol, most):
                k = self.count[symbol]
                if k >= most:
                    break
                if len(tokens) > TERM_LENGTH:
                    continue
                evaluate_all(np.array(tokens, np.int32), len(tokens), row, alphabet, sample.columns, row, stack)
                if np.all(np.isfinite(row)):
                    self.values[symbol, k] = row
                    self.tokens[symbol, k, : len(tokens)] = tokens
                    self.length[symbol, k] = len(tokens)
                    self.count[symbol] += 1

    def _terms(self, symbol: int, most: int) -> Iterator[Tokens]:
        n_columns = len(self._grammar.vocabulary.variables)
        degree = max((d for d in range(1, MAX_MONOMIAL_DEGREE + 1) if comb(n_columns + d, d) - 1 <= most), default=1)
        known: dict[Tokens, Tokens] = {}
        for d in range(1, degree + 1):
            for factors in combinations_with_replacement(range(n_columns), d):
                tokens = self._monomial(factors, known, symbol)
                if tokens:
                    known[factors] = tokens
                    yield tokens
        for place in range(int(self._bank.n_of[symbol])):
            entry = int(self._bank.member[symbol, place])
            if self._bank.cost[entry] > MAX_FUNCTION_COST:
                return
            tokens = spell_entry(self._bank, self._rules, entry)
            if len(tokens) == 2 and CONSTANT_TOKEN not in tokens:
                yield tokens

    def _monomial(self, factors: Tokens, known: dict[Tokens, Tokens], symbol: int) -> Tokens:
        """Return the cheapest spelling that the bank has, else a product of two shorter ones; nothing if there is none."""
        with np.errstate(over="ignore"):
            values = np.prod([self._bank.columns[k] for k in factors], axis=0)
        entry = look_up_entry(self._bank, symbol, IDENTICAL, values)
        if entry >= 0:
            return spell_entry(self._bank, self._rules, entry)
        half = len(factors) // 2
        left, right = known.get(factors[:half]), known.get(factors[half:])
        if not left or not right or not find_form(self._grammar, symbol, "product"):
            return ()
        return (tk.MUL, *left, *right)
