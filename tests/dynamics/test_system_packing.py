"""Systems as arrays, and their slopes."""

import pickle

import numpy as np
import pytest

from spl.dynamics.system_packing import constants_as_columns, evaluate_slopes, pack_system
from spl.errors import DataError
from spl.formulas.operators import Operator
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression


def read(text, *names, own=()):
    return parse_expression(text, Vocabulary(names, own=own))


def make_lorenz():
    programs = [read(text, "x", "y", "z") for text in ("C * (y - x)", "x * (C - z) - y", "x*y - C*z")]
    return System(("x", "y", "z"), (), tuple(programs)).with_constants([10, 28, 8 / 3])


def test_slopes_are_the_values_of_the_programs(rng):
    x, y, z = rows = rng.normal(size=(3, 1100))
    expected = [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]
    np.testing.assert_allclose(evaluate_slopes(make_lorenz(), rows), expected, rtol=1e-12, atol=1e-12)


def test_slopes_are_nan_outside_the_domain():
    system = System(("x", "y"), (), (read("sqrt(x)", "x", "y"), read("y", "x", "y")))
    np.testing.assert_array_equal(evaluate_slopes(system, [[-1.0], [3.0]]), [[np.nan], [3.0]])


@pytest.mark.slow
def test_programs_may_differ_in_literals_and_operators():
    half, cut = Operator("half", lambda a: a / 2), Operator("cut", lambda a: a - 1)
    names = ("x", "y")
    programs = (read("7 * half(x) + 2", *names, own=(half,)), read("2 * cut(y) + 3", *names, own=(cut,)))
    np.testing.assert_array_equal(evaluate_slopes(System(names, (), programs), [[4.0], [5.0]]), [[16.0], [11.0]])


def test_constants_as_columns_are_numbered_through_all_programs():
    equations = constants_as_columns(make_lorenz())
    changed = equations.tokens[equations.tokens != pack_system(make_lorenz()).tokens]
    assert (changed & 0xFFFF).tolist() == [3, 4, 5]


def test_a_system_survives_pickling():
    system = make_lorenz()
    evaluate_slopes(system, np.ones((3, 1)))
    assert pickle.loads(pickle.dumps(system)) == system


def test_rows_of_another_width_are_refused():
    with pytest.raises(DataError, match=r"x, y, z; the shape is \(2, 4\)"):
        evaluate_slopes(make_lorenz(), np.ones((2, 4)))


def make_implicit():
    names = ("x", "y", "x'", "y'")
    programs = (read("C*y'*cos(x) - C*y", *names), read("C*x'*cos(x) + x", *names))
    return System(("x", "y"), (), programs, is_implicit=True).with_constants([0.5, 3.0, 0.25])


def test_slopes_of_an_implicit_system_solve_its_equations(rng):
    x, y = rows = rng.normal(size=(2, 50))
    dx, dy = evaluate_slopes(make_implicit(), rows)
    np.testing.assert_allclose(dx, 0.5 * dy * np.cos(x) - 3 * y, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dy, 0.25 * dx * np.cos(x) + x, rtol=1e-12, atol=1e-12)


def test_a_constant_that_appears_in_several_solved_equations_is_one_column():
    equations = constants_as_columns(make_implicit())
    changed = equations.tokens[equations.tokens != pack_system(make_implicit()).tokens]
    assert set((changed & 0xFFFF).tolist()) == {2, 3, 4}
    assert changed.size > 6
