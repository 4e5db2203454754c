"""Least squares along a chain of states, compared with the same equations written out."""

import numpy as np
import pytest

from spl.kernels.programs.chained_states import Eliminated, Links, eliminate_states, recover_states


def make_links(rng, n, size, n_factors):
    return Links(
        gaps=rng.normal(size=(n - 1, size)),
        before=rng.normal(size=(n - 1, size, size)),
        after=rng.normal(size=(n - 1, size, size)),
        by_factor=rng.normal(size=(n - 1, n_factors)),
        rows=rng.integers(0, size, n_factors),
    )


def make_space(n, size, n_factors):
    return Eliminated(np.empty((n, size, size)), np.empty((n - 1, size, size)), np.empty((n, size, n_factors + 1)))


def write_out(links, weights, pull, damping):
    """Return the matrix of states, their columns for the factors and the slope, from the full table of slopes."""
    n, size, n_factors = len(pull), len(weights), links.rows.size
    table, factors = np.zeros(((n - 1) * size, n * size)), np.zeros(((n - 1) * size, n_factors))
    for k in range(n - 1):
        rows = slice(k * size, (k + 1) * size)
        table[rows, k * size : (k + 1) * size] = links.before[k]
        table[rows, (k + 1) * size : (k + 2) * size] = links.after[k]
        factors[k * size + links.rows, np.arange(n_factors)] = links.by_factor[k]
    matrix = table.T @ table + np.diag(np.tile(weights, n))
    matrix += damping * np.diag(np.diag(matrix))
    return matrix, table.T @ factors, table.T @ links.gaps.ravel() + pull.ravel()


@pytest.mark.parametrize(
    ("n", "size", "n_factors", "damping"), [(2, 1, 1, 0.0), (7, 3, 5, 0.0), (6, 2, 4, 0.3), (5, 4, 0, 0.1)]
)
def test_a_chain_is_solved_as_its_equations_written_out(n, size, n_factors, damping, rng):
    links, weights, pull = make_links(rng, n, size, n_factors), rng.uniform(0.5, 2.0, size), rng.normal(size=(n, size))
    out, moved, steps = make_space(n, size, n_factors), rng.normal(size=n_factors), np.empty((n, size))
    assert eliminate_states(links, weights, pull, damping, out)
    recover_states(out, moved, steps)
    matrix, mixed, slope = write_out(links, weights, pull, damping)
    expected = -np.linalg.solve(matrix, mixed @ moved + slope)
    assert steps.ravel() == pytest.approx(expected)
    rows = out.solved.reshape(n * size, -1)
    folded = np.column_stack([mixed, slope]).T @ np.linalg.solve(matrix, np.column_stack([mixed, slope]))
    assert rows.T @ rows == pytest.approx(folded)


def test_what_is_not_determined_is_reported(rng):
    links = make_links(rng, 3, 2, 1)
    assert not eliminate_states(
        links._replace(before=0 * links.before), np.zeros(2), np.zeros((3, 2)), 0.0, make_space(3, 2, 1)
    )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_reported(bad, rng):
    links = make_links(rng, 4, 2, 1)
    links.before[1, 0, 0] = bad
    assert not eliminate_states(links, np.ones(2), np.zeros((4, 2)), 0.0, make_space(4, 2, 1))
