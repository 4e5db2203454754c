"""The integration of many segments against the slow twin: one segment, one step at a time."""

from itertools import pairwise

import numpy as np
import pytest
from tests.kernels.program_twins import CONSTANT, X0, X1, evaluate_slowly

from spl.kernels.programs import tokens as t
from spl.kernels.programs.evaluate import BLOCK, OK, STACK_TOO_SMALL, Alphabet
from spl.kernels.programs.integrate import Course, Equations, IntegrateWork, integrate

LITERALS = np.array([2.0])
ALPHABET = Alphabet(LITERALS, np.zeros((0, 3), dtype=np.int64))
X2 = X1 + 1

PREY = [t.SUB, t.MUL, CONSTANT, X0, t.MUL, X0, X1]
HUNTER = [t.SUB, t.MUL, X0, X1, t.MUL, CONSTANT, X1]
DRIVEN = [t.SUB, X2, t.SIN, X0]  # of the columns position, velocity, input


def pack(programs, constants):
    tokens = np.zeros((len(programs), max(map(len, programs))), np.int32)
    numbers = np.zeros((len(programs), 3))
    for p, (program, values) in enumerate(zip(programs, constants, strict=True)):
        tokens[p, : len(program)] = program
        numbers[p, : len(values)] = values
    return Equations(tokens, np.array([len(p) for p in programs], np.int64), numbers, ALPHABET)


def make_work(n_states, n_columns, n_rows=10):
    start, slope, total = np.empty((3, n_states, BLOCK))
    return IntegrateWork(np.empty((n_columns, BLOCK)), start, slope, total, np.empty(BLOCK), np.empty(n_rows * BLOCK))


def run(equations, initial, times, *, inputs=None, parameters=None, bounds=1e6, n_substeps=1, is_map=False, n_rows=10):
    n_states, n_segments = initial.shape
    inputs = np.zeros((0, *times.shape)) if inputs is None else inputs
    parameters = np.zeros((0, n_segments)) if parameters is None else parameters
    states = np.full((n_states, *times.shape), 77.0)
    states[:, :, 0] = initial
    work = make_work(n_states, n_states + len(inputs) + len(parameters), n_rows)
    course = Course(times, inputs, parameters)
    status = integrate(equations, course, np.full(n_states, bounds), n_substeps, is_map, states, work)
    return states, status


def integrate_slowly(programs, constants, initial, times, inputs, n_substeps):
    """Return the states [S, K] of one segment; the slopes of the first states are the others, if there are fewer programs."""

    def slopes(time, state):
        columns = np.array([*state, *(np.interp(time, times, row) for row in inputs)])[:, np.newaxis]
        values = [evaluate_slowly(p, c, LITERALS, columns)[0] for p, c in zip(programs, constants, strict=True)]
        return np.array([*state[len(programs) :], *values])

    states = [initial]
    for a, b in pairwise(times):
        state, h = states[-1], (b - a) / n_substeps
        for i in range(n_substeps):
            k1 = slopes(a + i * h, state)
            k2 = slopes(a + (i + 0.5) * h, state + h / 2 * k1)
            k3 = slopes(a + (i + 0.5) * h, state + h / 2 * k2)
            k4 = slopes(a + (i + 1) * h, state + h * k3)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(state)
    return np.array(states).T


def uneven_times(rng, n_segments, n_samples):
    return np.cumsum(rng.uniform(0.01, 0.1, (n_segments, n_samples)), axis=1)


@pytest.mark.parametrize("n_substeps", [1, 3])
def test_segments_follow_the_definition(rng, n_substeps):
    programs, constants = [PREY, HUNTER], [[1.5], [0.7]]
    initial, times = rng.uniform(0.5, 2, (2, 5)), uneven_times(rng, 5, 7)
    states, status = run(pack(programs, constants), initial, times, n_substeps=n_substeps)
    assert status == OK
    for m in range(5):
        expected = integrate_slowly(programs, constants, initial[:, m], times[m], [], n_substeps)
        np.testing.assert_allclose(states[:, m], expected, rtol=1e-12)


def test_a_second_order_system_with_an_input_follows_the_definition(rng):
    initial, times, inputs = rng.normal(size=(2, 4)), uneven_times(rng, 4, 6), rng.normal(size=(1, 4, 6))
    states, _ = run(pack([DRIVEN], [[]]), initial, times, inputs=inputs, n_substeps=2)
    for m in range(4):
        expected = integrate_slowly([DRIVEN], [[]], initial[:, m], times[m], inputs[:, m], 2)
        np.testing.assert_allclose(states[:, m], expected, rtol=1e-12)


def test_parameters_stand_for_constants(rng):
    initial, times = rng.uniform(0.5, 2, (2, 3)), uneven_times(rng, 3, 5)
    states, _ = run(pack([PREY, HUNTER], [[1.5], [0.7]]), initial, times)
    with_columns = [[t.SUB, t.MUL, X2, X0, t.MUL, X0, X1], [t.SUB, t.MUL, X0, X1, t.MUL, X2 + 1, X1]]
    parameters = np.tile([[1.5], [0.7]], 3)
    np.testing.assert_allclose(
        run(pack(with_columns, [[], []]), initial, times, parameters=parameters)[0], states, rtol=1e-14
    )


def test_a_map_takes_one_step_for_each_time(rng):
    logistic = [t.MUL, t.MUL, CONSTANT, X0, t.SUB, t.DIV, X0, X0, X0]
    states, _ = run(pack([logistic], [[3.7]]), np.array([[0.3]]), np.zeros((1, 6)), is_map=True)
    x = [0.3]
    for _ in range(5):
        x.append(3.7 * x[-1] * (1 - x[-1]))
    np.testing.assert_allclose(states[0, 0], x, rtol=1e-12)


def test_more_segments_than_a_block_change_nothing(rng):
    n = BLOCK + 3
    equations = pack([PREY, HUNTER], [[1.5], [0.7]])
    initial, times = rng.uniform(0.5, 2, (2, n)), uneven_times(rng, n, 3)
    states, _ = run(equations, initial, times)
    alone, _ = run(equations, initial[:, -1:], times[-1:])
    np.testing.assert_allclose(states[:, -1:], alone, rtol=1e-13)


def test_a_repeated_time_leaves_the_state_as_it_is():
    times = np.array([[0.0, 0.1, 0.1, 0.1]])
    states, _ = run(pack([PREY, HUNTER], [[1.5], [0.7]]), np.ones((2, 1)), times)
    np.testing.assert_array_equal(states[:, :, 2:], states[:, :, 1:2].repeat(2, axis=2))


def test_a_segment_that_leaves_its_domain_or_its_bounds_is_nan_from_there_on():
    growth, fall = [t.MUL, CONSTANT, X0], [t.NEG, t.SQRT, X1]
    times = np.tile(np.arange(6.0), (3, 1))
    initial = np.array([[1.0, 1.0, 100.0], [-1.0, 1e4, 1e4]])
    states, _ = run(pack([growth, fall], [[1.0], []]), initial, times, bounds=1e4)
    lost = np.isnan(states)
    assert (lost[0] == lost[1]).all()
    assert lost[0].sum(axis=1).tolist() == [5, 0, 1]
    assert (np.diff(lost.astype(int), axis=2) >= 0).all()


def test_a_map_that_was_lost_does_not_come_back():
    states, _ = run(pack([[t.LOG, X0], [CONSTANT]], [[], [1.0]]), -np.ones((2, 1)), np.zeros((1, 4)), is_map=True)
    assert np.isnan(states[:, 0, 1:]).all()


def test_a_stack_that_is_too_small_is_reported():
    assert run(pack([PREY, HUNTER], [[1.0], [1.0]]), np.ones((2, 1)), np.zeros((1, 2)), n_rows=0)[1] == STACK_TOO_SMALL
