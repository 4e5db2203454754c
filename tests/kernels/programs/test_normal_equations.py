"""Residuals, normal equations and damped steps against numpy."""

import numpy as np
import pytest
from tests.kernels.doors import open_door
from tests.kernels.program_twins import evaluate_slowly
from tests.kernels.programs.test_fit import EMPTY_USER, make_table

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs.constant_roles import assign_roles
from spl.kernels.programs.evaluate import BLOCK, Alphabet
from spl.kernels.programs.normal_equations import FIT_WORK, dot, normal_equations, solve_step, squared_error
from spl.kernels.runtime.compiler import make_record

WORDS = Vocabulary(("x", "y"))
ALPHABET = Alphabet(np.zeros(1), EMPTY_USER)
STEP = 1e-6

call_roles, call_error = open_door(assign_roles), open_door(squared_error)
call_normal, call_solve = open_door(normal_equations), open_door(solve_step)


def make_case(text, n_rows=30, seed=0):
    """Return tokens, scratch with the roles of the constants, and a weighted table."""
    rng = np.random.default_rng(seed)
    tokens = np.array(parse_expression(text, WORDS).tokens, np.int32)
    work = make_record(FIT_WORK)
    assert call_roles(tokens, tokens.size, work)
    table = make_table(rng.uniform(0.5, 2.0, (2, n_rows)), rng.standard_normal(n_rows), rng.uniform(0.2, 3.0, n_rows))
    return tokens, work, table


def values_of(tokens, constants, table):
    return evaluate_slowly(tokens.tolist(), constants, (0.0,), table.columns)


def jacobian_of(tokens, constants, table):
    columns = []
    for k in range(len(constants)):
        up, down = constants.copy(), constants.copy()
        up[k] += STEP
        down[k] -= STEP
        columns.append((values_of(tokens, up, table) - values_of(tokens, down, table)) / (2 * STEP))
    return np.array(columns)


@pytest.mark.parametrize("n_rows", [1, 30, BLOCK + 5])
def test_the_squared_error_is_the_weighted_sum_over_the_first_rows(n_rows):
    tokens, work, table = make_case("C*exp(C*x) + y", n_rows)
    constants = np.array([0.7, -0.4])
    squares = table.weights * (table.target - values_of(tokens, constants, table)) ** 2
    for n in {1, n_rows // 2 + 1, n_rows}:
        found = call_error(tokens, tokens.size, constants, ALPHABET, table, n, work)
        assert found == pytest.approx(squares[:n].sum(), rel=1e-12)


def test_a_program_outside_its_domain_has_an_infinite_error():
    tokens, work, table = make_case("log(x - C)")
    constants = np.array([5.0])
    assert call_error(tokens, tokens.size, constants, ALPHABET, table, 30, work) == np.inf
    assert call_normal(tokens, tokens.size, constants, ALPHABET, table, 30, work) == np.inf


@pytest.mark.parametrize("n_rows", [7, BLOCK + 5])
@pytest.mark.parametrize("text", ["C*x + C", "C*exp(C*x) + C*y", "C/(C + x)"])
def test_the_system_is_that_of_the_jacobian(text, n_rows):
    tokens, work, table = make_case(text, n_rows)
    constants = np.linspace(0.6, 1.1, int(work.n_constants))
    error = call_normal(tokens, tokens.size, constants, ALPHABET, table, n_rows, work)
    residual = table.target - values_of(tokens, constants, table)
    jacobian = jacobian_of(tokens, constants, table)
    n = constants.size
    assert error == pytest.approx(np.sum(table.weights * residual**2), rel=1e-12)
    np.testing.assert_allclose(work.slope[:n], jacobian @ (table.weights * residual), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(work.gram[:n, :n], (jacobian * table.weights) @ jacobian.T, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("damping", [0.0, 1e-3, 2.0])
def test_the_step_solves_the_system_with_only_the_nonlinear_constants_damped(damping):
    tokens, work, table = make_case("C*exp(C*x) + C*y")
    constants = np.array([0.8, 0.6, 1.1])
    call_normal(tokens, tokens.size, constants, ALPHABET, table, 30, work)
    order = work.order[: work.n_fitted].tolist()
    gram, slope = work.gram[np.ix_(order, order)].copy(), work.slope[order].copy()
    gain = call_solve(work, damping)
    assert (work.n_linear, work.n_fitted) == (2, 3)
    # The damped pivot is that of the nonlinear constant after the linear ones are eliminated
    linear, other = slice(0, 2), slice(2, 3)
    schur = gram[other, other] - gram[other, linear] @ np.linalg.solve(gram[linear, linear], gram[linear, other])
    damped = gram.copy()
    damped[2, 2] += damping * schur[0, 0]
    np.testing.assert_allclose(work.step[:3], np.linalg.solve(damped, slope), rtol=1e-7)
    assert gain == pytest.approx(slope[linear] @ np.linalg.solve(gram[linear, linear], slope[linear]), rel=1e-9)


def test_the_gain_is_how_much_the_linear_constants_lower_the_error():
    tokens, work, table = make_case("C*x + C*y + C")
    constants = np.array([3.0, -1.0, 0.5])
    error = call_normal(tokens, tokens.size, constants, ALPHABET, table, 30, work)
    gain = call_solve(work, 0.0)
    constants[work.order[:3]] += work.step[:3]
    assert call_error(tokens, tokens.size, constants, ALPHABET, table, 30, work) == pytest.approx(
        error - gain, rel=1e-9
    )


def test_a_constant_that_another_replaces_does_not_move():
    tokens, work, table = make_case("C*x + C*(x + 0)")
    call_normal(tokens, tokens.size, np.array([1.0, 1.0]), ALPHABET, table, 30, work)
    call_solve(work, 0.0)
    assert work.step[1] == 0.0
    assert work.step[0] != 0.0


def test_a_constant_without_effect_does_not_move():
    tokens, work, table = make_case("C*x + C*(y - y)")
    call_normal(tokens, tokens.size, np.array([1.0, 1.0]), ALPHABET, table, 30, work)
    call_solve(work, 0.0)
    assert work.step[1] == 0.0
    assert np.isfinite(work.step[0])


def test_dot_products_are_of_parts_of_arrays(rng):
    a, b = rng.standard_normal((2, 12))
    assert dot(a, 2, b, 5, 6) == pytest.approx(a[2:8] @ b[5:11], rel=1e-12)
    assert dot(a, 0, b, 0, 0) == 0.0
