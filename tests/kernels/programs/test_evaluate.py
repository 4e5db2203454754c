"""The evaluation of programs against the slow twin, which follows the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
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
from spl.kernels.programs.evaluate import BLOCK, OK, STACK_TOO_SMALL, Alphabet, evaluate_all, stack_rows_needed

LITERALS = np.array([2.0, -0.5])
ALPHABET = Alphabet(LITERALS, np.zeros((0, 3), dtype=np.int64))
SPECIAL = np.array(
    [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1e-320,
        -1e-320,
        1e300,
        -1e300,
        7.25,
    ]
)


def run(program, columns, constants=(), n_rows=None):
    """Return the values and the status of a program on all samples."""
    tokens = np.array(program, dtype=np.int64)
    n_rows = stack_rows_needed(tokens, tokens.size) if n_rows is None else n_rows
    out = np.full(columns.shape[1], 1234.5)
    stack = np.empty(n_rows * BLOCK)
    constants = np.array(constants, dtype=float)
    with np.errstate(all="ignore"):
        status = evaluate_all(tokens, tokens.size, constants, ALPHABET, columns, out, stack)
    return out, status


@pytest.mark.slow
@settings(max_examples=60)
@given(programs(), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_any_program_has_the_values_of_its_definition(program, n_samples, seed):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(2, n_samples))
    constants = rng.normal(size=count_constants(program))
    values, status = run(program, columns, constants)
    expected = evaluate_slowly(program, constants, LITERALS, columns)
    assert status == OK
    # Differences in the last place of an argument grow with the slopes above it: compare where those are small.
    nudged = evaluate_slowly(program, constants * (1 + 1e-14), LITERALS, columns * (1 + 1e-14))
    with np.errstate(all="ignore"):
        slack = 1e-12 * np.abs(expected) + 10 * np.abs(nudged - expected) + 1e-300
        is_stable = np.isfinite(slack) & (np.abs(nudged - expected) <= 1e-6 * np.abs(expected))
        np.testing.assert_array_less(np.abs(values - expected)[is_stable], slack[is_stable] * 1.0000001)
    assert np.isnan(values[np.isnan(expected) & np.isnan(nudged)]).all()


@pytest.mark.parametrize("opcode", UNARY)
def test_a_unary_operator_follows_its_definition_at_special_values(opcode):
    values, _ = run([opcode, X0], SPECIAL[np.newaxis])
    expected = evaluate_slowly([opcode, X0], (), LITERALS, SPECIAL[np.newaxis])
    np.testing.assert_allclose(values, expected, rtol=1e-15)


@pytest.mark.parametrize("exponent", [-3, -1, 0, 1, 2, 3, 7, 15, 16, 33, 100])
def test_an_integer_power_follows_its_definition_at_special_values(exponent):
    program = [power_token(exponent), X0]
    values, _ = run(program, SPECIAL[np.newaxis])
    np.testing.assert_allclose(values, evaluate_slowly(program, (), LITERALS, SPECIAL[np.newaxis]), rtol=1e-14)


@pytest.mark.parametrize("opcode", BINARY)
def test_a_binary_operator_follows_its_definition_at_special_values(opcode):
    columns = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    for program in ([opcode, X0, X1], [opcode, t.NEG, X0, X1]):
        values, _ = run(program, columns)
        np.testing.assert_allclose(values, evaluate_slowly(program, (), LITERALS, columns), rtol=1e-15)


@pytest.mark.parametrize(
    ("program", "x"),
    [
        ([t.DIV, LITERAL, X0], 0.0),
        ([t.INV, X0], -0.0),
        ([t.LOG, X0], 0.0),
        ([t.SQRT, X0], -1e-300),
        ([t.ASIN, X0], 1.1),
        ([t.ACOS, X0], -1.1),
        ([t.POW, X0, LITERAL + 1], 0.0),
        ([t.POW, X0, LITERAL + 1], -2.0),
        ([power_token(-1), X0], 0.0),
        ([t.MAX, X0, LITERAL], np.nan),
        ([t.MIN, LITERAL, X0], np.nan),
        ([t.SIGN, X0], np.nan),
    ],
)
def test_leaving_a_domain_gives_nan(program, x):
    values, _ = run(program, np.full((1, 9), x))
    assert np.isnan(values).all()


@pytest.mark.parametrize("opcode", [t.SIN, t.COS, t.TAN])
def test_huge_angles_do_not_change_their_neighbours(opcode):
    x = np.random.default_rng(0).uniform(-50, 50, 40)
    alone, _ = run([opcode, X0], x[np.newaxis])
    x[[3, 17]] = 1e300, -2e5
    together, _ = run([opcode, X0], x[np.newaxis])
    is_near = np.abs(x) < 100
    np.testing.assert_allclose(together[is_near], alone[is_near], rtol=4e-16)
    np.testing.assert_allclose(together, UNARY[opcode](x), rtol=1e-15)


def test_a_power_beside_a_special_one_stays_the_same():
    a, b = np.random.default_rng(0).uniform(0.1, 3, (2, 40))
    a[7], b[7] = -2.0, 3.0
    values, _ = run([t.POW, X0, X1], np.array([a, b]))
    np.testing.assert_allclose(values, a**b, rtol=4e-16)


@pytest.mark.parametrize("n_samples", [1, 3, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5])
def test_blocks_join_without_a_seam(n_samples):
    columns = np.random.default_rng(0).uniform(0.1, 2.0, (2, n_samples))
    program = [t.SUB, t.MUL, CONSTANT, X0, t.DIV, t.ADD, X0, X1, t.SQRT, X1]
    values, _ = run(program, columns, [1.5])
    np.testing.assert_allclose(values, evaluate_slowly(program, [1.5], LITERALS, columns), rtol=1e-13)


def test_constants_are_numbered_first_token_first():
    values, _ = run([t.SUB, CONSTANT, t.DIV, CONSTANT, CONSTANT], np.ones((1, 5)), [10.0, 8.0, 2.0])
    np.testing.assert_array_equal(values, 6.0)


@settings(max_examples=40)
@given(programs())
def test_no_row_too_many_is_asked_for_and_a_missing_one_is_reported(program):
    tokens = np.array(program, dtype=np.int64)
    n_rows = stack_rows_needed(tokens, tokens.size)
    assert 1 <= n_rows <= (len(program) + 1) / 2
    columns = np.ones((2, 7))
    constants = np.ones(count_constants(program))
    assert run(program, columns, constants, n_rows)[1] == OK
    assert run(program, columns, constants, 0) == (pytest.approx(np.full(7, 1234.5)), STACK_TOO_SMALL)


def test_a_stack_that_is_too_small_is_not_written_beyond_its_end():
    program = [t.ADD, t.ADD, t.ADD, X0, t.SIN, X0, t.SIN, X0, t.SIN, X0]
    columns = np.ones((1, BLOCK))
    memory = np.full(4 * BLOCK, -7.0)
    out = np.empty(BLOCK)
    tokens = np.array(program, dtype=np.int64)
    status = evaluate_all(tokens, tokens.size, np.zeros(0), ALPHABET, columns, out, memory[: 2 * BLOCK])
    assert status == STACK_TOO_SMALL
    assert (memory[2 * BLOCK :] == -7.0).all()
