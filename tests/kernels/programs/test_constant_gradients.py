"""Derivatives by the constants against central differences of the slow twin, and exact ones where differences fail."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.kernels.program_twins import (
    BINARY,
    CONSTANT,
    LITERAL,
    UNARY,
    X0,
    X1,
    count_constants,
    evaluate_slowly,
    power_token,
    programs,
)

from spl.kernels.programs import tokens as t
from spl.kernels.programs.constant_gradients import differentiate_by_constants
from spl.kernels.programs.evaluate import BLOCK, OK, STACK_TOO_SMALL, Alphabet, stack_rows_needed
from spl.kernels.runtime.user_functions import compile_elementwise

LITERALS = np.array([2.0, -0.5])
ALPHABET = Alphabet(LITERALS, np.zeros((0, 3), dtype=np.int64))
SMOOTH = tuple(opcode for opcode in UNARY if opcode not in (t.ABS, t.SIGN))


def run(program, columns, constants, alphabet=ALPHABET, first=0, n_rows=None):
    """Return the values, the derivatives by each constant, and the status, on the samples from `first` on."""
    tokens = np.array(program, dtype=np.int64)
    n = columns.shape[1] - first
    n_constants = count_constants(program)
    n_rows = stack_rows_needed(tokens, tokens.size) + 2 if n_rows is None else n_rows
    tape = np.empty(tokens.size * BLOCK)
    jacobian = np.full(n_constants * BLOCK, 1234.5)
    with np.errstate(all="ignore"):
        status = differentiate_by_constants(
            tokens, tokens.size, np.array(constants, dtype=float), alphabet, columns, first, n,
            tape, np.empty(n_rows * BLOCK), jacobian, np.empty(2 * tokens.size + 1, dtype=np.int64),
        )  # fmt: skip
    return tape[:n], jacobian.reshape(n_constants, BLOCK)[:, :n], status


def central_differences(program, columns, constants, user=None):
    """Return the derivatives by each constant, and how far they can be trusted, from two widths of differences."""
    rows, doubts = [], []
    with np.errstate(all="ignore"):
        for c in range(len(constants)):
            estimates = []
            for width in (1e-4, 5e-5):
                up, down = np.array(constants, dtype=float), np.array(constants, dtype=float)
                up[c] += width
                down[c] -= width
                above = evaluate_slowly(program, up, LITERALS, columns, user)
                below = evaluate_slowly(program, down, LITERALS, columns, user)
                estimates.append((above - below) / (up[c] - down[c]))
            rows.append((4 * estimates[1] - estimates[0]) / 3)
            doubts.append(np.abs(estimates[1] - estimates[0]))
    return np.array(rows), np.array(doubts)


def assert_agrees(program, columns, constants, user=None, alphabet=ALPHABET):
    _, jacobian, status = run(program, columns, constants, alphabet)
    assert status == OK
    expected, doubt = central_differences(program, columns, constants, user)
    size = np.abs(evaluate_slowly(program, constants, LITERALS, columns, user))
    with np.errstate(all="ignore"):
        is_clear = np.isfinite(expected) & (doubt < 1e-3 * (1 + np.abs(expected))) & (size < 1e6)
        slack = 10 * doubt + 1e-6 * (1 + np.abs(expected) + size)
    np.testing.assert_array_less(np.abs(jacobian - expected)[is_clear], slack[is_clear])
    return is_clear


@pytest.mark.slow
@pytest.mark.parametrize("opcode", UNARY)
def test_the_slope_of_a_unary_operator_follows_its_definition(opcode):
    columns = np.array([[-3.0, -0.9, -0.4, -0.1, 0.2, 0.45, 0.7, 0.95, 1.5, 4.0]])
    is_clear = assert_agrees([opcode, t.MUL, CONSTANT, X0], columns, [1.02])
    assert is_clear.sum() >= 5


@pytest.mark.parametrize("exponent", [-2, -1, 0, 1, 2, 5])
def test_the_slope_of_an_integer_power_follows_its_definition(exponent):
    columns = np.array([[-3.0, -0.9, 0.2, 0.45, 1.5, 4.0]])
    is_clear = assert_agrees([power_token(exponent), t.MUL, CONSTANT, X0], columns, [1.02])
    assert is_clear.sum() >= 5


@pytest.mark.parametrize("opcode", BINARY)
def test_the_slopes_of_a_binary_operator_follow_its_definition(opcode):
    rng = np.random.default_rng(0)
    columns = rng.uniform(0.3, 2.5, (2, 30))
    program = [opcode, t.MUL, CONSTANT, X0, t.ADD, CONSTANT, X1]
    is_clear = assert_agrees(program, columns, [1.3, 0.4])
    assert is_clear.all()


@settings(max_examples=50)
@given(programs(unary=SMOOTH), st.integers(0, 2**32 - 1))
def test_any_derivative_agrees_with_central_differences(program, seed):
    n_constants = count_constants(program)
    assume(n_constants > 0)
    rng = np.random.default_rng(seed)
    assert_agrees(program, rng.uniform(0.2, 2.0, (2, 8)), rng.uniform(0.2, 2.0, n_constants))


@settings(max_examples=40)
@given(programs(), st.integers(0, 2**32 - 1))
def test_the_first_row_of_the_tape_has_the_values(program, seed):
    rng = np.random.default_rng(seed)
    columns = rng.uniform(0.2, 2.0, (2, 5))
    constants = rng.uniform(0.2, 2.0, count_constants(program))
    values, _, _ = run(program, columns, constants)
    expected = evaluate_slowly(program, constants, LITERALS, columns)
    is_tame = np.isfinite(expected) & (np.abs(expected) < 1e3) & (np.abs(expected) > 1e-3)
    np.testing.assert_allclose(values[is_tame], expected[is_tame], rtol=1e-6)


def test_derivatives_are_exact_and_in_the_order_of_the_constants():
    # c0 exp(c1 x) / c2
    x = np.linspace(0.1, 2.0, 7)
    program = [t.DIV, t.MUL, CONSTANT, t.EXP, t.MUL, CONSTANT, X0, CONSTANT]
    _, jacobian, _ = run(program, x[np.newaxis], [1.5, -0.7, 2.5])
    e = np.exp(-0.7 * x)
    np.testing.assert_allclose(jacobian, [e / 2.5, 1.5 * x * e / 2.5, -1.5 * e / 2.5**2], rtol=1e-14)


def test_samples_before_the_first_are_left_out():
    x = np.arange(1.0, 9.0)
    values, jacobian, _ = run([t.MUL, CONSTANT, X0], x[np.newaxis], [3.0], first=5)
    np.testing.assert_array_equal(values, 3.0 * x[5:])
    np.testing.assert_array_equal(jacobian[0], x[5:])


@pytest.mark.parametrize("opcode", [t.SIN, t.COS])
def test_the_slopes_at_huge_angles_are_right(opcode):
    x = np.array([0.5, 3e5, 1e300, -7.0])
    _, jacobian, _ = run([opcode, t.ADD, CONSTANT, X0], x[np.newaxis], [0.0])
    np.testing.assert_allclose(jacobian[0], np.cos(x) if opcode == t.SIN else -np.sin(x), rtol=1e-15)


def test_equal_operands_of_min_and_max_go_with_the_first():
    for opcode in (t.MIN, t.MAX):
        _, jacobian, _ = run([opcode, CONSTANT, CONSTANT], np.ones((1, 3)), [2.0, 2.0])
        np.testing.assert_array_equal(jacobian, [[1.0] * 3, [0.0] * 3])


def test_a_power_of_zero_has_the_slopes_of_its_limits():
    x = np.zeros((1, 2))
    _, jacobian, _ = run([t.POW, t.MUL, CONSTANT, X0, CONSTANT], x, [1.0, 2.0])
    np.testing.assert_array_equal(jacobian, np.zeros((2, 2)))


def test_a_part_without_constants_may_leave_its_slope_undefined():
    # sqrt(0) has no slope, but no constant is below it
    _, jacobian, _ = run([t.ADD, CONSTANT, t.SQRT, X0], np.zeros((1, 3)), [1.0])
    np.testing.assert_array_equal(jacobian, [[1.0] * 3])


@pytest.mark.slow
def test_operators_of_the_user_are_differentiated_by_their_own_functions():
    functions = {
        t.USER_UNARY + 1: (lambda x: x * np.exp(x), lambda x: (1.0 + x) * np.exp(x)),
        t.USER_BINARY + 2: (lambda a, b: a * a * b, lambda a, b: 2.0 * a * b, lambda a, b: a * a),
    }
    user = np.zeros((2 * t.MAX_USER, 3), dtype=np.int64)
    alive = []
    for token, (value, *slopes) in functions.items():
        arity = len(slopes)
        row = token - t.USER_UNARY if arity == 1 else t.MAX_USER + token - t.USER_BINARY
        for column, function in enumerate((value, *slopes)):
            alive.append(compile_elementwise(function, arity))
            user[row, column] = alive[-1].address
    program = [t.USER_BINARY + 2, t.USER_UNARY + 1, t.MUL, CONSTANT, X0, t.ADD, CONSTANT, X1]
    columns = np.random.default_rng(0).uniform(0.2, 1.5, (2, 12))
    twins = {token: value for token, (value, *_) in functions.items()}
    assert assert_agrees(program, columns, [0.8, 0.3], twins, Alphabet(LITERALS, user)).all()


@pytest.mark.parametrize("program", [[CONSTANT], [t.SIN, CONSTANT], [t.ADD, CONSTANT, t.MUL, CONSTANT, LITERAL]])
def test_too_few_rows_are_reported(program):
    n_rows = {1: 1, 2: 2, 5: 3}[len(program)]
    constants = np.ones(count_constants(program))
    assert run(program, np.ones((1, 4)), constants, n_rows=n_rows)[2] == OK
    assert run(program, np.ones((1, 4)), constants, n_rows=n_rows - 1)[2] == STACK_TOO_SMALL
