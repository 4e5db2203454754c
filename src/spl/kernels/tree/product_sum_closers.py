"""Closer by a sum of a few products of two factors, found by exchange; see `factor_table`.

The exchange ranks products on some rows. Then least squares on all rows says which of the found ones are needed, as in `sum_closers`.
"""

import numpy as np

from spl.kernels.bank.factor_table import MAX_PRODUCT_TERMS, exchange_terms, score_products
from spl.kernels.bank.term_selection import choose_terms, orthogonalise
from spl.kernels.programs.tokens import ADD, CONSTANT, KIND_SHIFT, MUL
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import random_below
from spl.kernels.tree.complete import SCALED_FORM
from spl.kernels.tree.skeleton import MAX_INVERSIONS, append_constant, append_entry, append_token, begin_closing

MIN_PRODUCT_TERMS = 3  # products that are looked for; those that are not needed are left out


@linked_kernel
def close_by_products(completion, random) -> bool:
    """Close the hole with a sum of a few products of two entries; return whether there is one that the grammar can write.

    The best of thousands of products may seem needed by chance. So two times in three, terms cost more than the data alone would
    justify.
    """
    skeleton, wide, table = completion.skeleton, completion.wide, completion.factor_table
    symbol = skeleton.symbol[skeleton.hole]
    if table.n_first[symbol] == 0:
        return False
    n = wide.n
    goal, weights = 2 * skeleton.n_steps * n, (2 * MAX_INVERSIONS + 1) * n
    if not score_products(table, symbol, wide.rows, weights, goal):
        return False
    n_terms = MIN_PRODUCT_TERMS + random_below(random, MAX_PRODUCT_TERMS - MIN_PRODUCT_TERMS + 1)
    n_terms = exchange_terms(table, symbol, wide.rows, weights, n_terms, random)
    if n_terms == 0 or not _fit_terms(completion, symbol, n_terms, 4.0 ** random_below(random, 3)):
        return False
    begin_closing(skeleton)
    return _spell_sum(completion, symbol)


@kernel
def _fit_terms(completion, symbol, n_terms, charge):
    """Choose among the products by least squares on all rows; return whether any is needed."""
    skeleton, wide, table = completion.skeleton, completion.wide, completion.factor_table
    n, n_first = wide.n, table.n_first[symbol]
    goal, weights = 2 * skeleton.n_steps * n, (2 * MAX_INVERSIONS + 1) * n
    square = 0.0
    for j in range(n):
        root = np.sqrt(wide.rows[weights + j])
        for k in range(n_terms):
            number = table.work.chosen[k]
            first, second = table.values[symbol, number % n_first, j], table.values[symbol, number // n_first, j]
            completion.matrix[k * n + j] = first * second * root
        value = wide.rows[goal + j] * root
        completion.matrix[n_terms * n + j] = value
        square += value * value
    if not (square > 0.0 and np.isfinite(square)):
        return False
    orthogonalise(completion.matrix, n_terms + 1, n, completion.least_squares)
    choose_terms(completion.least_squares, n_terms, n, square, charge)
    return completion.least_squares.n_best > 0


@kernel
def _spell_sum(completion, symbol):
    """Write C * a * b + C * a * b + ...; return whether there is room."""
    skeleton, work = completion.skeleton, completion.least_squares
    for _ in range(work.n_best - 1):
        append_token(skeleton, ADD, symbol)
    for i in range(work.n_best):
        _append_scaled_product(completion, symbol, completion.factor_table.work.chosen[work.best_kept[i]], i)
    return skeleton.closing_length > 0


@kernel
def _append_scaled_product(completion, symbol, number, i):
    """Append the i-th constant times a product to the closing; a factor of 1 is left out."""
    skeleton, table, bank, rules = completion.skeleton, completion.factor_table, completion.bank, completion.rules
    first, second = number % table.n_first[symbol], number // table.n_first[symbol]
    coefficient = completion.least_squares.best_coefficient[i]
    if first == 0 and second == 0:
        append_constant(skeleton, coefficient, symbol)
        return
    is_constant_first = completion.forms[symbol, SCALED_FORM, 1] >> KIND_SHIFT == CONSTANT
    append_token(skeleton, MUL, symbol)
    if is_constant_first:
        append_constant(skeleton, coefficient, np.int64(-1))
    if first > 0 and second > 0:
        append_token(skeleton, MUL, symbol)
    if first > 0:
        append_entry(skeleton, bank, rules, table.entry[symbol, first])
    if second > 0:
        append_entry(skeleton, bank, rules, table.entry[symbol, second])
    if not is_constant_first:
        append_constant(skeleton, coefficient, np.int64(-1))
