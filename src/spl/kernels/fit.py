"""The constants of a program: those that enter linearly are solved exactly, the others by Levenberg-Marquardt.

Both kinds share one system of normal equations. The linear constants come first in its factorisation and are never damped, so each
step moves them to their optimum for the new values of the others (variable projection, in Kaufman's form). Starting values of the
others follow the size of what they stand beside, so that the units of the data do not matter.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.apart import apart
from spl.kernels.compiler import FAST_MATH, kernel
from spl.kernels.differentiate import differentiate
from spl.kernels.evaluate import BLOCK, arity_of, evaluate
from spl.kernels.random import random_normal, random_unit
from spl.kernels.tokens import ADD, CONSTANT, DIV, KIND_SHIFT, MAX_CONSTANTS, MAX_LENGTH, MUL, NEG, SUB

MAX_ARGUMENT = 30.0  # functions of laws rarely have larger arguments
DEPENDENT = 1e-13  # a pivot of the scaled system below this belongs to a constant that others can replace
ROUNDING = 1e-29  # a squared error below this share of the target's square is rounding error
LOST_DIGITS = (
    1e-16  # a squared error that falls below this share of itself was a difference of numbers eight digits larger
)
CANCELLED = 1e-13  # what is left of a squared error below this share of it is rounding error
SHORT_LENGTH = 12  # programs up to so many tokens get all the scans, longer ones fewer in proportion
PROBE_ROWS = 64  # rows of the first, quick fit; random starts are compared on half of them

# Roles of a constant: the program is affine in it; it multiplies or divides another; it stands inside a function; others replace it
LINEAR, FACTOR, INSIDE, FROZEN = range(4)


class Table(NamedTuple):
    """The samples a program is fitted to."""

    columns: np.ndarray  # float64[D, N]
    target: np.ndarray  # float64[N]
    weights: np.ndarray  # float64[N], mean 1
    square: float  # sum of weights * (target - mean)**2, to tell rounding error


class Effort(NamedTuple):
    """How much work one fit may take."""

    n_starts: int  # Levenberg-Marquardt runs
    n_scans: int  # random starts compared on the probe rows before each further run
    max_iterations: int  # of each run
    tolerance: float  # stop a run when a step lowers the squared error by a smaller share than this


# Scratch of one thread
FIT_WORK = np.dtype(
    [
        ("tape", np.float64, MAX_LENGTH * BLOCK),
        ("adjoint", np.float64, (MAX_LENGTH + 2) * BLOCK),
        ("stack", np.float64, MAX_LENGTH * BLOCK),
        ("jacobian", np.float64, MAX_CONSTANTS * BLOCK),
        ("residual", np.float64, BLOCK),
        ("weighted", np.float64, BLOCK),
        ("places", np.int64, 3 * MAX_LENGTH),
        ("gram", np.float64, (MAX_CONSTANTS, MAX_CONSTANTS)),
        ("slope", np.float64, MAX_CONSTANTS),
        ("kept_gram", np.float64, (MAX_CONSTANTS, MAX_CONSTANTS)),
        ("kept_slope", np.float64, MAX_CONSTANTS),
        ("factor", np.float64, (MAX_CONSTANTS, MAX_CONSTANTS)),
        ("step", np.float64, MAX_CONSTANTS),
        ("scale", np.float64, MAX_CONSTANTS),  # natural size of each constant
        ("start", np.float64, MAX_CONSTANTS),
        ("trial", np.float64, MAX_CONSTANTS),
        ("best", np.float64, MAX_CONSTANTS),
        ("role", np.int64, MAX_CONSTANTS),  # LINEAR, FACTOR, INSIDE or FROZEN
        ("order", np.int64, MAX_CONSTANTS),  # the constants to fit, linear ones first
        ("n_constants", np.int64),
        ("n_fitted", np.int64),
        ("n_linear", np.int64),
        ("n_outside", np.int64),  # those to fit that stand inside no function
    ],
    align=True,
)


@kernel(fastmath=FAST_MATH)
def dot(a, a_at, b, b_at, n):
    """Return the sum of products of two stretches."""
    total = 0.0
    for j in range(n):
        total += a[a_at + j] * b[b_at + j]
    return total


@kernel
def residuals(table, first, n, values, work):
    """Fill the weighted and plain residuals of one block; return their weighted square, not finite outside the domain."""
    for j in range(n):
        r = table.target[first + j] - values[j]
        work.residual[j] = r
        work.weighted[j] = r * table.weights[first + j]
    return dot(work.residual, 0, work.weighted, 0, n)


@apart
def squared_error(tokens, length, constants, alphabet, table, n_rows, work):
    """Return the weighted sum of squared errors on the first rows; infinity if the program leaves its domain."""
    total = 0.0
    for first in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - first)
        evaluate(tokens, length, constants, alphabet, table.columns, first, n, work.stack)
        total += residuals(table, first, n, work.stack, work)
        if not np.isfinite(total):
            return np.inf
    return total


@apart
def normal_equations(tokens, length, constants, alphabet, table, n_rows, work):
    """Fill `gram` and `slope` at these constants; return the squared error, infinity if the program leaves its domain."""
    for a in range(work.n_constants):
        work.slope[a] = 0.0
        for b in range(work.n_constants):
            work.gram[a, b] = 0.0
    total = 0.0
    for first in range(0, n_rows, BLOCK):
        n = min(BLOCK, n_rows - first)
        differentiate(
            tokens,
            length,
            constants,
            alphabet,
            table.columns,
            first,
            n,
            work.tape,
            work.adjoint,
            work.jacobian,
            work.places,
        )
        total += residuals(table, first, n, work.tape, work)
        if not np.isfinite(total):
            return np.inf
        for i in range(work.n_fitted):
            a = work.order[i]
            work.slope[a] += dot(work.jacobian, a * BLOCK, work.weighted, 0, n)
        for i in range(work.n_fitted):
            a = work.order[i]
            for j in range(n):
                work.weighted[j] = work.jacobian[a * BLOCK + j] * table.weights[first + j]
            for k in range(i + 1):
                b = work.order[k]
                work.gram[a, b] += dot(work.jacobian, b * BLOCK, work.weighted, 0, n)
    for i in range(work.n_fitted):
        a = work.order[i]
        if not np.isfinite(work.gram[a, a]):
            return np.inf
        for k in range(i):
            work.gram[work.order[k], a] = work.gram[a, work.order[k]]
    return total


@kernel
def factorise_row(work, i, damping):
    """Fill row i of the factor of the system scaled to a unit diagonal, and the forward substitution into step[i].

    Constants are taken in `order`; those after the linear ones are damped. A vanishing pivot leaves a row of zeros.
    """
    factor = work.factor
    p = work.order[i]
    size = np.sqrt(work.gram[p, p])
    work.step[i] = 0.0
    factor[i, i] = 0.0
    if size == 0.0:
        for k in range(i):
            factor[i, k] = 0.0
        return
    pivot = 1.0
    right = work.slope[p] / size
    for k in range(i):
        if k == work.n_linear:
            pivot *= 1.0 + damping
        q = work.order[k]
        if factor[k, k] == 0.0:
            factor[i, k] = 0.0
            continue
        total = work.gram[p, q] / size / np.sqrt(work.gram[q, q])
        for m in range(k):
            total -= factor[i, m] * factor[k, m]
        factor[i, k] = total / factor[k, k]
        pivot -= factor[i, k] * factor[i, k]
        right -= factor[i, k] * work.step[k]
    if i == work.n_linear:
        pivot *= 1.0 + damping
    if pivot >= DEPENDENT:
        factor[i, i] = np.sqrt(pivot)
        work.step[i] = right / factor[i, i]


@apart
def solve_step(work, damping):
    """Fill `step` from `gram` and `slope`; return the drop of the squared error that the linear constants alone would bring.

    A constant whose pivot vanishes is replaceable by others: its step is 0.
    """
    gain = 0.0
    factor = work.factor
    for i in range(work.n_fitted):
        factorise_row(work, i, damping)
        if i < work.n_linear:
            gain += work.step[i] * work.step[i]
    for i in range(work.n_fitted - 1, -1, -1):
        if factor[i, i] == 0.0:
            work.step[i] = 0.0
            continue
        total = work.step[i]
        for k in range(i + 1, work.n_fitted):
            total -= factor[k, i] * work.step[k]
        work.step[i] = total / factor[i, i]
    for i in range(work.n_fitted):
        if factor[i, i] != 0.0:
            work.step[i] /= np.sqrt(work.gram[work.order[i], work.order[i]])
    return gain


@kernel
def demote(work, first, last, role):
    """Give a range of constants a harder role; those that have one as hard keep it."""
    for k in range(first, last):
        work.role[k] = max(work.role[k], role)


@kernel
def count_linear(work, first, last):
    """Return how many of a range of constants are linear."""
    n = 0
    for k in range(first, last):
        n += work.role[k] == LINEAR
    return n


@kernel
def join_roles(work, token, a_first, a_last, a_scales, b_first, b_last, b_scales):
    """Settle the roles of the constants of both operands of a binary operator; tell whether the result can be scaled freely.

    An operand scales freely if its linear constants can multiply it as a whole. In a product with such an operand, a constant that
    stands alone on the other side is redundant: it is frozen. Otherwise the operand with more linear constants keeps them.
    """
    if token == ADD or token == SUB:
        return a_scales == 1 and b_scales == 1
    if token == DIV:
        demote(work, b_first, b_last, FACTOR)
        return a_scales == 1
    if token != MUL:
        demote(work, a_first, b_last, INSIDE)
        return False
    if a_last == a_first + 1 and a_scales == 2 and b_scales >= 1:
        work.role[a_first] = FROZEN
    elif b_last == b_first + 1 and b_scales == 2 and a_scales >= 1:
        work.role[b_first] = FROZEN
    elif count_linear(work, b_first, b_last) >= max(count_linear(work, a_first, a_last), 1):
        demote(work, a_first, a_last, FACTOR)
        return b_scales >= 1
    else:
        demote(work, b_first, b_last, FACTOR)
        return a_scales >= 1
    return True


@apart
def assign_roles(tokens, length, work):
    """Find the constants in which the program is jointly affine, and those that others make redundant; fill `order`.

    Frozen constants keep the value 1. Returns whether the program has at most MAX_CONSTANTS.
    """
    n_constants = 0
    for i in range(length):
        n_constants += tokens[i] >> KIND_SHIFT == CONSTANT
    if n_constants > MAX_CONSTANTS:
        return False
    # `places` holds a stack of (first, last, scales) of the constants in each finished subtree; scales is 2 for a bare constant
    places = work.places
    depth = 0
    at = n_constants
    for i in range(length - 1, -1, -1):
        token = tokens[i]
        arity = arity_of(token)
        if arity == 0:
            is_constant = token >> KIND_SHIFT == CONSTANT
            places[depth + 1] = at
            at -= is_constant
            places[depth] = at
            places[depth + 2] = 2 if is_constant else 0
            if is_constant:
                work.role[at] = LINEAR
            depth += 3
        elif arity == 1:
            if token != NEG:
                demote(work, places[depth - 3], places[depth - 2], INSIDE)
                places[depth - 1] = 0
            else:
                places[depth - 1] = min(places[depth - 1], 1)
        else:
            a, b = depth - 3, depth - 6
            scales = join_roles(
                work, token, places[a], places[a + 1], places[a + 2], places[b], places[b + 1], places[b + 2]
            )
            places[b] = places[a]
            places[b + 2] = scales
            depth -= 3
    order_constants(work, n_constants)
    return True


@kernel
def order_constants(work, n_constants):
    """Fill `order` with the linear constants, then the others, without the frozen ones; count them."""
    work.n_constants = n_constants
    work.n_fitted = 0
    for role in (LINEAR, FACTOR, INSIDE):
        for k in range(n_constants):
            if work.role[k] == role:
                work.order[work.n_fitted] = k
                work.n_fitted += 1
        if role == LINEAR:
            work.n_linear = work.n_fitted
        if role == FACTOR:
            work.n_outside = work.n_fitted


@kernel
def root_mean_square(values, at, n):
    """Return the size of a stretch of finite values; 1 if it is zero or not finite."""
    size = np.sqrt(dot(values, at, values, at, n) / n)
    return size if np.isfinite(size) and size > 0.0 else 1.0


@kernel
def end_of(tokens, position):
    """Return the position after the subtree that begins at a position."""
    open_arguments = 1
    while open_arguments > 0:
        open_arguments += arity_of(tokens[position]) - 1
        position += 1
    return position


@kernel
def natural_scales(tokens, length, alphabet, table, n_rows, work):
    """Fill `scale`: the size at which each constant matters beside its neighbour (one over it in a product, the same in a sum)."""
    for k in range(work.n_constants):
        work.scale[k] = 1.0
    n = min(PROBE_ROWS, n_rows)
    normal_equations(tokens, length, work.scale, alphabet, table, n, work)  # leaves the value of each token on the tape
    k = 0
    for i in range(length):
        token = tokens[i]
        if token >> KIND_SHIFT == CONSTANT:
            k += 1
        elif token == MUL or token == DIV or token == ADD or token == SUB:
            b = end_of(tokens, i + 1)
            if tokens[i + 1] >> KIND_SHIFT == CONSTANT:
                size = root_mean_square(work.tape, b * BLOCK, n)
                work.scale[k] = 1.0 / size if token == MUL else size
            elif tokens[b] >> KIND_SHIFT == CONSTANT:
                size = root_mean_square(work.tape, (i + 1) * BLOCK, n)
                at = k
                for m in range(i + 1, b):
                    at += tokens[m] >> KIND_SHIFT == CONSTANT
                work.scale[at] = 1.0 / size if token == MUL else size


@kernel
def keep_system(source_gram, source_slope, target_gram, target_slope, n):
    """Copy a system of normal equations of n constants."""
    for a in range(n):
        target_slope[a] = source_slope[a]
        for b in range(n):
            target_gram[a, b] = source_gram[a, b]


@kernel
def copy_numbers(source, target, n):
    """Copy the first n numbers."""
    for k in range(n):
        target[k] = source[k]


@kernel
def settle_linear(tokens, length, alphabet, table, n_rows, error, work):
    """Move the linear constants of `start` to their optimum and fill the system there; return the squared error.

    Without it the first step of the others is wrong by as much as the linear constants are. Where these shrink so much that
    the difference has lost its digits, they are moved again.
    """
    n = work.n_constants
    n_fitted = work.n_fitted
    for _ in range(3):
        work.n_fitted = work.n_linear
        solve_step(work, 0.0)
        work.n_fitted = n_fitted
        copy_numbers(work.start, work.trial, n)
        for i in range(work.n_linear):
            work.trial[work.order[i]] += work.step[i]
        settled = normal_equations(tokens, length, work.trial, alphabet, table, n_rows, work)
        if not settled < error:
            return normal_equations(tokens, length, work.start, alphabet, table, n_rows, work)
        copy_numbers(work.trial, work.start, n)
        is_precise = settled > LOST_DIGITS * error
        error = settled
        if is_precise:
            break
    return error


@apart
def descend(tokens, length, alphabet, table, n_rows, effort, work):
    """Improve `start` in place by Levenberg-Marquardt; return its squared error, infinity if it is not in the domain.

    A step is taken if it lowers the error, or the error that remains with the linear constants at their optimum; these are then
    moved there, so that the error never rises.
    """
    n = work.n_constants
    error = normal_equations(tokens, length, work.start, alphabet, table, n_rows, work)
    if not np.isfinite(error) or work.n_fitted == 0:
        return error
    is_linear = work.n_linear == work.n_fitted
    damping = 0.0 if is_linear else 1e-3
    goal = ROUNDING * table.square * n_rows / table.target.size
    if 0 < work.n_linear < work.n_fitted:
        error = settle_linear(tokens, length, alphabet, table, n_rows, error, work)
    reduced = max(error - solve_step(work, damping), CANCELLED * error)
    for _ in range(effort.max_iterations):
        keep_system(work.gram, work.slope, work.kept_gram, work.kept_slope, n)
        copy_numbers(work.start, work.trial, n)
        for i in range(work.n_fitted):
            work.trial[work.order[i]] += work.step[i]
        trial_error = normal_equations(tokens, length, work.trial, alphabet, table, n_rows, work)
        trial_reduced = np.inf
        if np.isfinite(trial_error):
            trial_reduced = max(trial_error - solve_step(work, 0.1 * damping), CANCELLED * trial_error)
        if trial_error < error or trial_reduced < reduced:
            copy_numbers(work.trial, work.start, n)
            if trial_error > error:
                trial_error = settle_linear(tokens, length, alphabet, table, n_rows, trial_error, work)
                trial_reduced = max(trial_error - solve_step(work, 0.1 * damping), CANCELLED * trial_error)
            is_settled = (
                error - trial_error <= effort.tolerance * error
                and reduced - trial_reduced <= effort.tolerance * reduced
            )
            error = trial_error
            reduced = trial_reduced
            damping = 0.0 if is_linear else max(0.1 * damping, 1e-12)
            if error <= goal or is_settled:
                break
        else:
            damping *= 10.0
            if is_linear or damping > 1e9:
                break
            keep_system(work.kept_gram, work.kept_slope, work.gram, work.slope, n)
            solve_step(work, damping)
    return error


@kernel
def draw_start(guess, work, random):
    """Fill `start` with random constants; half of the draws keep the guessed ones.

    Half of the numbers are spread over orders of magnitude around their natural size; the others evenly, because a frequency has its
    optima at even distances.
    """
    keep = random_unit(random) < 0.5
    for k in range(work.n_constants):
        work.start[k] = 1.0
        if keep and np.isfinite(guess[k]):
            work.start[k] = guess[k]
        elif work.role[k] == FACTOR or work.role[k] == INSIDE:
            is_wide = random_unit(random) < 0.5
            size = work.scale[k] * (
                np.exp(2.0 * random_normal(random)) if is_wide else MAX_ARGUMENT * random_unit(random)
            )
            work.start[k] = size if random_unit(random) < 0.5 else -size


@kernel
def scan_starts(tokens, length, alphabet, table, n_rows, guess, effort, work, random):
    """Fill `start` with the best of several random starts, compared on a few rows with the linear constants at their optimum.

    Short programs get more of them. Returns the squared error, in proportion to all rows.
    """
    lowest = np.inf
    n_probe = min(n_rows, PROBE_ROWS // 2)
    for _ in range(1 + effort.n_scans * SHORT_LENGTH // max(length, SHORT_LENGTH)):
        draw_start(guess, work, random)
        error = normal_equations(tokens, length, work.start, alphabet, table, n_probe, work)
        if np.isfinite(error):
            error -= solve_step(work, 0.0)
            if error < lowest:
                lowest = error
                copy_numbers(work.start, work.trial, work.n_constants)
    copy_numbers(work.trial, work.start, work.n_constants)
    return lowest * n_rows / n_probe


@apart
def fit_constants(tokens, length, alphabet, table, n_rows, guess, hopeless, effort, work, random):
    """Fit the constants on the first rows, into `best`; return the squared error, infinity if none lies in the domain.

    `guess` holds a starting value or NaN for each constant. A first error above `hopeless` is not worth further starts. A program
    with more than MAX_CONSTANTS has no fit.
    """
    if not assign_roles(tokens, length, work):
        return np.inf
    if work.n_linear < work.n_fitted:
        natural_scales(tokens, length, alphabet, table, n_rows, work)
    for k in range(work.n_constants):
        is_scaled = work.role[k] == FACTOR or work.role[k] == INSIDE
        work.start[k] = work.scale[k] if is_scaled else 1.0
        if np.isfinite(guess[k]):
            work.start[k] = guess[k]
    lowest = descend(tokens, length, alphabet, table, n_rows, effort, work)
    copy_numbers(work.start, work.best, work.n_constants)
    if work.n_outside == work.n_fitted or lowest > hopeless:  # only constants inside functions have many local optima
        return lowest
    for _ in range(effort.n_starts - 1):
        if lowest <= ROUNDING * table.square * n_rows / table.target.size:
            break
        if scan_starts(tokens, length, alphabet, table, n_rows, guess, effort, work, random) >= lowest:
            continue
        error = descend(tokens, length, alphabet, table, n_rows, effort, work)
        if error < lowest:
            lowest = error
            copy_numbers(work.start, work.best, work.n_constants)
    return lowest


@kernel
def refit_constants(tokens, length, alphabet, table, effort, work):
    """Go on from `best`, fitted to the first rows just before, to all rows; return the squared error."""
    copy_numbers(work.best, work.start, work.n_constants)
    error = descend(tokens, length, alphabet, table, table.target.size, effort, work)
    copy_numbers(work.start, work.best, work.n_constants)
    return error


@kernel(entry=True)
def fit_program(program, alphabet, table, effort, work, random):
    """Fit the constants of a program on all rows, into `work.best`, starting from its guesses; return the squared error."""
    n_rows = table.target.size
    return fit_constants(
        program.tokens, program.n_tokens, alphabet, table, n_rows, program.guesses, np.inf, effort, work, random
    )
