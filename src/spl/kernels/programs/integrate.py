"""Trajectories of a system of equations: many short segments at once, by the classical Runge-Kutta method of order 4.

Rows run over segments, so that the programs are evaluated on many segments at once. Each segment may have its own spacing of times. A
repeated time leaves the state unchanged, which pads segments that are shorter than others.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.evaluate import BLOCK, OK, Alphabet, evaluate
from spl.kernels.runtime.compiler import kernel

N_STAGES = 4


class Equations(NamedTuple):
    """The programs of a system, one per row."""

    tokens: np.ndarray  # int32[P, L]
    lengths: np.ndarray  # int64[P]
    constants: np.ndarray  # float64[P, C], each program's first
    alphabet: Alphabet


class Course(NamedTuple):
    """The times at which the states of each segment are wanted, with its inputs and parameters."""

    times: np.ndarray  # float64[M, K], never falling
    inputs: np.ndarray  # float64[U, M, K], linear between the times
    parameters: np.ndarray  # float64[Q, M], constant along a segment


class IntegrateWork(NamedTuple):
    """Scratch of one thread."""

    columns: np.ndarray  # float64[S + U + Q, BLOCK], where the programs are evaluated
    start: np.ndarray  # float64[S, BLOCK], the states before a step
    slope: np.ndarray  # float64[S, BLOCK], the slopes of one stage
    total: np.ndarray  # float64[S, BLOCK], the weighted sum of the slopes of all stages
    step: np.ndarray  # float64[BLOCK], the length of each segment's step
    stack: np.ndarray  # float64[rows * BLOCK], as `evaluate` needs it


@kernel
def integrate(equations, course, bounds, n_substeps, is_discrete, states, work):
    """Fill states[S, M, K] from the first states states[:, :, 0] of each segment; return a status like `evaluate`.

    The slopes of the last P states are the values of the P programs over the columns states, inputs, parameters. If there are more
    states than programs, the slope of each of the first is the state P places on: a position and its velocity. For a map, the programs
    give the next states themselves. Once a state is not a number or exceeds its bound in bounds[S], all states of that segment are
    NaN.
    """
    n_segments, n_samples = course.times.shape
    for first in range(0, n_segments, BLOCK):
        n = min(BLOCK, n_segments - first)
        load_states(states, course, first, n, work)
        for k in range(n_samples - 1):
            status = advance(equations, course, first, n, k, n_substeps, is_discrete, work)
            if status != OK:
                return status
            store_states(states, bounds, first, n, k + 1, work)
    return OK


@kernel
def load_states(states, course, first, n, work):
    """Copy the first states and the parameters of n segments to the columns on which the programs are evaluated."""
    n_states = states.shape[0]
    for s in range(n_states):
        for j in range(n):
            work.columns[s, j] = states[s, first + j, 0]
    n_before = n_states + course.inputs.shape[0]
    for q in range(course.parameters.shape[0]):
        for j in range(n):
            work.columns[n_before + q, j] = course.parameters[q, first + j]


@kernel
def store_states(states, bounds, first, n, k, work):
    """Store the states at the k-th time; NaN for segments that have left their bounds, now or before."""
    n_states = states.shape[0]
    for j in range(n):
        is_lost = np.isnan(states[0, first + j, k - 1])
        for s in range(n_states):
            is_lost |= not abs(work.columns[s, j]) <= bounds[s]
        for s in range(n_states):
            if is_lost:
                work.columns[s, j] = np.nan
            states[s, first + j, k] = work.columns[s, j]


@kernel
def advance(equations, course, first, n, k, n_substeps, is_discrete, work):
    """Advance n segments from their k-th time to the next; return a status."""
    if is_discrete:
        status = fill_slopes(equations, course, first, n, k, 0.0, work)
        for s in range(work.start.shape[0]):
            for j in range(n):
                work.columns[s, j] = work.slope[s, j]
        return status
    for j in range(n):
        work.step[j] = (course.times[first + j, k + 1] - course.times[first + j, k]) / n_substeps
    for i in range(n_substeps * N_STAGES):
        stage = i % N_STAGES
        ahead = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
        status = fill_slopes(equations, course, first, n, k, (i // N_STAGES + ahead) / n_substeps, work)
        if status != OK:
            return status
        take_stage(stage, n, work)
    return OK


@kernel
def take_stage(stage, n, work):
    """Advance from one stage of the method to the next, or from the last one to the end of the step."""
    weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
    ahead = 1.0 if stage == 2 else 0.5
    for s in range(work.start.shape[0]):
        for j in range(n):
            if stage == 0:
                work.start[s, j] = work.columns[s, j]
                work.total[s, j] = 0.0
            work.total[s, j] += weight * work.slope[s, j]
            slope = work.total[s, j] if stage == 3 else ahead * work.slope[s, j]
            work.columns[s, j] = work.start[s, j] + work.step[j] * slope


@kernel
def fill_slopes(equations, course, first, n, k, share, work):
    """Fill the slopes of n segments at the states in `columns`, a share of the way from the k-th time on."""
    n_states = work.start.shape[0]
    n_programs = equations.lengths.size
    n_given = n_states - n_programs  # states whose slopes are other states
    for i in range(course.inputs.shape[0]):
        for j in range(n):
            before = course.inputs[i, first + j, k]
            after = course.inputs[i, first + j, k + 1]
            work.columns[n_states + i, j] = before + share * (after - before) if share > 0.0 else before
    for s in range(n_given):
        for j in range(n):
            work.slope[s, j] = work.columns[n_programs + s, j]
    for p in range(n_programs):
        constants = equations.constants[p]
        tokens = equations.tokens[p]
        status = evaluate(tokens, equations.lengths[p], constants, equations.alphabet, work.columns, 0, n, work.stack)
        if status != OK:
            return status
        for j in range(n):
            work.slope[n_given + p, j] = work.stack[j]
    return OK
