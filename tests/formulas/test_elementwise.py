"""Functions of a user carry their own title and error; `test_user_operators` tries them on what people write."""

import numpy as np
import pytest

from spl.errors import LossError
from spl.formulas.elementwise import ElementwiseFunction, call_compiled


def test_a_compiled_function_gives_the_values_of_the_function():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([0.5, 4.0, -1.0])
    compiled = ElementwiseFunction(lambda a, b: a * b if b > 0 else a, 2, "My function", LossError).compile()
    assert call_compiled(compiled, a, b).tolist() == [0.5, 8.0, 3.0]


@pytest.mark.slow
def test_messages_begin_with_the_title_and_have_the_given_type():
    with pytest.raises(LossError, match=r"^My function must return a number; for 0.5 it returns None"):
        ElementwiseFunction(lambda a: None, 1, "My function", LossError).compile()


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [lambda a, b: b - np.mean(a), lambda a, b: np.max(np.abs(a - b)), lambda a, b: a - b.mean()]
)
def test_values_that_depend_on_other_rows_are_refused(function):
    mixing = ElementwiseFunction(function, 2, "My function", LossError)
    with pytest.raises(LossError, match=r"^My function gives a number a different value when it is in an array"):
        mixing.check_values(mixing.compile())


@pytest.mark.slow
@pytest.mark.parametrize(
    "function", [lambda a, b: 2.0, lambda a, b: max(a, b), lambda a, b: a / b, lambda a, b: a**b, lambda a, b: a > b]
)
def test_values_that_depend_on_their_own_row_only_are_taken(function):
    plain = ElementwiseFunction(function, 2, "My function", LossError)
    compiled = plain.compile()
    plain.check_values(compiled)
    assert call_compiled(compiled, np.array([2.0]), np.array([1.0])) == function(2.0, 1.0)
