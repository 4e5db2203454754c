"""Closer by a sum of a few terms of a fixed set: least squares with the weight that each row of the goal has in the result.

Terms are selected by eliminating one after the other. The closer writes tokens and guesses of their constants; exact goals are found
exactly. Products are in `product_closers`; closers that compare a goal with entries of the bank are in `bank_closers`.
"""

import numpy as np

from spl.kernels.bank.term_selection import choose_terms, orthogonalise
from spl.kernels.bank.value_index import IDENTICAL, look_up
from spl.kernels.programs.rows import fill_row
from spl.kernels.programs.tokens import ADD, CONSTANT, KIND_SHIFT, MUL, SUB
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import random_below
from spl.kernels.tree.complete import DIFFERENCE_FORM, NUMBER_FORM, PRODUCT_FORM, SCALED_FORM, SUM_FORM
from spl.kernels.tree.skeleton import MAX_INVERSIONS, append_constant, append_entry, append_token, begin_closing

NEAR_COEFFICIENT = 1e-6  # how close a coefficient must be to 1 to be left out


@linked_kernel
def find_number(completion, symbol, value) -> int:
    """Return the entry of a symbol whose values are this number; -1 if there is none."""
    frame = completion.frame
    at = 2 * MAX_INVERSIONS * frame.n
    fill_row(frame.rows, at, value, frame.n)
    return look_up(completion.bank, symbol, np.int64(IDENTICAL), frame.rows, at)


@linked_kernel
def find_weights(completion) -> bool:
    """Put the weight of each row of the goal into row 2 * MAX_INVERSIONS + 1 of the wide frame; return whether enough rows count."""
    wide = completion.wide
    n = wide.n
    at = (2 * MAX_INVERSIONS + 1) * n
    total = 0.0
    for j in range(n):
        slope = wide.rows[at + j]
        weight = completion.weights[j] * slope * slope
        if not np.isfinite(weight):
            return False
        wide.rows[at + j] = weight
        total += weight
    if not (total > 0.0 and np.isfinite(total)):
        return False
    for j in range(n):
        wide.rows[at + j] *= n / total
    return True


@linked_kernel
def close_by_combination(completion, random) -> bool:
    """Close the hole with a sum of a few terms; return whether there is one that the grammar can write.

    Every second time terms cost more than the data alone would justify: the front needs shorter sums too, and only these are right
    where errors are not white noise.
    """
    skeleton, wide, work = completion.skeleton, completion.wide, completion.least_squares
    symbol = skeleton.symbol[skeleton.hole]
    n_own = completion.n_terms[symbol]
    if n_own == 0:
        return False
    n = wide.n
    goal, weights = 2 * skeleton.n_steps * n, (2 * MAX_INVERSIONS + 1) * n
    square = 0.0
    for j in range(n):
        root = np.sqrt(wide.rows[weights + j])
        for k in range(n_own):
            completion.matrix[(k + 1) * n + j] = completion.term_values[symbol, k, j] * root
        completion.matrix[j] = root
        value = wide.rows[goal + j] * root
        completion.matrix[(n_own + 1) * n + j] = value
        square += value * value
    if not (square > 0.0 and np.isfinite(square)):
        return False
    n_terms = n_own + 1  # the constant is term 0
    orthogonalise(completion.matrix, n_terms + 1, n, work)
    charge = 4.0 ** max(random_below(random, 4) - 1, 0)
    choose_terms(work, n_terms, n, square, charge)
    if work.n_best == 0:
        return False
    begin_closing(skeleton)
    if completion.form_length[symbol, SCALED_FORM] > 0:
        return _spell_scaled_sum(completion, symbol)
    return _spell_plain_sum(completion, symbol)


@kernel
def _append_term(completion, symbol, k):
    skeleton = completion.skeleton
    for i in range(completion.term_length[symbol, k]):
        append_token(skeleton, completion.term_tokens[symbol, k, i], symbol if i == 0 else np.int64(-1))


@kernel
def _spell_scaled_sum(completion, symbol):
    """Write C * t + C * t + ... + C."""
    skeleton, work = completion.skeleton, completion.least_squares
    n_best = work.n_best
    if n_best > 1 and completion.form_length[symbol, SUM_FORM] == 0:
        return False
    for _ in range(n_best - 1):
        append_token(skeleton, ADD, symbol)
    is_factor_first = completion.forms[symbol, SCALED_FORM, 1] >> KIND_SHIFT == CONSTANT
    for i in range(n_best):
        k = work.best_kept[i]
        if k == 0:
            if completion.form_length[symbol, NUMBER_FORM] == 0:
                return False
            append_constant(skeleton, work.best_coefficient[i], symbol)
            continue
        append_token(skeleton, MUL, symbol)
        if is_factor_first:
            append_constant(skeleton, work.best_coefficient[i], np.int64(-1))
        _append_term(completion, symbol, k - 1)
        if not is_factor_first:
            append_constant(skeleton, work.best_coefficient[i], np.int64(-1))
    return skeleton.closing_length > 0


@kernel
def _spell_plain_sum(completion, symbol):
    """Write t + 2 * t - t / 2 ... without constants: each coefficient must be 1 or a number of the bank, each sign an operator."""
    skeleton, work = completion.skeleton, completion.least_squares
    n_best = work.n_best
    n_positive = 0
    for i in range(n_best):
        n_positive += work.best_coefficient[i] > 0.0
    if n_positive == 0:
        return False
    if n_positive > 1 and completion.form_length[symbol, SUM_FORM] == 0:
        return False
    if n_positive < n_best and completion.form_length[symbol, DIFFERENCE_FORM] == 0:
        return False
    for _ in range(n_best - n_positive):
        append_token(skeleton, SUB, symbol)
    for _ in range(n_positive - 1):
        append_token(skeleton, ADD, symbol)
    for sign in range(2):
        for i in range(n_best):
            if (work.best_coefficient[i] > 0.0) != (sign == 0):
                continue
            if not _spell_multiple(completion, symbol, work.best_kept[i], abs(work.best_coefficient[i])):
                return False
    return skeleton.closing_length > 0


@kernel
def _spell_multiple(completion, symbol, k, factor):
    """Write a term times a number; term 0 is the number itself. Return whether the bank has the number."""
    skeleton = completion.skeleton
    is_one = abs(factor - 1.0) <= NEAR_COEFFICIENT
    if k > 0 and is_one:
        _append_term(completion, symbol, k - 1)
        return True
    entry = find_number(completion, symbol, factor)
    if entry < 0 or (k > 0 and completion.form_length[symbol, PRODUCT_FORM] == 0):
        return False
    if k > 0:
        append_token(skeleton, MUL, symbol)
    append_entry(skeleton, completion.bank, completion.rules, entry)
    if k > 0:
        _append_term(completion, symbol, k - 1)
    return True
