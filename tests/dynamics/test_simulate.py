import numpy as np
import pytest
from numpy.testing import assert_allclose

from spl.dynamics.simulate import simulate
from spl.errors import DataError
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression


def make(states, *texts, inputs=(), order=1, is_discrete=False):
    columns = states + (tuple(f"d{name}" for name in states) if order == 2 else ()) + inputs
    programs = tuple(parse_expression(text, Vocabulary(columns)) for text in texts)
    return System(states, inputs, programs, order, is_discrete)


def test_a_circle_closes():
    t = np.linspace(0, 2 * np.pi, 30)
    found = simulate(make(("x", "y"), "y", "-x"), [1.0, 0.0], t)
    assert_allclose(found.states, np.column_stack([np.cos(t), -np.sin(t)]), atol=1e-7)
    assert found.ended is None
    assert found.reason == ""


def test_order_2_has_velocities():
    t = np.linspace(0, 5, 40)
    found = simulate(make(("x",), "-x", order=2), [0.0, 1.0], t)
    assert_allclose(found.states, np.column_stack([np.sin(t), np.cos(t)]), atol=1e-7)


def test_inputs_are_linear_between_their_times():
    t = np.array([0.0, 1.0, 3.0])
    found = simulate(make(("x",), "u", inputs=("u",)), [0.0], t, [[0.0], [2.0], [0.0]])
    assert_allclose(found.states[:, 0], [0, 1, 3], rtol=1e-8)


def test_inputs_may_be_a_function():
    t = np.linspace(0, 3, 20)
    found = simulate(make(("x",), "u", inputs=("u",)), [0.0], t, np.cos)
    assert_allclose(found.states[:, 0], np.sin(t), atol=1e-7)


def test_a_map_is_iterated():
    found = simulate(make(("x",), "2 * x + u", inputs=("u",), is_discrete=True), [1.0], np.arange(4), [1, 0, 5, 9])
    assert found.states[:, 0].tolist() == [1, 3, 6, 17]


def test_stiff_equations_reach_their_end():
    stiff = make(("x", "y"), "y", "1000 * (1 - x**2) * y - x")
    found = simulate(stiff, [2.0, 0.0], np.linspace(0, 600, 20))
    assert found.ended is None
    x = found.states[-1, 0]
    # On the slow manifold y = x / (1000 (1 - x^2)), so that log(x) - x^2 / 2 grows by t / 1000, up to order 1e-6.
    assert_allclose(np.log(x) - x**2 / 2, np.log(2) - 2 + 0.6, atol=1e-5)


@pytest.mark.parametrize("text", ["x**2", "exp(x)", "x"])
def test_an_explosion_is_told(text):
    found = simulate(make(("x",), text), [1.0], np.linspace(0, 60, 50))
    assert found.ended is not None
    assert found.reason
    assert np.isnan(found.states[-1])
    assert np.isfinite(found.states[0])


def test_a_time_of_explosion_is_near_the_truth():
    found = simulate(make(("x",), "x**2"), [1.0], [0.0, 0.5, 2.0])
    assert found.ended == pytest.approx(1.0, abs=1e-6)
    assert found.reason == "x grew beyond all bounds"
    assert_allclose(found.states[:, 0], [1, 2, np.nan], rtol=1e-7)


def test_the_edge_of_a_domain_is_told():
    found = simulate(make(("x",), "-1 - 0 * sqrt(x)"), [1.0], np.linspace(0, 2, 5))
    assert found.ended == pytest.approx(1.0, abs=1e-6)
    assert "no value" in found.reason
    assert np.isfinite(found.states[:2]).all()


def test_a_start_outside_the_domain_ends_at_once():
    found = simulate(make(("x",), "log(x)"), [-1.0], [0.0, 1.0])
    assert found.ended == 0.0
    assert np.isnan(found.states[1, 0])


def test_a_jumping_slope_does_not_hang():
    found = simulate(make(("x",), "-sign(x)"), [1.0], np.linspace(0, 2, 5))
    assert found.ended == pytest.approx(1.0, abs=1e-3)


def test_a_map_that_explodes_or_leaves_its_domain_is_told():
    assert simulate(make(("x",), "x**2", is_discrete=True), [9.0], np.arange(99)).reason == "x grew beyond all bounds"
    found = simulate(make(("x",), "log(x)", is_discrete=True), [1.0], np.arange(9))
    assert found.ended == 2
    assert found.states[:2, 0].tolist() == [1, 0]


def test_one_time_gives_the_start():
    assert simulate(make(("x",), "x"), [3.0], [0.0]).states.tolist() == [[3.0]]


@pytest.mark.parametrize(
    ("x0", "t", "u", "message"),
    [
        ([1.0, 2.0], [0.0, 1.0], [0.0, 0.0], "for each of x; got"),
        ([np.nan], [0.0, 1.0], [0.0, 0.0], "one finite number"),
        ([1.0], [0.0, 0.0], [0.0, 0.0], "0 follows 0"),
        ([1.0], [[0.0]], [0.0], "series of finite numbers"),
        ([1.0], [0.0, 1.0], None, "has inputs: u"),
        ([1.0], [0.0, 1.0], [0.0], "each of 2 times"),
    ],
)
def test_what_cannot_be_simulated_is_refused(x0, t, u, message):
    with pytest.raises(DataError, match=message):
        simulate(make(("x",), "u - x", inputs=("u",)), x0, t, u)
