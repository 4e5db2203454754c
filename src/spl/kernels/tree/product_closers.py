"""Closers by products of powers.

monomial      whole and half powers of the variables, by least squares in logarithms
power         the same times a power of an entry of the bank, such as (x + y)**-2 or sqrt(sin(x)), for exact goals

Each writes tokens and guesses of their constants.
"""

import numpy as np

from spl.kernels.bank.power_index import look_up_power
from spl.kernels.bank.term_selection import MAX_CLOSER_TERMS, orthogonalise, reduce_to_kept, solve_kept
from spl.kernels.programs.normal_equations import dot
from spl.kernels.programs.tokens import CONSTANT, DIV, KIND_SHIFT, MUL, SQRT, VARIABLE
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.tree.complete import NUMBER_FORM, PRODUCT_FORM, QUOTIENT_FORM, ROOT_FORM, SCALED_FORM
from spl.kernels.tree.skeleton import MAX_INVERSIONS, append_constant, append_entry, append_token, begin_closing
from spl.kernels.tree.sum_closers import find_number

MAX_MONOMIAL_EXPONENT = 6.0  # of a variable or an entry
NEAR_EXPONENT = 0.2  # how close an exponent must be to an integer, or half as close to a half-integer, to be rounded
NEAR_TWICE_EXPONENT = 1e-4  # how close twice an exponent must be to an integer if the goal is exact


@kernel
def _append_base(completion, symbol, k):
    """Append a variable to the closing, or the factor from the bank if k is beyond the last variable."""
    if k < completion.variables.shape[1]:
        append_token(completion.skeleton, (VARIABLE << KIND_SHIFT) + k, symbol)
    else:
        append_entry(completion.skeleton, completion.bank, completion.rules, completion.least_squares.factor)


@kernel
def _append_powers(completion, symbol, sign):
    """Write the product of the powers whose exponents have this sign: integers as repeated factors, halves under a root."""
    skeleton, work = completion.skeleton, completion.least_squares
    n_bases = completion.variables.shape[1] + work.n_factors
    n_whole = 0
    n_halves = 0
    for k in range(n_bases):
        twice = sign * work.best_kept[k]
        if twice > 0:
            n_whole += twice // 2
            n_halves += twice % 2
    for _ in range(n_whole + (1 if n_halves > 0 else 0) - 1):
        append_token(skeleton, MUL, symbol)
    for k in range(n_bases):
        for _ in range(max(sign * work.best_kept[k], 0) // 2):
            _append_base(completion, symbol, k)
    if n_halves == 0:
        return
    append_token(skeleton, SQRT, symbol)
    for _ in range(n_halves - 1):
        append_token(skeleton, MUL, symbol)
    for k in range(n_bases):
        if max(sign * work.best_kept[k], 0) % 2 == 1:
            _append_base(completion, symbol, k)


@kernel
def _spell_product(completion, symbol):
    """Write the product of the powers in `best_kept`; return whether the grammar can write it and there is room."""
    skeleton, work = completion.skeleton, completion.least_squares
    n_above = 0
    n_below = 0
    n_halves = 0
    for k in range(completion.variables.shape[1] + work.n_factors):
        n_above += work.best_kept[k] > 0
        n_below += work.best_kept[k] < 0
        n_halves += work.best_kept[k] % 2 != 0
    if (n_below > 0 and completion.form_length[symbol, QUOTIENT_FORM] == 0) or (
        n_halves > 0 and completion.form_length[symbol, ROOT_FORM] == 0
    ):
        return False
    begin_closing(skeleton)
    is_scaled = completion.form_length[symbol, SCALED_FORM] > 0
    has_number = completion.form_length[symbol, NUMBER_FORM] > 0
    one = np.int64(-1)
    if n_above == 0 and not has_number:
        one = find_number(completion, symbol, 1.0)
        if one < 0:
            return False
    is_factor_first = is_scaled and completion.forms[symbol, SCALED_FORM, 1] >> KIND_SHIFT == CONSTANT
    has_factor = is_scaled and not (n_above == 0 and has_number)
    if has_factor:
        append_token(skeleton, MUL, symbol)
        if is_factor_first:
            append_constant(skeleton, 1.0, np.int64(-1))
    if n_below > 0:
        append_token(skeleton, DIV, symbol)
    if n_above > 0:
        _append_powers(completion, symbol, np.int64(1))
    elif has_number:
        append_constant(skeleton, 1.0, symbol)
    else:
        append_entry(skeleton, completion.bank, completion.rules, one)
    if n_below > 0:
        _append_powers(completion, symbol, np.int64(-1))
    if has_factor and not is_factor_first:
        append_constant(skeleton, 1.0, np.int64(-1))
    return skeleton.closing_length > 0


@kernel
def _round_exponents(completion, n_kept):
    """Put twice each exponent, rounded, into `best_kept` by variable; return whether all are close enough and not all are 0."""
    work = completion.least_squares
    n_columns = completion.variables.shape[1]
    for k in range(n_columns):
        work.best_kept[k] = 0
    n_used = 0
    for i in range(n_kept):
        if work.kept[i] == 0:
            continue
        exponent = work.coefficient[i]
        if not abs(exponent) <= MAX_MONOMIAL_EXPONENT:
            return False
        nearest = np.rint(exponent)
        if abs(exponent - nearest) > NEAR_EXPONENT:
            nearest = np.rint(2.0 * exponent) / 2.0
            if abs(exponent - nearest) > NEAR_EXPONENT / 2.0:
                return False
        work.best_kept[work.kept[i] - 1] = np.int64(2.0 * nearest)
        n_used += nearest != 0.0
    return n_used > 0


@linked_kernel
def close_by_monomial(completion) -> bool:
    """Close the hole with a product of whole and half powers of the variables; return whether the grammar can write one."""
    skeleton, wide, work = completion.skeleton, completion.wide, completion.least_squares
    work.n_factors = 0
    symbol = skeleton.symbol[skeleton.hole]
    if completion.form_length[symbol, PRODUCT_FORM] == 0:
        return False
    n = wide.n
    n_columns = completion.variables.shape[1]
    if n_columns + 1 > MAX_CLOSER_TERMS:
        return False
    goal, weights = 2 * skeleton.n_steps * n, (2 * MAX_INVERSIONS + 1) * n
    largest = 0.0
    for j in range(n):
        largest = max(largest, abs(wide.rows[goal + j]))
    if not (largest > 0.0 and np.isfinite(largest)):
        return False
    square = 0.0
    for j in range(n):
        size = abs(wide.rows[goal + j])
        root = np.sqrt(wide.rows[weights + j]) * size
        value = np.log(size) if size > 0.0 else 0.0
        completion.matrix[j] = root
        completion.matrix[(n_columns + 1) * n + j] = value * root
        square += (value * root) ** 2
        for k in range(n_columns):
            x = abs(wide.columns[k, j])
            usable = completion.variables[symbol, k] > 0
            completion.matrix[(k + 1) * n + j] = np.log(x) * root if usable and x > 0.0 else 0.0
    orthogonalise(completion.matrix, n_columns + 2, n, work)
    n_kept = 0
    for c in range(n_columns + 1):
        if work.r[c, c] != 0.0:
            work.kept[n_kept] = c
            n_kept += 1
    reduce_to_kept(work, n_columns + 1, n_kept)
    solve_kept(work, n_columns + 1, n_kept)
    return _round_exponents(completion, n_kept) and _spell_product(completion, symbol)


@kernel
def _set_whole(work, k, exponent):
    """Put twice an exponent, rounded, into `best_kept`; return whether it was close enough to an integer."""
    twice = np.rint(2.0 * exponent)
    work.best_kept[k] = np.int64(twice)
    return abs(2.0 * exponent - twice) <= NEAR_TWICE_EXPONENT and abs(exponent) <= MAX_MONOMIAL_EXPONENT


@linked_kernel
def close_by_power_look_up(completion) -> bool:
    """Close the hole with a power of an entry times powers of the variables if the goal is exactly that; return whether it is."""
    index, frame, work, skeleton = (
        completion.power_index,
        completion.frame,
        completion.least_squares,
        completion.skeleton,
    )
    symbol = skeleton.symbol[skeleton.hole]
    if index.basis.shape[0] == 0 or completion.form_length[symbol, PRODUCT_FORM] == 0:
        return False
    n = frame.n
    goal = 2 * skeleton.n_steps * n
    place = look_up_power(index, symbol, frame.rows, goal)
    if place < 0:
        return False
    entry, at = index.entry[place], place * n
    exponent = dot(index.row, 0, index.values, at, n) / dot(index.values, at, index.values, at, n)
    n_columns = completion.variables.shape[1]
    work.n_factors = 1
    work.factor = entry
    if not _set_whole(work, n_columns, exponent):
        return False
    for j in range(n):
        index.row[j] = np.log(abs(frame.rows[goal + j])) - exponent * np.log(abs(completion.bank.values[entry * n + j]))
    for k in range(n_columns):
        power = dot(index.solver.reshape(-1), k * n, index.row, 0, n)
        if not _set_whole(work, k, power) or (work.best_kept[k] != 0 and completion.variables[symbol, k] == 0):
            return False
    return work.best_kept[n_columns] != 0 and _spell_product(completion, symbol)
