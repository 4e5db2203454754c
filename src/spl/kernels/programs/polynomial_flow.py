"""Where polynomial slopes lead from given states, and how that depends on their factors.

The method is that of Runge and Kutta, of order 4.

A term of the polynomials is an earlier term times a column, so that all terms and their derivatives follow one from another.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.integrate import N_STAGES
from spl.kernels.runtime.compiler import kernel


class Polynomials(NamedTuple):
    """The slopes of D states as polynomials of the states and U inputs."""

    parents: np.ndarray  # int64[P], the earlier term that each is a multiple of; term 0 is the number 1
    columns: np.ndarray  # int64[P], the column that it is multiplied with: states first, then inputs
    factors: np.ndarray  # float64[P, D]


class Strides(NamedTuple):
    """Where to start, and for how long to follow the slopes."""

    start: np.ndarray  # float64[M, D]
    inputs: np.ndarray  # float64[M, U], at the start
    change: np.ndarray  # float64[M, U], of the inputs until the end; they are linear in between
    duration: np.ndarray  # float64[M]


class FlowWork(NamedTuple):
    """Scratch of one thread; W is 1, or 1 + D * P with derivatives."""

    columns: np.ndarray  # float64[D + U]
    terms: np.ndarray  # float64[P]
    by_state: np.ndarray  # float64[P, D], derivatives of the terms
    jacobian: np.ndarray  # float64[D, D], of the slopes by the states
    state: np.ndarray  # float64[D, W]
    start: np.ndarray  # float64[D, W], before a step
    slope: np.ndarray  # float64[D, W]
    total: np.ndarray  # float64[D, W], weighted sum of the slopes of all stages


@kernel
def follow_polynomials(polynomials, strides, n_substeps, ends, work):
    """Fill ends[M, D, W]: first where each stride ends; if W is 1 + D * P, then its derivatives by the factors.

    The derivatives by the factors of the first state's slope come first. What overflows is infinite or NaN.
    """
    n_strides, n_states, width = ends.shape
    for m in range(n_strides):
        for s in range(n_states):
            for w in range(width):
                work.state[s, w] = 0.0
            work.state[s, 0] = strides.start[m, s]
        step = strides.duration[m] / n_substeps
        for i in range(n_substeps * N_STAGES):
            stage = i % N_STAGES
            ahead = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
            _fill_columns(strides, m, (i // N_STAGES + ahead) / n_substeps, work)
            _fill_slopes(polynomials, work)
            _take_stage(stage, step, work)
        for s in range(n_states):
            for w in range(width):
                ends[m, s, w] = work.state[s, w]


@kernel
def _fill_columns(strides, m, share, work):
    n_states = work.state.shape[0]
    for s in range(n_states):
        work.columns[s] = work.state[s, 0]
    for u in range(strides.inputs.shape[1]):
        work.columns[n_states + u] = strides.inputs[m, u] + share * strides.change[m, u]


@kernel
def _fill_slopes(polynomials, work):
    """Fill the slopes of the state and, if wanted, of its derivatives by the factors."""
    n_states, width = work.state.shape
    n_terms = polynomials.parents.size
    work.terms[0] = 1.0
    for p in range(1, n_terms):
        work.terms[p] = work.terms[polynomials.parents[p]] * work.columns[polynomials.columns[p]]
    for s in range(n_states):
        total = 0.0
        for p in range(n_terms):
            total += work.terms[p] * polynomials.factors[p, s]
        work.slope[s, 0] = total
    if width == 1:
        return
    _fill_jacobian(polynomials, work)
    for s in range(n_states):
        for w in range(1, width):
            work.slope[s, w] = 0.0
        for d in range(n_states):
            factor = work.jacobian[s, d]
            for w in range(1, width):
                work.slope[s, w] += factor * work.state[d, w]
        first = 1 + s * n_terms
        for p in range(n_terms):
            work.slope[s, first + p] += work.terms[p]


@kernel
def _fill_jacobian(polynomials, work):
    """Fill the derivatives of the slopes by the states, from those of the terms."""
    n_states = work.state.shape[0]
    for s in range(n_states):
        work.by_state[0, s] = 0.0
        for d in range(n_states):
            work.jacobian[s, d] = 0.0
    for p in range(1, polynomials.parents.size):
        parent, column = polynomials.parents[p], polynomials.columns[p]
        for d in range(n_states):
            own = work.terms[parent] if column == d else 0.0
            work.by_state[p, d] = work.by_state[parent, d] * work.columns[column] + own
        for s in range(n_states):
            for d in range(n_states):
                work.jacobian[s, d] += polynomials.factors[p, s] * work.by_state[p, d]


@kernel
def _take_stage(stage, step, work):
    """Advance from one stage of the method to the next, or from the last one to the end of the step."""
    weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
    ahead = 1.0 if stage == 2 else 0.5
    n_states, width = work.state.shape
    for s in range(n_states):
        for w in range(width):
            if stage == 0:
                work.start[s, w] = work.state[s, w]
                work.total[s, w] = 0.0
            work.total[s, w] += weight * work.slope[s, w]
            slope = work.total[s, w] if stage == 3 else ahead * work.slope[s, w]
            work.state[s, w] = work.start[s, w] + step * slope
