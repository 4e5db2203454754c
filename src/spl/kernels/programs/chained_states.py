"""Least squares along a chain: states of which each is connected with the next one only, and factors that all of them share.

The normal equations of the states have a block for each sample and one between neighbours. One pass forward eliminates the states,
one pass backward finds them once the factors are known.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.runtime.compiler import kernel


class Links(NamedTuple):
    """What is wrong between neighbours, the gaps, and how that depends on S states and F factors."""

    gaps: np.ndarray  # float64[N - 1, S]
    before: np.ndarray  # float64[N - 1, S, S], slopes of the gaps by the state before
    after: np.ndarray  # float64[N - 1, S, S], by the state after
    by_factor: np.ndarray  # float64[N - 1, F], slope by each factor of the one gap that it changes
    rows: np.ndarray  # int64[F], which gap that is


class Eliminated(NamedTuple):
    """The states, eliminated."""

    roots: np.ndarray  # float64[N, S, S], Cholesky factors of the blocks
    ties: np.ndarray  # float64[N - 1, S, S], to the next state
    solved: (
        np.ndarray
    )  # float64[N, S, F + 1], the columns of the factors, then the slope, divided by the Cholesky factors


@kernel
def eliminate_states(links, weights, pull, damping, out):
    """Fill `out` and return whether all blocks have a Cholesky factor.

    `weights[S]` are added to the diagonal of each state, `pull[N, S]` to the slope; the diagonals grow by the share `damping`.
    """
    n_samples, n_states, width = out.solved.shape
    for n in range(n_samples):
        block, right = out.roots[n], out.solved[n]
        for i in range(n_states):
            for k in range(n_states):
                block[i, k] = weights[i] if i == k else 0.0
            for f in range(width):
                right[i, f] = 0.0
            right[i, width - 1] = pull[n, i]
        if n > 0:
            _add_link(links.after[n - 1], links, n - 1, block, right)
        if n < n_samples - 1:
            _add_link(links.before[n], links, n, block, right)
        for i in range(n_states):
            block[i, i] *= 1.0 + damping
        if n > 0:
            _take_out(out.ties[n - 1], out.solved[n - 1], block, right)
        if not _find_root(block):
            return False
        _divide(block, right)
        if n < n_samples - 1:
            tie, one, two = out.ties[n], links.before[n], links.after[n]
            for i in range(n_states):
                for k in range(n_states):
                    total = 0.0
                    for j in range(n_states):
                        total += one[j, i] * two[j, k]
                    tie[i, k] = total
            _divide(block, tie)
    return True


@kernel
def _add_link(slopes, links, n, block, right):
    """Add the squares of one link, with its slopes by this state."""
    n_states, width = right.shape
    for i in range(n_states):
        for j in range(n_states):
            slope = slopes[j, i]
            for k in range(n_states):
                block[i, k] += slope * slopes[j, k]
            right[i, width - 1] += slope * links.gaps[n, j]
        for f in range(width - 1):
            right[i, f] += slopes[links.rows[f], i] * links.by_factor[n, f]


@kernel
def _take_out(tie, solved, block, right):
    """Take out what the state before explains."""
    n_states, width = right.shape
    for i in range(n_states):
        for j in range(n_states):
            share = tie[j, i]
            for k in range(n_states):
                block[i, k] -= share * tie[j, k]
            for f in range(width):
                right[i, f] -= share * solved[j, f]


@kernel
def _find_root(block):
    """Replace a block by its lower Cholesky factor; return whether it has one."""
    n_states = block.shape[0]
    for k in range(n_states):
        for j in range(k):
            block[k, k] -= block[k, j] * block[k, j]
        if not 0.0 < block[k, k] < np.inf:
            return False
        block[k, k] = np.sqrt(block[k, k])
        for i in range(k + 1, n_states):
            for j in range(k):
                block[i, k] -= block[i, j] * block[k, j]
            block[i, k] /= block[k, k]
    return True


@kernel
def _divide(root, columns):
    """Divide columns by a lower Cholesky factor, in place."""
    n_states, width = columns.shape
    for i in range(n_states):
        for j in range(i):
            share = root[i, j]
            for f in range(width):
                columns[i, f] -= share * columns[j, f]
        for f in range(width):
            columns[i, f] /= root[i, i]


@kernel
def recover_states(eliminated, moved, steps):
    """Fill steps[N, S]: how the states move if the factors move by `moved[F]`."""
    n_samples, n_states, width = eliminated.solved.shape
    for n in range(n_samples - 1, -1, -1):
        root, right = eliminated.roots[n], eliminated.solved[n]
        for i in range(n_states):
            total = right[i, width - 1]
            for f in range(width - 1):
                total += right[i, f] * moved[f]
            if n < n_samples - 1:
                for k in range(n_states):
                    total += eliminated.ties[n][i, k] * steps[n + 1, k]
            steps[n, i] = -total
        for i in range(n_states - 1, -1, -1):
            for j in range(i + 1, n_states):
                steps[n, i] -= root[j, i] * steps[n, j]
            steps[n, i] /= root[i, i]
