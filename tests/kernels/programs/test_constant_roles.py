"""Roles of constants against derivatives: a program is affine in its linear constants, all together."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.kernels.doors import open_door
from tests.kernels.program_twins import CONSTANT, count_constants, evaluate_slowly, programs
from tests.kernels.search_twins import fewer

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.constant_roles import FACTOR, FROZEN, INSIDE, LINEAR, assign_roles
from spl.kernels.programs.normal_equations import FIT_WORK
from spl.kernels.runtime.compiler import make_record

WORDS = Vocabulary(("x", "y"))
COLUMNS = np.random.default_rng(4).uniform(0.5, 2.0, (2, 7))
LITERALS = (2.0, -0.5)

call_assign = open_door(assign_roles)


def assign(tokens):
    """Return whether there are few enough constants, and the scratch of the fit."""
    work = make_record(FIT_WORK)
    return bool(call_assign(np.array(tokens, np.int32), len(tokens), work)), work


def roles_of(text):
    tokens = parse_expression(text, WORDS).tokens
    is_possible, work = assign(tokens)
    assert is_possible
    return work.role[: work.n_constants].tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C*x + C", [LINEAR, LINEAR]),
        ("C*sin(C*x) - C", [LINEAR, INSIDE, LINEAR]),
        ("x/(y + C)", [FACTOR]),
        ("C/(y + C)", [LINEAR, FACTOR]),
        ("(C + x)*(C + y)", [FACTOR, LINEAR]),
        ("C*(C*x)", [FROZEN, LINEAR]),
        ("(C*x)*C", [LINEAR, FROZEN]),
        ("-C*x", [LINEAR]),
        ("exp(C)*x", [INSIDE]),
        ("x**C", [INSIDE]),
        ("(C*x + C)*y/2", [LINEAR, LINEAR]),
        ("x + y", []),
    ],
)
def test_roles_of_simple_programs(text, expected):
    assert roles_of(text) == expected


def values_at(program, constants):
    return evaluate_slowly(program, constants, LITERALS, COLUMNS)


@settings(max_examples=fewer(300, 60), deadline=None)
@given(programs(max_depth=4))
def test_a_program_is_affine_in_its_linear_constants_together(program):
    is_possible, work = assign(program)
    if not is_possible:
        assert count_constants(program) > tk.MAX_CONSTANTS
        return
    constants = np.random.default_rng(0).uniform(0.5, 1.5, count_constants(program))
    is_linear = work.role[: constants.size] == LINEAR
    step = np.where(is_linear, np.random.default_rng(1).uniform(-1.0, 1.0, constants.size), 0.0)
    with np.errstate(all="ignore"):
        ends, middle = (
            values_at(program, constants + step) + values_at(program, constants - step),
            values_at(program, constants),
        )
        scale = np.abs(ends) + np.abs(middle)
        is_finite = np.isfinite(ends) & np.isfinite(middle) & (scale < 1e6)
        np.testing.assert_allclose(ends[is_finite], 2 * middle[is_finite], rtol=1e-7, atol=1e-7)


@settings(max_examples=fewer(200, 40), deadline=None)
@given(programs(max_depth=4))
def test_the_order_has_every_constant_but_the_frozen_ones_linear_ones_first(program):
    is_possible, work = assign(program)
    if not is_possible:
        return
    roles = work.role[: work.n_constants].tolist()
    order = work.order[: work.n_fitted].tolist()
    assert order == sorted((k for k, role in enumerate(roles) if role != FROZEN), key=lambda k: (roles[k], k))
    assert work.n_linear == roles.count(LINEAR)
    assert work.n_outside == roles.count(LINEAR) + roles.count(FACTOR)


def test_a_frozen_constant_can_be_replaced_by_others():
    text = "C*(C*x + C*y)"
    assert roles_of(text) == [FROZEN, LINEAR, LINEAR]
    tokens = parse_expression(text, WORDS).tokens
    values = [evaluate_slowly(tokens, constants, (), COLUMNS) for constants in ((3.0, 2.0, 5.0), (1.0, 6.0, 15.0))]
    np.testing.assert_allclose(*values)


@pytest.mark.parametrize(("n_constants", "expected"), [(tk.MAX_CONSTANTS, True), (tk.MAX_CONSTANTS + 1, False)])
def test_too_many_constants_are_refused(n_constants, expected):
    assert assign([tk.ADD] * (n_constants - 1) + [CONSTANT] * n_constants)[0] == expected
