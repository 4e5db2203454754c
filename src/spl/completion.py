"""What completion needs, made from a grammar and the rows of a search: the bank, the terms of the closers, scratch.

The bank is grown once and shared by all trees, which only read it; each tree has its own scratch.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from spl.data import Dataset
from spl.expression import CONSTANT_TOKEN
from spl.grammar import Grammar
from spl.kernels import tokens as tk
from spl.kernels.bank import (
    N_ENTRIES,
    Bank,
    BankRules,
    evaluate_entries,
    grow_bank,
    grow_sums,
    look_up_entry,
    make_bank,
    spell_entry_tokens,
)
from spl.kernels.cells import CONSTANT_SPREAD, EXACT
from spl.kernels.compiler import make_record
from spl.kernels.complete import PRODUCT, TERM_LENGTH, Completion, Frame, make_frame
from spl.kernels.evaluate import BLOCK, evaluate_all
from spl.kernels.least_squares import LEAST_SQUARES, MAX_TERMS
from spl.kernels.nearest import N_CELLS, N_DIRECTIONS, NearIndex
from spl.kernels.powers import LEFT_OVER, PowerIndex, fill_index
from spl.kernels.skeleton import SKELETON
from spl.packing import pack_alphabet
from spl.packing_bank import find_form, pack_bank_rules, pack_forms

BANK_ENTRIES = 100_000
ENTRIES_A_SECOND = 50_000  # of the time limit: growing the bank takes a small part of it
MAX_TRIED = 4  # programs that are tried for each place in the bank: some grammars spell each function in many ways
BANK_ROWS = 32  # rows on which exact goals are looked up
MAX_BANK_COST = 30
SUM_SHARE = 5  # of the bank, one part in so many is added in sums and differences: with 1, and of two products ...
SUM_DEGREE = 3  # ... of up to so many variables ...
MAX_PRODUCTS = 250  # ... as long as there are no more such products than this
ONE_SHARE = 8  # of the sums, entries that are added to 1 and taken from it: one in so many
DEPENDENT = (
    1e-9  # logarithms of variables that differ by a smaller share than this from a combination of others are one
)
INDEX_ENTRIES = 20_000  # the cheapest entries that can be found up to powers; all sums that are added can
GRID_ENTRIES = 50_000  # the cheapest entries of a symbol in the grid of `nearest`; all sums that are added are in it
N_NEAR = 2048  # cheapest entries that are compared with goals that are only about right
MAX_DEGREE = 6  # of the monomials that are terms of linear combinations
MAX_FUNCTION_COST = 3  # of a function of a variable, in the bank
FEWEST_FREE_ROWS = 5  # rows that a combination of all terms must leave over

Tokens = tuple[int, ...]


def make_completion(
    grammar: Grammar, sample: Dataset, *, n_entries: int = BANK_ENTRIES, is_used: bool = True
) -> Completion:
    """Grow the bank of a grammar, and evaluate what the closers choose from; without use, leave all of it empty."""
    capacity, n_near, n_terms = (n_entries, N_NEAR, MAX_TERMS - 2) if is_used else (2, 1, 0)
    n_rows = min(BANK_ROWS, sample.n_rows)
    columns = np.ascontiguousarray(sample.columns[:, :n_rows])
    rules = pack_bank_rules(grammar, capacity)
    bank = _grow(grammar, columns, rules, capacity) if is_used else _empty_bank(grammar, columns, capacity)
    forms, form_length = pack_forms(grammar)
    near, counts = _evaluate_near(grammar, sample, bank, rules, n_near)
    terms = _TermTable(grammar, sample, bank, rules, min(n_terms, sample.n_rows - FEWEST_FREE_ROWS))
    return Completion(
        bank=bank,
        rules=rules,
        forms=forms,
        form_length=form_length,
        variables=_derived_variables(grammar),
        powers=_make_power_index(bank, columns, rules, form_length[:, PRODUCT] > 0),
        nearest=_make_near_index(bank, len(grammar.symbols)),
        weights=sample.weights,
        near=near,
        n_near=counts,
        term_values=terms.values,
        term_tokens=terms.tokens,
        term_length=terms.length,
        n_terms=terms.count,
        frame=make_frame(columns, np.ascontiguousarray(sample.target[:n_rows])),
        wide=make_frame(sample.columns, sample.target),
        matrix=np.zeros((MAX_TERMS + 1) * sample.n_rows),
        squares=make_record(LEAST_SQUARES),
        skeleton=make_record(SKELETON),
    )


def count_entries(timeout: float | None) -> int:
    """Return how many entries a bank may have, fewer for a time limit of less than 2 s."""
    return BANK_ENTRIES if timeout is None else max(int(min(BANK_ENTRIES, ENTRIES_A_SECOND * timeout)), 1000)


def own_scratch(completion: Completion) -> Completion:
    """Return the same with scratch of its own, for another tree."""

    def renewed(frame: Frame) -> Frame:
        return frame._replace(columns=frame.columns.copy(), rows=frame.rows.copy(), stack=frame.stack.copy())

    return completion._replace(
        powers=completion.powers._replace(row=completion.powers.row.copy()),
        nearest=completion.nearest._replace(scratch=completion.nearest.scratch.copy()),
        frame=renewed(completion.frame),
        wide=renewed(completion.wide),
        matrix=np.zeros((MAX_TERMS + 1) * completion.wide.n),
        squares=make_record(LEAST_SQUARES),
        skeleton=make_record(SKELETON),
    )


def _empty_bank(grammar: Grammar, columns: NDArray[np.float64], capacity: int) -> Bank:
    bank: Bank = make_bank(columns, len(grammar.symbols), capacity, MAX_BANK_COST, _directions(columns.shape[1]))
    return bank


def _grow(grammar: Grammar, columns: NDArray[np.float64], rules: BankRules, capacity: int) -> Bank:
    """Return a bank with so many of the cheapest programs, and some more that are sums."""
    n_sums = capacity // SUM_SHARE
    bank = _empty_bank(grammar, columns, capacity + n_sums * len(grammar.symbols))
    alphabet = pack_alphabet(grammar.vocabulary)
    grow_bank(bank, rules, alphabet, MAX_TRIED * capacity)
    degrees = [d for d in range(1, SUM_DEGREE + 1) if comb(len(columns) + d, d) - 1 <= MAX_PRODUCTS]
    products = [
        np.prod(columns[list(factors)], axis=0)
        for degree in degrees
        for factors in combinations_with_replacement(range(len(columns)), degree)
    ]
    roomy = rules._replace(capacity=bank.n_of + n_sums)
    for symbol in range(len(grammar.symbols)):
        one = look_up_entry(bank, symbol, EXACT, np.ones(columns.shape[1]))
        if one >= 0:
            cheapest = bank.member[symbol, : min(n_sums // ONE_SHARE, bank.n_of[symbol])]
            grow_sums(bank, roomy, alphabet, symbol, np.array([one, *cheapest], np.int64), 1)
        entries = [look_up_entry(bank, symbol, EXACT, values) for values in products]
        found = np.array([entry for entry in entries if entry >= 0], np.int64)
        grow_sums(bank, roomy, alphabet, symbol, found, len(found))
    return bank


def _directions(n: int) -> NDArray[np.float64]:
    """Return two directions that are orthogonal to each other and to a constant, always the same ones."""
    random = np.random.default_rng(n)
    basis, _ = np.linalg.qr(np.hstack([np.ones((n, 1)), random.standard_normal((n, 2))]))
    directions = np.zeros((2, n))
    directions[: basis.shape[1] - 1] = basis.T[1:]
    return directions


def _derived_variables(grammar: Grammar) -> NDArray[np.int64]:
    variables = [tk.VARIABLE << tk.KIND_SHIFT | k for k in range(len(grammar.vocabulary.variables))]
    symbols = range(len(grammar.symbols))
    return np.array([[grammar.derives_template((token,), s) for token in variables] for s in symbols], np.int64)


def _evaluate_near(
    grammar: Grammar, sample: Dataset, bank: Bank, rules: BankRules, n_near: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    n_symbols = len(grammar.symbols)
    near = np.zeros((n_symbols, n_near, sample.n_rows))
    counts = np.zeros(n_symbols, np.int64)
    tokens, origin = np.zeros((2, tk.MAX_LENGTH), np.int32)
    stack, alphabet = np.zeros(tk.MAX_LENGTH * BLOCK), pack_alphabet(grammar.vocabulary)
    for symbol in range(n_symbols):
        counts[symbol] = evaluate_entries(
            bank, rules, alphabet, sample.columns, symbol, near[symbol], tokens, origin, stack
        )
    return near, counts


def _make_power_index(
    bank: Bank, columns: NDArray[np.float64], rules: BankRules, multiplies: NDArray[np.bool_]
) -> PowerIndex:
    """Return the entries of symbols that have products by their logarithms without those of the variables.

    A variable with zeros has no logarithm and is left out. Without enough rows the index stays empty.
    """
    n = bank.n_values
    basis, solver = _solve_for_exponents(columns)
    is_enough = multiplies.any() and n >= basis.shape[0] + FEWEST_FREE_ROWS
    numbers = np.arange(int(bank.used[N_ENTRIES]))
    n_grown = bank.last.max()  # sums come after the entries that have a cost
    is_indexed = (numbers < INDEX_ENTRIES) | (numbers >= n_grown)
    entries = numbers[is_indexed] if is_enough else numbers[:0]
    values = _logarithms(bank.values.reshape(-1, n)[entries])
    sizes_before = np.linalg.norm(values, axis=1)
    values -= (values @ basis.T) @ basis
    is_used = np.linalg.norm(values, axis=1) > LEFT_OVER * sizes_before
    symbols = rules.symbol[bank.rule[entries]]
    is_used &= multiplies[symbols]
    n_keys = 1 << int(2 * max(len(values), 1) - 1).bit_length()
    index = PowerIndex(
        entry=entries,
        values=values.reshape(-1),
        n_values=n,
        keys=np.zeros((1, n_keys), np.uint64),
        slots=np.zeros((1, n_keys), np.int32),
        directions=bank.directions,
        basis=basis if is_enough else np.zeros((0, n)),
        solver=solver,
        row=np.zeros(n),
    )
    fill_index(index, symbols, is_used)
    return index


def _make_near_index(bank: Bank, n_symbols: int) -> NearIndex:
    """Return the cheapest entries of each symbol, and the sums that come after them, by where their values lie."""
    n_grown = bank.last.max()
    points, entries = [], []
    for symbol in range(n_symbols):
        members = bank.member[symbol, : bank.n_of[symbol]]
        members = members[(np.arange(members.size) < GRID_ENTRIES) | (members >= n_grown)]
        values = bank.values.reshape(-1, bank.n_values)[members]
        values -= values.mean(axis=1, keepdims=True)
        sizes = np.linalg.norm(values, axis=1)
        is_point = sizes > CONSTANT_SPREAD
        points.append(values[is_point] / sizes[is_point, None])
        entries.append(members[is_point])
    directions = _main_directions(np.concatenate(points))
    first = np.zeros((n_symbols, N_CELLS**3 + 1), np.int64)
    spots = []
    n_before = 0
    for symbol in range(n_symbols):
        spot = points[symbol] @ directions.T
        spot[spot[:, 0] < 0.0] *= -1.0
        column = np.clip(np.floor(0.5 * (spot[:, :3] + 1.0) * N_CELLS), 0, N_CELLS - 1).astype(np.int64)
        cell = (column[:, 0] * N_CELLS + column[:, 1]) * N_CELLS + column[:, 2]
        order = np.argsort(cell, kind="stable")
        first[symbol, 1:] = np.cumsum(np.bincount(cell, minlength=N_CELLS**3))
        first[symbol] += n_before
        n_before += order.size
        entries[symbol] = entries[symbol][order]
        spots.append(spot[order])
    return NearIndex(
        directions=directions,
        first=first,
        entry=np.concatenate(entries),
        spot=np.concatenate(spots).astype(np.float32),
        scratch=np.zeros(N_DIRECTIONS, np.float32),
    )


def _main_directions(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the orthogonal unit vectors along which points [M, n] differ most; 0 for those that there are not."""
    n = points.shape[1]
    directions = np.zeros((N_DIRECTIONS, n))
    vectors = np.linalg.eigh(points.T @ points)[1].T[::-1][:N_DIRECTIONS]
    directions[: len(vectors)] = vectors
    return directions


def _solve_for_exponents(columns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return an orthonormal basis of 1 and the logarithms of the variables, and what gives the exponents of logarithms."""
    design = np.vstack([np.ones(columns.shape[1]), _logarithms(columns)])
    design[~np.isfinite(design).all(axis=1)] = 0.0
    left, sizes, right = np.linalg.svd(design, full_matrices=False)
    is_kept = sizes > DEPENDENT * sizes[0]
    basis = np.ascontiguousarray(right[is_kept])
    return basis, np.ascontiguousarray(((left[:, is_kept] / sizes[is_kept]) @ basis)[1:])


def _logarithms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of the sizes of values [..., N]; NaN for all of a row that has zeros or leaves its domain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.abs(values))
    logs[~np.isfinite(logs).all(axis=-1)] = np.nan
    return logs


class _TermTable:
    """The terms of linear combinations for each symbol: monomials by degree, then functions of one variable."""

    def __init__(self, grammar: Grammar, sample: Dataset, bank: Bank, rules: BankRules, most: int) -> None:
        n_symbols = len(grammar.symbols)
        self.values = np.zeros((n_symbols, MAX_TERMS, sample.n_rows))
        self.tokens = np.zeros((n_symbols, MAX_TERMS, TERM_LENGTH), np.int32)
        self.length = np.zeros((n_symbols, MAX_TERMS), np.int64)
        self.count = np.zeros(n_symbols, np.int64)
        self._grammar, self._bank, self._rules = grammar, bank, rules
        alphabet, stack, row = (
            pack_alphabet(grammar.vocabulary),
            np.zeros(tk.MAX_LENGTH * BLOCK),
            np.zeros(sample.n_rows),
        )
        for symbol in range(n_symbols):
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
        degree = max((d for d in range(1, MAX_DEGREE + 1) if comb(n_columns + d, d) - 1 <= most), default=1)
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
            tokens = self._spell(entry)
            if len(tokens) == 2 and CONSTANT_TOKEN not in tokens:
                yield tokens

    def _monomial(self, factors: Tokens, known: dict[Tokens, Tokens], symbol: int) -> Tokens:
        """Return the cheapest spelling that the bank has, else a product of two shorter ones; nothing if there is none."""
        values = np.prod([self._bank.columns[k] for k in factors], axis=0)
        entry = look_up_entry(self._bank, symbol, EXACT, values)
        if entry >= 0:
            return self._spell(entry)
        half = len(factors) // 2
        left, right = known.get(factors[:half]), known.get(factors[half:])
        if not left or not right or not find_form(self._grammar, symbol, "product"):
            return ()
        return (tk.MUL, *left, *right)

    def _spell(self, entry: int) -> Tokens:
        tokens, origin = np.zeros((2, tk.MAX_LENGTH), np.int32)
        length = spell_entry_tokens(self._bank, self._rules, entry, tokens, origin)
        return tuple(int(token) for token in tokens[:length])
