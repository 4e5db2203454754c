"""Levenberg-Marquardt on points with a squared error."""

import numpy as np
import pytest

from spl.dynamics.budget import Deadline
from spl.dynamics.damped_least_squares import Damping, lower_squares

SETTINGS = Damping(first=1e-3, most=1e8, max_iterations=100)


def rosenbrock(x):
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def squares(x):
    return float(rosenbrock(x) @ rosenbrock(x))


def linearise(x):
    jacobian = np.array([[-20 * x[0], 10.0], [-1.0, 0.0]])
    gram, slope = jacobian.T @ jacobian, jacobian.T @ rosenbrock(x)
    return lambda damping: x - np.linalg.solve(gram + damping * np.eye(2), slope)


def never(*_):
    return False


START = np.array([-1.2, 1.0])


def test_the_minimum_of_a_curved_valley_is_found():
    found, error = lower_squares(START, squares, linearise, never, SETTINGS)
    assert found == pytest.approx([1.0, 1.0], abs=1e-6)
    assert error == pytest.approx(0.0, abs=1e-12)


def test_every_step_lowers_the_error():
    errors = [squares(START)]
    lower_squares(START, squares, linearise, lambda point, *_: errors.append(squares(point)), SETTINGS)
    assert len(errors) > 5
    assert np.all(np.diff(errors) < 0)


def test_the_last_step_is_the_one_that_the_caller_calls_last():
    seen = []
    found, error = lower_squares(
        START, squares, linearise, lambda *facts: seen.append(facts) or len(seen) == 2, SETTINGS
    )
    assert len(seen) == 2
    point, left, gain, _ = seen[-1]
    assert found is point
    assert error == left == pytest.approx(squares(point))
    assert gain == pytest.approx(seen[0][1] - left)


def test_steps_that_do_not_help_are_damped_until_they_are_given_up():
    tried = []
    found, error = lower_squares(1.0, lambda x: x, lambda x: lambda d: tried.append(d) or x + 1 / d, never, SETTINGS)
    assert (found, error) == (1.0, 1.0)
    assert tried == pytest.approx([10.0**k for k in range(-3, 8)])


def test_a_point_without_a_step_is_left_as_it_is():
    assert lower_squares(3.0, lambda x: x, lambda x: None, never, SETTINGS) == (3.0, 3.0)


@pytest.mark.parametrize("error", [np.inf, np.nan])
def test_a_point_without_an_error_is_left_as_it_is(error):
    assert lower_squares(3.0, lambda x: error, None, never, SETTINGS)[0] == 3.0


def test_no_step_is_tried_after_the_deadline():
    late = Deadline.after(-1.0)
    assert lower_squares(START, squares, linearise, never, SETTINGS, late)[0] is START
