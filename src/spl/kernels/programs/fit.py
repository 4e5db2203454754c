"""Fit the constants of a program: those that enter linearly are solved exactly, the others by Levenberg-Marquardt.

Both kinds share one system of normal equations. The linear constants come first in its factorisation and are never damped, so each
step moves them to their optimum for the new values of the others (variable projection, in Kaufman's form). Starting values of the
others scale with the operand next to them, so that the units of the data do not matter.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.constant_roles import FACTOR, INSIDE, assign_roles
from spl.kernels.programs.evaluate import BLOCK, arity_of
from spl.kernels.programs.normal_equations import dot, normal_equations, solve_step
from spl.kernels.programs.tokens import ADD, CONSTANT, DIV, KIND_SHIFT, MUL, SUB
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import random_normal, random_unit

MAX_START_ARGUMENT = 30.0  # of a random start: functions in laws rarely have larger arguments
ROUNDING = 1e-29  # a squared error below this share of the target's square is rounding error
LOST_DIGITS = (
    1e-16  # a squared error that drops to less than this share was a difference of numbers eight digits larger
)
CANCELLED_ERROR = 1e-13  # the remainder of a squared error below this share of it is rounding error
SHORT_LENGTH = 12  # programs of up to this many tokens get all the scans, longer ones proportionally fewer
PROBE_ROWS = 64  # rows of the first, quick fit; random starts are compared on half of them


class FitEffort(NamedTuple):
    """The work that one fit may take."""

    n_starts: int  # Levenberg-Marquardt runs
    n_scans: int  # random starts compared on the probe rows before each further run
    max_iterations: int  # of each run
    tolerance: float  # a run stops when a step lowers the squared error by a smaller share than this


@kernel
def root_mean_square(values, at, n):
    """Return the root mean square of values[at : at + n]; 1 if it is zero or not finite."""
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
    """Fill `scale` with the size at which each constant matters: that of the other operand in a sum, one over it in a product."""
    for k in range(work.n_constants):
        work.scale[k] = 1.0
    n = min(PROBE_ROWS, n_rows)
    normal_equations(tokens, length, work.scale, alphabet, table, n, work)  # puts the values of each token on the tape
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
def solve_linear_constants(tokens, length, alphabet, table, n_rows, error, work):
    """Move the linear constants of `start` to their optimum and fill the system there; return the squared error.

    Otherwise the first step of the others would be as wrong as the linear constants. If these shrink so much that the difference has
    lost its digits, they are moved again.
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


@linked_kernel
def run_levenberg_marquardt(tokens, length, alphabet, table, n_rows, effort, work) -> float:
    """Improve `start` in place by Levenberg-Marquardt; return its squared error, infinity if it is not in the domain.

    A step is taken if it lowers the error, or the error with the linear constants at their optimum; these are then moved there, so
    that the error never rises.
    """
    n = work.n_constants
    error = normal_equations(tokens, length, work.start, alphabet, table, n_rows, work)
    if not np.isfinite(error) or work.n_fitted == 0:
        return error
    is_linear = work.n_linear == work.n_fitted
    damping = 0.0 if is_linear else 1e-3
    goal = ROUNDING * table.square * n_rows / table.target.size
    if 0 < work.n_linear < work.n_fitted:
        error = solve_linear_constants(tokens, length, alphabet, table, n_rows, error, work)
    reduced = max(error - solve_step(work, damping), CANCELLED_ERROR * error)
    for _ in range(effort.max_iterations):
        keep_system(work.gram, work.slope, work.kept_gram, work.kept_slope, n)
        copy_numbers(work.start, work.trial, n)
        for i in range(work.n_fitted):
            work.trial[work.order[i]] += work.step[i]
        trial_error = normal_equations(tokens, length, work.trial, alphabet, table, n_rows, work)
        trial_reduced = np.inf
        if np.isfinite(trial_error):
            trial_reduced = max(trial_error - solve_step(work, 0.1 * damping), CANCELLED_ERROR * trial_error)
        if trial_error < error or trial_reduced < reduced:
            copy_numbers(work.trial, work.start, n)
            if trial_error > error:
                trial_error = solve_linear_constants(tokens, length, alphabet, table, n_rows, trial_error, work)
                trial_reduced = max(trial_error - solve_step(work, 0.1 * damping), CANCELLED_ERROR * trial_error)
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

    Half of the numbers are spread over orders of magnitude around their natural size, the others evenly, because the optima of a
    frequency are evenly spaced.
    """
    keep = random_unit(random) < 0.5
    for k in range(work.n_constants):
        work.start[k] = 1.0
        if keep and np.isfinite(guess[k]):
            work.start[k] = guess[k]
        elif work.role[k] == FACTOR or work.role[k] == INSIDE:
            is_wide = random_unit(random) < 0.5
            size = work.scale[k] * (
                np.exp(2.0 * random_normal(random)) if is_wide else MAX_START_ARGUMENT * random_unit(random)
            )
            work.start[k] = size if random_unit(random) < 0.5 else -size


@kernel
def scan_starts(tokens, length, alphabet, table, n_rows, guess, effort, work, random):
    """Fill `start` with the best of several random starts, compared on a few rows with the linear constants at their optimum.

    Short programs get more of them. Returns the squared error, scaled to n_rows.
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


@linked_kernel
def fit_constants(tokens, length, alphabet, table, n_rows, guess, hopeless, effort, work, random) -> float:
    """Fit the constants on the first rows, into `best`; return the squared error, infinity if none lies in the domain.

    `guess` holds a starting value or NaN for each constant. There are no further starts if the first ends above `hopeless`. A program
    with more than MAX_CONSTANTS constants has no fit.
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
    lowest = run_levenberg_marquardt(tokens, length, alphabet, table, n_rows, effort, work)
    copy_numbers(work.start, work.best, work.n_constants)
    if work.n_outside == work.n_fitted or lowest > hopeless:  # only constants inside functions have many local optima
        return lowest
    for _ in range(effort.n_starts - 1):
        if lowest <= ROUNDING * table.square * n_rows / table.target.size:
            break
        if scan_starts(tokens, length, alphabet, table, n_rows, guess, effort, work, random) >= lowest:
            continue
        error = run_levenberg_marquardt(tokens, length, alphabet, table, n_rows, effort, work)
        if error < lowest:
            lowest = error
            copy_numbers(work.start, work.best, work.n_constants)
    return lowest


@kernel
def guessed_error(tokens, length, alphabet, table, n_rows, guess, work):
    """Return the squared error on the first rows at these guesses, with the linear constants at their optimum.

    Infinity if a constant has no guess. The roles of the constants must be in `work`.
    """
    for k in range(work.n_constants):
        if not np.isfinite(guess[k]):
            return np.inf
    error = normal_equations(tokens, length, guess, alphabet, table, n_rows, work)
    return error - solve_step(work, 0.0) if np.isfinite(error) else np.inf


@kernel
def refit_constants(tokens, length, alphabet, table, effort, work):
    """Continue from `best`, which was just fitted to the first rows, on all rows; return the squared error."""
    copy_numbers(work.best, work.start, work.n_constants)
    error = run_levenberg_marquardt(tokens, length, alphabet, table, table.target.size, effort, work)
    copy_numbers(work.start, work.best, work.n_constants)
    return error


@kernel
def fit_program(program, alphabet, table, effort, work, random):
    """Fit the constants of a program on all rows, into `work.best`, starting from its guesses; return the squared error."""
    n_rows = table.target.size
    return fit_constants(
        program.tokens, program.n_tokens, alphabet, table, n_rows, program.guesses, np.inf, effort, work, random
    )
