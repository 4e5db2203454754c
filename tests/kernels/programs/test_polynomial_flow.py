"""Polynomial slopes followed by the kernel, against a slow twin: one stride at a time, in plain Python."""

import numpy as np
import pytest

from spl.kernels.programs.polynomial_flow import FlowWork, Polynomials, Strides, follow_polynomials

# 1, x, y, u, x*y, y*u of two states and one input
PARENTS = np.array([0, 0, 0, 0, 1, 2])
COLUMNS = np.array([0, 0, 1, 2, 1, 2])
N_STATES = 2


def terms_slowly(x, y, u):
    return np.array([1.0, x, y, u, x * y, y * u])


def follow_slowly(factors, start, inputs, change, duration, n_substeps):
    def slopes(state, share):
        return terms_slowly(*state, inputs[0] + share * change[0]) @ factors

    state, step = np.array(start), duration / n_substeps
    for k in range(n_substeps):
        one = slopes(state, k / n_substeps)
        two = slopes(state + step / 2 * one, (k + 0.5) / n_substeps)
        three = slopes(state + step / 2 * two, (k + 0.5) / n_substeps)
        four = slopes(state + step * three, (k + 1) / n_substeps)
        state = state + step / 6 * (one + 2 * two + 2 * three + four)
    return state


def follow(factors, strides, n_substeps, width):
    n_terms = len(PARENTS)
    work = FlowWork(
        np.empty(3), np.empty(n_terms), np.empty((n_terms, N_STATES)), np.empty((2, 2)), *np.empty((4, N_STATES, width))
    )
    ends = np.full((len(strides.duration), N_STATES, width), 77.0)
    follow_polynomials(Polynomials(PARENTS, COLUMNS, factors), strides, n_substeps, ends, work)
    return ends


@pytest.fixture
def factors():
    return np.random.default_rng(0).normal(0.0, 0.5, (len(PARENTS), N_STATES))


@pytest.fixture
def strides():
    rng = np.random.default_rng(1)
    return Strides(rng.normal(size=(5, 2)), rng.normal(size=(5, 1)), rng.normal(size=(5, 1)), rng.uniform(0.1, 1.0, 5))


@pytest.mark.parametrize("n_substeps", [1, 3])
def test_strides_end_where_the_slow_twin_ends(factors, strides, n_substeps):
    found = follow(factors, strides, n_substeps, width=1)[:, :, 0]
    slow = [follow_slowly(factors, *(field[m] for field in strides), n_substeps) for m in range(5)]
    np.testing.assert_allclose(found, slow, rtol=1e-12)


def test_derivatives_by_the_factors_are_those_of_small_changes(factors, strides):
    found = follow(factors, strides, 2, width=1 + factors.size)
    np.testing.assert_allclose(found[:, :, 0], follow(factors, strides, 2, width=1)[:, :, 0], rtol=1e-12)
    for state in range(N_STATES):
        for term in range(len(PARENTS)):
            nudged = factors.copy()
            nudged[term, state] += 1e-6
            change = follow(nudged, strides, 2, width=1)[:, :, 0] - found[:, :, 0]
            derivative = found[:, :, 1 + state * len(PARENTS) + term]
            np.testing.assert_allclose(derivative, change / 1e-6, rtol=1e-4, atol=1e-6)


def test_what_overflows_is_not_finite(factors):
    strides = Strides(np.full((1, 2), 1e300), np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1))
    with np.errstate(all="ignore"):
        assert not np.isfinite(follow(factors, strides, 4, width=1)).any()
