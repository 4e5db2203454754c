"""The way back through each operator, held to its definition: the operator applied to what it returns gives the goal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.doors import open_door
from tests.kernels.program_twins import BINARY, UNARY, power_token
from tests.kernels.search_twins import fewer

from spl.kernels.programs import tokens as tk
from spl.kernels.tree.invert import invert

call_invert = open_door(invert)
N_EXAMPLES = fewer(60, 25)
EMPTY_USER = np.zeros((0, 3), np.int64)
ROOM = 3  # rows before and after the one that is written

# The goals that each operator can have, apart from the ends, where rounding decides
ANY, POSITIVE, ABOVE_1, SMALL, WAVE = (-50.0, 50.0), (1e-3, 50.0), (1.0, 50.0), (-20.0, 20.0), (-0.999, 0.999)
UNARY_GOALS = {
    tk.NEG: ANY, tk.INV: POSITIVE, tk.SQUARE: POSITIVE, tk.CUBE: ANY, tk.SQRT: (0.0, 50.0), tk.CBRT: ANY,
    tk.EXP: POSITIVE, tk.LOG: SMALL, tk.SIN: WAVE, tk.COS: WAVE, tk.TAN: ANY, tk.ASIN: (-1.5, 1.5), tk.ACOS: (0.05, 3.0),
    tk.ATAN: (-1.5, 1.5), tk.SINH: ANY, tk.COSH: ABOVE_1, tk.TANH: WAVE, tk.ABS: (0.0, 50.0),
    power_token(4): POSITIVE, power_token(5): ANY, power_token(-2): POSITIVE, power_token(-3): POSITIVE,
    power_token(1): ANY, power_token(-1): POSITIVE,
}  # fmt: skip
TWO_OPERANDS = (tk.SQUARE, tk.ABS, tk.COSH, tk.SIN, tk.COS, power_token(4), power_token(-2))
BINARY_GOALS = [  # operator, side, goals, other operands
    (tk.ADD, 0, ANY, ANY), (tk.ADD, 1, ANY, ANY), (tk.SUB, 0, ANY, ANY), (tk.SUB, 1, ANY, ANY),
    (tk.MUL, 0, ANY, POSITIVE), (tk.MUL, 1, ANY, POSITIVE), (tk.DIV, 0, ANY, POSITIVE), (tk.DIV, 1, POSITIVE, POSITIVE),
    (tk.POW, 0, POSITIVE, (0.2, 4.0)), (tk.POW, 1, POSITIVE, (1.1, 9.0)), (tk.POW, 1, POSITIVE, (0.1, 0.9)),
    (tk.POW, 0, POSITIVE, (-4.0, -0.2)),
]  # fmt: skip


def apply(token, *operands):
    if token >> tk.KIND_SHIFT == tk.POWER:
        return operands[0] ** float((token & tk.PAYLOAD_MASK) - tk.POWER_OFFSET)
    return (UNARY | BINARY)[token](*operands)


def operand_of(token, goal, sibling=None, side=0, branch=0):
    """Return what the operand must be, or None if there is no such operand."""
    goal = np.array(goal, float)
    sibling = np.zeros(goal.size) if sibling is None else np.array(sibling, float)
    n = goal.size
    out = np.full((2 * ROOM + 1) * n, 1234.5)
    is_there = call_invert(token, side, branch, goal, 0, sibling, 0, out, ROOM * n, n, EMPTY_USER)
    written = out[ROOM * n : (ROOM + 1) * n]
    assert np.all(out[: ROOM * n] == 1234.5)
    assert np.all(out[(ROOM + 1) * n :] == 1234.5)
    return written.copy() if is_there else None


def numbers(bounds, n):
    return st.lists(st.floats(*bounds), min_size=n, max_size=n)


@pytest.mark.slow
@pytest.mark.parametrize("token", list(UNARY_GOALS))
@pytest.mark.parametrize("branch", [0, 1])
@settings(max_examples=N_EXAMPLES)
@given(st.data())
def test_a_unary_operator_of_its_operand_gives_the_goal(token, branch, data):
    goal = np.array(data.draw(numbers(UNARY_GOALS[token], 5)))
    operand = operand_of(token, goal, branch=branch)
    np.testing.assert_allclose(apply(token, operand), goal, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("token", "side", "goals", "siblings"), BINARY_GOALS)
@settings(max_examples=N_EXAMPLES)
@given(st.data())
def test_a_binary_operator_of_its_operands_gives_the_goal(token, side, goals, siblings, data):
    goal, sibling = (np.array(data.draw(numbers(bounds, 5))) for bounds in (goals, siblings))
    operand = operand_of(token, goal, sibling, side)
    values = apply(token, operand, sibling) if side == 0 else apply(token, sibling, operand)
    np.testing.assert_allclose(values, goal, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("token", TWO_OPERANDS)
def test_the_branches_of_an_operator_with_two_operands_differ(token):
    goal = UNARY_GOALS[token][1] * np.array([0.3, 0.6, 0.9])
    assert np.all(operand_of(token, goal, branch=0) != operand_of(token, goal, branch=1))


@pytest.mark.parametrize("token", sorted(set(UNARY_GOALS) - set(TWO_OPERANDS)))
def test_the_branches_of_an_operator_with_one_operand_are_the_same(token):
    goal = UNARY_GOALS[token][1] * np.array([0.3, 0.6, 0.9])
    np.testing.assert_array_equal(operand_of(token, goal, branch=0), operand_of(token, goal, branch=1))


@pytest.mark.parametrize(
    ("token", "goal"),
    [(tk.SQUARE, 4.0), (tk.ABS, 4.0), (tk.COSH, 4.0), (tk.COS, 0.3), (tk.SIN, 0.3), (power_token(4), 16.0)],
)
def test_the_principal_operand_is_the_one_next_to_zero_and_positive(token, goal):
    principal, other = (operand_of(token, [goal], branch=branch)[0] for branch in (0, 1))
    assert principal > 0.0
    assert principal <= abs(other)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("token", [tk.MIN, tk.MAX, tk.USER_BINARY, tk.USER_BINARY + 3])
def test_minimum_maximum_and_binary_operators_of_the_user_have_no_way_back(token, side):
    assert operand_of(token, [1.0, 2.0], [3.0, 1.0], side) is None


@pytest.mark.parametrize("token", [tk.SIGN, tk.USER_UNARY, tk.USER_UNARY + 3, power_token(0)])
def test_the_sign_operators_of_the_user_and_the_power_0_have_no_way_back(token):
    assert operand_of(token, [1.0, 1.0]) is None


@pytest.mark.parametrize(
    ("token", "goal"),
    [
        (tk.INV, 0.0), (tk.SQUARE, -1.0), (tk.SQRT, -1.0), (tk.EXP, 0.0), (tk.EXP, -2.0), (tk.LOG, 1e3), (tk.SIN, 1.1),
        (tk.COS, -1.1), (tk.COSH, 0.9), (tk.TANH, 1.0), (tk.TANH, -1.5), (tk.ABS, -0.1), (power_token(4), -1.0),
        (power_token(-2), 0.0), (power_token(-2), -1.0), (power_token(-3), 0.0), (tk.NEG, np.nan), (tk.CUBE, np.inf),
    ],
)  # fmt: skip
@pytest.mark.parametrize("branch", [0, 1])
@pytest.mark.parametrize("place", [0, 2])
def test_one_goal_that_a_unary_operator_cannot_have_is_enough_for_none(token, goal, branch, place):
    goals = np.full(4, sum(UNARY_GOALS[token]) / 2)
    assert operand_of(token, goals, branch=branch) is not None
    goals[place] = goal
    assert operand_of(token, goals, branch=branch) is None


@pytest.mark.parametrize(("token", "goal"), [(tk.ASIN, 2.0), (tk.ACOS, -0.5), (tk.ACOS, 4.0), (tk.ATAN, 1.8)])
def test_an_angle_that_an_inverse_function_cannot_have_has_no_operand(token, goal):
    assert operand_of(token, [0.5, goal]) is None


@pytest.mark.parametrize(
    ("token", "side", "goal", "sibling"),
    [
        (tk.MUL, 0, 1.0, 0.0), (tk.MUL, 1, 0.0, 0.0), (tk.DIV, 1, 0.0, 2.0), (tk.POW, 0, 0.0, -1.0),
        (tk.POW, 1, 0.0, 2.0), (tk.POW, 1, -1.0, 2.0), (tk.POW, 1, 3.0, 1.0),
        (tk.POW, 1, 3.0, -2.0), (tk.ADD, 0, np.inf, 1.0), (tk.SUB, 1, 1.0, np.nan),
    ],
)  # fmt: skip
def test_one_goal_that_a_binary_operator_cannot_have_is_enough_for_none(token, side, goal, sibling):
    assert operand_of(token, [2.0, 2.0], [3.0, 3.0], side) is not None
    assert operand_of(token, [2.0, goal], [3.0, sibling], side) is None


@pytest.mark.parametrize(
    ("token", "side", "goal", "sibling"),
    [(tk.DIV, 1, 2.0, 0.0), (tk.POW, 0, 0.5, 0.0), (tk.POW, 1, 2.0, 0.0), (tk.POW, 0, -2.0, 0.5)],
)
def test_a_quotient_with_0_above_and_powers_without_a_root_have_no_operand(token, side, goal, sibling):
    assert operand_of(token, [2.0, goal], [3.0, sibling], side) is None


@pytest.mark.parametrize("token", [tk.SIN, tk.COS])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_wave_that_is_beyond_1_by_rounding_has_an_operand(token, sign):
    operand = operand_of(token, [sign * (1 + 1e-12), 0.5])
    assert apply(token, operand)[0] == pytest.approx(sign)


def test_rows_are_read_and_written_at_their_places():
    goal, sibling, out = np.arange(12.0), np.full(12, 0.5), np.zeros(12)
    assert call_invert(tk.MUL, 0, 0, goal, 6, sibling, 3, out, 9, 3, EMPTY_USER)
    np.testing.assert_array_equal(out, [0.0] * 9 + [12.0, 14.0, 16.0])
