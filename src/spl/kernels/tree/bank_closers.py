"""Closers that compare a goal with entries of the bank, as they are or inside a function with a constant.

nearest       the entry closest to the goal on a few rows, from the spatial index or the whole bank
correlation   the closest of the cheapest entries, up to scale and offset where the grammar has constants
scan          a function of an entry and a constant, such as sin(C * x), log(x + C) or x * y / (x**2 + C): the best of a grid of
              constants, which the fit then improves
"""

import numpy as np

from spl.kernels.bank.row_fit import fit_row, goal_sums
from spl.kernels.bank.spatial_index import (
    BY_OFFSET,
    BY_SCALE,
    UNCHANGED,
    Match,
    find_nearest,
    insert_ranked,
    match_entry,
    rank_entries,
)
from spl.kernels.bank.value_index import IDENTICAL, UP_TO_SCALE_AND_OFFSET
from spl.kernels.programs.rows import apply_unary
from spl.kernels.programs.tokens import COS, DIV, FIRST_UNARY, LOG, SIN, SQRT, TAN, USER_BINARY
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import random_below
from spl.kernels.tree.complete import (
    AFFINE_FORM,
    ENTRY_FORM,
    RECIPROCAL_FORM,
    SCALED_FORM,
    SHIFTED_FORM,
    FormContent,
    append_form,
    bare_entry,
    find_goal_slope,
    random_place,
    spell_entry,
)
from spl.kernels.tree.skeleton import MAX_INVERSIONS, begin_closing

FEW_ROWS = 64  # on which all entries are compared with a goal
N_NEAREST = 16  # entries that are then compared on all rows
N_SCANS = 16  # pairs of a function and an entry that are tried for a goal
N_ABOVE = 48  # cheapest entries that are tried in the numerator of a quotient ...
ABOVE_STEPS = 8  # ... for two in this many constants in the denominator, one of each sign
N_QUOTIENTS = 3  # a quotient is drawn as often as this many functions
LEAST_GAP, GAP_GROWTH = (
    0.01,
    1.35,
)  # of added constants: the first distance of the values from 0, in half ranges; the factor to the next
N_STEPS = 64  # constants of a scan
WAVE_STEP = (
    0.7  # of sin, cos and tan: change of the argument over half the range of the entry from one constant to the next
)
LEAST_ARGUMENT, GROWTH = 0.1, 1.2  # of other functions: the first argument, and the factor to the next


@kernel
def form_of(mode):
    """Return the form with all the constants that the mode allows."""
    return np.int64(
        ENTRY_FORM if mode == IDENTICAL else (AFFINE_FORM if mode == UP_TO_SCALE_AND_OFFSET else SCALED_FORM)
    )


@linked_kernel
def close_by_correlation(completion) -> bool:
    """Close the hole with the one of the cheapest entries that is closest to the goal, up to the symbol's mode.

    All are compared on a few rows, the closest on all.
    """
    skeleton, wide = completion.skeleton, completion.wide
    symbol = skeleton.symbol[skeleton.hole]
    mode = completion.rules.mode[symbol]
    n = wide.n
    goal, weights = 2 * skeleton.n_steps * n, (2 * MAX_INVERSIONS + 1) * n
    n_few = min(n, FEW_ROWS)
    sums = goal_sums(wide.rows, weights, goal, n_few)
    if not (sums[0] > 0.0 and np.isfinite(sums[2])):
        return False
    ranked = completion.spatial_index.ranked[:N_NEAREST]
    n_best = 0
    for k in range(completion.n_cheap[symbol]):
        error = fit_row(completion.cheap_values[symbol, k], np.int64(0), wide.rows, weights, goal, sums, mode, n_few)[0]
        n_best = insert_ranked(ranked, n_best, error, np.int64(k))
    sums = goal_sums(wide.rows, weights, goal, n)
    chosen = np.int64(-1)
    scale, offset = 1.0, 0.0
    lowest = np.inf
    for i in range(n_best):
        k = ranked[i].entry
        error, a, b = fit_row(completion.cheap_values[symbol, k], np.int64(0), wide.rows, weights, goal, sums, mode, n)
        if error < lowest:
            lowest, chosen, scale, offset = error, k, a, b
    if chosen < 0:
        return False
    entry = np.int64(completion.bank.member[symbol, chosen])
    return spell_entry(completion, symbol, form_of(mode), entry, scale, offset)


@kernel
def _weigh_rows(completion, alphabet):
    """Compute the weights of the goal's errors on a few rows in the result; return where the goal and these weights begin."""
    skeleton, frame = completion.skeleton, completion.frame
    goal, weights = 2 * skeleton.n_steps * frame.n, (2 * MAX_INVERSIONS + 1) * frame.n
    find_goal_slope(skeleton, alphabet, frame)
    for j in range(frame.n):
        frame.rows[weights + j] = completion.weights[j] * frame.rows[weights + j] ** 2
    return goal, weights


@linked_kernel
def find_match(completion, alphabet, most_error) -> Match:
    """Return the entry of the bank closest to the goal on a few rows, if the error of the result is less than most_error."""
    skeleton, frame = completion.skeleton, completion.frame
    goal, weights = _weigh_rows(completion, alphabet)
    symbol = skeleton.symbol[skeleton.hole]
    mode = completion.rules.mode[symbol]
    return find_nearest(
        completion.spatial_index, completion.bank, symbol, mode, frame.rows, goal, weights, frame.n, most_error
    )


@linked_kernel
def rank_matches(completion, alphabet) -> int:
    """Compare the goal with the whole bank on a few rows; return how many entries were put into `spatial_index.ranked`."""
    skeleton, frame = completion.skeleton, completion.frame
    goal, weights = _weigh_rows(completion, alphabet)
    symbol = skeleton.symbol[skeleton.hole]
    mode = completion.rules.mode[symbol]
    return rank_entries(completion.spatial_index, completion.bank, symbol, mode, frame.rows, goal, weights, frame.n)


@kernel
def ranked_match(completion, k):
    """Return the match of the k-th entry of `spatial_index.ranked` with the goal."""
    skeleton, frame = completion.skeleton, completion.frame
    goal, weights = 2 * skeleton.n_steps * frame.n, (2 * MAX_INVERSIONS + 1) * frame.n
    sums = goal_sums(frame.rows, weights, goal, frame.n)
    mode = completion.rules.mode[skeleton.symbol[skeleton.hole]]
    entry = completion.spatial_index.ranked[k].entry
    return match_entry(completion.bank, entry, frame.rows, weights, goal, sums, mode, frame.n)


@linked_kernel
def close_by_match(completion, match) -> bool:
    """Close the hole with an entry that matches the goal; return whether there is room."""
    skeleton = completion.skeleton
    symbol = skeleton.symbol[skeleton.hole]
    form = np.int64(ENTRY_FORM)
    if match.way != UNCHANGED:
        form = np.int64(
            SCALED_FORM if match.way == BY_SCALE else (SHIFTED_FORM if match.way == BY_OFFSET else AFFINE_FORM)
        )
        if completion.form_length[symbol, form] == 0:
            form = form_of(completion.rules.mode[symbol])
    return spell_entry(completion, symbol, form, match.entry, match.scale, match.offset)


@kernel
def _random_function(completion, symbol, random):
    """Return a random function or quotient of the symbol that can be scanned, and whether its constant is added; -1 if there is none.

    A function of a symbol with scaled forms can be scanned by a factor. A logarithm, root or quotient of a symbol with shifted forms
    can be scanned by an addend.
    """
    rules, lengths = completion.rules, completion.form_length
    n_fitting = 0
    chosen, is_shifted = np.int64(-1), False
    for rule in range(rules.symbol.size):
        token = rules.operator[rule]
        if rules.symbol[rule] != symbol:
            continue
        if rules.n_holes[rule] == 1 and token >= FIRST_UNARY and token < USER_BINARY:
            for kind in range(2):
                inner = rules.hole[rule, 0]
                can_scan = (
                    lengths[inner, SCALED_FORM] > 0
                    if kind == 0
                    else lengths[inner, SHIFTED_FORM] > 0 and (token == LOG or token == SQRT)
                )
                if can_scan:
                    n_fitting += 1
                    if random_below(random, n_fitting) == 0:
                        chosen, is_shifted = np.int64(rule), kind == 1
        elif token == DIV and lengths[symbol, RECIPROCAL_FORM] > 0 and lengths[rules.hole[rule, 1], SHIFTED_FORM] > 0:
            for _ in range(N_QUOTIENTS):
                n_fitting += 1
                if random_below(random, n_fitting) == 0:
                    chosen, is_shifted = np.int64(rule), True
    return chosen, is_shifted


@kernel
def _scanned_shift(step, values, n):
    """Return the constant of a step of the scan by an addend: the values plus it are positive for even steps, else negative."""
    low = np.inf
    high = -np.inf
    for j in range(n):
        low = min(low, values[j])
        high = max(high, values[j])
    gap = LEAST_GAP * GAP_GROWTH ** (step // 2) * 0.5 * (high - low)
    return gap - low if step % 2 == 0 else -gap - high


@kernel
def _apply_scanned(token, user, rows, at, n):
    if token == DIV:
        for j in range(n):
            rows[at + j] = 1.0 / rows[at + j]
    else:
        apply_unary(token, user, rows, at, n)


@kernel
def _half_range(values, n):
    low = np.inf
    high = -np.inf
    for j in range(n):
        low = min(low, values[j])
        high = max(high, values[j])
    return 0.5 * (high - low)


@kernel
def _scanned_constant(token, step, half_range):
    """Return the constant of a step of the scan by a factor: evenly spaced for waves, a geometric series of both signs for others."""
    if token == SIN or token == COS or token == TAN:
        return (step + 1) * WAVE_STEP / half_range
    size = LEAST_ARGUMENT * GROWTH ** (step // 2) / half_range
    return size if step % 2 == 0 else -size


@kernel
def _find_above(completion, upper, weights, goal, sums, mode, n):
    """Return the squared error, scale, offset and place of the cheap entry whose product with the scanned row fits the goal best."""
    rows = completion.wide.rows
    at = (2 * MAX_INVERSIONS + 2) * completion.wide.n
    product = at + completion.wide.n
    lowest, scale, offset, place = np.inf, 1.0, 0.0, np.int64(-1)
    for k in range(min(N_ABOVE, completion.n_cheap[upper])):
        for j in range(n):
            rows[product + j] = completion.cheap_values[upper, k, j] * rows[at + j]
        error, a, b = fit_row(rows, product, rows, weights, goal, sums, mode, n)
        if error < lowest:
            lowest, scale, offset, place = error, a, b, np.int64(k)
    return lowest, scale, offset, place


@linked_kernel
def close_by_scan(completion, alphabet, random) -> bool:
    """Close the hole with a function or quotient of an entry and a constant: the best of several, each with many constants."""
    skeleton, wide, rules = completion.skeleton, completion.wide, completion.rules
    symbol = skeleton.symbol[skeleton.hole]
    mode = rules.mode[symbol]
    n = min(wide.n, FEW_ROWS)
    goal, weights, at = (
        2 * skeleton.n_steps * wide.n,
        (2 * MAX_INVERSIONS + 1) * wide.n,
        (2 * MAX_INVERSIONS + 2) * wide.n,
    )
    sums = goal_sums(wide.rows, weights, goal, n)
    if not (sums[0] > 0.0 and np.isfinite(sums[2])):
        return False
    lowest = np.inf
    best, best_place, scale, offset = bare_entry(symbol), np.int64(-1), 1.0, 0.0
    for _ in range(N_SCANS):
        rule, is_shifted = _random_function(completion, symbol, random)
        if rule < 0:
            return False
        token = rules.operator[rule]
        inner = rules.hole[rule, 1 if token == DIV else 0]
        if completion.n_cheap[inner] == 0:
            return False
        n_cheapest = completion.bank.last[inner, 1] - completion.bank.first[inner, 1]
        place = random_place(n_cheapest, completion.n_cheap[inner], random)
        values = completion.cheap_values[inner, place]
        half_range = _half_range(values, n)
        if not (half_range > 0.0 and np.isfinite(half_range)):
            continue
        for step in range(N_STEPS):
            if is_shifted:
                constant = _scanned_shift(step, values, wide.n)
                for j in range(n):
                    wide.rows[at + j] = values[j] + constant
            else:
                constant = _scanned_constant(token, step, half_range)
                for j in range(n):
                    wide.rows[at + j] = constant * values[j]
            _apply_scanned(token, alphabet.user, wide.rows, at, n)
            error, a, b = fit_row(wide.rows, at, wide.rows, weights, goal, sums, mode, n)
            if error < lowest:
                lowest, best_place, scale, offset = error, place, a, b
                best = FormContent(np.int64(token), np.int64(inner), constant, is_shifted, np.int64(-1))
            if token != DIV or step % ABOVE_STEPS > 1:
                continue
            upper = rules.hole[rule, 0]
            error, a, b, k = _find_above(completion, upper, weights, goal, sums, mode, n)
            if error < lowest:
                lowest, best_place, scale, offset = error, place, a, b
                above = np.int64(completion.bank.member[upper, k])
                best = FormContent(np.int64(token), np.int64(inner), constant, is_shifted, above)
    if best_place < 0:
        return False
    form = form_of(mode)
    if best.operator == DIV and best.above < 0:
        form = np.int64(SHIFTED_FORM if mode == UP_TO_SCALE_AND_OFFSET else ENTRY_FORM)
    entry = np.int64(completion.bank.member[best.symbol, best_place])
    begin_closing(skeleton)
    append_form(completion, symbol, form, best, entry, scale, offset)
    return skeleton.closing_length > 0
