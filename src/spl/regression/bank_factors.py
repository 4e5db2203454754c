"""The factors whose products are terms of sums, for the closer by products. See `kernels/bank/factor_table`."""

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.kernels.bank.bank import Bank, BankRules, evaluate_entries
from spl.kernels.bank.factor_table import MAX_PRODUCT_TERMS, FactorTable, make_exchange_scratch
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.evaluate import BLOCK
from spl.kernels.tree.complete import NUMBER_FORM, PRODUCT_FORM, SCALED_FORM, SUM_FORM
from spl.regression.packing import pack_alphabet

SECOND_COST, N_SECOND = (
    4,
    96,
)  # entries of at most this cost, and at most this many of them, can be either factor, such as x * y
FIRST_COST, N_FIRST = 5, 640  # first factors: these, and functions and quotients such as cos(x - y)
N_TRIED = 3 * N_FIRST  # entries among which distinct factors are looked for
MOST_SIZE = 1e50  # of the values of a factor: their fourth powers are multiplied
ROWS_PER_TERM = 4  # with fewer rows, some of many products explain everything
RANKING_ROWS = (
    120  # enough to rank products; the sums are fitted on all rows. No power of two, or rows collide in the cache
)
SIGNATURE_ROWS = 32  # on which products are compared with each other
SIGNATURE_UNIT = 1e-9  # products of norm 1 whose projections on two random vectors differ by less are the same

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]


def make_factor_table(
    grammar: Grammar, sample: Dataset, bank: Bank, rules: BankRules, form_length: Places, *, is_used: bool
) -> FactorTable:
    """Return the factors of each symbol that derives sums of scaled products, the cheapest first.

    If it is not used, or there are too few rows, it is empty.
    """
    n_symbols, n_rows = len(grammar.symbols), sample.n_rows
    is_summing = np.all(form_length[:, [SUM_FORM, PRODUCT_FORM, SCALED_FORM]] > 0, axis=1)
    is_used = is_used and n_rows >= ROWS_PER_TERM * MAX_PRODUCT_TERMS
    summing = np.flatnonzero(is_summing & is_used).tolist()
    found = {symbol: _find_factors(grammar, sample, bank, rules, symbol) for symbol in summing}
    n_first = np.array([len(found[s][0]) if s in found else 0 for s in range(n_symbols)], np.int64)
    n_second = np.array([_count_second(found[s][0], bank) if s in found else 0 for s in range(n_symbols)], np.int64)
    n_products = int(np.max(n_first * n_second))
    n_few = min(RANKING_ROWS, n_rows)
    table = FactorTable(
        values=np.zeros((n_symbols, n_first.max(), n_rows)),
        few=np.zeros((n_symbols, n_first.max(), n_few)),
        entry=np.zeros((n_symbols, n_first.max()), np.int64),
        n_first=n_first,
        n_second=n_second,
        is_distinct=np.zeros((n_symbols, n_products), np.bool_),
        **make_exchange_scratch(n_products, n_few),
    )
    for symbol, (entries, values) in found.items():
        table.entry[symbol, : len(entries)] = entries
        table.values[symbol, : len(entries)] = values
        table.few[symbol, : len(entries)] = values[:, :n_few]
        distinct = _find_distinct(values[:, :SIGNATURE_ROWS], int(n_second[symbol]), _costs_of(entries, bank))
        table.is_distinct[symbol, : distinct.size] = distinct
        table.is_distinct[symbol, 0] &= form_length[symbol, NUMBER_FORM] > 0
    return table


def own_factor_scratch(table: FactorTable) -> FactorTable:
    """Return the table with new scratch, for another tree."""
    return table._replace(**make_exchange_scratch(table.size.size, table.vector.size))


def _find_factors(
    grammar: Grammar, sample: Dataset, bank: Bank, rules: BankRules, symbol: int
) -> tuple[Places, Numbers]:
    """Return the entries that are factors, no two equal up to scale, and their values. The first is the number 1: entry -1."""
    members = bank.member[symbol, : bank.n_of[symbol]].astype(np.int64)
    is_factor = ~_is_expandable(bank, rules, members) & (bank.cost[members] <= FIRST_COST)
    is_factor[: _count_second(members, bank)] = True
    members = members[is_factor][:N_TRIED]
    values = np.zeros((members.size, sample.n_rows))
    tokens, origin = np.zeros((2, tk.MAX_PROGRAM_LENGTH), np.int32)
    stack = np.zeros(tk.MAX_PROGRAM_LENGTH * BLOCK)
    evaluate_entries(
        bank, rules, pack_alphabet(grammar.vocabulary), sample.columns, members, values, tokens, origin, stack
    )
    size = np.max(np.abs(values), axis=1)
    is_usable = (size > 1 / MOST_SIZE) & (size < MOST_SIZE)
    members = np.concatenate([[-1], members[is_usable]])
    values = np.concatenate([np.ones((1, sample.n_rows)), values[is_usable]])
    few = values[:, :SIGNATURE_ROWS]
    norms = np.maximum(np.sqrt(np.einsum("an,an->a", few, few)), 1 / MOST_SIZE)
    projections = np.einsum("an,nk->ak", few, _draw_vectors(few.shape[1]))
    first_of = _find_first(projections / norms[:, np.newaxis])
    kept = np.sort(first_of)[:N_FIRST]
    return members[kept], values[kept]


def _count_second(entries: Places, bank: Bank) -> int:
    """Return how many of the entries, which are ordered by cost, can be second factors."""
    return min(int(np.sum(_costs_of(entries, bank) <= SECOND_COST)), N_SECOND)


def _costs_of(entries: Places, bank: Bank) -> Places:
    """Return the cost of each entry; that of the number 1, which is never written, is 0."""
    return np.where(entries < 0, 0, bank.cost[entries])


def _is_expandable(bank: Bank, rules: BankRules, entries: Places) -> NDArray[np.bool_]:
    """Return whether each entry is a sum, a product, or a quotient of one: as factors they are products or sums of others."""

    def has_operator(numbers: Places, *operators: int) -> NDArray[np.bool_]:
        return np.isin(rules.operator[bank.rule[numbers]], operators)

    is_quotient_of_one = has_operator(entries, tk.DIV) & has_operator(bank.left[entries], tk.ADD, tk.SUB, tk.MUL)
    return has_operator(entries, tk.ADD, tk.SUB, tk.MUL) | is_quotient_of_one


def _draw_vectors(n: int) -> Numbers:
    """Return two vectors of n numbers; always the same ones."""
    return np.random.default_rng(n).standard_normal((n, 2))


def _find_distinct(values: Numbers, n_second: int, costs: Places) -> NDArray[np.bool_]:
    """Return which products are the cheapest of those with the same values, in order of their numbers."""
    second = values[:n_second]
    norms = np.sqrt(np.einsum("bn,an->ba", second**2, values**2)).ravel()
    projections = np.column_stack(
        [np.einsum("bn,an->ba", second * vector, values).ravel() for vector in _draw_vectors(values.shape[1]).T]
    )
    total = (costs[:n_second, np.newaxis] + costs).ravel()
    order = np.argsort(np.where(norms > 0, total, np.iinfo(np.int64).max), kind="stable")
    with np.errstate(invalid="ignore", divide="ignore"):
        first_of = _find_first((projections / norms[:, np.newaxis])[order])
    is_distinct = np.zeros(norms.size, np.bool_)
    is_distinct[order[first_of]] = True
    return np.asarray(is_distinct & (norms > 0))


def _find_first(projections: Numbers) -> NDArray[np.intp]:
    """Return the place of the first of each set of rows [n, 2] that are equal up to sign and rounding."""
    signed = projections * np.where(projections[:, :1] < 0, -1.0, 1.0)
    rounded = np.round(np.nan_to_num(signed) / SIGNATURE_UNIT).astype(np.int64).view(np.uint64)
    keys = rounded[:, 0] * np.uint64(0x9E3779B97F4A7C15) + rounded[:, 1]  # wraps around
    return np.asarray(np.unique(keys, return_index=True)[1])
