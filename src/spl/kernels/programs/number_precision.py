"""The nats it takes to write down the numbers of a program, to the digits that a fit to the data determines."""

import numpy as np

from spl.kernels.programs.constant_roles import assign_roles
from spl.kernels.programs.normal_equations import normal_equations
from spl.kernels.programs.prices import MOST_ERRORS
from spl.kernels.runtime.compiler import kernel


@kernel
def scaled_log_determinant(work, noise):
    """Return the logarithm of det(1 + J' J), where column k of J is |constant k| * derivative by it / noise, from `gram`.

    Columns are limited to a length of MOST_ERRORS. The eigenvalues of the symmetric matrix are 1 or more, so its Cholesky factor, in
    `factor`, needs no pivots. The factor of each column goes into `step`.
    """
    factor = work.factor
    for i in range(work.n_fitted):
        a = work.order[i]
        length = np.sqrt(work.gram[a, a])
        n_errors = min(abs(work.start[a]) / noise * length, MOST_ERRORS)
        work.step[i] = n_errors / length if length > 0.0 else 0.0
    total = 0.0
    for i in range(work.n_fitted):
        a = work.order[i]
        for k in range(i + 1):
            b = work.order[k]
            entry = work.step[i] * work.step[k] * work.gram[a, b] + (1.0 if i == k else 0.0)
            for m in range(k):
                entry -= factor[i, m] * factor[k, m]
            factor[i, k] = np.sqrt(max(entry, 1.0)) if i == k else entry / factor[k, k]
        total += 2.0 * np.log(factor[i, i])
    return total


@kernel
def number_nats(program, alphabet, table, noise, work):
    """Return the nats that the numbers of a program cost, fitted to all rows with noise of this standard deviation.

    A number that the data gives as c with standard error s costs ln(1 + (c/s)**2) / 2, about ln(|c| / s); together they cost half the
    logarithm of the determinant of the Fisher information, each in units of itself. Numbers that others can replace cost nothing.
    Infinity outside the domain.
    """
    if not assign_roles(program.tokens, program.n_tokens, work):
        return np.inf
    for k in range(work.n_constants):
        work.start[k] = program.guesses[k]
    n_rows = table.target.size
    error = normal_equations(program.tokens, program.n_tokens, work.start, alphabet, table, n_rows, work)
    if not np.isfinite(error):
        return np.inf
    return 0.5 * scaled_log_determinant(work, noise)
